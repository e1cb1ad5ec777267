"""The emitted C of a program as a library of this process, with its two entry points."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from emitted import Emitted
from tools import need, succeed

from kmcompile.build.builder import EXACT_FLAGS

ANSWER = np.dtype(
    [
        ("label", np.int32),
        ("lower", np.float32),
        ("upper", np.float32),
        ("kernel_evals", np.uint32),
        ("stage", np.uint32),
        ("certified", np.uint32),
        ("status", np.uint32),
    ]
)
"""`answer_t` of ask.c."""

_DECLARATIONS = """
void ask(uint32_t n_queries, const float inputs[], void *answers);
void ask_within(uint32_t n_queries, const float inputs[], uint32_t limit, void *answers);
"""


class Library:
    """A program compiled for this machine.

    Parameters
    ----------
    flags : tuple of str
        For gcc, after those that keep every bit; -DFLUSH asks with subnormals flushed to 0.

    Attributes
    ----------
    proves : bool
        Whether it has certified exits, and so `classify_within`.
    """

    def __init__(self, emitted: Emitted, flags: tuple[str, ...] = ("-O2",)) -> None:
        need("gcc")
        self.program = emitted.program
        self.proves = bool(emitted.program.early_exits)
        self._ffi = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        within = ["-DWITHIN"] if self.proves else []
        with tempfile.TemporaryDirectory() as holder:
            folder = emitted.write(Path(holder))
            sources = [folder / "iris.c", Path(__file__).with_name("ask.c")]
            built = folder / "asked.so"
            options = [*EXACT_FLAGS, *flags, *within, "-shared", "-fPIC", f"-I{folder}"]
            succeed(["gcc", *options, *sources, "-o", built])
            self._library: Any = self._ffi.dlopen(str(built))

    def ask(self, X: np.ndarray, limit: int | None = None) -> np.ndarray:
        """Return the answers to inputs of shape (n, n_features), float32.

        Parameters
        ----------
        limit : int, optional
            Kernel evaluations that may be spent; without one `classify` is asked.
        """
        X = np.ascontiguousarray(X, dtype=np.float32)
        answers = np.zeros(len(X), dtype=ANSWER)
        inputs = self._ffi.from_buffer("float[]", X)
        found = self._ffi.cast("void *", self._ffi.from_buffer(answers, require_writable=True))
        if limit is None:
            self._library.ask(len(X), inputs, found)
        else:
            self._library.ask_within(len(X), inputs, limit, found)
        return answers

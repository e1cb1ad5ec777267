"""The emitted C of a program as a library of this process, with its two entry points."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from kit.emitted import Emitted
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import Value

ANSWER = np.dtype(
    [
        ("label", np.int32),
        ("value", np.float32),
        ("lower", np.float32),
        ("upper", np.float32),
        ("kernel_evals", np.uint32),
        ("stage", np.uint32),
        ("certified", np.uint32),
        ("in_range", np.uint32),
        ("status", np.uint32),
    ]
)
"""`answer_t` of ask.c."""

_DECLARATIONS = """
void ask(uint32_t n_queries, const float inputs[], void *answers);
void ask_within(uint32_t n_queries, const float inputs[], uint32_t limit, void *answers);
"""


class OfCodes(Emitted):
    """A program in an integer format that is asked through its code entry."""


def received(emitted: Emitted, X: np.ndarray) -> np.ndarray:
    """Return inputs as an entry receives them: the nearest codes, or float32 as they are."""
    if not isinstance(emitted, OfCodes):
        return X
    table = emitted.program.codes
    assert table is not None
    codes = np.rint(np.nan_to_num(X))
    return codes[((codes >= table.low) & (codes <= table.high)).all(axis=1)]


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
        self.emitted, self.program = emitted, emitted.program
        self.proves = bool(emitted.program.early_exits)
        self._ffi = cffi.FFI()
        self._ffi.cdef(_DECLARATIONS)
        entry = ["-DWITHIN"] if self.proves else []
        label = emitted.program.ends.label
        if isinstance(label, Value):  # without a tolerance no interval is too wide
            tolerance = np.finfo(np.float32).max if label.tolerance is None else label.tolerance
            entry.append(f"-DTOLERANCE={float(tolerance).hex()}f")
        if isinstance(emitted, OfCodes):
            entry.append("-DCODES")
        elif emitted.program.codes is not None:
            entry.append("-DFLOAT_ENTRY")
        with tempfile.TemporaryDirectory() as holder:
            folder = emitted.write(Path(holder))
            sources = [folder / "iris.c", Path(__file__).with_name("ask.c")]
            built = folder / "asked.so"
            options = [*EXACT_FLAGS, *flags, *entry, "-shared", "-fPIC", f"-I{folder}"]
            succeed(["gcc", *options, *sources, "-o", built])
            self._library: Any = self._ffi.dlopen(str(built))

    def ask(self, X: np.ndarray, limit: int | None = None) -> np.ndarray:
        """Return the answers to inputs of shape (n, n_features), float32.

        Codes are rounded, and outside their range refused before the C, whose type has no others.

        Parameters
        ----------
        limit : int, optional
            Kernel evaluations that may be spent; without one `classify` is asked.
        """
        if isinstance(self.emitted, OfCodes):
            return self._ask_codes(np.rint(np.nan_to_num(X)), limit)
        return self._ask(X, limit)

    def _ask_codes(self, codes: np.ndarray, limit: int | None) -> np.ndarray:
        table = self.program.codes
        assert table is not None
        inside = ((codes >= table.low) & (codes <= table.high)).all(axis=1)
        answers = np.zeros(len(codes), dtype=ANSWER)
        answers["status"] = Status.ERROR_RANGE
        answers[inside] = self._ask(codes[inside], limit)
        return answers

    def _ask(self, X: np.ndarray, limit: int | None) -> np.ndarray:
        X = np.ascontiguousarray(X, dtype=np.float32)
        answers = np.zeros(len(X), dtype=ANSWER)
        inputs = self._ffi.from_buffer("float[]", X)
        found = self._ffi.cast("void *", self._ffi.from_buffer(answers, require_writable=True))
        if limit is None:
            self._library.ask(len(X), inputs, found)
        else:
            self._library.ask_within(len(X), inputs, limit, found)
        return answers


def library_of(emitted: Emitted, flags: tuple[str, ...] = ("-O2",)) -> Library:
    """Return the library of a program, the same one if it was asked for lately."""
    return _library(emitted, flags)


_library = lru_cache(maxsize=32)(Library)

"""The C of a program, built for the host and asked row by row, beside the interpreter.

It is the C that the board gets. The harness is left out: it also asks for the exact sum of every
row, which takes longer than all the rest.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cffi
import numpy as np

from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.emit.emitter import emit
from kmcompile.program.interpreter import RESULT_DTYPE
from kmcompile.program.program import Program
from kmcompile.program.workspace import workspace_bytes
from kmcompile.target import load_target

_DECLARATIONS = """
typedef struct {{
    int32_t label; float lower; float upper; uint32_t kernel_evals;
    uint16_t stage; _Bool certified; _Bool in_range;
}} answer_t;
int {name}_classify(void *, const float *, answer_t *);
"""
_FIELDS = ("label", "lower", "upper", "kernel_evals", "stage", "certified", "in_range")


def answers_of_c(program: Program, X: np.ndarray) -> np.ndarray:
    """Return what the C of a program for a board answers to rows, as `interpreter.classify` does.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n, n_features), float32

    Returns
    -------
    structured ndarray of shape (n,)
        Its `value` is 0: the C of a classifier has none.
    """
    target = load_target(program.target)
    sources = emit(program, target, "examples/nsv/promises.py", "a machine of the NSV paper")
    n_words = workspace_bytes(program) // 8 + 1
    with TemporaryDirectory() as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text, encoding="ascii")
        library = Path(folder, "model.so")
        # -O1: most of the compiler's time goes to the tables anyway.
        flags = [*EXACT_FLAGS, "-O1", "-shared", "-fPIC"]
        source = Path(folder, f"{program.name}.c")
        subprocess.run(["gcc", *flags, source, "-o", library], check=True, timeout=3600)
        return _asked(str(library), program.name, n_words, X)


def mismatches(answers: np.ndarray, expected: np.ndarray) -> int:
    """Return how many answers of the C differ from the interpreter's in any bit of any field."""
    unlike = np.zeros(len(answers), dtype=bool)
    for field in ("status", *_FIELDS):
        of_c, wanted = (np.ascontiguousarray(rows[field]) for rows in (answers, expected))
        bits = f"u{of_c.dtype.itemsize}"
        unlike |= of_c.view(bits) != wanted.view(bits)
    return int(unlike.sum())


def _asked(library: str, name: str, n_words: int, X: np.ndarray) -> np.ndarray:
    ffi = cffi.FFI()
    ffi.cdef(_DECLARATIONS.format(name=name))
    opened: Any = ffi.dlopen(library)
    results = np.zeros(len(X), dtype=RESULT_DTYPE)
    workspace, answer = ffi.new("uint64_t[]", n_words), ffi.new("answer_t *")
    classify = getattr(opened, f"{name}_classify")
    for row, x in enumerate(np.ascontiguousarray(X, dtype=np.float32)):
        results["status"][row] = classify(workspace, ffi.from_buffer("float[]", x), answer)
        if results["status"][row] == 0:
            for field in _FIELDS:
                results[field][row] = getattr(answer, field)
    ffi.dlclose(opened)
    return results

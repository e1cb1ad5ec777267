"""The C's `classify_within` and `predict_within` give the interpreter's answers, bit for bit."""

from __future__ import annotations

import cffi
import numpy as np
import pytest

from kit.stage_pairs import Chain, covering, every_chain
from kit.tools import need
from kmcompile.build import build
from kmcompile.program.interpreter import RESULT_DTYPE, Status, classify
from kmcompile.target import load_target

FIELDS = ("label", "lower", "upper", "kernel_evals", "stage", "certified", "in_range")
BUDGETS = (0, 1, 9, 30, 100, 10**6)
"""Kernel evaluations that may be spent: none, within each of the stages, any number."""

ANSWER = np.dtype(
    [
        ("label", np.int32),
        ("lower", np.float32),
        ("upper", np.float32),
        ("kernel_evals", np.uint32),
        ("stage", np.uint16),
        ("certified", np.bool_),
        ("in_range", np.bool_),
    ],
    align=True,
)
"""`iris_result_t` on the host."""

PROVING = [
    chain
    for chain in every_chain()
    if chain.mode == "both"
    and chain.number_format == "float32"
    and chain.kernel in ("rbf", "poly")
    and chain.data == "many"
]
FEW = covering(
    PROVING, lambda chain: {(chain.kernel, chain.backwards), chain.by_pairs, chain.replays}
)


def answers_within(emitted, X: np.ndarray, most: int, folder) -> np.ndarray:
    """Return what the C answers with a number of kernel evaluations."""
    name = emitted.program.name
    if not folder.exists():
        emitted.write(folder)
    ffi = cffi.FFI()
    ffi.cdef(f"int {name}_classify_within(void *, const float *, uint32_t, void *);")
    answers = np.zeros(len(X), RESULT_DTYPE)
    with build(emitted.recipe, folder, load_target("host")) as artifact:
        library = ffi.dlopen(str(artifact.path))
        workspace = ffi.new("uint64_t[]", 1 << 20)
        for row, x in enumerate(np.ascontiguousarray(X, np.float32)):
            answer = np.zeros(1, ANSWER)
            given = ffi.from_buffer("float[]", x)
            taken = ffi.from_buffer("char[]", answer, require_writable=True)
            call = getattr(library, f"{name}_classify_within")
            answers["status"][row] = call(workspace, given, most, taken)
            for field in FIELDS:
                answers[field][row] = answer[field][0]
        ffi.dlclose(library)
    return answers


@pytest.mark.parametrize("chain", FEW, ids=str)
def test_answers_with_few_kernels_are_the_interpreters(chain: Chain, tmp_path) -> None:
    need("gcc")
    emitted = chain.emit("host", "iris")
    X = emitted.queries
    for most in BUDGETS:
        expected, _ = classify(emitted.program, X, most)
        found = answers_within(emitted, X, most, tmp_path / "iris")
        assert (found["kernel_evals"] <= most).all()
        accepted = expected["status"] == Status.OK
        np.testing.assert_array_equal(found["status"], expected["status"])
        for field in FIELDS:
            same = found[field][accepted] == expected[field][accepted]
            assert same.all(), (str(chain), most, field)

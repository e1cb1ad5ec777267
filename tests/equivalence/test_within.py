"""The C's `classify_within` and `predict_within` give the interpreter's answers, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from breaking.library import Library

from kit.covering import covering
from kit.stage_pairs import Chain, every_chain
from kmcompile.program.interpreter import Status, classify

FIELDS = ("label", "lower", "upper", "kernel_evals", "stage", "certified", "in_range")
BUDGETS = (0, 1, 9, 30, 100, 10**6)
"""Kernel evaluations that may be spent: none, within each of the stages, any number."""

PROVING = [
    chain
    for chain in every_chain()
    if chain.mode == "both"
    and chain.number_format == "float32"
    and chain.kernel in ("rbf", "poly")
    and chain.data == "many"
]
FEW = covering(
    {chain: {(chain.kernel, chain.backwards), chain.by_pairs, chain.replays} for chain in PROVING}
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("chain", FEW, ids=str)
def test_answers_with_few_kernels_are_the_interpreters(chain: Chain) -> None:
    emitted = chain.emit("host", "iris")
    library = Library(emitted)
    X = emitted.queries
    for most in BUDGETS:
        expected, _ = classify(emitted.program, X, most)
        found = library.ask(X, most)
        assert (found["kernel_evals"] <= most).all()
        accepted = expected["status"] == Status.OK
        np.testing.assert_array_equal(found["status"], expected["status"])
        for field in FIELDS:
            same = found[field][accepted] == expected[field][accepted]
            assert same.all(), (str(chain), most, field)

"""Class scores answer with the class whose score leads by more than its half-width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit import cascades, catalogue
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import ClassScores, InnerProducts

INFINITE = np.float32(np.inf)


def identity(half_width: list[float]) -> ClassScores:
    """Return scores that are the features themselves."""
    n = len(half_width)
    return ClassScores(
        number=1,
        products=InnerProducts.of_rows(np.eye(n), False),
        vectors=np.zeros((0, n + 2, 1)),
        weights=np.zeros((0, n, 1)),
        slopes=np.zeros((n, 0)),
        intercept=np.zeros(n),
        triangle=np.zeros((0, 0)),
        least=-INFINITE,
        largest=INFINITE,
        half_width=np.array(half_width),
    )


def decided(stage: ClassScores, *scores: list[float]):
    batch = Batch.of(np.array(scores, dtype=np.float32), 3)
    with np.errstate(invalid="ignore"):
        return stage.decide(batch, ends())


def ends():
    return catalogue.emitted(cascades.CORE[5], "host").program.ends


def test_the_lead_must_exceed_the_half_width_of_the_class_that_leads():
    stage = identity([1.0, 2.0, 0.0])
    batch, done = decided(stage, [3, 1, 1], [2, 1, 1], [1, 2.5, 0], [1, 3.5, 0], [0, 0, 0.125])
    assert done.tolist() == [True, False, False, True, True]
    assert batch.label.tolist() == [0, 0, 1, 1, 2]
    assert batch.lower.tolist() == [1.0, 0.0, -0.5, 0.5, 0.125]
    assert batch.upper.tolist() == [3.0, 2.0, 3.5, 4.5, 0.125]


def test_of_equal_scores_the_first_is_the_largest_and_nothing_is_decided():
    batch, done = decided(identity([0.0] * 3), [1, 2, 2], [2, 2, 1])
    assert batch.label.tolist() == [1, 0]
    assert not done.any()


@pytest.mark.parametrize("half_width", [np.inf, -1.0])
def test_an_infinite_or_a_damaged_half_width_decides_nothing(half_width):
    assert not decided(identity([half_width] * 3), [1e30, 0, 0], [0, 5, 1])[1].any()


def test_a_score_that_is_no_number_decides_nothing():
    assert not decided(identity([0.0] * 3), [np.nan, 5, 1], [0, np.nan, 1])[1].any()


def test_out_of_range_of_its_projection_nothing_is_decided():
    emitted = catalogue.emitted(cascades.CORE[5], "host")
    program = emitted.program
    stage = program.early_exits[2]
    assert isinstance(stage, ClassScores) and stage.watches_range
    X = emitted.queries[:50]
    batch = program.prepare.run(Batch.of(np.ascontiguousarray(X), program.n_decisions))
    closed = replace(stage, half_width=np.zeros(4), largest=np.float32(-1e30))
    answered, done = closed.decide(batch, program.ends)
    assert not done.any() and not answered.in_range.any()
    spent = answered.operations - batch.operations
    assert (spent < stage.operations_of(batch.x)).all()

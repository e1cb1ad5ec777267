"""The audit checks its share of the queries, and more of those that are unlike the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit import cascades, catalogue
from kit.emitted import Emitted
from kmcompile.program.audit import Audit, audited, draw
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import RangeGate


@pytest.fixture(scope="module")
def digits() -> Emitted:
    return catalogue.emitted(cascades.CORE[0], "host")


def gate_of(emitted: Emitted) -> RangeGate:
    return next(stage for stage in emitted.program.exits if isinstance(stage, RangeGate))


def test_without_dissimilarity_the_period_draws_as_if_there_were_no_other_audit(digits):
    """One number is drawn for each answered query, and no other."""
    found = audited(digits.program, digits.queries, Audit(period=3, state=5))
    state, expected = 5, []
    for status in digits.answers.results["status"]:
        if status == Status.OK:
            state, number = draw(state, 3)
            expected.append(number == 0)
    accepted = digits.answers.results["status"] == Status.OK
    assert found.by_period[accepted].tolist() == expected
    assert not found.by_dissimilarity.any()
    assert found.audit.state == state
    assert found.audit.checked == sum(expected)


def test_the_usual_answers_of_exits_are_drawn_only(digits):
    """What the sums have answered, or a proof, cannot be wrong."""
    found = audited(digits.program, digits.queries, Audit(unlike_period=1))
    results = digits.answers.results
    early = (results["stage"] < len(digits.program.early_exits)) & (results["status"] == Status.OK)
    assert np.array_equal(found.by_dissimilarity, early)
    assert found.audit.unlike_checked == early.sum()
    assert found.audit.unlike_differences > 0
    assert found.audit.checked == found.audit.differences == 0


def test_a_query_that_the_period_draws_is_not_drawn_again(digits):
    found = audited(digits.program, digits.queries, Audit(period=2, unlike_period=1))
    assert not (found.by_period & found.by_dissimilarity).any()
    assert found.by_period.any() and found.by_dissimilarity.any()


def test_each_dissimilarity_is_drawn_in_its_share(digits):
    """A binomial count lies within 6 standard deviations but for 2e-9."""
    period, state, gate = 100, 1, gate_of(digits)
    numbers = []
    for _ in range(50_000):
        state, number = draw(state, period)
        numbers.append(number)
    weights = np.unique(gate.dissimilarity(np.append(gate.usual.ravel(), np.float32(1e30))))
    for weight in weights:
        share = weight / period
        drawn = (np.array(numbers) < weight).sum()
        assert abs(drawn - len(numbers) * share) <= 6 * np.sqrt(len(numbers) * share)


def test_draws_are_below_the_period():
    state = 9
    for period in (1, 2, 1000, 0xFFFFFFFF):
        for _ in range(100):
            state, number = draw(state, period)
            assert 0 <= number < period


def test_full_counters_stay_and_nothing_is_checked_for_them(digits):
    full = 0xFFFFFFFF
    before = Audit(period=1, queries=full, checked=full, differences=3)
    found = audited(digits.program, digits.queries, before)
    assert replace(found.audit, state=0) == before
    assert not found.by_period.any()

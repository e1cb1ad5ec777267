"""Rows of reduced sets are as long as what is remembered of each has room."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.statistical.chooser import ChoiceSamples, _bytes, _longest_row
from kmcompile.program.stages import NearestVectors, ReducedSet

N = 1000
SAMPLES = ChoiceSamples(*(np.zeros((N, 300)) for _ in range(2)), *(np.zeros(N, int),) * 3)


def fitted(kind: type, n_tests: int) -> SimpleNamespace:
    """Return what is asked of a fitted stage."""
    estimates = SimpleNamespace(values=np.zeros((n_tests, N, 0)))
    return SimpleNamespace(stage=object.__new__(kind), estimates=estimates)


STAGES = [*(fitted(ReducedSet, 1) for _ in range(5)), fitted(NearestVectors, 8)]


def test_all_rows_are_tried_where_there_is_room():
    budget = SearchBudget("early exits")
    assert _longest_row(STAGES, SAMPLES, budget) == 4
    assert budget.notes == ()


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_longer_rows_than_memory_has_room_for_are_left_out_with_a_note(longest):
    budget = SearchBudget("early exits", n_bytes=_bytes(STAGES, SAMPLES, longest))
    assert _longest_row(STAGES, SAMPLES, budget) == longest
    said = f"early exits was searched only up to {longest} of 4 reduced sets in a row: "
    assert budget.notes[0].startswith(said)


def test_without_room_for_any_the_other_stages_are_still_tried():
    budget = SearchBudget("early exits", n_bytes=1)
    assert _longest_row(STAGES, SAMPLES, budget) == 0
    assert "no reduced set" in budget.notes[0]
    assert _longest_row(STAGES[-1:], SAMPLES, SearchBudget("early exits", n_bytes=1)) == 0

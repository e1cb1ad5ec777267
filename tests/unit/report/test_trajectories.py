"""f(x) against steps taken: the tests that the interpreter made, thresholds and ends."""

from __future__ import annotations

import numpy as np
import pytest
from cascade_report import Reported, reported

from kmcompile.program.stages import NearestVectors
from kmcompile.report.trajectories import N_QUERIES, Trajectories, _kept


@pytest.fixture(scope="module", params=[2, 10])
def made(request: pytest.FixtureRequest) -> Reported:
    return reported("rbf", request.param)


def steps(made: Reported) -> Trajectories:
    assert made.steps is not None
    return made.steps


def test_queries_of_both_signs_are_followed(made):
    found = steps(made)
    assert len(found.decision) <= N_QUERIES
    assert (found.decision > 0).any() and (found.decision < 0).any()
    assert set(np.unique(found.query)) == set(range(len(found.decision)))


def test_tests_stand_in_their_order(made):
    found = steps(made)
    keys = np.stack([found.query, found.stage, found.number])
    assert (np.lexsort(keys[::-1]) == np.arange(keys.shape[1])).all()
    assert len(np.unique(keys, axis=1).T) == keys.shape[1]


def test_a_query_that_leaves_early_is_outside_the_thresholds_of_its_last_test_only():
    found = steps(reported("rbf", 2))
    last = np.append(np.diff(found.query) != 0, True)
    outside = (found.estimate < found.low) | (found.estimate > found.high)
    assert (outside[last] == found.early[found.query[last]]).all()
    assert not outside[~last].any()


def test_nearest_vectors_have_a_place_for_each_test_with_its_kernels():
    made = reported("rbf", 2)
    found = steps(made)
    (stage,) = [s for s in made.program.stages if isinstance(s, NearestVectors)]
    here = found.stage == made.program.early_exits.index(stage)
    assert (found.kernels[here] == stage.steps[found.number[here]]).all()


def test_pairs_of_classes_have_no_common_thresholds():
    found = steps(reported("rbf", 10))
    assert not found.has_thresholds and found.n_decisions == 45


def test_mode_exact_takes_no_steps():
    assert reported(promise=None).steps is None


def test_of_very_many_tests_the_first_and_the_last_are_kept():
    kept = _kept(5000)
    assert kept[0] == 0 and kept[-1] == 4999 and len(kept) <= 48
    assert _kept(3) == [0, 1, 2]

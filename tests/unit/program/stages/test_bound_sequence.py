"""The bound sequence: its intervals hold f, get narrower, and say nothing where they might not."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest

from kit import catalogue, certified
from kmcompile.exits.certified.bound_sequence import lower_bound_sequence, why_not
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import RESULT_DTYPE, Status, classify
from kmcompile.program.stages import BoundSequence

CASES = (*certified.CORE, *certified.SPARSE, *certified.OTHERS)


def sequence_of(program) -> BoundSequence:
    return next(stage for stage in program.stages if isinstance(stage, BoundSequence))


def batch_of(emitted) -> tuple[np.ndarray, Batch]:
    """Return the queries that are accepted and their prepared batch."""
    program = emitted.program
    X = emitted.queries[emitted.answers.results["status"] == Status.OK]
    return X, program.prepare.run(Batch.of(X, program.n_decisions))


@pytest.mark.few
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_interval_holds_the_decisions(case):
    emitted = catalogue.emitted(case, "host")
    X, batch = batch_of(emitted)
    reference = evaluate(emitted.machine, X)
    longest = sequence_of(emitted.program)
    for n_blocks in range(1, longest.n_blocks + 1):
        after, _ = longest.first(n_blocks).decide(batch, emitted.program.ends)
        assert (after.least <= reference.decisions + reference.error).all()
        assert (after.most >= reference.decisions - reference.error).all()


@pytest.mark.few
@pytest.mark.parametrize("case", CASES, ids=str)
def test_more_vectors_give_narrower_intervals_and_decide_more(case):
    emitted = catalogue.emitted(case, "cortex-m7")
    _, batch = batch_of(emitted)
    longest = sequence_of(emitted.program)
    shares, widths = [], []
    for n_blocks in range(1, longest.n_blocks + 1):
        after, decided = longest.first(n_blocks).decide(batch, emitted.program.ends)
        shares.append(decided.sum())
        widths.append(np.where(decided[:, None], np.inf, after.most - after.least))
    assert shares == sorted(shares)
    assert shares[-1] > 0
    for wide, narrow in pairwise(widths):
        assert (narrow[np.isfinite(narrow)] <= wide[np.isfinite(narrow)]).all()


@pytest.mark.few
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_query_stops_at_the_block_that_decides_it(case):
    emitted = catalogue.emitted(case, "host")
    _, batch = batch_of(emitted)
    longest = sequence_of(emitted.program)
    before = np.zeros(len(batch), dtype=bool)
    whole, _ = longest.decide(batch, emitted.program.ends)
    for n_blocks in range(1, longest.n_blocks + 1):
        after, decided = longest.first(n_blocks).decide(batch, emitted.program.ends)
        new = decided & ~before
        assert (whole.kernel_evals[new] == n_blocks * longest.lanes).all()
        assert (whole.operations[new] == after.operations[new]).all()
        before = decided
    assert (whole.operations - batch.operations).max() <= longest.worst_operations(
        emitted.program.ends
    )


def test_inputs_that_are_far_away_are_not_decided_and_cost_little():
    emitted = catalogue.emitted(certified.Certified("poly", "breast_cancer"), "host")
    program = emitted.program
    stage = sequence_of(program)
    _, batch = batch_of(emitted)
    far = replace(batch, length=np.full(len(batch), 2.0**40, dtype=np.float32))
    after, decided = stage.decide(far, program.ends)
    assert not decided.any()
    assert (after.kernel_evals == 0).all()
    assert (after.least == batch.least).all()


@pytest.mark.parametrize("limit", [0, 3, 4, 15, 16, 40, 90, 1000])
def test_no_more_kernels_are_evaluated_than_allowed(limit):
    emitted = catalogue.emitted(certified.Certified("wide", "breast_cancer"), "host")
    program = emitted.program
    results, operations = classify(program, emitted.queries, limit)
    whole, most = classify(program, emitted.queries)
    accepted = results["status"] == Status.OK
    assert (results["kernel_evals"] <= limit).all()
    assert (operations <= most).all()
    reference = evaluate(emitted.machine, emitted.queries[accepted])
    f, error = reference.decisions[:, 0], reference.error[:, 0]
    answered = results[accepted]
    assert (answered["lower"] <= f + error).all()
    assert (answered["upper"] >= f - error).all()
    sure = answered["certified"] & (np.abs(f) > error)
    assert (answered["label"][sure] == reference.labels[sure]).all()
    same = results["kernel_evals"] == whole["kernel_evals"]
    for name in RESULT_DTYPE.names:
        np.testing.assert_array_equal(results[name][same], whole[name][same])
    assert same[accepted].any() == (limit >= whole["kernel_evals"][accepted].min())


def test_the_constants_are_finite_and_survive_a_cut():
    stage = sequence_of(catalogue.emitted(certified.CORE[0], "cortex-m7").program)
    cut = stage.first(stage.n_blocks)
    for field in fields(stage):
        value = getattr(stage, field.name)
        if isinstance(value, np.ndarray):
            assert np.isfinite(value).all()
            np.testing.assert_array_equal(getattr(cut, field.name), value)


@pytest.mark.parametrize("kernel", ["sigmoid", "linear"])
def test_kernels_that_are_no_inner_products_have_no_sequence(kernel):
    """On digits a sigmoid gave 5,788 wrong signs in 12,000."""
    emitted = catalogue.emitted(catalogue.Case("SVC", kernel, "binary", "standard"), "host")
    assert why_not(emitted.machine, emitted.program)


def test_vectors_that_depend_on_each_other_are_left_out():
    emitted = catalogue.emitted(certified.CORE[0], "cortex-m7")
    z = emitted.machine.support_vectors[:8]
    doubled = lower_bound_sequence(emitted.machine, emitted.program, np.concatenate([z, z]))
    assert doubled is not None
    assert doubled.kernel_evaluations() == 8
    one = lower_bound_sequence(emitted.machine, emitted.program, z[[0, 0, 0, 0]])
    assert one is not None
    assert (one.weights[0, 0] != 0).tolist() == [True, False, False, False]
    assert lower_bound_sequence(emitted.machine, emitted.program, z[:0]) is None


@pytest.mark.parametrize("case", certified.SPARSE, ids=str)
def test_features_of_0_cost_nothing_in_front_of_a_sum_that_skips_them(case):
    emitted = catalogue.emitted(case, "host")
    program, stage = emitted.program, sequence_of(emitted.program)
    assert program.ends.exact.skip_zeros and stage.skip_zeros
    _, batch = batch_of(emitted)
    x = np.where(batch.x == 0, np.float32(1e-3), batch.x)
    after, _ = stage.first(1).decide(batch, program.ends)
    dense, _ = stage.first(1).decide(replace(batch, x=x), program.ends)
    zeros = (batch.x == 0).sum(axis=1)
    saved = (dense.operations - batch.operations) - (after.operations - batch.operations)
    assert zeros.max() > 0
    np.testing.assert_array_equal(saved, stage.lanes * zeros)


def test_a_sequence_that_expands_distances_stands_only_before_a_sum_that_does():
    sparse, dense = (
        catalogue.emitted(case, "host").program for case in (certified.SPARSE[0], certified.CORE[4])
    )
    stage = sequence_of(sparse)
    assert stage.expands and stage.stands_before(sparse.sum)
    assert not stage.stands_before(dense.sum)
    assert not sequence_of(dense).stands_before(sparse.sum)

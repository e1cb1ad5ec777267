"""A kernel without negative features refuses what is negative for certain, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.catalogue import Case
from kit.lowered import lowered
from kmcompile.lower.replay import lower_replay
from kmcompile.model.likely_inputs import generate
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.passes.refuse_negatives import refuse_negatives
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import Prepare
from kmcompile.steps import Nonnegative
from kmcompile.target import load_target

RAW, SCALED = (Case("SVC", "chi2", "binary", chain) for chain in ("raw", "maxabs"))


def status(program, X):
    return interpret(program, np.array(X, dtype=np.float32)).results["status"]


@pytest.mark.parametrize("feature", range(6))
def test_a_raw_feature_on_either_side_of_zero(feature):
    low = lowered(RAW.fitted())
    X = np.ones((6, 6))
    X[:, feature] = [0.0, -0.0, 1e-45, -1e-45, -1e-30, -1.0]
    refused = Status.ERROR_RANGE
    expected = [Status.OK] * 3 + [refused] * 3
    assert status(low.program, X).tolist() == expected


def test_what_scaling_rounds_below_zero_counts_as_zero():
    """What is negative by no more than its error may be 0 or more in exact arithmetic."""
    low = lowered(SCALED.fitted())
    step = low.prepare.steps[-1]
    batch = low.prepared(np.full((2, 6), 4.0, dtype=np.float32))
    x, deviation = batch.x.copy(), batch.deviation
    assert (deviation > 0).all()
    x[:, 3] = deviation * np.array([-0.9, -1.1])
    after = step.apply(replace(batch, x=x))
    assert after.x.min() == 0
    after = replace(after, received=after.deviation)
    assert low.prepare.beyond(after).tolist() == [False, True]


@pytest.mark.parametrize("kernel", ["chi2", "additive_chi2"])
def test_behind_a_normalizer_slightly_negative_is_the_model_s_zero(kernel):
    low = lowered(Case("SVC", kernel, "binary", "l1").fitted())
    X = np.ones((3, 6), dtype=np.float32)
    X[:, 2] = [0.0, -1e-9, -1e-3]
    answers = interpret(low.program, X).results
    assert answers["status"].tolist() == [Status.OK, Status.OK, Status.ERROR_RANGE]
    decisions = evaluate(low.machine, X[:2]).decisions
    for answer, decision in zip(answers[:2], decisions, strict=True):
        assert answer["lower"] <= decision <= answer["upper"]


def test_every_generated_query_is_asked_but_for_the_edges():
    machine = lowered(RAW.fitted()).machine
    program = lowered(RAW.fitted()).program
    assert (status(program, generate(machine, 300)) == Status.OK).mean() > 0.99


def test_the_replay_has_the_same_step_and_refuses_nothing():
    """What float32 has accepted is answered: within its rounding a negative feature counts as 0."""
    low = lowered(RAW.fitted())
    machine = refuse_negatives(low.machine)
    ordinary = np.ones((2, 6), dtype=np.float32)
    prepare = lower_replay(machine, load_target("host"), low.program, ordinary, False).prepare
    assert isinstance(prepare, Prepare)
    step = prepare.steps[-1]
    assert isinstance(step, Nonnegative)
    assert not prepare.refuses_negatives
    after = step.apply(Batch.of(np.array([[-1.0] * 6], dtype=np.float32), 1))
    assert not after.x.any()
    assert not after.deviation.any()

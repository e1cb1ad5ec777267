"""The ratio of an interval's sides is calibrated like the bands of other statistical exits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kit.ratios import CORE
from kmcompile.exits.certified.choice import TriedExit
from kmcompile.exits.statistical.cascade_exit import Seen, State
from kmcompile.exits.statistical.interval_link import IntervalLink
from kmcompile.exits.statistical.links import FittedExit
from kmcompile.exits.statistical.ratio import IntervalRatioFit, share_of, undecided
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import IntervalRatio

FIT = IntervalRatioFit()


class Tried:
    """A machine's samples behind its short bound sequence."""

    def __init__(self, number: int) -> None:
        emitted = CORE[number].emit("host")
        self.program = emitted.program
        X = emitted.queries[:150]
        reference = evaluate(emitted.machine, X)
        batch = self.program.prepare.run(Batch.of(X, self.program.n_decisions))
        self.seen = Seen(batch, reference.labels.astype(np.int32))
        self.decisions = reference.decisions
        self.relevant = np.ones(self.decisions.shape, dtype=bool)
        self.ends = self.program.ends
        sequence = self.program.early_exits[0]
        self.proof = TriedExit.of(sequence, "bound_sequence", batch, self.ends)
        self.state = self.seen.begin.narrowed(self.proof)
        stage = undecided(self.program.n_decisions)
        self.fitted = FittedExit(stage, FIT.estimates(stage, self.ends, batch.x), "interval_ratio")

    def linked(self, state: State | None = None) -> IntervalLink:
        return IntervalLink.of(self.fitted, state or self.state, self.decisions, self.relevant)


@pytest.fixture(scope="module", params=range(len(CORE)))
def tried(request: pytest.FixtureRequest) -> Tried:
    return Tried(request.param)


def test_the_trial_decides_what_the_finished_stage_decides(tried: Tried) -> None:
    made = tried.linked()
    trial, after = made.trial(
        made.results_on(tried.seen, tried.ends), tried.state, tried.ends.label, np.array(SCALES)
    )
    assert after is tried.state
    proved, _ = tried.proof.stage.decide(tried.seen.batch, tried.ends)
    for scale in SCALES[::6]:
        answered, decided = made.finished(1, scale).decide(proved, tried.ends)
        assert np.array_equal(decided, trial.scales[0] >= scale)
        assert np.array_equal(answered.label[decided], trial.labels[0][decided])
    spent = answered.operations - proved.operations
    assert np.array_equal(spent * tried.ends.weight(made.stage), trial.operations[0])


def test_no_sample_flips_at_a_scale_of_1_and_the_ratio_is_at_least_4(tried: Tried) -> None:
    made = tried.linked()
    assert made.reach >= math.log(4.0)
    least, most = tried.state.least.astype(np.float64), tried.state.most.astype(np.float64)
    contains = (least < 0) & (most > 0)
    beyond = np.abs(np.log(most[contains] / -least[contains])) > made.reach
    sides = np.sign(most + least)[contains][beyond]
    assert (sides == np.sign(tried.decisions[contains][beyond])).all()


def test_without_intervals_nothing_is_decided(tried: Tried) -> None:
    begin = tried.seen.begin
    made = tried.linked(begin)
    scales = np.array(SCALES)
    trial, _ = made.trial(tried.fitted.estimates, begin, tried.ends.label, scales)
    assert (trial.scales == 0).all()


def test_an_infinite_scale_decides_nothing_and_the_paper_s_is_4_to_1() -> None:
    made = IntervalLink(FittedExit(undecided(1), None, ""), math.log(4.0))
    stages = [made.finished(1, scale) for scale in (math.inf, 1.0)]
    assert all(isinstance(stage, IntervalRatio) for stage in stages)
    assert [float(stage.share) for stage in stages] == pytest.approx([1.0, 0.6])
    assert made.finished(1, 2.0).share == share_of(np.float32(2 * math.log(4.0)))

"""The wider side of a proved interval answers if it is wide enough, and is never certified."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.emitted import Emitted
from kit.ratios import CORE
from kmcompile.numeric.batch import Batch
from kmcompile.program.program import Program
from kmcompile.program.stages import BoundSequence, IntervalRatio


@pytest.fixture(scope="module")
def moons() -> Emitted:
    return CORE[0].emit("host")


def asked(program: Program, ratio: float, least: list[float], most: list[float]) -> np.ndarray:
    """Return the answers to intervals of one decision: 0 and 1, or -1 where none is given."""
    batch = Batch.of(np.zeros((len(least), program.n_features), np.float32), 1)
    ends = [np.float32(values)[:, None] for values in (least, most)]
    batch = replace(batch, least=ends[0], most=ends[1])
    stage = IntervalRatio(1, np.float32((ratio - 1) / (ratio + 1)))
    answered, decided = stage.decide(batch, program.ends)
    assert (answered.least == ends[0]).all() and (answered.most == ends[1]).all()
    return np.where(decided, answered.label, -1)


def test_one_side_must_be_wider_by_the_ratio(moons: Emitted) -> None:
    least, most = [-1.0, -1.0, -3.9, -4.1, 0.0], [3.9, 4.1, 1.0, 1.0, 1.0]
    assert asked(moons.program, 4.0, least, most).tolist() == [-1, 1, -1, 0, 1]


def test_of_what_nothing_is_proved_nothing_is_said(moons: Emitted) -> None:
    unknown = Batch.of(np.zeros((1, 1), np.float32), 1)
    least, most = unknown.least[0].tolist(), unknown.most[0].tolist()
    assert asked(moons.program, 1.1, least, most).tolist() == [-1]


def test_a_share_of_1_decides_no_interval_with_0(moons: Emitted) -> None:
    rng = np.random.default_rng(0)
    size = np.exp(rng.uniform(-80, 80, (2, 2000))).astype(np.float32)
    batch = Batch.of(np.zeros((2000, 1), np.float32), 1)
    batch = replace(batch, least=-size[0][:, None], most=size[1][:, None])
    _, decided = IntervalRatio(1, np.float32(1.0)).decide(batch, moons.program.ends)
    assert not decided.any()


@pytest.mark.parametrize("share", [-0.1, 1.5, np.nan])
def test_a_share_is_from_0_to_1(share: float) -> None:
    with pytest.raises(ValueError, match="share is"):
        IntervalRatio(1, np.float32(share))


@pytest.mark.parametrize("case", CORE, ids=str)
def test_all_three_stages_answer_and_only_proofs_are_certified(case) -> None:
    emitted = case.emit("host")
    results = emitted.answers.results
    accepted = results[results["status"] == 0]
    assert set(accepted["stage"]) == {0, 1, 2}
    assert accepted["certified"][accepted["stage"] == 0].all()
    assert not accepted["certified"][accepted["stage"] == 1].any()


def test_it_cannot_stand_without_a_certified_exit_before_it(moons: Emitted) -> None:
    program = moons.program
    exits = tuple(stage for stage in program.exits if not isinstance(stage, BoundSequence))
    with pytest.raises(ValueError, match="interval_ratio needs intervals, which no stage before"):
        replace(program, exits=exits)

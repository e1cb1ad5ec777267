"""reliability 44: every two stages that can stand in one program do, and agree to the bit.

Programs of as many stages as there can be are linked into few images for the host and a board. The
bound of the float64 model holds: no certified label is wrong.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kit import leaf_expansions, routed, stage_pairs
from kit.many_classes import ManyClasses
from kit.stage_pairs import CORE, EVERY, Chain
from kit.tools import need, need_tools
from kmcompile.build import build_together
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import (
    CATALOGUE,
    Argmax,
    CodedSum,
    EarlyExit,
    IntervalRatio,
    LeafExpansion,
    LinearFilter,
    Prepare,
    RangeGate,
    RoutedFixedSum,
    RoutedSum,
    Sign,
    Value,
)
from kmcompile.run import Asked, runner_for
from kmcompile.target import load_target

TOGETHER = 10
"""Programs of an image: near the flash that the emulated board has."""
OPTIMISATION = {"host": "-O0", "cortex-m7": "-O1"}
"""What builds them fastest and loses no time in QEMU: the levels have tests of their own."""
GROUPS = [EVERY[first : first + TOGETHER] for first in range(0, len(EVERY), TOGETHER)]
ON_BOARD = CORE[: TOGETHER - 2]
"""Those of the covering set that have most pairs; `make test-rest` asks the board all pairs."""
MANY_CLASSES = ManyClasses(replays=True)
"""Beside them: 6 classes, 128 features, a bound sequence before a sum of pairs."""

on_host_and_board = pytest.mark.parametrize(
    "target", ["host", pytest.param("cortex-m7", marks=pytest.mark.target)]
)


def check(chains: tuple[Chain | ManyClasses, ...], target: str, folder) -> None:
    """Build programs into one image; compare its answers, and what is certified with the models."""
    board = load_target(target)
    need_tools(board)
    need("gcc")
    models = [emitted(chain, target, n) for n, chain in enumerate(chains)]
    built = [(each.recipe, each.write(folder / each.name)) for each in models]
    with build_together(built, board, optimisation=OPTIMISATION[target]) as artifact:
        results = runner_for(board).run_together(artifact, [Asked(e.inputs) for e in models])
    for chain, each, result in zip(chains, models, results, strict=True):
        np.testing.assert_array_equal(result.records, each.records, err_msg=str(chain))
        assert result.self_test == Status.OK, str(chain)
        check_certified(each, str(chain))


@cache
def emitted(chain: Chain | ManyClasses, target: str, number: int):
    """Return a program of a name of its own."""
    each = chain.emit(target, f"pair_{number}")
    if isinstance(chain, Chain):
        check_stages(chain, each.program)
    return each


def check_stages(chain, program):
    """Check that a program has the stages that it is said to have."""
    stages = {*map(type, program.stages), *([type(program.replay)] if program.replay else [])}
    assert stages == set(stage_pairs.stages_that_can_be(chain)), str(chain)


def check_certified(each, text):
    """Compare certified labels, or values that are proved, with the float64 model."""
    results = each.answers.results
    rows = (results["status"] == Status.OK) & results["certified"]
    assert rows.any(), text
    reference = evaluate(each.machine, each.queries[rows])
    if each.program.classes:
        np.testing.assert_array_equal(results["label"][rows], reference.labels, err_msg=text)
    else:
        value = reference.decisions[:, 0]
        inside = (results["lower"][rows] <= value) & (value <= results["upper"][rows])
        assert inside.all(), text


def test_every_stage_of_the_catalogue_is_paired():
    of_leaves = {RoutedSum, RoutedFixedSum, LeafExpansion}
    assert set(stage_pairs.HAS) == {*CATALOGUE, CodedSum} - of_leaves


@pytest.mark.exhaustive
def test_a_routed_sum_is_paired_with_every_stage_that_stands_beside_it():
    """Other exits and lists do not stand before it; its bit-exact cases are these."""
    cases = (*routed.CORE, *leaf_expansions.CORE, *leaf_expansions.STATISTICAL)
    beside = {type(stage) for case in cases for stage in case.emit("host").program.stages}
    exits = {RangeGate, LinearFilter, LeafExpansion, IntervalRatio}
    assert beside == {Prepare, *exits, RoutedSum, RoutedFixedSum, Sign, Argmax, Value}


@pytest.mark.exhaustive
def test_c_gives_the_interpreter_s_answers_for_every_two_stages_on_the_host(tmp_path):
    check((*CORE, MANY_CLASSES), "host", tmp_path)


@pytest.mark.exhaustive
@pytest.mark.target
def test_c_gives_the_interpreter_s_answers_for_most_pairs_of_stages_on_a_board(tmp_path):
    check((*ON_BOARD, MANY_CLASSES), "cortex-m7", tmp_path)


@pytest.mark.exhaustive
def test_every_stage_of_the_covering_set_has_queries_in_some_program():
    """A stage behind others that decide all would be compared with nothing."""
    reached = set()
    for number, chain in enumerate(CORE):
        each = emitted(chain, "host", number)
        counts = (each.answers.stage_operations >= 0).sum(axis=0)
        reached |= {type(s) for s, n in zip(each.program.stages, counts, strict=False) if n > 0}
    assert reached == set(stage_pairs.HAS) - {stage_pairs.Replay}


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(len(GROUPS)))
@on_host_and_board
def test_c_gives_the_interpreter_s_answers_for_every_pair_task_and_format(target, number, tmp_path):
    check(GROUPS[number], target, tmp_path)


def test_every_early_exit_stands_before_and_behind_each_other_one():
    """But for calibrated ones among themselves, which have one order.

    The test of intervals stands among the certified exits.
    """
    orders = set()
    for chain in EVERY:
        exits = [s for s in stage_pairs.stages_that_can_be(chain) if issubclass(s, EarlyExit)]
        calibrated = [s for s in exits if s.exit == "statistical" and s is not IntervalRatio]
        proved = [s for s in exits if s.exit == "certified"]
        proved = proved[::-1] if chain.backwards else proved
        if IntervalRatio in exits:
            proved = stage_pairs.with_ratio(proved, IntervalRatio, chain.backwards)
        ordered = [*proved, *calibrated] if chain.backwards else [*calibrated, *proved]
        orders |= {(a, b) for n, a in enumerate(ordered) for b in ordered[n + 1 :]}
    mixed = {(a, b) for a, b in orders if "certified" in (a.exit, b.exit)}
    assert {(b, a) for a, b in mixed} == mixed

"""The flash of early exits: of the part, of one array, and of the tables that can be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.lowered import lowered
from kit.plans import plan_for
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.early_exits import add_early_exits
from kmcompile.program.estimate import CODE_BYTES, Estimate
from kmcompile.program.memory import check_tables
from kmcompile.program.wanted import Wanted
from kmcompile.target import load_target


@pytest.fixture(scope="module")
def low():
    X, y = load_breast_cancer(return_X_y=True)
    return lowered(make_pipeline(StandardScaler(), SVC(C=10)).fit(X[:60], y[:60]))


def test_a_small_machines_exits_grow_with_the_parts_flash(low):
    tables = sum(table.n_bytes for table in low.program.ends.exact.tables())
    given = [None, 10_000, 100_000, 1_000_000, 10_000_000]
    least = max(12_000, 2 * tables)
    most = [Room(np.inf, flash, None).table_bytes_of(low.program) for flash in given]
    assert most == [least, 10_000, least, 50_000, 100_000]


def test_no_table_of_an_exit_exceeds_the_largest_array(low):
    stage = low.program.sum
    largest = max(table.n_bytes for table in stage.tables())
    assert Room(np.inf, None, None, array_bytes=largest).has_flash([stage])
    assert not Room(np.inf, None, None, array_bytes=largest - 1).has_flash([stage])


def test_exits_leave_room_below_the_last_address_of_tables(low):
    avr = load_target("avr")
    room = Room(np.inf, 200_000, None).on(avr, low.program)
    assert room.array_bytes == 32_767
    assert room.flash_bytes == 0x10000 - 1024 - low.program.table_bytes
    assert Room(np.inf, 200_000, None).on(load_target("cortex-m7"), low.program).flash_bytes == (
        200_000
    )


def test_a_program_with_exits_can_be_read_on_avr(low):
    avr = load_target("avr")
    plan = replace(plan_for(low.machine, mode="certified"), target=avr)
    made = add_early_exits(low.machine, low.program, plan, lambda text: None)
    check_tables(made.program, avr)


@pytest.mark.parametrize("optimize", ["balanced", "mean"])
@pytest.mark.parametrize(("mean", "is_near"), [(420.0, True), (430.0, False)])
def test_a_slower_program_is_preferred_where_it_is_smaller_and_not_much_slower(
    optimize, mean, is_near
):
    """3 times the square root of 2 is 4.24."""
    room = Room(np.inf, None, None, wanted=Wanted(optimize))
    fast, small = Estimate(100.0, 900.0, 8000.0), Estimate(mean, 300.0, 4000.0)
    takes_small = optimize == "balanced" and is_near
    assert room.prefers_second(fast, small) is takes_small
    assert room.prefers_second(small, fast) is not takes_small


@pytest.mark.parametrize("optimize", ["balanced", "mean"])
def test_of_two_equal_programs_the_first_stays_unless_ties_are_the_seconds(optimize):
    room = Room(np.inf, None, None, wanted=Wanted(optimize))
    one = Estimate(100.0, 900.0, 9000.0)
    assert not room.prefers_second(one, one)
    assert room.prefers_second(one, one, wins_ties=True)


@pytest.mark.parametrize("optimize", ["balanced", "mean"])
@pytest.mark.parametrize(("limit", "takes_short"), [(850, True), (950, False), (500, False)])
def test_a_sequence_beyond_the_instructions_is_taken_only_if_none_is_within(
    optimize, limit, takes_short
):
    room = Room(np.inf, None, None, wanted=Wanted(optimize, instructions=limit))
    fast, short = Estimate(100.0, 900.0, 9000.0), Estimate(800.0, 800.0, 9000.0)
    assert room.prefers_second(fast, short) is takes_short


def test_exits_add_to_the_worst_case_and_to_the_flash(low):
    room = Room(np.inf, None, None)
    ends, stage = low.program.ends, low.program.ends.exact
    alone = room.takes(7.0, [], ends)
    assert alone.mean == 7.0
    assert alone.worst == sum(one.operations() for one in low.program.stages[1:])
    tables = sum(table.n_bytes for table in stage.tables())
    assert alone.flash_bytes - CODE_BYTES == tables

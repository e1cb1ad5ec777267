"""Estimated instructions follow the stages that a query passes, and are near the emulator's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.lowered import lowered
from kit.plans import plan_for
from kit.tools import need_tools
from kmcompile.exits.early_exits import add_early_exits
from kmcompile.lower.formats import lower_in_format
from kmcompile.program.cost import exact_operations, replay_operations, worst_operations
from kmcompile.program.estimate import with_mean
from kmcompile.program.interpreter import interpret
from kmcompile.program.prices import (
    OPERATIONS,
    instructions_of,
    price_of_exit,
    price_of_sum,
    worst_instructions,
)
from kmcompile.program.program import Program
from kmcompile.target import load_target
from kmcompile.verify.codes import codes_beside

M7 = load_target("cortex-m7")
CANCER = load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def low():
    model = make_pipeline(StandardScaler(), SVC(C=10)).fit(CANCER[0][:60], CANCER[1][:60])
    return lowered(model)


def with_exits(low, **cost: Any) -> Program:
    """Return the certified program on a Cortex-M7 of other costs."""
    target = replace(M7, cost=replace(M7.cost, **cost))
    plan = replace(plan_for(low.machine, mode="certified", optimize="mean"), target=target)
    return add_early_exits(low.machine, low.program, plan, lambda text: None).program


def test_an_operation_of_one_instruction_is_an_operation(low):
    program = with_exits(low)
    X = np.ascontiguousarray(CANCER[0][60:], dtype=np.float32)
    counted = interpret(program, X)
    assert program.early_exits
    assert (
        instructions_of(program, counted.stage_operations, OPERATIONS) == counted.operations
    ).all()
    assert worst_instructions(program, OPERATIONS) == worst_operations(program)


def test_a_kind_of_exit_is_left_out_where_its_operations_cost_too_much(low):
    names = {stage.template for stage in with_exits(low).early_exits}
    dear = tuple((name, 1e6) for name in names)
    assert names
    assert not names & {stage.template for stage in with_exits(low, stages=dear).early_exits}


def test_exits_in_float_cost_as_much_before_any_sum(low):
    stage = with_exits(low).early_exits[0]
    ends = low.program.ends
    weighted = replace(ends, float_weight=3)
    assert 3 * price_of_exit(stage, weighted, M7.cost) == price_of_exit(stage, ends, M7.cost)


@pytest.mark.parametrize("number_format", ["float32", "int16"])
def test_a_query_and_its_preparation_have_costs_of_their_own(low, number_format):
    program = lower_in_format(low.machine, M7, "m", number_format).program
    stages = tuple((name, 100.0) for name in ("prepare", "range_gate"))
    cost = replace(OPERATIONS, query=30.0, stages=stages)
    X = np.ascontiguousarray(CANCER[0][60:], dtype=np.float32)
    X[0] = np.nan  # a query that is refused counts nothing
    spent = interpret(program, X).stage_operations
    added = instructions_of(program, spent, cost) - instructions_of(program, spent, OPERATIONS)
    of_prepare = 0.0 if number_format == "int16" else 99.0 * program.prepare.operations()
    accepted = spent[:, 0] >= 0
    assert not accepted[0] and accepted.mean() > 0.9
    assert (added[~accepted] == 0.0).all()
    assert added[accepted] == pytest.approx(30.0 + of_prepare)
    worst = worst_instructions(program, cost) - worst_instructions(program, OPERATIONS)
    assert worst == pytest.approx(30.0 + of_prepare)


def test_the_static_worst_case_has_costs_of_its_own(low):
    worst = replace(M7.cost, worst=replace(OPERATIONS))
    assert worst_instructions(low.program, worst) == exact_operations(low.program)
    ends = low.program.ends
    assert price_of_sum(ends, worst) == price_of_sum(ends, M7.cost)


@pytest.mark.parametrize(("number_format", "in_float"), [("float32", 1.0), ("int16", 12.0)])
def test_the_last_steps_of_a_sum_in_integers_cost_as_floats(low, number_format, in_float):
    program = lower_in_format(low.machine, M7, "m", number_format).program
    cost = replace(M7.cost, float32=replace(M7.cost.float32, other=100 + M7.cost.float32.other))
    added = price_of_sum(program.ends, cost).fixed - price_of_sum(program.ends, M7.cost).fixed
    if number_format == "float32":  # all operations but products
        exact = program.ends.exact
        in_float = exact.operations() - exact.n_slots * exact.total_operations
    assert added == pytest.approx(100 * in_float)


def test_a_replay_costs_what_it_does_in_the_worst_case(low):
    program = kmcompile.compile_model(
        low.estimator, target="cortex-m4", mode="exact", replay="float64", verify="none"
    ).program
    cost = load_target("cortex-m4").cost
    assert program.replay is not None and program.replay.in_integers and cost.worst is not None
    dearer = replace(cost, worst=replace(cost.worst, integers=1 + cost.worst.integers))
    first, second = (with_mean(program, 0.0, 0.0, one) for one in (cost, dearer))
    assert second.worst - first.worst == pytest.approx(replay_operations(program))
    assert second.mean == first.mean == 0.0


SETS = {
    "cancer": CANCER,
    "digits": load_digits(return_X_y=True),
    "iris": load_iris(return_X_y=True),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of the stack, of what is not certified
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("board", "name", "options"),
    [
        ("cortex-m7", "cancer", {"mode": "exact", "format": "float32"}),
        ("cortex-m7", "cancer", {"mode": "exact", "format": "int16"}),
        ("cortex-m7", "cancer", {"mode": "certified", "format": "float32"}),
        ("cortex-m7", "digits", {"mode": "exact", "format": "int8"}),
        ("cortex-m7", "iris", {"mode": "exact", "format": "float32"}),
        ("cortex-m4", "cancer", {"mode": "certified", "format": "float32"}),
        ("rv32imac", "cancer", {"mode": "certified", "format": "float32"}),
        ("rv32imac", "digits", {"mode": "exact", "format": "int8"}),
        ("avr", "cancer", {"mode": "exact", "format": "int16"}),
    ],
)
def test_an_estimate_is_near_what_the_emulator_counts(
    board: str, name: str, options: dict[str, Any]
):
    target = load_target(board)
    need_tools(target)
    X, y = SETS[name]
    order = np.random.default_rng(1).permutation(len(X))
    X, y = X[order], y[order]
    half = len(X) // 2
    model = make_pipeline(StandardScaler(), SVC(C=10, gamma=0.02)).fit(X[:half], y[:half])
    asked = X[half : half + 200]
    made = kmcompile.compile_model(
        model, target=board, test_data=asked, replay="none", verify="target", **options
    )
    X = asked.astype(np.float32)
    given = X if made.program.codes is None else codes_beside(made.program, X)  # as on the board
    counted = interpret(made.program, given).stage_operations
    estimated = instructions_of(made.program, counted, target.cost).mean()
    told = made.report["target"]["instructions"]
    assert abs(estimated / told["mean"] - 1) <= 0.3

"""An additive machine is summed by functions of its features where that costs less."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import additive_chi2_kernel, chi2_kernel
from sklearn.svm import SVC

from kit.function_kernels import intersection_kernel, load_machine
from kit.lowered import Lowered, lowered
from kit.plans import plan_for
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.exits.early_exits import add_early_exits, why_none
from kmcompile.exits.feature_functions import offer_additive
from kmcompile.exits.without_vectors import Board
from kmcompile.lower.formats import lower_in_format
from kmcompile.passes import run_passes
from kmcompile.program.stages import AdditiveSum, CurveSum, TableSum
from kmcompile.request.budgets import Budgets
from kmcompile.target import load_target

HOST = load_target("host")
NO_LIMIT = Budgets(None, None)


@pytest.fixture(scope="module")
def low():
    X, y = load_digits(return_X_y=True)
    return lowered(SVC(kernel=intersection_kernel).fit(X[:400], y[:400] % 2))


def offer(low, allowed=NO_LIMIT, replay="none"):
    judged = likely_inputs(low.machine, 60)
    return offer_additive(low.machine, low.program, Board(HOST, allowed, replay), judged)


def tell(text: str) -> None:
    """Ignore the text."""


@pytest.mark.parametrize("mode", ["exact", "certified"])
def test_it_is_taken_where_it_costs_less(low, mode):
    made = add_early_exits(low.machine, low.program, plan_for(low.machine, mode=mode), tell)
    assert isinstance(made.program.sum, AdditiveSum)
    assert made.program.mode == mode
    assert made.program.early_exits == ()
    if mode == "certified":
        assert made.speedup > 15


def test_its_operations_are_those_of_every_query(low):
    offered = offer(low)
    wanted = offered.program.sum.operations() + offered.program.label.operations()
    assert set(offered.operations) == {wanted}


def test_tables_that_do_not_fit_are_not_offered(low):
    table_bytes = offer(low).program.table_bytes
    assert offer(low, Budgets(table_bytes, None)) is not None
    assert offer(low, Budgets(table_bytes - 1, None)) is None
    assert offer(low, Budgets(table_bytes, None), "where_double_is_float64") is None


@pytest.mark.parametrize("mode", ["exact", "certified"])
def test_in_an_integer_format_the_sum_of_table_values_stands_alone_and_a_reason_is_told(mode):
    X, y = load_digits(return_X_y=True)
    machine = load_machine(SVC(kernel=intersection_kernel).fit(X[:100], y[:100] % 2))
    one = lower_in_format(machine, HOST, "iris", "int8")
    plan = plan_for(one.machine, mode=mode)
    made = add_early_exits(one.machine, one.program, plan, tell)
    assert isinstance(made.program.sum, TableSum)
    assert made.program.early_exits == ()
    reason = why_none(one.machine, plan, one.program)
    assert reason.endswith("table_sum looks up one value a feature, and no early exit costs less")


@pytest.fixture(scope="module")
def curved():
    X, y = load_digits(return_X_y=True)
    low = lowered(SVC(kernel=additive_chi2_kernel).fit(X[:400], y[:400] % 2))
    return Lowered(low.estimator, run_passes(low.machine), low.program)


def test_a_machine_with_the_additive_chi2_kernel_is_summed_by_curves(curved):
    plan = plan_for(curved.machine, mode="certified")
    made = add_early_exits(curved.machine, curved.program, plan, tell)
    assert isinstance(made.program.sum, CurveSum)
    assert made.speedup > 15


@pytest.mark.exhaustive
@pytest.mark.parametrize("replay", ["none", "where_double_is_float64"])
def test_curves_that_leave_labels_open_are_not_offered_whatever_is_replayed(curved, replay):
    """Beyond the last knots nothing is certified, and the replay does not come nearer."""
    board = Board(HOST, NO_LIMIT, replay)
    judged = np.maximum(likely_inputs(curved.machine, 60), 0)
    assert offer_additive(curved.machine, curved.program, board, judged) is not None
    assert offer_additive(curved.machine, curved.program, board, 20 * judged) is None


def test_the_exponential_of_a_sum_keeps_its_vectors_and_a_note_says_why():
    X, y = load_digits(return_X_y=True)
    one = lowered(SVC(kernel=chi2_kernel).fit(X[:60] / 16, y[:60] % 2))
    assert (
        offer_additive(one.machine, one.program, Board(HOST, NO_LIMIT, "none"), one.queries) is None
    )
    made = add_early_exits(one.machine, one.program, plan_for(one.machine, mode="certified"), tell)
    assert any(note.startswith("additive_sum is left out: ") for note in made.choice.notes)

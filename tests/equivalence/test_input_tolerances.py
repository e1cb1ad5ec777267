"""Answers within an input tolerance: attacked in float64, and the C is the interpreter's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf
from test_c_matches_interpreter import Compiler, check_on_host

from kit import catalogue
from kit.input_tolerances import CORE, MORE, Tolerant
from kit.real_model import DIGITS, RealModel
from kit.steps import InSteps
from kit.tools import FAST
from kmcompile.lower.input_tolerance import prepared_tolerance, with_input_tolerance
from kmcompile.model.reference import evaluate
from kmcompile.program import storage
from kmcompile.program.cost import stage_worst_operations, worst_operations
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import Sign
from kmcompile.program.stages.tolerance.poly_slopes import PolySlopes
from kmcompile.verify.box import check_box
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken
from kmcompile.verify.queries import Queries

EVERY = [*CORE, *MORE]
VALUES = [case for case in EVERY if case.data == "diabetes"]


def asked(case: Tolerant):
    """Return machine, program, queries and answers of a case."""
    emitted = catalogue.emitted(case, "host")
    X = emitted.queries
    n = len(case.fresh()) + 60
    return emitted, Queries(X, "test-data", len(case.fresh()), n)


@pytest.mark.few
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_c_matches_the_interpreter_bit_for_bit(case, tmp_path):
    check_on_host(catalogue.emitted(case, "host"), Compiler("gcc", FAST), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [*CORE[1:4], *CORE[5:], MORE[1]], ids=str)
def test_c_in_steps_matches_the_interpreter_bit_for_bit(case, tmp_path):
    """The last step of the sum bounds the decisions over the box, too."""
    emitted = catalogue.emitted(InSteps(case), "host")
    check_on_host(emitted, Compiler("gcc", FAST), tmp_path)


@pytest.mark.few
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_no_point_within_the_tolerance_has_another_label_than_a_certified_one(case):
    """Corners, points inside, and steps against the slope of the nearest decisions."""
    emitted, queries = asked(case)
    found = check_box(emitted.machine, emitted.program, queries, emitted.answers)
    assert found.points > 1000
    if emitted.program.is_regression:
        assert 0 < found.mean_reached <= found.mean_half_width
        return
    assert found.certified_share <= 1 - found.changed_share
    assert found.certified_share <= found.certified_alone_share


@pytest.mark.parametrize("case", [CORE[0], CORE[1], CORE[5], CORE[6], MORE[0], MORE[2]], ids=str)
def test_nearly_all_labels_that_no_attack_changes_are_certified(case):
    emitted, queries = asked(case)
    found = check_box(emitted.machine, emitted.program, queries, emitted.answers)
    assert found.certified_share >= 1 - found.changed_share - 0.05
    assert 0.3 < found.certified_share < 1


@pytest.mark.parametrize("case", VALUES, ids=str)
def test_intervals_of_values_are_not_much_wider_than_what_is_reached(case):
    emitted, queries = asked(case)
    found = check_box(emitted.machine, emitted.program, queries, emitted.answers)
    # An exit stops at the tolerance; a box behind a projection is one about a turned box.
    # In integers there is the first bound only.
    factor = (
        4 if case.exits or case.number_format != "float32" else 2.5 if case.steps == "pca" else 1.2
    )
    assert found.mean_half_width <= factor * found.mean_reached
    assert (found.certified_share, found.changed_share) == (None, None)


@pytest.mark.parametrize("case", [CORE[0], CORE[3], CORE[5], MORE[4]], ids=str)
def test_intervals_hold_the_decision_in_real_numbers_at_the_worst_corners(case):
    emitted = catalogue.emitted(case, "host")
    real = RealModel(case.fitted())
    X, T = case.fresh()[:12], case.tolerance()
    results = interpret(emitted.program, X).results
    rng = np.random.default_rng(3)
    for row, result in zip(X.astype(np.float64), results, strict=True):
        f = evaluate(emitted.machine, row[None]).decisions[0, 0]
        eye = np.diag(1e-4 * T)
        slope = evaluate(emitted.machine, row + eye).decisions[:, 0] - f
        for signs in (np.sign(slope), -np.sign(slope), rng.choice((-1.0, 1.0), len(row))):
            value = real.decisions(row + T * signs * (1 - 2.0**-20))[0]
            with mp.workdps(DIGITS):
                assert mpf(float(result["lower"])) <= value <= mpf(float(result["upper"]))


def test_larger_tolerance_certifies_no_label_that_a_smaller_one_does_not():
    case = CORE[0]
    shares = []
    before = None
    for share in (0.0, 0.02, 0.1, 0.3):
        _, program = replace(case, share=share).lower("host")
        certified = interpret(program, case.fresh()).results["certified"]
        if before is not None:
            assert not (certified & ~before).any()
        before = certified
        shares.append(certified.mean())
    assert shares[0] > shares[1] > shares[3]


def test_decisions_and_labels_are_those_without_a_tolerance():
    """The label is of the received input, whether or not it holds for the box."""
    for case in CORE[:3]:
        machine, program = case.lower("host")
        answers = interpret(program, case.fresh())
        labels = evaluate(machine, case.fresh()).labels
        np.testing.assert_array_equal(answers.results["label"], labels)


@pytest.mark.parametrize("weaker", ["widths", "bends", "scales"])
def test_check_finds_bounds_that_are_too_small(weaker):
    """reliability: a wrong bound over the box is found by the points that are tried."""
    case = replace(CORE[0], share=0.1)
    emitted = case.emit("host")
    box = emitted.program.box
    assert box is not None and box.slopes is not None
    if weaker == "widths":
        wrong = replace(box, widths=box.widths * np.float32(0.02), slopes=None)
    elif weaker == "bends":
        slopes = replace(box.slopes, scales=box.slopes.scales * np.float32(0.95))
        wrong = replace(box, slopes=replace(slopes, bends=np.zeros_like(slopes.bends)))
    else:
        wrong = replace(box, slopes=replace(box.slopes, scales=box.slopes.scales * np.float32(0.5)))
    program = replace(emitted.program, box=wrong)
    X = np.concatenate([case.fresh(), _near_the_boundary(case, emitted.machine)])
    queries = Queries(X, "test-data", len(X), len(X))
    with pytest.raises(FailedCheckError, match="input tolerance") as error:
        check_box(emitted.machine, program, queries, interpret(program, X))
    assert error.value.finding.broken is Broken.BOX
    assert len(error.value.finding.rows)


@pytest.mark.parametrize("weaker", ["widths", "distance", "bends", "growths", "scales"])
def test_check_finds_polynomial_bounds_that_are_too_small(weaker):
    """reliability: each part of the bounds of a cubic is needed."""
    case = replace(CORE[5], share={"bends": 1.0, "growths": 2.0}.get(weaker, 0.1))
    emitted = case.emit("host")
    box = emitted.program.box
    assert box is not None and isinstance(box.slopes, PolySlopes) and box.distance is not None
    distance, slopes = box.distance, box.slopes
    if weaker == "widths":
        distance = replace(distance, widths=distance.widths * np.float32(0.02))
        wrong = replace(box, widths=box.widths * np.float32(0.02), distance=distance, slopes=None)
    elif weaker == "distance":
        none = np.float32(1e-9)
        nearer = replace(distance, per_square=distance.per_square * none, half=none)
        wrong = replace(box, widths=box.widths * np.float32(0.1), distance=nearer, slopes=None)
    elif weaker == "bends":
        wrong = replace(box, slopes=replace(slopes, bends=np.zeros_like(slopes.bends)))
    elif weaker == "growths":
        none = np.zeros_like(slopes.growths)
        wrong = replace(box, slopes=replace(slopes, growths=none, bends=slopes.bends * 0))
    else:
        wrong = replace(box, slopes=replace(slopes, scales=slopes.scales * np.float32(0.5)))
    program = replace(emitted.program, box=wrong)
    X = np.concatenate([case.fresh(), _near_the_boundary(case, emitted.machine)])
    queries = Queries(X, "test-data", len(X), len(X))
    with pytest.raises(FailedCheckError, match="input tolerance") as error:
        check_box(emitted.machine, program, queries, interpret(program, X))
    assert error.value.finding.broken is Broken.BOX


def _near_the_boundary(case: Tolerant, machine) -> np.ndarray:
    """Return inputs on lines between samples, which pass the boundary at some place."""
    X = case.fresh().astype(np.float64)
    f = evaluate(machine, X).decisions[:, 0]
    ends = X[f > 0][:40], X[f < 0][:40]
    n = min(map(len, ends))
    share = np.linspace(0.2, 0.8, 25)[:, None, None]
    return (share * ends[0][:n] + (1 - share) * ends[1][:n]).reshape(-1, X.shape[1]).astype("f4")


def test_program_with_a_tolerance_is_stored_and_printed():
    _, program = CORE[0].lower("host")
    loaded = storage.load(storage.save(program), "program.npz")
    assert str(loaded) == str(program)
    assert "input_tolerance.slopes.rounding" in str(program)
    X = CORE[0].fresh()
    np.testing.assert_array_equal(interpret(loaded, X).results, interpret(program, X).results)


def test_program_without_a_tolerance_says_nothing_of_one():
    _, program = CORE[0].lower("host")
    plain = replace(program, box=None, prepare=replace(program.prepare, reach=None))
    assert b"box" not in storage.save(plain)
    assert "prepare.reach" not in str(plain)
    assert "prepare.reach" in str(program)


def test_tolerance_of_prepared_inputs_holds_for_every_pair_of_inputs():
    rng = np.random.default_rng(8)
    for case in (CORE[2], MORE[0]):
        machine, _ = case.lower("host")
        T = case.tolerance()
        t = prepared_tolerance(machine.preprocessing, T)
        X = case.fresh().astype(np.float64)
        moved = X + T * rng.choice((-1.0, 1.0), X.shape)
        apart = np.abs(machine.prepare(moved) - machine.prepare(X))
        assert (apart <= t + 1e-12).all()
        assert (apart.max(axis=0) > 0.2 * t).all()


def test_operations_are_at_most_the_worst_case():
    for case in CORE:
        emitted = catalogue.emitted(case, "host")
        program, answers = emitted.program, emitted.answers
        assert answers.operations.max() <= worst_operations(program)
        stages = [s for s in program.stages if s is not program.replay]
        most = [stage_worst_operations(program, stage) for stage in stages]
        assert (answers.stage_operations.max(axis=0)[: len(most)] <= most).all()


def test_the_interval_is_that_of_the_label_where_the_box_leaves_it_open():
    """Of the largest decision: the box may have its largest middle at another class."""
    case = Tolerant("wine", "standard", "linear", 1.0, n_trained=100)
    program = catalogue.emitted(case, "host").program
    answers = interpret(program, case.fresh())
    rows, label = np.arange(len(answers.decisions)), answers.results["label"]
    assert not answers.results["certified"].all()
    assert (answers.results["lower"] <= answers.decisions[rows, label]).all()
    assert (answers.decisions[rows, label] <= answers.results["upper"]).all()


def test_tolerance_of_none_changes_nothing():
    machine, program = CORE[0].lower("host")
    assert with_input_tolerance(program, machine, None) is program


def test_certified_labels_of_a_sign_have_an_interval_without_zero():
    for case in (CORE[0], CORE[3], MORE[4]):
        emitted = catalogue.emitted(case, "host")
        assert isinstance(emitted.program.label, Sign)
        results = emitted.answers.results[emitted.answers.results["status"] == Status.OK]
        clear = (results["lower"] > 0) | (results["upper"] < 0)
        np.testing.assert_array_equal(clear, results["certified"])

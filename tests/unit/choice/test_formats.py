"""Number formats: which a machine has, what each certifies, and which one auto takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from format_machines import (
    TARGET,
    cancer_machine,
    cancer_samples,
    chosen,
    digits_machine,
    wiggly_machine,
)
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import kmcompile
from kit.plans import plan_for
from kmcompile import readers
from kmcompile.choice.asked_vectors import as_asked
from kmcompile.choice.format_shares import ENOUGH
from kmcompile.choice.formats import Tried
from kmcompile.choice.program import choose_program
from kmcompile.lower.formats import Lowered, lacking_certificates, lower_in_format
from kmcompile.program.cost import exact_operations
from kmcompile.program.estimate import CODE_BYTES, Estimate, estimate
from kmcompile.program.interpreter import interpret
from kmcompile.program.wanted import Wanted
from kmcompile.target import Cost, OperationCost, Target
from kmcompile.text.figures import share_text


def priced(float32: float, int16: float, int8: float) -> Target:
    """Return a target on which every operation of a format takes so many instructions."""
    own = [OperationCost(price, price) for price in (float32, int16, int8)]
    return replace(TARGET, cost=Cost(*own, float64=float32, integers=float32))


CLOSE = priced(0.8, 1.0, 1.0)
"""A target on which the sums of digits take about as many instructions in every format."""


def test_integer_vectors_are_taken_as_they_are():
    lowered, candidates = chosen(digits_machine())
    assert lowered.program.number_format == "int8"
    assert lowered.coded is not None and lowered.coded.lossless
    assert "uint8 codes" in lowered.notes[0]
    assert "its program is the same" in candidates["int16"].reason
    assert "instructions of int8" in candidates["float32"].reason


def test_real_vectors_take_16_bits_where_they_certify_enough():
    lowered, candidates = chosen(cancer_machine(), samples=cancer_samples())
    assert lowered.program.number_format == "int16"
    assert lowered.coded is not None and not lowered.coded.lossless
    certified = {
        key: candidates[key].lowered.measured.certified_share for key in ("float32", "int16")
    }
    assert certified["int16"] >= ENOUGH * certified["float32"]


def test_8_bits_that_certify_too_little_are_told_with_their_share():
    lowered, candidates = chosen(wiggly_machine())
    assert lowered.program.number_format != "int8"
    share = candidates["int8"].lowered.measured.certified_share
    text = f"not for this machine: 8 bits certify {share_text(share)} of ordinary inputs"
    assert candidates["int8"].reason == text


def test_a_format_that_certifies_less_than_float32_is_told():
    _, candidates = chosen(cancer_machine(), samples=cancer_samples())
    measured = candidates["int8"].lowered.measured.certified_share
    assert 0.5 < measured < ENOUGH
    assert candidates["int8"].lowered.measured.inputs == "the samples in --data"
    assert candidates["int8"].reason == "certifies less than 97 % of the inputs that float32 does"


def test_float32_stays_where_it_is_cheapest():
    lowered, candidates = chosen(digits_machine(), priced(1.0, 9.0, 9.0))
    assert lowered.program.number_format == "float32"
    assert lowered.coded is None
    assert "times the instructions of float32" in candidates["int8"].reason


def test_a_lossless_format_wins_a_tie():
    X, y = load_iris(return_X_y=True)
    machine = readers.load_model(SVC().fit(X, y))
    floats, codes = (lower_in_format(machine, TARGET, "model", key) for key in ("float32", "int8"))
    in_float = codes.program.sum.float_operations  # they cost as those of the other program
    own = codes.measured.operations - in_float
    target = priced(own, 1e9, floats.measured.operations - in_float)
    lowered, candidates = chosen(machine, target)
    assert candidates["int8"].estimate.mean == candidates["float32"].estimate.mean
    assert lowered.program.number_format == "int8"


def few_instructions(mean: float, worst: float = 1.0, flash_bytes: float = 1.0) -> Tried:
    """Return what a program takes with exits that gain 1,000 times."""
    return Tried(1000.0, Estimate(mean, worst, flash_bytes))


def test_early_exits_count():
    costs = {"float32": few_instructions(10.0), "int8": few_instructions(1000.0)}
    lowered, candidates = chosen(
        digits_machine(),
        CLOSE,
        with_exits=lambda one: costs[one.program.number_format],
    )
    assert lowered.program.number_format == "float32"
    assert candidates["float32"].speedup == 1000.0
    assert candidates["int16"].speedup is None  # its program is that of int8
    assert "100.0 times the instructions of float32" in candidates["int8"].reason


@pytest.mark.parametrize(
    ("optimize", "slower", "expected"),
    [
        ("mean", 20.0, "float32"),
        ("worst", 20.0, "int8"),
        ("flash", 20.0, "int8"),
        ("balanced", 220.0, "float32"),
        ("balanced", 200.0, "int8"),
    ],
)
def test_what_is_made_small_first_decides(optimize, slower, expected):
    costs = {
        "float32": few_instructions(10.0, 900.0, 40_000.0),
        "int8": few_instructions(slower, 90.0, 9_000.0),
    }
    lowered, candidates = chosen(
        digits_machine(),
        CLOSE,
        with_exits=lambda one: costs[one.program.number_format],
        wanted=Wanted(optimize),
    )
    assert lowered.program.number_format == expected
    behind = {
        "float32": "10.0 times the worst case of int8, 4.4 times the flash of int8",
        "int8": f"{slower / 10:.1f} times the instructions of float32",
    }
    other = next(key for key in costs if key != expected)
    assert candidates[other].reason == behind[other]


def test_a_sum_that_is_dearer_by_far_is_not_tried_with_exits():
    tried = []

    def with_exits(one: Lowered) -> Tried:
        tried.append(one.program.number_format)
        return few_instructions(1.0)

    _, candidates = chosen(digits_machine(), priced(9.0, 1.0, 1.0), with_exits=with_exits)
    assert tried == ["int8"]
    assert "early exits save it no more" in candidates["float32"].reason


def test_what_does_not_fit_is_not_taken_and_told():
    machine = cancer_machine()
    tables = lower_in_format(machine, TARGET, "model", "float32").program.table_bytes
    lowered, candidates = chosen(machine, priced(1.0, 9.0, 9.0), flash_bytes=tables - 1)
    assert lowered.program.number_format == "int16"
    assert candidates["float32"].reason.startswith("does not fit: its tables take")
    assert "float32 does not fit" in candidates["int16"].reason


def test_where_nothing_fits_the_smallest_is_taken():
    lowered, candidates = chosen(digits_machine(), flash_bytes=10)
    sizes = {key: c.lowered.program.table_bytes for key, c in candidates.items()}
    assert lowered.program.table_bytes == min(sizes.values())
    assert all(c.reason.startswith("does not fit") for c in candidates.values())


def test_the_estimate_prices_products_and_the_rest_apart():
    lowered = lower_in_format(digits_machine(), TARGET, "model", "int8")
    program, operations = lowered.program, lowered.measured.operations
    free = OperationCost(0.0, 0.0)
    products = Cost(free, free, OperationCost(1.0, 0.0), 0.0, 0.0)
    others = Cost(free, free, OperationCost(0.0, 1.0), 0.0, 0.0)
    floats = Cost(OperationCost(0.0, 1.0), free, free, 0.0, 0.0)
    of_products, of_others, of_floats = (
        estimate(program, program, operations, 1.0, 0.0, cost).mean
        for cost in (products, others, floats)
    )
    assert of_products + of_others + of_floats == operations
    assert of_others + of_floats == exact_operations(program) - program.codes.operations()
    assert of_floats == program.sum.float_operations == 12 * program.n_decisions


@pytest.mark.parametrize(
    "model", [LinearSVC(random_state=0), SVC(kernel="poly")], ids=["weights", "poly"]
)
def test_a_machine_without_integers_stays_in_float32(model):
    X, y = load_breast_cancer(return_X_y=True)
    scaled = StandardScaler().fit_transform(X)
    machine = readers.load_model(model.fit(scaled, y))
    lowered, candidates = chosen(machine)
    assert lowered.program.number_format == "float32"
    assert candidates["float32"].reason == "no other format is for this machine"
    for key in ("int16", "int8"):
        assert candidates[key].lowered is None
        assert candidates[key].reason.startswith("not for this machine: ")


@pytest.mark.exhaustive
def test_8_bits_that_certify_too_little_are_taken_only_where_they_are_asked_for():
    samples = cancer_samples()[:, :2]
    lowered = lower_in_format(wiggly_machine(), TARGET, "model", "int8", samples)
    share = share_text(lowered.measured.certified_share)
    assert lacking_certificates(lowered) == f"8 bits certify {share} of the samples in --data"
    for flash_bytes in (None, 1, lowered.program.table_bytes + CODE_BYTES):
        taken, candidates = chosen(wiggly_machine(), TARGET, flash_bytes, samples=samples)
        assert taken.program.number_format != "int8"
        assert candidates["int8"].reason.startswith("not for this machine")


@pytest.mark.exhaustive
def test_no_taken_format_is_not_for_the_machine():
    sizes = {key: c.lowered.program.table_bytes for key, c in chosen(wiggly_machine())[1].items()}
    for flash_bytes in sizes.values():
        for spare in (0, CODE_BYTES):
            _, candidates = chosen(wiggly_machine(), TARGET, flash_bytes + spare)
            (reason,) = (c.reason for c in candidates.values() if c.chosen)
            assert "not for this machine" not in reason


def test_a_flash_budget_that_changes_the_format_is_warned_of():
    machine = cancer_machine()
    dear = priced(1.0, 9.0, 9.0)
    _, free = chosen(machine, dear)
    assert free["float32"].chosen
    assert not any(c.warning for c in free.values())
    tables = free["float32"].lowered.program.table_bytes
    _, tight = chosen(machine, dear, flash_bytes=tables + CODE_BYTES - 1)
    assert tight["int16"].chosen
    certified = [
        share_text(tight[k].lowered.measured.certified_share) for k in ("int16", "float32")
    ]
    assert tight["int16"].warning == (
        f"float32 does not fit {tables + CODE_BYTES - 1:,} bytes of flash: the format is int16, "
        f"which certifies {certified[0]} of ordinary inputs, float32 {certified[1]}"
    )


def test_a_format_of_a_reduced_machine_is_judged_by_what_it_answers():
    machine = wiggly_machine()
    plan = plan_for(machine, reduce="40")
    reduced = as_asked(machine, plan, lambda _: None, None).machine
    assert reduced.reduced_from is not None
    samples = cancer_samples()[:, :2]
    lowered = lower_in_format(reduced, TARGET, "model", "int8", samples)
    assert lowered.measured.certified_share < 0.5
    assert lacking_certificates(lowered) == ""
    _, candidates = chosen(reduced, samples=samples)
    ordinary = candidates["float32"].lowered.ordinary
    labels = {
        key: interpret(c.lowered.program, ordinary).results["label"]
        for key, c in candidates.items()
    }
    alike = (labels["int8"] == labels["float32"]).mean()
    assert alike < 0.999
    assert not candidates["int8"].chosen
    assert "as float32 does" in candidates["int8"].reason


@pytest.mark.exhaustive
def test_a_program_within_the_instructions_is_taken_where_there_is_one():
    plan = plan_for(cancer_machine(), target="cortex-m7")
    free = choose_program(cancer_machine(), plan, lambda _: None).takes
    most = int(0.97 * free.worst)
    short = replace(plan, budgets=replace(plan.budgets, instructions=most))
    limited = choose_program(cancer_machine(), short, lambda _: None).takes
    assert limited.worst <= most
    assert free.mean < limited.mean


@pytest.mark.exhaustive
def test_an_exit_that_is_searched_for_on_request_is_not_said_to_pay_in_no_format():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(C=10)).fit(X[:300], y[:300])
    given = {"target": "cortex-m4", "mode": "certified", "optimize": "worst", "verify": "none"}
    made = kmcompile.compile_model(model, format="auto", **given)
    notes = [note for note in made.report["choice"]["notes"] if note.startswith("bound_sequence")]
    assert made.program.number_format != "float32"
    assert len(notes) == 1 and notes[0].endswith("ask for it with --require bound_sequence")

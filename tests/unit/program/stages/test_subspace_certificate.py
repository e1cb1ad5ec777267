"""The subspace certificate: its intervals hold f wherever an input lies, and never say too much."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from mpmath import mp, mpf

from kit import catalogue, subspaces
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate

LIMITS = (0, 1, 7, 0xFFFFFFFF)
PLAIN = subspaces.CORE[0]
NEARLY_ZERO = 10 * np.finfo(np.float64).eps
"""A row with a smaller norm stays as it is in sklearn.preprocessing.normalize."""


def emitted_of(case):
    return catalogue.emitted(case, "host")


def stage_of(program) -> SubspaceCertificate:
    return next(stage for stage in program.stages if isinstance(stage, SubspaceCertificate))


def hard_inputs(emitted) -> np.ndarray:
    """Return inputs at and beside vectors, at 0, far away, tiny, and on both sides of f = 0."""
    rng = np.random.default_rng(4)
    ordinary = emitted.queries[: len(emitted.queries) // 2]
    vectors = emitted.machine.support_vectors.astype(np.float32)
    if emitted.machine.preprocessing:
        vectors = ordinary[:40]
    few = ordinary[:30]
    scales = np.float32([1e-44, 1e-30, 1e-18, 1e-6, 30.0, 1e4, 1e9])
    parts = [vectors, np.nextafter(vectors, np.float32(9.0)), 0 * few[:1], -few]
    parts += [few * scale for scale in scales]
    parts += [rng.normal(size=few.shape), *bisected(emitted, ordinary)]
    return np.concatenate(parts).astype(np.float32)


def bisected(emitted, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return neighbours in float32 whose decisions have different signs."""
    f = evaluate(emitted.machine, X).decisions[:, 0]
    n = min((f > 0).sum(), (f < 0).sum(), 60)
    above, below = X[f > 0][:n], X[f < 0][:n]
    for _ in range(40):
        middle = ((above.astype(np.float64) + below) / 2).astype(np.float32)
        up = (evaluate(emitted.machine, middle).decisions > 0).repeat(X.shape[1], axis=1)
        above, below = np.where(up, middle, above), np.where(up, below, middle)
    return above, below


def check_intervals(emitted, X: np.ndarray, limit: int) -> np.ndarray:
    """Check intervals and labels of the accepted inputs; return the results."""
    results, _ = classify(emitted.program, X, limit)
    accepted = results["status"] == Status.OK
    reference = evaluate(emitted.machine, X[accepted])
    f, error = reference.decisions[:, 0], reference.error[:, 0]
    answered = results[accepted]
    assert (answered["lower"] <= f + error).all()
    assert (answered["upper"] >= f - error).all()
    sure = answered["certified"] & (np.abs(f) > error)
    assert (answered["label"][sure] == reference.labels[sure]).all()
    return answered


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("case", subspaces.CORE, ids=str)
def test_intervals_hold_the_decision(case, limit):
    emitted = emitted_of(case)
    answered = check_intervals(emitted, emitted.queries, limit)
    early = answered["stage"] == 0
    assert (answered["kernel_evals"][early] <= min(limit, case.max_touched)).all()
    assert answered["certified"][early].any() or limit < case.max_touched


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("case", subspaces.CORE, ids=str)
def test_intervals_hold_the_decision_of_hard_inputs(case, limit):
    emitted = emitted_of(case)
    assert len(check_intervals(emitted, hard_inputs(emitted), limit)) > 100


@pytest.mark.few
@pytest.mark.parametrize("case", subspaces.CORE, ids=str)
def test_intervals_hold_the_decision_in_50_digits(case):
    emitted = emitted_of(case)
    X = hard_inputs(emitted)
    X = X[np.random.default_rng(1).permutation(len(X))[:12]]
    results, _ = classify(emitted.program, X, 3)
    for x, result in zip(X, results, strict=True):
        if result["status"] == Status.OK:
            assert mpf(float(result["lower"])) <= exact_decision(emitted.machine, x)
            assert mpf(float(result["upper"])) >= exact_decision(emitted.machine, x)


def exact_decision(machine, x: np.ndarray):
    """Return f of one raw input; every float64 of the model is taken as it is."""
    mp.dps = 50
    v = [mpf(float(value)) for value in x]
    for step in machine.preprocessing:
        if hasattr(step, "norm"):
            length = mp.sqrt(mp.fsum(value * value for value in v))
            v = v if length < NEARLY_ZERO else [value / length for value in v]
        else:
            offset, factor = ([mpf(float(a)) for a in part] for part in (step.offset, step.factor))
            v = [(a - b) * c for a, b, c in zip(v, offset, factor, strict=True)]
    kernel = machine.kernel
    terms = []
    for s, beta in zip(machine.support_vectors, machine.dual_coef[0], strict=True):
        inner = mp.fsum(mpf(float(a)) * b for a, b in zip(s, v, strict=True))
        u = mpf(float(kernel.gamma)) * inner + mpf(float(kernel.coef0))
        terms.append(mpf(float(beta)) * u**kernel.degree)
    return mp.fsum(terms) + mpf(float(machine.intercept[0]))


def test_the_decision_in_50_digits_is_scikit_learns_around_the_size_at_which_rows_stay():
    """What the intervals are held against: a Normalizer divides no row that is nearly 0."""
    machine, model = emitted_of(PLAIN).machine, PLAIN.fitted()
    row = PLAIN.fresh[0] / np.linalg.norm(PLAIN.fresh[0])
    X = np.outer([1e-30, 1e-18, 0.9 * NEARLY_ZERO, 1.1 * NEARLY_ZERO, 1e-12, 1.0], row)
    X = X.astype(np.float32).astype(np.float64)
    reference = evaluate(machine, X)
    allowed = 2 * reference.error[:, 0]  # scikit-learn rounds as often
    exact = np.array([float(exact_decision(machine, x)) for x in X])
    assert (np.abs(exact - model.decision_function(X)) <= allowed).all()
    assert (exact[:3] == float(machine.intercept[0])).all()
    assert (exact[3:] != float(machine.intercept[0])).all()


@pytest.mark.parametrize("limit", LIMITS)
def test_intervals_hold_the_decision_around_the_size_at_which_rows_stay(limit):
    emitted = emitted_of(PLAIN)
    rows = PLAIN.fresh[:20] / np.linalg.norm(PLAIN.fresh[:20], axis=1, keepdims=True)
    sizes = NEARLY_ZERO * 2.0 ** np.linspace(-4, 4, 33)
    X = (sizes[:, None, None] * rows).reshape(-1, rows.shape[1]).astype(np.float32)
    assert len(check_intervals(emitted, X, limit)) == len(X)


def test_more_kernels_give_narrower_intervals():
    emitted = emitted_of(PLAIN)
    widths = []
    for limit in (0, 4, 16):
        results, _ = classify(emitted.program, emitted.queries[:100], limit)
        widths.append(results["upper"] - results["lower"])
    assert (widths[0] >= widths[1]).all()
    assert (widths[1] >= widths[2]).all()
    assert np.median(widths[2]) < np.median(widths[0])


def test_with_one_evaluation_a_vector_the_sum_can_be_asked():
    emitted = emitted_of(PLAIN)
    exact = emitted.program.ends.exact.kernel_evaluations()
    full, _ = classify(emitted.program, emitted.queries)
    within, _ = classify(emitted.program, emitted.queries, exact)
    reached = full["kernel_evals"] <= exact
    assert (full["stage"][reached] == len(emitted.program.early_exits)).any()
    np.testing.assert_array_equal(within[reached], full[reached])


@pytest.mark.parametrize("case", subspaces.CORE, ids=str)
def test_a_query_costs_at_most_what_the_stage_says_beyond_the_exact_sum(case):
    emitted = emitted_of(case)
    program = emitted.program
    results, operations = classify(program, emitted.queries)
    operations = operations[results["status"] == Status.OK]
    ends = program.ends
    own = stage_of(program).worst_operations(ends)
    before = program.prepare.operations()
    listed = sum(s.operations() for s in program.stages if s.template == "nonzeros")
    exact = ends.exact.operations() + ends.label.operations()
    assert operations.max() <= before + listed + own + exact


def test_inputs_whose_weights_would_overflow_are_left_to_the_exact_sum():
    emitted = emitted_of(PLAIN)
    program = emitted.program
    batch = program.prepare.run(Batch.of(emitted.queries[:20], 1))
    far = replace(batch, length=np.full(len(batch), 2.0**60, dtype=np.float32))
    after, decided = stage_of(program).decide(far, program.ends)
    assert not decided.any()
    assert (after.kernel_evals == 0).all()
    assert (after.least == batch.least).all()


def test_every_kernel_that_is_touched_is_known_to_the_exact_sum():
    emitted = emitted_of(PLAIN)
    program = emitted.program
    batch = program.prepare.run(Batch.of(emitted.queries[:60], 1))
    after, decided = stage_of(program).decide(batch, program.ends)
    assert (after.known == after.kernel_evals).all()
    assert (after.known[~decided] == PLAIN.max_touched).all()
    assert (after.known[decided] < PLAIN.max_touched).any()


@pytest.mark.parametrize("case", subspaces.CORE, ids=str)
def test_the_constants_are_finite(case):
    stage = stage_of(emitted_of(case).program)
    for part in (stage, stage.remainder):
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, np.ndarray | np.floating):
                assert np.isfinite(value).all(), field.name

"""Statistical labels are counted stage by stage, and refute a promise only where they do."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kit.hand_made_cascade import digits, digits_cascade
from kit.lowered import Lowered
from kmcompile.errors import VerificationError
from kmcompile.exits.statistical.binomial import CONFIDENCE, clopper_pearson_lower
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.exits.statistical.risk import Tally
from kmcompile.model.likely_inputs import generate
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Answers
from kmcompile.program.stages import LinearFilter
from kmcompile.verify.checks import ModelCheck, check_bounded
from kmcompile.verify.queries import Queries
from kmcompile.verify.statistical import check_promise

N_TEST = 150
NONE = np.zeros(0, dtype=np.intp)


def promise(risk: float | None, control="guaranteed") -> Promise:
    return Promise(control, risk, risk, 0.99 if control == "guaranteed" else None, 5000, 0, 1.0)


@cache
def hasty() -> Lowered:
    """Return a cascade whose filter decides everything: many labels are not the model's."""
    low = digits_cascade("rbf", (3, 8))
    exits = tuple(
        replace(stage, half_width=np.zeros(1)) if isinstance(stage, LinearFilter) else stage
        for stage in low.program.exits
    )
    return Lowered(low.estimator, low.machine, replace(low.program, exits=exits))


@cache
def asked(low: Lowered, source: str = "test-data") -> tuple[Queries, Answers]:
    # Mixtures of both classes: some leave early with another label than the model's.
    X, y = digits((3, 8))
    rng = np.random.default_rng(0)
    a, b = rng.choice(X[y == 3], N_TEST), rng.choice(X[y == 8], N_TEST)
    given = ((a + b) / 2).astype(np.float32)
    X = np.concatenate([given, generate(low.machine, 200)])
    return Queries(X, source, N_TEST, len(X)), low.answers(X)


def check(low: Lowered, held: Promise | None = None, source: str = "test-data") -> ModelCheck:
    queries, answers = asked(low, source)
    return check_bounded(low.machine, queries, answers, low.program.early_exits, held)


def test_labels_are_counted_by_stage_and_kind_of_query():
    low = hasty()
    queries, answers = asked(low)
    differs = answers.results["label"] != evaluate(low.machine, queries.X).labels
    found = check(low)
    assert found.label_disagreements == differs[:N_TEST].sum() > 0
    assert [labels.name for labels in found.early_exits] == [
        "linear_filter",
        "reduced_set_1",
        "nearest_vectors",
    ]
    for number, labels in enumerate(found.early_exits):
        here = answers.results["stage"] == number
        assert labels.decided == here[:N_TEST].sum()
        assert labels.generated == here[N_TEST:].sum()
        assert labels.disagreements == (here & differs)[:N_TEST].sum()
        assert labels.generated_disagreements == (here & differs)[N_TEST:].sum()
        assert 0 <= labels.intervals_that_hold <= labels.intervals == here.sum()
    assert f"{found.early_exits[0].disagreements} unlike the model" in "\n".join(found.notes)


def test_intervals_that_hold_the_models_value_are_counted():
    low = digits_cascade("rbf", (3, 8))
    queries, answers = asked(low)
    f = evaluate(low.machine, queries.X).decisions[:, 0]
    results = answers.results
    holds = (results["lower"] <= f) & (f <= results["upper"])
    for number, labels in enumerate(check(low).early_exits):
        assert labels.intervals_that_hold == (holds & (results["stage"] == number)).sum()


def test_an_exact_program_has_no_early_exits_to_count():
    low = hasty()
    queries, answers = asked(low)
    assert check_bounded(low.machine, queries, answers).early_exits == ()


def test_test_samples_refute_a_guarantee_that_is_too_small():
    low = hasty()
    disagreements = check(low).label_disagreements
    lower = clopper_pearson_lower(disagreements, N_TEST, CONFIDENCE)
    with pytest.raises(VerificationError, match=f"^{disagreements} of {N_TEST} test samples"):
        check(low, promise(0.99 * lower))
    assert check(low, promise(1.01 * lower)).remarks == ()


def test_a_risk_in_expectation_is_not_refuted_by_one_program_but_noted():
    low = hasty()
    disagreements = check(low).label_disagreements
    lower = clopper_pearson_lower(disagreements, N_TEST, CONFIDENCE)
    found = check(low, promise(0.99 * lower, "expected"))
    (note,) = found.remarks
    assert note in found.notes
    assert note.startswith(f"{disagreements} of {N_TEST} test samples")
    assert "on average over calibration sets" in note
    assert check(low, promise(1.01 * lower, "expected")).remarks == ()


def test_test_samples_with_labels_refute_a_loss():
    promised = replace(promise(0.01), gained=2)
    check_promise(promised, NONE, Tally(1000, 20, 18))
    check_promise(promised, np.arange(90), Tally(1000, 90))  # nothing is known of right labels
    with pytest.raises(VerificationError, match=r"^50 of 1,000 test samples lose a right"):
        check_promise(promised, NONE, Tally(1000, 50, 18))
    assert check_promise(replace(promised, control="expected"), NONE, Tally(1000, 50, 18))


def test_right_labels_of_the_test_samples_are_counted_by_class():
    low = hasty()
    queries, answers = asked(low)
    said = answers.results["label"][:N_TEST].astype(np.int64)
    trained = evaluate(low.machine, queries.X[:N_TEST]).labels
    known = replace(queries, truth=said)
    found = check_bounded(low.machine, replace(known, of_loss=True), answers)
    differ = (said != trained).sum()
    assert found.tally == (N_TEST, 0, differ) and differ > 0
    assert check_bounded(low.machine, known, answers).tally == (N_TEST, differ, None)
    assert found.accuracy is not None
    assert found.accuracy.program == found.accuracy.samples == tuple(np.bincount(said))
    assert sum(found.accuracy.model) == N_TEST - differ
    assert not any(found.accuracy.program_instead)
    for right, others in enumerate(found.accuracy.model_instead):
        counts = np.bincount(trained[said == right], minlength=low.machine.n_classes)
        assert others == {k: n for k, n in enumerate(counts) if n and k != right}


def test_nothing_else_refutes_it():
    low = hasty()
    check(low, promise(1e-6), source="held-out")
    check(low, promise(None, "none"))
    queries, answers = asked(low)
    none_given = Queries(queries.X, "generated", 0, len(queries.X))
    check_bounded(low.machine, none_given, answers, low.program.early_exits, promise(1e-6))


@pytest.mark.parametrize("n", [1, 100, 10_000])
def test_no_disagreement_and_no_sample_refute_nothing(n):
    check_promise(promise(1e-9), NONE, n)
    check_promise(promise(1e-9), NONE, 0)

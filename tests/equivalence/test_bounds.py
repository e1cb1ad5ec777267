"""The error bounds hold against the trained model in real numbers, 50 digits of them.

The model is evaluated from scikit-learn's attributes, so that the passes are inside the bound.
"""

from __future__ import annotations

import numpy as np
import pytest
from bound_cases import (
    CHAINS,
    CLASSIFIERS,
    DATA,
    N_FEATURES,
    REFUSED,
    Case,
    cases,
    compiled,
    queries,
    samples,
)
from mpmath import mpf
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kit.covering import by_fields
from kit.lowered import lowered
from kit.real_model import RealModel
from kmcompile.errors import InputError
from kmcompile.program.interpreter import Answers, Status
from kmcompile.verify.checks import check_bounded
from kmcompile.verify.queries import Queries

QUERIES_EACH = 56
LEAST_VALUES = 20_000
"""reliability.md, the figures to reach."""


def check_bounds(real: RealModel, X: np.ndarray, answers: Answers) -> int:
    """Check every decision value, interval and certified label; return how many values."""
    assert (answers.results["status"] == Status.OK).all()
    rows = zip(X, answers.decisions, answers.bounds, answers.results, strict=True)
    for x, decisions, bounds, result in rows:
        exact = real.decisions(x)
        for f, decision, bound in zip(exact, decisions, bounds, strict=True):
            assert abs(f - mpf(float(decision))) <= mpf(float(bound)), (x.tolist(), decision)
        if result["certified"]:
            assert real.label(exact) == result["label"], x.tolist()
        lower, upper = mpf(float(result["lower"])), mpf(float(result["upper"]))
        assert lower <= exact[0] <= upper if len(exact) == 1 else lower <= upper
        if len(exact) == 1 and result["certified"]:
            assert (exact[0] > 0) == (lower > 0)
    return answers.decisions.size


def pairs(case: Case) -> int:
    """Return the decision values of a query: here always one a pair of classes."""
    return case.n_classes * (case.n_classes - 1) // 2


ACCEPTED = [c for c in cases() if (c.data, c.chain, c.classifier) not in REFUSED]


@pytest.mark.few
@pytest.mark.parametrize("case", by_fields(ACCEPTED))
def test_decisions_lie_within_their_bounds_of_the_real_numbers(case):
    low, real = compiled(case)
    X = queries(low, case, QUERIES_EACH, seed=1)
    assert check_bounds(real, X, low.answers(X)) == QUERIES_EACH * pairs(case)


@pytest.mark.parametrize("refused", sorted(REFUSED), ids="-".join)
def test_a_model_that_overflows_float32_is_refused(refused):
    with pytest.raises(InputError, match="overflows float32 for inputs of magnitude"):
        lowered(Case(*refused, 2).fitted())


def test_the_cases_hold_as_many_values_as_promised():
    values = sum(QUERIES_EACH * pairs(case) for case in ACCEPTED)
    assert values >= LEAST_VALUES
    assert {case.data for case in ACCEPTED} == set(DATA)
    assert {case.chain for case in ACCEPTED} == set(CHAINS)
    assert {case.classifier for case in ACCEPTED} == set(CLASSIFIERS)


@pytest.mark.few
@pytest.mark.parametrize("chain", CHAINS)
def test_many_decisions_lie_within_their_bounds_of_the_float64_model(chain):
    """Besides the bound, only what float64 itself rounds is allowed."""
    for classifier in ("linear", "poly3", "rbf", "sigmoid"):
        low, _ = compiled(Case("ordinary", chain, classifier, 3))
        rng = np.random.default_rng(4)
        spread = 10.0 ** rng.uniform(-3, 3, size=(4000, 1))
        X = (rng.normal(size=(4000, N_FEATURES)) * spread).astype(np.float32)
        answers = low.answers(X)
        asked = Queries(X, "generated", 0, len(X))
        assert check_bounded(low.machine, asked, answers).certified.wrong == 0


@pytest.mark.parametrize("classifier", ["linear", "rbf", "sigmoid", "linear_svc"])
def test_a_scaled_sensor_far_from_zero_keeps_certifying(classifier):
    """1000 +- 0.01 loses its signal in one float32 mean.

    The same samples without the offset, exactly as far apart, are what float32 can do.
    """
    rng = np.random.default_rng(6)
    steps = rng.integers(-400, 400, size=(80, N_FEATURES))
    y = (steps.sum(axis=1) + rng.normal(size=80) * 100 > 0).astype(int)
    shares = []
    for offset in (0.0, 1000.0):
        X = offset + steps * 2.0**-14  # what a float32 at 1000 can hold
        model = make_pipeline(StandardScaler(), CLASSIFIERS[classifier]()).fit(X, y)
        low = lowered(model)
        inputs = X.astype(np.float32)
        check_bounds(RealModel(model), inputs, low.answers(inputs))
        shares.append(low.answers(inputs).results["certified"].mean())
    assert shares[1] == shares[0] == 1.0


@pytest.mark.parametrize("classifier", ["poly3", "rbf", "sigmoid"])
def test_no_two_neighbours_across_the_boundary_are_both_certified_wrongly(classifier):
    """Bisected down to neighbouring floats along one feature, where f is next to 0."""
    low, real = compiled(Case("shifted", "standard", classifier, 2))
    ends = DATA["shifted"](samples(2)[0]).astype(np.float32)
    sign = np.array([real.decisions(x)[0] > 0 for x in ends])
    rows = []
    for a, b in zip(ends[sign], ends[~sign], strict=False):
        positive, negative = a, b
        for _ in range(40):
            middle = ((positive.astype(np.float64) + negative) / 2).astype(np.float32)
            if real.decisions(middle)[0] > 0:
                positive = middle
            else:
                negative = middle
        rows += [positive, negative]
    X = np.array(rows)
    answers = low.answers(X)
    check_bounds(real, X, answers)
    assert not answers.results["certified"].all()

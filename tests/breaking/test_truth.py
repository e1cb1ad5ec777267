"""The truth that answers are held against: float64, __float128 and mpmath agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attack import common_inputs
from mpmath import mpf
from quadruple import KERNELS, decisions
from subjects import MACHINES, fitted
from truth import QUADRUPLE_ERROR, agreement, evaluate

from kit.covering import some
from kit.real_model import RealModel
from kmcompile.kernels import CATALOGUE, Fourier
from kmcompile.program.interpreter import Status, check

N_MPMATH = 20_000
CHOSEN = ("rbf-line", "linear-wine", "intersection-wine")
"""What `make test` takes of them."""
FAST = [subject for subject in MACHINES if subject.is_here and subject.weight >= 1]


def hard_inputs(subject, n: int) -> np.ndarray:
    """Return the accepted inputs whose f is nearest to 0."""
    target = fitted(subject)
    X = common_inputs(target, 3 * n, np.random.default_rng(9))
    limit = next(iter(target.programs.values())).program.prepare.limit
    X = X[check(X, limit) == Status.OK]
    truth = evaluate(target.machine, X)
    nearest = np.argsort(np.abs(truth.decisions / truth.size).min(axis=1))
    return X[nearest[:n]]


def test_every_kernel_is_evaluated_in_quadruple_precision():
    own = {kernel for kernel in CATALOGUE if kernel.__module__.startswith("kmcompile.")}
    assert own - set(KERNELS) == {Fourier}  # its features are mapped in float64


@pytest.mark.exhaustive
@pytest.mark.parametrize("subject", some(FAST, CHOSEN))
def test_quadruple_precision_agrees_with_mpmath(subject):
    """Together on `N_MPMATH` queries."""
    X = hard_inputs(subject, math.ceil(N_MPMATH / len(FAST)))
    assert agreement(fitted(subject).machine, X) <= QUADRUPLE_ERROR


@pytest.mark.parametrize("subject", some(FAST, CHOSEN))
def test_float64_is_within_its_bound_of_quadruple_precision(subject):
    machine, X = fitted(subject).machine, hard_inputs(subject, 400)
    truth = evaluate(machine, X)
    found = decisions(machine, X)
    slack = QUADRUPLE_ERROR * found.size
    assert (np.abs(truth.decisions - found.high - found.low) <= truth.error + slack).all()


@pytest.mark.parametrize("subject", some(FAST, CHOSEN))
def test_the_truth_is_that_of_the_fitted_estimator(subject):
    """From scikit-learn's attributes, where a division may stand for a rounded factor."""
    target, X = fitted(subject), hard_inputs(subject, 5)
    truth, real = evaluate(target.machine, X), RealModel(target.estimator)
    for x, decision, size in zip(X, truth.decisions, truth.size, strict=True):
        for f, known, s in zip(real.decisions(x), decision, size, strict=True):
            assert abs(f - mpf(float(known))) <= 1e-11 * s

"""The promise holds for the program that is taken, whichever it is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.svm import SVC

from kit.plans import plan_for
from kmcompile import readers
from kmcompile.choice.whole_program import choose_whole
from kmcompile.exits.statistical.loss import losses_of
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import classify

RISK, BROKEN = 0.05, 0.01
N_SETS, N_SAMPLES, N_FRESH, N_FEATURES = 20, 900, 50_000, 6
SURE = 1e-6
"""Probability with which a right implementation may fail the test."""
CENTRES = 1.2 * np.random.default_rng(99).normal(size=(12, N_FEATURES))


def draw(rng: np.random.Generator, n: int, mass: float) -> tuple[np.ndarray, np.ndarray]:
    """Return independent draws of a law of clusters with wrong labels; one input carries a mass."""
    cluster = rng.integers(len(CENTRES), size=n)
    X = CENTRES[cluster] + 0.9 * rng.normal(size=(n, N_FEATURES))
    X[rng.random(n) < mass] = CENTRES[:2].mean(axis=0)
    return X.astype(np.float32), (cluster % 2).astype(bool) ^ (rng.random(n) < 0.08)


@cache
def trained():
    X, y = draw(np.random.default_rng(1), 300, 0.0)
    return readers.load_model(SVC(C=3, gamma=0.15).fit(X, y))


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", ["risk", "loss"])
@pytest.mark.parametrize("mass", [0.0, 0.1])
@pytest.mark.parametrize("optimize", ["worst", "balanced"])
def test_the_promise_of_the_taken_program_is_kept(what, mass, optimize, tmp_path):
    machine = trained()
    fresh, right = draw(np.random.default_rng(2), N_FRESH, mass)
    labels = evaluate(machine, fresh).labels
    rates, reduced = [], 0
    for number in range(N_SETS):
        X, y = draw(np.random.default_rng(1000 + number), N_SAMPLES, mass)
        np.savez(tmp_path / "data.npz", X=X, y=y)
        plan = plan_for(
            machine,
            data=tmp_path / "data.npz",
            target="cortex-m7",
            optimize=optimize,
            format="int8" if number % 2 else "float32",
            **{what: RISK},
        )
        made, chosen = choose_whole(machine, plan, None, lambda text: None)
        said = classify(chosen.program, fresh)[0]["label"]
        differs = losses_of(said, labels, right.astype(int) if what == "loss" else None)
        rates.append(float(np.mean(differs)))
        reduced += made.reduction is not None
    assert sum(rate > RISK for rate in rates) <= binom.isf(SURE, N_SETS, BROKEN)
    assert reduced > N_SETS / 4  # else it is a test of early exits

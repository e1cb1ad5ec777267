"""Distances of machines in the feature space against 60 digits, also where nothing is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import matrix, mp, mpf

from kmcompile.lower import feature_space, many_pairs
from kmcompile.lower.feature_space import VectorPairs, distance, refitted

GAMMAS = [1e-12, 1e-6, 1e-2, 1.0, 30.0, 1e3, 1e5]


class Real:
    """The feature space of some pairs in 60 digits."""

    def __init__(self, pairs: VectorPairs) -> None:
        self.n = len(pairs.trained)
        with mp.workdps(60):
            vectors = np.concatenate([pairs.trained, pairs.stored])
            rows = [[mpf(v) for v in row] for row in vectors]
            self.gram = matrix(2 * self.n)
            for i, x in enumerate(rows):
                for j, y in enumerate(rows[: i + 1]):
                    total = mp.fsum((v - w) ** 2 for v, w in zip(x, y, strict=True))
                    self.gram[i, j] = self.gram[j, i] = mp.exp(-mpf(pairs.gamma) * total)

    def distance(self, beta: np.ndarray, stored: np.ndarray) -> tuple[float, float]:
        """Return |W - V| and |V| of one decision."""
        return self._length([*beta, *-stored]), self._length([*0 * beta, *stored])

    def _length(self, weights: list[Any]) -> float:
        with mp.workdps(60):
            column = matrix([mpf(v) for v in weights])
            return float(mp.sqrt(max((column.T * self.gram * column)[0], 0)))


def random_pairs(seed: int, gamma: float, unit: float) -> tuple[VectorPairs, np.ndarray]:
    """Return vectors of which some are close together, rounded to multiples of a unit."""
    rng = np.random.default_rng(seed)
    trained = rng.uniform(-1, 1, size=(9, int(rng.choice([1, 2, 7]))))
    trained[6:] = trained[:3] + 1e-3 * rng.normal(size=trained[6:].shape)
    beta = rng.normal(size=(2, 9)) * 10.0 ** rng.uniform(-6, 0, size=(2, 9))
    return VectorPairs(gamma, trained, np.rint(trained / unit) * unit), beta


@pytest.mark.parametrize("unit", [2.0**-3, 2.0**-7, 2.0**-15])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_distances_are_bounds_of_the_real_ones(gamma, unit):
    for seed in range(3):
        pairs, beta = random_pairs(seed, gamma, unit)
        real = Real(pairs)
        for coefficients in (beta, refitted(pairs, beta), np.rint(beta * 2.0**16) / 2.0**16):
            found = distance(pairs, beta, coefficients)
            size = np.abs(beta).sum(axis=1)
            for p in range(2):
                apart, length = real.distance(beta[p], coefficients[p])
                assert apart <= found.apart[p] and length <= found.length[p]
                # Float64 resolves squares to 2^-53 of the sum of magnitudes.
                assert pairs.far or found.apart[p] <= 1.01 * apart + 1e-6 * size[p]


@pytest.mark.parametrize("together", [3, 9])
@pytest.mark.parametrize("unit", [2.0**-3, 2.0**-7, 2.0**-15])
@pytest.mark.parametrize("gamma", GAMMAS)
def test_distances_of_many_vectors_are_bounds_of_the_real_ones(gamma, unit, together, monkeypatch):
    monkeypatch.setattr(feature_space, "MANY", 0)
    monkeypatch.setattr(many_pairs, "MOST_TOGETHER", together)
    for seed in range(3):
        pairs, beta = random_pairs(seed, gamma, unit)
        real = Real(pairs)
        for coefficients in (beta, np.rint(beta * 2.0**16) / 2.0**16):
            found = distance(pairs, beta, coefficients)
            for p in range(2):
                apart, length = real.distance(beta[p], coefficients[p])
                assert apart <= found.apart[p] and length <= found.length[p]


def test_distances_of_many_vectors_are_about_those_of_few(monkeypatch):
    rng = np.random.default_rng(0)
    trained, beta = rng.normal(size=(400, 3)), rng.normal(size=(2, 400))
    pairs = VectorPairs(0.3, trained, np.rint(trained * 2**8) / 2**8)
    stored = np.rint(beta * 2.0**12) / 2.0**12
    few = distance(pairs, beta, stored)
    monkeypatch.setattr(feature_space, "MANY", 0)
    together = distance(pairs, beta, stored)
    np.testing.assert_allclose(together.length, few.length, rtol=1e-9)
    assert (together.apart < 1.1 * few.apart).all()
    monkeypatch.setattr(many_pairs, "MOST_TOGETHER", 100)
    in_groups = distance(pairs, beta, stored)
    assert (in_groups.length < 2 * few.length).all() and (in_groups.apart < 3 * few.apart).all()


@pytest.mark.parametrize("gamma", GAMMAS)
def test_rounded_coefficients_alone_are_known_to_many_digits(gamma):
    """Of lossless codes nothing cancels: the distance is that of the differences."""
    pairs, beta = random_pairs(5, gamma, 2.0**-15)
    pairs = VectorPairs(gamma, pairs.stored, pairs.stored)
    stored = np.rint(beta * 2.0**16) / 2.0**16
    found, real = distance(pairs, beta, stored), Real(pairs)
    for p in range(2):
        apart, _ = real.distance(beta[p], stored[p])
        own = np.abs(beta[p] - stored[p]).sum()
        assert apart <= found.apart[p] <= apart + 1e-6 * own


@pytest.mark.parametrize("gamma", GAMMAS)
def test_refitted_coefficients_are_no_farther_away(gamma):
    """But for the ridge, which is 1e-6 of the squared change."""
    pairs, beta = random_pairs(7, gamma, 2.0**-5)
    fitted = refitted(pairs, beta)
    before, after = distance(pairs, beta, beta), distance(pairs, beta, fitted)
    assert np.isfinite(fitted).all()
    assert (after.apart <= before.apart * (1 + 1e-6) + 1e-7 * np.abs(beta).sum(axis=1)).all()


def test_vectors_of_no_coefficient_keep_none():
    pairs, beta = random_pairs(8, 1.0, 2.0**-5)
    beta[:, 2] = 0.0
    assert (refitted(pairs, beta)[:, 2] == 0).all()


def test_a_kernel_far_narrower_than_a_code_has_the_trivial_bound():
    pairs, beta = random_pairs(9, 1e9, 2.0**-3)
    found = distance(pairs, beta, beta)
    assert np.isfinite(found.apart).all()
    assert (found.apart <= 2 * np.abs(beta).sum(axis=1) * (1 + 1e-6)).all()
    for p in range(2):
        assert Real(pairs).distance(beta[p], beta[p])[0] <= found.apart[p]

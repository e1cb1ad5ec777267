"""The upper limit of a loss holds for every law, and is near what the law of the outcome allows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from kmcompile.exits.statistical.binomial import clopper_pearson_upper
from kmcompile.exits.statistical.loss import loss_is_refuted, loss_limit, losses_of
from kmcompile.exits.statistical.risk import Tally, conformal, fixed_sequence, samples_needed

LAWS = [(0.05, 0.0), (0.06, 0.01), (0.1, 0.05), (0.3, 0.25), (0.5, 0.45), (0.05, 0.2)]
"""Probabilities of 1 and of -1: the mean of all but the last is 0.05."""


def test_a_loss_counts_right_labels_alone() -> None:
    truth, trained = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, 2, 1])
    said = np.array([1, 0, 2, 2, 0])
    assert losses_of(said, trained, truth).tolist() == [1, -1, 0, 0, 0]
    assert losses_of(said, trained, None).tolist() == [True, True, True, False, True]
    assert Tally.of(losses_of(said, trained, truth)) == (5, 1, 1)
    assert Tally.of(losses_of(said, trained, None)) == (5, 4, None)


@pytest.mark.parametrize("n", [4, 25, pytest.param(90, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("law", LAWS)
def test_a_true_hypothesis_is_rejected_no_more_often_than_promised(
    n: int, law: tuple[float, float]
) -> None:
    """All outcomes of n samples are counted with their probabilities: nothing is drawn."""
    alpha, (p, q) = 0.1, law
    lost, gained = (part.ravel() for part in np.mgrid[: n + 1, : n + 1])
    lost, gained = lost[lost + gained <= n], gained[lost + gained <= n]
    chances = multinomial.pmf(np.stack([lost, gained, n - lost - gained], 1), n, [p, q, 1 - p - q])
    likely = chances > alpha / len(chances) / 1000
    rejected = [
        loss_is_refuted(n, int(a), int(b), p - q, 1 - alpha)
        for a, b in zip(lost[likely], gained[likely], strict=True)
    ]
    assert chances[likely][rejected].sum() + chances[~likely].sum() <= alpha


@pytest.mark.parametrize("n", [300, 2200, 40_000])
def test_the_limit_is_hardly_above_that_of_a_risk_where_nothing_is_gained(n: int) -> None:
    for lost in (0, 3):
        assert 1 <= loss_limit(n, lost, 0, 0.99) / clopper_pearson_upper(lost, n) < 1.04


@pytest.mark.parametrize(("lost", "gained"), [(20, 20), (40, 40), (12, 8), (100, 60)])
def test_gains_pay_for_losses(lost: int, gained: int) -> None:
    n = 4000
    limit = loss_limit(n, lost, gained, 0.99)
    deviation = np.sqrt(lost + gained) / n
    assert (lost - gained) / n < limit < (lost - gained) / n + 3 * deviation
    assert limit < clopper_pearson_upper(lost, n)
    assert loss_is_refuted(n, lost, gained, limit, 0.99)
    assert not loss_is_refuted(n, lost, gained, 0.99 * limit, 0.99)
    least = Tally(n, lost, gained).least()
    assert least < (lost - gained) / n
    assert least == -loss_limit(n, gained, lost, 0.99)


def test_odd_numbers_of_samples_have_limits() -> None:
    assert loss_limit(0, 0, 0, 0.99) == loss_limit(7, 7, 0, 0.99) == 1.0
    assert -1 < loss_limit(40, 0, 40, 0.99) < 0
    assert not Tally(0, 0, 0).keeps(0.5)
    n = samples_needed(0.01, of="loss")
    assert Tally(n, 0, 0).keeps(0.01) and not Tally(n - 1, 0, 0).keeps(0.01)
    assert samples_needed(0.01, disagreements=1, of="loss") > n
    assert samples_needed(0.01, "expected", of="loss") == 99


def test_a_sequence_of_scales_keeps_a_loss() -> None:
    def losses(scale: float) -> np.ndarray:
        lost, gained = {4.0: (0, 0), 3.0: (8, 9), 2.0: (9, 9), 1.0: (40, 2)}[scale]
        each = np.zeros(2000, dtype=np.int8)
        each[:lost], each[lost : lost + gained] = 1, -1
        return each

    promise = fixed_sequence([4.0, 3.0, 2.0, 1.0], losses, Tally.of, 0.01)
    assert promise is not None
    assert (promise.of, promise.scale) == ("loss", 3.0)
    assert (promise.n_samples, promise.disagreements, promise.gained) == (2000, 8, 9)
    expected = conformal([4.0, 3.0, 2.0, 1.0], losses, Tally.of, 0.01)
    assert expected is not None
    assert (expected.of, expected.scale) == ("loss", 3.0)


@pytest.mark.exhaustive
def test_draws_exceed_the_limit_no_more_often_than_promised() -> None:
    rng, n, repetitions, sure = np.random.default_rng(5), 1500, 1000, 1e-6
    for p, q in ((0.01, 0.0), (0.02, 0.01), (0.06, 0.05), (0.01, 0.02)):
        drawn = rng.multinomial(n, [p, q, 1 - p - q], size=repetitions)
        broken = sum(loss_is_refuted(n, int(a), int(b), p - q, 0.99) for a, b, _ in drawn)
        assert broken <= binom.isf(sure, repetitions, 0.01)

"""The upper limit of the mean of independent values in {-1, 0, 1}: of right labels that are lost.

Z is 1 where the model's label is right and the program's is not, -1 where it is the other way
round, and 0 otherwise. Of n independent values, a are 1 and b are -1. The hypothesis E Z >= P is
tested for any P, and rejected with a probability of at most alpha where it is true.

*The order of outcomes.* A gambler bets shares l of a capital of 1 against E Z >= P and has the
mean over some l of prod_i (1 + l (P - Z_i)), which depends on a, b and P alone [1]_. It rises with
P and with b and falls with a. Let T(a, b) be the smallest P at which it reaches `_STAKE`. An
outcome speaks more for a small E Z if its T is smaller. The order fixes which outcomes count as
at least as good as the observed one, R = {T <= T(a, b)}; no probability is read from it.

*The probability.* Let Z be 1 with the probability p and -1 with the probability q, p - q >= P.
Pr(R) rises with q and falls with p: draw each Z from one uniform number, and a larger p or a
smaller q changes values only upwards; R has with every outcome all those of smaller a and larger b.
So for every q in [u, v], Pr(R) is at most its value at p = max(0, P + u) and q = v, a sum of
binomial probabilities. The largest of these bounds over intervals that cover an interval C(b),
plus g, is a p-value if q is in C(b) with the probability 1 - g [2]_: C has the limits of Clopper
and Pearson at the confidence 1 - g / 2. The p-value falls as P rises, so that the smallest P that
is rejected is an upper confidence limit of E Z.

The proof takes nothing but that the values are independent draws of one law.

References
----------
.. [1] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting",
   Journal of the Royal Statistical Society B 86, 2024.
.. [2] R. L. Berger and D. D. Boos, "P values maximized over a confidence set for the nuisance
   parameter", Journal of the American Statistical Association 89, 1994.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammaln, logsumexp, xlog1py, xlogy

from kmcompile.exits.statistical.binomial import clopper_pearson_lower, clopper_pearson_upper

_BETS, _LEAST = 0.95 * 0.5 ** np.arange(8), -1 / 32
"""The shares that are bet, and the least P: there the capital is still positive. Outcomes whose T
would be smaller are not told apart."""

_STAKE = 10.0
"""The capital that defines the order. Any number gives a valid test; this one has much power."""

_ON_GAINS = 0.05
"""Share of alpha for the limits of q."""

_STEP = 0.05
"""Width of the intervals of sqrt(n q). They cost a fourteenth of a standard deviation."""

_DEVIATIONS = 8.0
"""Numbers gained that are farther from the mean count as allowed: they hardly ever occur."""

_ROUNDING = 2.0**-30
"""Outcomes count as at least as good even if their capital is smaller by this share: the sums of
logarithms are rounded."""


Losses = NDArray[np.bool_] | NDArray[np.int8]
"""What each sample costs, shape (n,), as `losses_of` returns it."""


def losses_of(
    said: NDArray[np.integer[Any]],
    trained: NDArray[np.integer[Any]],
    truth: NDArray[np.integer[Any]] | None,
) -> Losses:
    """Return what each answer of a program costs, shape (n_samples,).

    Parameters
    ----------
    said, trained : ndarray of shape (n_samples,), int
        The labels of the program and of the trained model.
    truth : ndarray of shape (n_samples,), int, or None
        The right labels.

    Returns
    -------
    ndarray of bool or int8
        Without right labels, whether the labels differ. With them, 1 if a right label is lost, -1
        if one is gained, and 0 otherwise.
    """
    if truth is None:
        differs: NDArray[np.bool_] = said != trained
        return differs
    lost: NDArray[np.int8] = (trained == truth).astype(np.int8) - (said == truth).astype(np.int8)
    return lost


def loss_is_refuted(n: int, lost: int, gained: int, loss: float, confidence: float) -> bool:
    """Return whether n samples refute that the mean loss is at least `loss`.

    Parameters
    ----------
    n, lost, gained : int
        Samples, those of value 1, and those of value -1.
    loss : float
        In (-1, 1).
    confidence : float

    Examples
    --------
    >>> loss_is_refuted(2200, 12, 8, 0.01, 0.99), loss_is_refuted(2200, 12, 8, 0.005, 0.99)
    (True, False)
    """
    return _p_value(n, lost, gained, loss, 1 - confidence) <= 1 - confidence


@lru_cache(maxsize=4096)
def loss_limit(n: int, lost: int, gained: int, confidence: float) -> float:
    """Return the upper confidence limit of the mean loss, rounded up by up to a four-thousandth.

    Examples
    --------
    >>> round(2200 * loss_limit(2200, 0, 0, 0.99), 1)
    4.7
    """
    low, high = -1.0, 1.0
    if not n or not loss_is_refuted(n, lost, gained, math.nextafter(1.0, 0.0), confidence):
        return 1.0
    low = (lost - gained) / n  # its p-value is large
    while high - low > 2.0**-12 * max(abs(high), 1 / n):
        middle = (low + high) / 2
        if loss_is_refuted(n, lost, gained, middle, confidence):
            high = middle
        else:
            low = middle
    return high


def _p_value(n: int, lost: int, gained: int, loss: float, alpha: float) -> float:
    """Return an upper bound of the probability of so good an outcome, where E Z >= loss."""
    on_gains = _ON_GAINS * alpha
    least, most = (
        limit(gained, n, 1 - on_gains / 2)
        for limit in (clopper_pearson_lower, clopper_pearson_upper)
    )
    roots = math.floor(math.sqrt(n * least) / _STEP), math.ceil(math.sqrt(n * most) / _STEP)
    ends = (_STEP * np.arange(roots[0], roots[1] + 1)) ** 2 / n
    p = np.maximum(0.0, loss + ends[:-1])
    q = np.minimum(ends[1:], 1 - p)
    possible = p + ends[:-1] <= 1
    if not possible.any():
        return on_gains
    wide = _DEVIATIONS * math.sqrt(n * most) + _DEVIATIONS**2
    b = np.arange(max(0, math.floor(n * least - wide)), min(n, math.ceil(n * most + wide)) + 1)
    allowed = _most_lost(n, lost, gained, int(b[0]), int(b[-1]))
    return on_gains + float(_probabilities(n, b, allowed, p[possible], q[possible]).max())


def _probabilities(
    n: int,
    b: NDArray[np.int64],
    allowed: NDArray[np.int64],
    p: NDArray[np.float64],
    q: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return Pr(lost <= allowed for the number gained) of some laws, shape (n_laws,).

    Parameters
    ----------
    n : int
    b, allowed : ndarray of shape (n_gained,), int64
        Numbers of samples gained, and how many may then be lost, -1 for none. All other numbers
        gained count as allowed.
    p, q : ndarray of shape (n_laws,), float64
        The probabilities of 1 and of -1, whose sum is at most 1.
    """
    q = q[:, None]
    ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(n - b + 1)
    of_gained = np.exp(ways + xlogy(b, q) + xlog1py(n - b, -q))
    of_rest = np.minimum(p[:, None] / np.maximum(1 - q, p[:, None]), 1.0)
    at_most = np.where(allowed < 0, 0.0, bdtr(np.maximum(allowed, 0), n - b, of_rest))
    others = np.maximum(0.0, 1 - of_gained.sum(axis=1))
    probabilities: NDArray[np.float64] = (of_gained * at_most).sum(axis=1) + others
    return probabilities


@lru_cache(maxsize=4096)
def _most_lost(n: int, lost: int, gained: int, first: int, last: int) -> NDArray[np.int64]:
    """Return how many may be lost in an outcome at least as good, for first..last gained."""
    own = np.array([lost]), np.array([gained])
    level = math.log(_STAKE * len(_BETS))
    low, high = _LEAST, 1.0
    while high - low > _ROUNDING:
        middle = (low + high) / 2
        if _capital(n, *own, middle)[0] >= level:
            high = middle
        else:
            low = middle
    reached = min(level, float(_capital(n, *own, high)[0])) - _ROUNDING
    b = np.arange(first, last + 1)
    few, many = np.full(len(b), -1), n - b + 1  # few may be lost, many may not
    while (many - few > 1).any():
        middles = (few + many) // 2
        good = _capital(n, middles, b, high) >= reached
        few, many = np.where(good, middles, few), np.where(good, many, middles)
    few.setflags(write=False)
    return few


def _capital(
    n: int, lost: NDArray[np.int64], gained: NDArray[np.int64], loss: float
) -> NDArray[np.float64]:
    """Return the logarithm of the sum of the bets' capitals, for each outcome."""
    bet = _BETS[:, None]
    each = (
        xlog1py(lost, bet * (loss - 1))
        + xlog1py(n - lost - gained, bet * loss)
        + xlog1py(gained, bet * (loss + 1))
    )
    total: NDArray[np.float64] = logsumexp(each, axis=0)
    return total

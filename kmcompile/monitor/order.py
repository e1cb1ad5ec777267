"""The order statistic of samples that few further inputs exceed, with a confidence.

If X_1, ..., X_n and X are independent and of one distribution, the k-th largest of the X_i is
exceeded by X with a probability above P only if at most k - 1 of the X_i are among the largest
share P of the distribution. That happens with the probability P(Binomial(n, P) <= k - 1), exactly
for a continuous distribution, less often for one with ties.

References
----------
S. S. Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical
Statistics 12, 1941.
"""

from __future__ import annotations

import math

from scipy.special import bdtr

from kmcompile.exits.statistical.risk import rounded_up
from kmcompile.program.stages.input.monitor import MONITOR_CONFIDENCE


def least_samples(share: float, confidence: float = MONITOR_CONFIDENCE) -> int:
    """Return the fewest samples whose largest value is exceeded by a share at most.

    Examples
    --------
    >>> least_samples(0.01)
    459
    """
    n = max(1, math.ceil(math.log1p(-confidence) / math.log1p(-share)))
    return n if (1 - share) ** n <= 1 - confidence else n + 1


def smallest_share(n: int, confidence: float = MONITOR_CONFIDENCE) -> float:
    """Return the smallest share that n samples support, rounded up to two digits.

    Examples
    --------
    >>> smallest_share(459)
    0.01
    """
    return rounded_up(-math.expm1(math.log1p(-confidence) / n))


def order(n: int, share: float, confidence: float = MONITOR_CONFIDENCE) -> int:
    """Return the largest k such that the k-th largest of n samples has the confidence; 0 if none.

    Examples
    --------
    >>> [order(n, 0.01) for n in (458, 459, 1000, 3000)]
    [0, 1, 3, 18]
    """
    low, high = 0, n
    while low < high:
        k = (low + high + 1) // 2
        if bdtr(k - 1, n, share) <= 1 - confidence:
            low = k
        else:
            high = k - 1
    return low

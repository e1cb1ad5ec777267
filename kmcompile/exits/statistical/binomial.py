"""Limits of a probability from independent draws, by Clopper and Pearson.

References
----------
C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case
of the binomial", Biometrika 26, 1934.
"""

from __future__ import annotations

from scipy.special import betaincinv

CONFIDENCE = 0.99
"""Confidence of a guaranteed risk or loss."""


def confidence_at(doubt: float) -> float:
    """Return the confidence of a promise that takes a share of the doubt 1 - CONFIDENCE.

    Bonferroni: doubts add up. Where the shares of several programs are 1 together, all promises
    hold together with CONFIDENCE, and any of the programs may be taken, for any reason.
    """
    return 1 - (1 - CONFIDENCE) * doubt


def clopper_pearson_upper(disagreements: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided upper confidence limit of a probability.

    Beta^-1(confidence; r + 1, n - r) for r disagreements in n samples.

    Examples
    --------
    >>> round(clopper_pearson_upper(0, 4603), 6)
    0.001
    """
    if disagreements >= n:
        return 1.0
    return float(betaincinv(disagreements + 1, n - disagreements, confidence))


def clopper_pearson_lower(disagreements: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided lower confidence limit, Beta^-1(1 - confidence; r, n - r + 1)."""
    if disagreements == 0:
        return 0.0
    return float(betaincinv(disagreements, n - disagreements + 1, 1 - confidence))

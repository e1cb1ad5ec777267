"""Samples that are set aside for the monitor before anything else reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.exits.candidates.samples import that_count
from kmcompile.exits.statistical.near_copies import groups_of
from kmcompile.monitor.order import least_samples, order, smallest_share
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.stages.input.monitor import MONITOR_CONFIDENCE
from kmcompile.request.plan import Plan

LEAST_LEFT = 50
"""Fewest samples for everything else: the score is fitted and chosen by them."""

_LIMIT_SHARE = 0.3
_ENOUGH = 12.0
"""Samples for the limit beyond which no more are taken, over those that lie beyond the limit."""
_SHOWN_SHARE, _MOST_SHOWN = 0.1, 500
_SEED = 19410301


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The samples that only set the monitor's limit, and those that only show what it does.

    Parameters
    ----------
    share : float
        The share that `--monitor` asks for.
    limit : ndarray of shape (n_limit, n_features), float32
        Samples that set the limit.
    counts : ndarray of shape (n_limit,), bool
        Whether a sample of `limit` counts: equal samples and near copies count once.
    shown : ndarray of shape (n_shown, n_features), float32
        Samples for the report.
    repeated : int
        Number of samples in --data that repeat others, or nearly.
    """

    share: float
    limit: Float32Array
    counts: NDArray[np.bool_]
    shown: Float32Array
    repeated: int


def hold_out(plan: Plan, tell: Callable[[str], None]) -> tuple[HeldOut | None, Plan]:
    """Return the samples that are set aside, and the plan with those that are left.

    No sample that is set aside has a copy, or nearly one, among the others. Without `--monitor`
    the plan is as it was.

    Raises
    ------
    InputError
        If the samples are too few for the share.
    """
    share = plan.monitor
    if share is None:
        return None, plan
    tell("setting samples aside for the monitor")
    X = plan.samples
    first = groups_of(X).first if len(X) else np.zeros(0, dtype=np.intp)
    firsts = np.unique(first)
    _require_support(len(firsts), share, len(X))
    n_limit, n_shown = sizes(len(firsts), share)
    shuffled = np.random.default_rng(_SEED).permutation(firsts)
    part = np.zeros(len(X), dtype=np.int8)
    part[shuffled[:n_limit]], part[shuffled[n_limit : n_limit + n_shown]] = 1, 2
    part = part[first]
    own = np.flatnonzero(part == 1)
    held = HeldOut(share, X[own], first[own] == own, X[part == 2], len(X) - len(firsts))
    return held, replace(plan, samples=np.ascontiguousarray(X[part == 0]))


def sizes(n: int, share: float) -> tuple[int, int]:
    """Return how many of n samples set the limit, and how many are for the report.

    The limit is no better for samples beyond those that it needs to be the k-th largest.

    Examples
    --------
    >>> sizes(3000, 0.01), sizes(100_000, 0.01)
    ((838, 300), (1157, 500))
    """
    wanted = min(int(n * _LIMIT_SHARE), int(np.ceil(_ENOUGH / share)), _most_for_limit(n))
    n_limit = least_samples(share)
    if wanted > n_limit:
        place = order(wanted, share)
        n_limit = bisect_left(range(wanted), place, key=lambda size: order(size, share))
    n_shown = min(int(n * _SHOWN_SHARE), _MOST_SHOWN, n - n_limit - LEAST_LEFT)
    return n_limit, n_shown


def _most_for_limit(n: int) -> int:
    return min(n // 2, n - LEAST_LEFT)


def _require_support(n: int, share: float, n_given: int) -> None:
    """Raise an error that names the share that n samples support, and how many the share needs."""
    most, needed = _most_for_limit(n), least_samples(share)
    if needed <= most:
        return
    enough = max(2 * needed, needed + LEAST_LEFT)
    remedy = f"give at least {enough:,} samples"
    supported, ask = "no --monitor", ""
    if most > 0:
        smallest = smallest_share(most)
        supported, ask = f"--monitor {smallest:g} at least", f"ask for --monitor {smallest:g}, or "
    raise InputError(
        f"{n:,} samples in --data{that_count(n, n_given)} support {supported}, not {share:g}: half "
        f"of them set its limit, at {100 * MONITOR_CONFIDENCE:g} % confidence\n{ask}{remedy}"
    )

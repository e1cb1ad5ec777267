"""Samples that are set aside for the monitor before anything else reads them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.candidates.samples import that_count
from kmcompile.exits.statistical.near_copies import groups_of
from kmcompile.exits.statistical.readings import set_aside
from kmcompile.monitor.order import least_samples, order, smallest_share
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.stages.input.monitor import MONITOR_CONFIDENCE
from kmcompile.request.counted import Counted
from kmcompile.request.plan import Plan

LEAST_LEFT = 50
"""Fewest samples for everything else: the score is fitted and chosen by them."""

_LIMIT_SHARE = 0.3
_ENOUGH = 12.0
"""Samples for the limit beyond which no more are taken, over those that lie beyond the limit."""
_SHOWN_SHARE, _MOST_SHOWN = 0.1, 500
_ROOM = 1.1
"""Samples that are set aside, over those that are needed: how many groups are is chance."""
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
    counted : Counted
        Which samples of `limit` count if every sample does, and if every group of copies does.
    shown : ndarray of shape (n_shown, n_features), float32
        Samples for the report.
    repeated : int
        Number of samples in --data that repeat others, or nearly.
    """

    share: float
    limit: Float32Array
    counted: Counted
    shown: Float32Array
    repeated: int


def hold_out(plan: Plan, tell: Callable[[str], None]) -> tuple[HeldOut | None, Plan]:
    """Return the samples that are set aside, and the plan with those that are left.

    Where samples repeat others, they are set aside as in `exits.statistical.readings`. Without
    `--monitor` the plan is as it was.

    Raises
    ------
    InputError
        If the samples are too few for the share.
    """
    share = plan.options.monitor
    if share is None:
        return None, plan
    tell("setting samples aside for the monitor")
    X = plan.samples
    first = groups_of(X).first if len(X) else np.zeros(0, dtype=np.intp)
    firsts = np.unique(first)
    _require_support(len(firsts), share, len(X))
    rng, n_samples = np.random.default_rng(_SEED), len(X)
    n_limit, n_shown = sizes(len(firsts), share)
    if len(firsts) == n_samples:
        shuffled = rng.permutation(n_samples)
        limit, shown, left = np.split(shuffled, np.cumsum([n_limit, n_shown]))
        held = HeldOut(share, X[np.sort(limit)], Counted.whole(n_limit), X[np.sort(shown)], 0)
        return held, plan.with_samples(np.sort(left))
    aside = set_aside(first, min(_ROOM * (n_limit + n_shown) / len(firsts), 0.5), rng)
    n_every = math.ceil(n_limit * n_samples / len(firsts))
    every, shown = np.split(rng.permutation(np.flatnonzero(aside.every)), [n_every])
    once = rng.permutation(np.flatnonzero(aside.once))[:n_limit]
    _require_support(len(firsts), share, n_samples, min(len(every), len(once)))
    limit = np.union1d(every, once)
    counted = Counted(np.isin(limit, every), np.isin(limit, once))
    held = HeldOut(share, X[limit], counted, X[np.sort(shown[:n_shown])], n_samples - len(firsts))
    others = ~aside.every
    counted = replace(Counted.whole(int(others.sum())), once=aside.seen[others])
    return held, plan.with_samples(np.flatnonzero(others), counted)


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


def _require_support(n: int, share: float, n_given: int, most: int | None = None) -> None:
    """Raise an error that names the share that n samples support, and how many the share needs."""
    most, needed = _most_for_limit(n) if most is None else most, least_samples(share)
    if needed <= most:
        return
    enough = max(2 * needed, needed + LEAST_LEFT)
    alone = "" if n == n_given else ", none nearly a copy of another"
    supported, ask = "no --monitor", ""
    if most > 0:
        smallest = smallest_share(most)
        supported, ask = f"--monitor {smallest:g} at least", f"ask for --monitor {smallest:g}, or "
    raise InputError(
        f"{n:,} samples in --data{that_count(n, n_given)} support {supported}, not {share:.15g}: "
        f"half of them set its limit, at {100 * MONITOR_CONFIDENCE:g} % confidence\n"
        f"{ask}give at least {enough:,} samples{alone}"
    )

"""The samples of a reduction: disjoint parts that fit, choose, and count disagreements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.exits.candidates.samples import LEAST_SAMPLES, accepted_rows, that_count
from kmcompile.exits.statistical.calibration import Of
from kmcompile.exits.statistical.near_copies import groups_of
from kmcompile.exits.statistical.readings import Evidence, set_aside
from kmcompile.exits.statistical.risk import least_risk, rounded_up, samples_needed
from kmcompile.exits.statistical.training import training_points
from kmcompile.lower.formats import Lowered
from kmcompile.numeric.arrays import Float32Array
from kmcompile.request.counted import Counted
from kmcompile.request.plan import Plan
from kmcompile.text.figures import percent_beside

_SEED = 20041129
_SHARES = {True: (0.2, 0.1, 0.25), False: (0.3, 0.15, 0.55)}
"""Shares of the samples that fit, pick and hold, by whether early exits are calibrated on the rest.
"""
_MOST_ASIDE = 0.5
"""Largest share that can be set aside where samples repeat others."""


class Truth(NamedTuple):
    """The right labels of parts of the samples, each of shape (n,), int64; None without labels."""

    pick: NDArray[np.int64] | None = None
    hold: NDArray[np.int64] | None = None
    rest: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls, truth: NDArray[np.int64] | None, *rows: NDArray[np.intp] | NDArray[np.bool_]
    ) -> Truth:
        """Return those of the rows of `pick`, `hold` and `rest`."""
        return cls() if truth is None else cls(*(truth[part] for part in rows))


_NO_TRUTH = Truth()


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Disjoint parts of the samples.

    Parameters
    ----------
    fit, pick, hold, rest : ndarray of shape (n, n_features), float32
        Samples to imitate, to choose a method by, to count disagreements on, and for early exits.
    held : Evidence
        Which samples of `hold` count.
    counted : Counted or None
        Which samples of `rest` count; None: all of them do.
    truth : Truth
        The right labels of `pick`, `hold` and `rest`, where a loss is promised.
    """

    fit: Float32Array
    pick: Float32Array
    hold: Float32Array
    rest: Float32Array
    held: Evidence
    counted: Counted | None = None
    truth: Truth = _NO_TRUTH


def parts_of(lowered: Lowered, plan: Plan) -> Parts:
    """Return disjoint parts of the samples that the C accepts.

    Where samples repeat others, the part that nothing before has seen is set aside as in
    `exits.statistical.readings`: the rest for early exits, or the samples to count on without them.

    Raises
    ------
    InputError
        If there are too few samples, or if the machine was trained on them.
    """
    X = plan.samples
    if not len(X):
        return Parts(X, X, X, X, Evidence.of(np.arange(0)))
    accepted = accepted_rows(lowered.program.prepare, X)
    X = np.ascontiguousarray(X[accepted])
    truth = None if plan.truth is None else plan.truth[accepted]
    groups = groups_of(X, lowered.machine)
    _require_samples(len(groups.firsts), len(X))
    if training_points(lowered.machine, X, groups.repeated_share).training:
        raise InputError(
            "--data holds the samples that the model was trained on: they do not show what a "
            "reduced machine says of others\ngive samples that the model never saw, or leave out "
            "--data"
        )
    rng, shares = np.random.default_rng(_SEED), _SHARES[plan.mode == "statistical"]
    if len(groups.firsts) == len(X) and plan.counted is None:
        ends = np.round(np.cumsum(shares) * len(X)).astype(int)
        rows = [np.sort(part) for part in np.split(rng.permutation(len(X)), ends)]
        fit, pick, hold, rest = (np.ascontiguousarray(X[part]) for part in rows)
        every = Evidence.of(np.arange(len(hold)))
        return Parts(fit, pick, hold, rest, every, None, Truth.of(truth, *rows[1:]))
    counted = Counted.whole(len(accepted)) if plan.counted is None else plan.counted
    keeps_rest = plan.mode == "statistical"
    return _of_repeated(X, truth, groups.first, counted.of(accepted), keeps_rest, rng)


def _of_repeated(
    X: Float32Array,
    truth: NDArray[np.int64] | None,
    group: NDArray[np.intp],
    counted: Counted,
    keeps_rest: bool,
    rng: np.random.Generator,
) -> Parts:
    """Return the parts of samples of which some repeat others, whole groups in each."""
    shares = np.array(_SHARES[keeps_rest][: 3 if keeps_rest else 2])
    share = min(1 - float(shares.sum()), _MOST_ASIDE)
    aside = set_aside(group, share, rng).where(counted)
    seen = np.flatnonzero(aside.seen)
    firsts = seen[np.unique(group[seen], return_index=True)[1]]
    ends = np.round(np.cumsum(shares)[:-1] / shares.sum() * len(firsts)).astype(int)
    fit, pick, *hold = (np.sort(part) for part in np.split(rng.permutation(firsts), ends))
    last = aside.evidence
    if not keeps_rest:
        labels = Truth.of(truth, pick, last.rows)
        return Parts(X[fit], X[pick], X[last.rows], X[:0], last, None, labels)
    held = seen[np.isin(group[seen], group[hold[0]])]
    once = counted.once[held] & np.isin(held, hold[0])
    rest = Counted(last.every, np.isin(group[last.rows], group[aside.once]))
    evidence = Evidence(held, counted.every[held], once)
    labels = Truth.of(truth, pick, held, last.rows)
    return Parts(X[fit], X[pick], X[held], X[last.rows], evidence, rest, labels)


def _require_samples(n: int, n_given: int) -> None:
    """Raise InputError if there are too few samples for their parts."""
    if n < LEAST_SAMPLES:
        raise InputError(
            f"--data has {n:,} usable samples{that_count(n, n_given)}, --reduce needs at least "
            f"{LEAST_SAMPLES}\ngive more samples, or use --reduce N without --data"
        )


def require_support(n: int, risk: float, share: float, n_given: int, of: Of = "risk") -> None:
    """Raise InputError if n held-out samples support no share of a risk, even without a mistake.

    Parameters
    ----------
    n : int
    risk : float
        The risk that was asked for.
    share : float
        Which part of it a reduced machine may take.
    n_given : int
        The samples from which they were held out.
    of : {"risk", "loss"}
    """
    least = least_risk(n, of=of)
    if least <= share * risk:
        return
    part = "" if share == 1 else f" (the reduced machine may take {share:g} of it)"
    enough = math.ceil((samples_needed(share * risk, of=of) + 1) * n_given / max(n, 1))
    supported, told, ask = rounded_up(least / share), f"no {of}", ""
    if supported < 1:
        what = "a disagreement in" if of == "risk" else "a loss of"
        told = f"{what} {percent_beside(supported, risk)} of the inputs"
        ask = f"ask for --{of} {supported:g}, or "
    raise InputError(
        f"--reduce auto: {n:,} held-out samples support {told}, not in {100 * risk:.15g} %{part}, "
        f"even if they show none\n{ask}give at least {enough:,} samples"
    )

"""Reduced sets as a kind of exit: the sizes to try, the tests' estimates and the bands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kmcompile.exits.statistical.bands import LARGEST_SPREAD, LEAST_SPREAD, near_boundary
from kmcompile.exits.statistical.fit_points import FitPoints, of_samples, with_vectors
from kmcompile.exits.statistical.free_vectors_fit import FreeVectorsFit, Size
from kmcompile.exits.statistical.jobs import each
from kmcompile.exits.statistical.reduced_set import fit_reduced_set
from kmcompile.exits.statistical.statistical_fit import Calibrated, FitSamples, Job
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.threads import one_thread
from kmcompile.program.stages import ReducedSet
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

_SIZES = ((3, 12, 15), (5, 32, 5), (8, 60, 1), (12, 100, 1), (12, 200, 1))
"""Sizes of the reduced sets that are tried: dimensions, vectors, and k for one feature in k.

No theory gives them. One feature in 15 for the smallest set and in 5 for the next saved most on
pairs of MNIST digits, compared with other shares at equal cost of the search."""

MOST_SHARE = 0.1
"""Most operations of a size, as a share of the exact sum's: there is no room for more."""

_FEW_FEATURES = 100
"""With fewer features, a reduced set uses all of them."""

_PROBE = Size(8, 60, None, 80)
_PROBE_SHARE = 5
_MARGINS = (1.0, 2.0)


class ReducedSetFit(FreeVectorsFit[ReducedSet]):
    """The kind `reduced_set`: several sizes; each set hands its estimate to the next one."""

    kind = ReducedSet
    most = 4

    def why_not(self, ends: Ends) -> str:
        """Return why a program with this sum cannot have reduced sets; "" if it can."""
        if not isinstance(ends.exact, GroupedSum):
            return "it approximates a sum over vectors by one over fewer"
        return ""

    def jobs(self, samples: FitSamples, required: bool = False) -> Iterator[Job]:
        """Yield a job for each size, fitted to the points that suit a small set best."""
        exact = samples.ends.exact
        assert isinstance(exact, GroupedSum)
        wanted = list(sizes(samples.ends, samples.decisions.shape[1], required))
        with one_thread():
            points, margin = _points(exact, samples, wanted[-1])
        for size in wanted:
            given = (points, size, margin, exact.lanes, samples.skip_zeros)
            yield fit_reduced_set, given, f"reduced_set({size})"

    def estimates(self, stage: ReducedSet, ends: Ends, x: Float32Array) -> Estimates:
        """Return the rows of the set, which are its single test."""
        rows = stage.rows(stage.products.of(x))
        spent = stage.operations_of(x) + ends.label.operations()
        none = np.zeros(1, dtype=np.int64)
        operations = ends.weight(stage) * spent[None]
        return Estimates(rows[None, :, :-1], operations, none, rows[:, -1])

    def finished(self, stage: ReducedSet, calibrated: Calibrated) -> ReducedSet:
        """Return the set with the bands worked into its weights, and with its number."""
        band = calibrated.bands[0]
        first, second = calibrated.spread
        own = np.append(band.own, second)
        return replace(
            stage,
            number=calibrated.number,
            weights=stage.weights * own[:, None],
            slopes=stage.slopes * own[:, None],
            intercept=stage.intercept * own + np.append(band.constant, first),
            earlier=band.earlier.astype(np.float32),
            least_spread=np.float32(LEAST_SPREAD),
            largest_spread=np.float32(LARGEST_SPREAD),
            half_width=calibrated.half_width[0],
        )


def _points(exact: GroupedSum, samples: FitSamples, largest: Size) -> tuple[FitPoints, float]:
    """Return the points and the margin that give a small fit, no larger than any, the least error.

    The choices are: points with or without the support vectors, and decisions clipped to the
    machine's margin or to twice the margin.
    """
    x, decisions, relevant = samples.x, samples.decisions, samples.relevant
    n_probe = len(x) // _PROBE_SHARE
    kept, probe = slice(n_probe, None), slice(n_probe)
    fewer = of_samples(exact, x[kept], decisions[kept], relevant[kept])
    points = {False: fewer}
    more = with_vectors(exact, fewer)
    if more is not fewer:
        points[True] = more
    size = replace(
        _PROBE,
        n_out=min(_PROBE.n_out, largest.n_out),
        n_vectors=min(_PROBE.n_vectors, largest.n_vectors),
    )
    choices = [(vectors, margin) for vectors in points for margin in _MARGINS]
    probes = each(
        [
            (fit_reduced_set, (points[vectors], size, margin, exact.lanes, False))
            for vectors, margin in choices
        ],
        samples.n_jobs,
    )
    best, chosen = np.inf, choices[0]
    for choice, stage in zip(choices, probes, strict=True):
        if stage is None:
            continue
        error = decisions[probe] - stage.rows(stage.products.of(x[probe]))[:, :-1]
        near = [
            error[near_boundary(decisions[probe, p], relevant[probe, p]), p]
            for p in range(decisions.shape[1])
        ]
        errors = np.concatenate(near)
        if len(errors) and (spread := float(errors.std())) < best:
            best, chosen = spread, choice
    everything = of_samples(exact, x, decisions, relevant)
    return (with_vectors(exact, everything) if chosen[0] else everything), chosen[1]


def sizes(
    ends: Ends,
    n_rows: int,
    required: bool = False,
    wanted: Sequence[tuple[int, int, int]] = _SIZES,
) -> Iterator[Size]:
    """Yield the sizes for a number of features, each once.

    `wanted` has dimensions, vectors, and k for one feature in k. All but the first take no more
    operations than there is room for, with as many weights of each vector as there are rows. An
    exit that must be there has room.
    """
    n, most = ends.exact.n_features, MOST_SHARE * ends.exact.operations() / ends.float_weight
    seen: set[Size] = set()
    for n_out, n_vectors, share in wanted:
        columns = None if share == 1 or n < _FEW_FEATURES else max(n_out, n // share)
        size = Size(min(n_out, n), n_vectors, columns)
        taken = size.n_out * ((columns or n) + n_vectors) + n_rows * n_vectors
        if size not in seen and (required or not seen or taken <= most):
            seen.add(size)
            yield size

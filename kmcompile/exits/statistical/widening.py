"""Floors of bands, from generated points that would mislead the exits (NSV, section 5.2).

Generated points lie where the samples say little. The floor of a band is its least width: no
generated point that reaches the test is decided wrongly outside of it, unless the floor would be
wider than the band is expected to be anyway. Floors are set before the control samples are looked
at, from points that are made of other samples. What the control samples promise therefore holds
for these bands as for any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kmcompile.exits.candidates.samples import accepted_rows
from kmcompile.exits.statistical.cascade_exit import CascadeExit, Misled, Seen
from kmcompile.exits.statistical.case import Case, prepared_batch
from kmcompile.exits.statistical.generated import generated_challenges
from kmcompile.exits.statistical.risk import LEAST_SCALE, PATH
from kmcompile.exits.statistical.samples import decision_values
from kmcompile.model.coefficients import relevant_decisions
from kmcompile.model.reference import labels_of

MOST_COST = 0.05
"""Most operations that floors may add, as a share, where less wide floors keep the promise, too."""

_SEED = 20010629
"""Of the points that set floors: those that are told of are others."""


def with_floors(
    links: tuple[CascadeExit[Any], ...], case: Case, scale: float
) -> tuple[CascadeExit[Any], ...]:
    """Return early exits with the floors of their bands.

    A point counts for a test if the program asks the early exits about it, and no exit before the
    test decides it.

    Parameters
    ----------
    links : tuple of CascadeExit
    case : Case
        The points are made of the samples that shape and choose the exits.
    scale : float
        About the scale that the control samples will give. No floor is wider than its band there,
        so that floors cost nothing at this scale.
    """
    if not case.wish.n_generated:
        return links
    seen, misled = _points(case, scale)
    if not len(seen.labels):
        return links
    state, made = seen.begin, []
    for each in links:
        results = each.results_on(seen, case.ends)
        each = each.with_floor(results, state, misled)
        trial, state = each.trial(results, state, case.ends.label, np.array(PATH))
        _, decided = trial.first(scale)
        misled = replace(misled, counts=misled.counts & ~decided[:, None])
        made.append(each)
    return tuple(made)


def _points(case: Case, scale: float) -> tuple[Seen, Misled]:
    X = generated_challenges(
        case.machine, case.samples.X[case.taught], case.wish.n_generated, _SEED
    )
    X = np.ascontiguousarray(X[accepted_rows(case.program.prepare, X)])
    decisions = decision_values(case.machine, X)
    labels = labels_of(case.machine, decisions)
    seen = Seen(prepared_batch(case.program, X), labels.astype(np.int32))
    in_range = case.gate.run(seen.batch).in_range
    counts = relevant_decisions(case.machine, labels) & in_range[:, None]
    return seen, Misled(decisions, counts, scale)


def have_floors(links: Sequence[CascadeExit[Any]]) -> bool:
    """Return whether any band of the exits has a floor."""
    return any(made.is_widened(LEAST_SCALE) for made in links)


def widening_notes(links: Sequence[CascadeExit[Any]], scale: float) -> list[str]:
    """Return a note on the exits whose bands floors make wider at a scale, if there are any."""
    kinds = dict.fromkeys(made.stage.template for made in links if made.is_widened(scale))
    if not kinds:
        return []
    return [
        f"points made to mislead early exits, of other samples than the promise's, keep bands of "
        f"{' and '.join(kinds)} from being narrower (NSV, section 5.2)"
    ]

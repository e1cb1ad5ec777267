"""Fit the statistical exits that the chooser compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kmcompile.exits.candidates.required import require_built
from kmcompile.exits.statistical.fits import statistical_fits
from kmcompile.exits.statistical.jobs import each
from kmcompile.exits.statistical.statistical_fit import FitSamples, Job, StatisticalFit
from kmcompile.program.stages import EarlyExit
from kmcompile.request.asked_stages import AskedStages


def fit_stages(
    samples: FitSamples, asked: AskedStages, has_room: Callable[[EarlyExit], bool]
) -> list[tuple[EarlyExit, str]]:
    """Return fitted early exits, each with a description; their bands decide nothing yet.

    Parameters
    ----------
    samples : FitSamples
    asked : AskedStages
    has_room : callable
        Function that returns whether there is room for a stage.

    Raises
    ------
    InputError
        If an exit that must be there cannot be built for the machine.
    """
    fits = [fit for fit in statistical_fits() if asked.allows(fit.kind.template)]
    reasons = {fit.kind.template: fit.why_not(samples.ends) for fit in fits}
    jobs = [
        job
        for fit in fits
        if not reasons[fit.kind.template]
        for job in _jobs(fit, samples, fit.kind.template in asked.needed)
    ]
    stages = each([(fit, arguments) for fit, arguments, _ in jobs], samples.n_jobs)
    named = zip(stages, (text for _, _, text in jobs), strict=True)
    fitted = [(stage, text) for stage, text in named if stage is not None and has_room(stage)]
    require_built(asked, reasons, {stage.template for stage, _ in fitted}, reasons)
    return fitted


def _jobs(fit: StatisticalFit[Any], samples: FitSamples, required: bool) -> Sequence[Job]:
    """Return the jobs of one kind; none if the samples do not determine them."""
    try:
        return list(fit.jobs(samples, required))
    except np.linalg.LinAlgError:
        return []

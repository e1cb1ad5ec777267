"""Operations of calibration on an early exit of any kind: estimate, set bands, set limits."""

from __future__ import annotations

import numpy as np

from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.links import Link
from kmcompile.exits.statistical.statistical_fit import Calibrated
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends


def estimates_of(stage: EarlyExit, ends: Ends, x: Float32Array) -> Estimates:
    """Return the estimates of a stage's tests on prepared samples.

    Parameters
    ----------
    stage : EarlyExit
        The stage as it was fitted, without stages before it.
    x : ndarray of shape (n_samples, n_features), float32
    """
    return fit_of(stage).estimates(stage, ends, x)


def finished(made: Link, number: int, scale: float) -> EarlyExit:
    """Return the stage of a link with its bands at a scale, numbered among its kind."""
    stage = made.fitted.stage
    half_width = np.stack([band.half_width(scale) for band in made.bands]).astype(np.float32)
    return fit_of(stage).finished(stage, Calibrated(made.bands, half_width, made.spread, number))


def with_limits(stage: EarlyExit, x: Float32Array) -> EarlyExit:
    """Return the stage with the range of prepared samples as limits, if it watches the range."""
    return fit_of(stage).with_limits(stage, x)

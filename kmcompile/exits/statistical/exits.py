"""Operations of calibration on a statistical exit of any kind: estimate, set limits."""

from __future__ import annotations

from kmcompile.exits.statistical.fits import fit_of
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


def with_limits(stage: EarlyExit, x: Float32Array, square: Float32Array) -> EarlyExit:
    """Return the stage with the range of prepared samples as limits, if it watches the range.

    `square` is |x|^2 of each sample as the range gate hands it on, shape (n_samples,).
    """
    return fit_of(stage).with_limits(stage, x, square)

"""The view of the step that converts a float input to codes, with the scaler before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.program.stages import Prepare
from kmcompile.steps import Digitize, Quantize, Scale
from kmcompile.steps.quantize import REFUSED, SHIFTER


@dataclass(frozen=True, slots=True)
class QuantizeView:
    """Values for templates/steps/quantize.c.j2.

    Scaler and conversion are one loop, so that no float array is needed between them.

    Parameters
    ----------
    step : Quantize or Digitize
    scale : Scale or None
    low, high : int
        The least and the largest code.
    """

    step: Quantize | Digitize
    scale: Scale | None
    low: int
    high: int
    shifter: np.float32 = SHIFTER
    refused: np.float32 = REFUSED

    @property
    def span(self) -> int:
        """The largest code above the least one."""
        return self.high - self.low


def quantize_view(prepare: Prepare) -> QuantizeView:
    """Return the view of an integer format's steps: at most one scaler, then the codes."""
    *before, step = prepare.steps
    assert isinstance(step, Quantize | Digitize) and len(before) <= 1
    scale = before[0] if before else None
    assert scale is None or (isinstance(scale, Scale) and scale.length is not None)
    return QuantizeView(step, scale, int(step.low), int(step.high))

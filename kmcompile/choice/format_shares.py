"""The share of the inputs that a number format keeps, which decides where it may be taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.lower.formats import (
    LEAST_SHARE,
    Lowered,
    bits_certify,
)
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.width import IN_BYTES
from kmcompile.program.interpreter import interpret
from kmcompile.text.figures import confidence_text, share_text

ENOUGH = 0.97
"""A format may replace float32 if it certifies this share of the inputs that float32 certifies.

Most of these inputs are support vectors, which lie nearer to the boundary than the queries in use.
Each of the remaining inputs costs a replay, or gets an answer that is not certified."""

_ROUNDED_VALUES = "rounded inputs move the values of a regression"

_ALIKE = 0.999
"""Of a reduced machine, a format may replace float32 if it answers this share as float32 does."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a format keeps of a machine, and what it must keep.

    Parameters
    ----------
    kept : float
        Share of the inputs whose label it certifies; of a reduced machine, whose certificates say
        nothing of its format, share of the inputs that it answers as float32 does.
    enough : float
        The share with which it may replace float32.
    least : float
        The share below which it is taken only where it is asked for.
    does : str
        What it does with the inputs that it keeps, in words.
    too_little : str
        Why it keeps too little, if its share is below `least`.
    missing : str
        What it does if its share is below `enough`.
    group : str
        The formats whose share is enough, in words.
    """

    kept: float
    enough: float
    least: float
    does: str
    too_little: str
    missing: str
    group: str

    @property
    def is_enough(self) -> bool:
        """Whether the format may replace float32."""
        return self.kept >= self.enough

    @property
    def is_too_little(self) -> bool:
        """Whether the format is taken only where it is asked for."""
        return self.kept < self.least


def shares_of(
    original: KernelMachine, found: Mapping[str, Lowered], samples: Float32Array | None
) -> dict[str, Share]:
    """Return what each format keeps of a machine.

    Parameters
    ----------
    original : KernelMachine
    found : mapping of str to Lowered
        The programs by their formats, that in float32 among them.
    samples : ndarray of shape (n, n_features), float32, or None
        Samples that a reduced machine answers; None: ordinary inputs.
    """
    if original.reduced_from is not None and original.task is not Task.REGRESSION:
        if samples is None:
            return _alike(found, found["float32"].ordinary, "ordinary inputs")
        return _alike(found, samples, "the samples in --data")
    shares = {key: _certified(key, lowered, found["float32"]) for key, lowered in found.items()}
    if original.kernel.is_linear and original.task is Task.REGRESSION:
        # Every value has an interval, however wide: rounded inputs are for those who ask for them.
        for key, lowered in found.items():
            if not _loses_nothing(lowered):
                shares[key] = replace(shares[key], kept=0.0, least=1.0, too_little=_ROUNDED_VALUES)
    return shares


def _certified(key: str, lowered: Lowered, float32: Lowered) -> Share:
    kept, reference = lowered.measured.certified_share, float32.measured.certified_share
    free = _loses_nothing(lowered)
    share = confidence_text(ENOUGH)
    return Share(
        kept,
        enough=0.0 if free else ENOUGH * reference,
        least=0.0 if free else LEAST_SHARE * (1.0 if key in IN_BYTES else reference),
        does=f"certifies {share_text(kept)} of {lowered.measured.inputs}, "
        f"float32 {share_text(reference)}",
        too_little=bits_certify(lowered),
        missing=f"certifies less than {share} of the inputs that float32 does",
        group=f"certify {share} of float32's labels",
    )


def _alike(found: Mapping[str, Lowered], X: Float32Array, inputs: str) -> dict[str, Share]:
    """Return the shares of the inputs that each format answers as float32 does."""
    answers = {key: interpret(lowered.program, X).results for key, lowered in found.items()}
    shares = {}
    for key, lowered in found.items():
        same = [answers[key][name] == answers["float32"][name] for name in ("label", "status")]
        kept, free = float(np.mean(same[0] & same[1])), _loses_nothing(lowered)
        does = f"answers {share_text(kept)} of {inputs} as float32 does"
        enough = confidence_text(_ALIKE)
        shares[key] = Share(
            kept,
            enough=0.0 if free else _ALIKE,
            least=0.0 if free else ENOUGH,
            does=does,
            too_little=f"it {does}",
            missing=f"answers less than {enough} of the inputs as float32 does",
            group=f"answer {enough} of the inputs as float32 does",
        )
    return shares


def _loses_nothing(lowered: Lowered) -> bool:
    return lowered.coded is None or lowered.coded.lossless

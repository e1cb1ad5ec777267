"""Early exits that do not pay in one number format, so that no other format searches for them."""

from __future__ import annotations

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.exits.certified.certify import able_kinds
from kmcompile.exits.statistical.fits import statistical_fits

_NEAR = 1.25
"""Sequences that take so many times the instructions of the cheapest one show what pays: formats
differ in what their sums take, and little in what exits decide."""


def unpaid_kinds(made: ChosenProgram) -> tuple[str, ...]:
    """Return the kinds of exits that were tried and that no sequence near the cheapest one has."""
    exits, lowered = made.judged, made.lowered  # before control samples are asked
    choice = exits.calibration or exits.choice
    if choice is None or not choice.candidates:
        return ()
    most = _NEAR * min(one.instructions for one in choice.candidates)
    near = (one for one in choice.candidates if one.instructions <= most)
    paid = {text.partition("(")[0].strip() for one in near for text in one.stages}
    able = able_kinds(lowered.machine, lowered.program)
    if exits.calibration is not None:
        fits = statistical_fits()
        able += [fit.kind.template for fit in fits if not fit.why_not(lowered.program.ends)]
    return tuple(name for name in able if name not in paid)

"""The parts of the evidence of a compiled model, in the order in which they run."""

from __future__ import annotations

from kmcompile.evidence.part import Part

CATALOGUE: tuple[Part, ...] = ()

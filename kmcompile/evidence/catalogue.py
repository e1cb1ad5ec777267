"""The parts of the evidence of a compiled model, in the order in which they run."""

from __future__ import annotations

from kmcompile.evidence import supply_chain
from kmcompile.evidence.coverage import covering
from kmcompile.evidence.mutation import mutating
from kmcompile.evidence.part import Part
from kmcompile.evidence.rebuilding import part as rebuilding

CATALOGUE: tuple[Part, ...] = (
    Part(rebuilding.NAME, "the model, rebuilt from its description alone", rebuilding.run),
    Part(supply_chain.NAME, "bills of materials, and whose each file is", supply_chain.run),
    covering.PART,
    mutating.PART,
)

ASKING = frozenset((covering.PART.name, mutating.PART.name))
"""The parts that need the vectors of a subject (queries.npz)."""

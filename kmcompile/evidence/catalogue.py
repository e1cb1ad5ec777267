"""The parts of the evidence of a compiled model, in the order in which they run."""

from __future__ import annotations

from kmcompile.evidence import supply_chain
from kmcompile.evidence.coverage import covering
from kmcompile.evidence.mutation import mutating
from kmcompile.evidence.part import Part
from kmcompile.evidence.rebuilding import part as rebuilding
from kmcompile.evidence.run_time_errors import part as run_time_errors

CATALOGUE: tuple[Part, ...] = (
    Part(rebuilding.NAME, "the model, rebuilt from its description alone", rebuilding.run),
    Part(supply_chain.NAME, "bills of materials, and whose each file is", supply_chain.run),
    covering.PART,
    mutating.PART,
    Part(run_time_errors.NAME, "no run-time error of any input", run_time_errors.run),
)

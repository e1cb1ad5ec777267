"""The steps of the preprocessing in float32, one file each; a step's template has its name."""

from kmcompile.steps.bound import Bound
from kmcompile.steps.extend import Extend
from kmcompile.steps.integers import Integers
from kmcompile.steps.normalize import Normalize
from kmcompile.steps.project import Project
from kmcompile.steps.quantize import Quantize
from kmcompile.steps.scale import Scale
from kmcompile.steps.select import Select
from kmcompile.steps.step import Length, PrepareStep

CATALOGUE: tuple[type[PrepareStep], ...] = (
    Scale,
    Bound,
    Project,
    Normalize,
    Select,
    Quantize,
)
"""Every step there is; a test checks that each has its template and a bit-exact case."""

__all__ = [
    "CATALOGUE",
    "Bound",
    "Extend",
    "Integers",
    "Length",
    "Normalize",
    "PrepareStep",
    "Project",
    "Quantize",
    "Scale",
    "Select",
]

"""The steps of the preprocessing in float32, one file each; a step's template has its name."""

from kmcompile.steps.bound import Bound
from kmcompile.steps.extend import Extend
from kmcompile.steps.integers import Integers
from kmcompile.steps.nonnegative import Nonnegative
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
    Nonnegative,
    Select,
    Extend,
    Quantize,
)
"""Every step there is; a test checks that each has its template and a bit-exact case."""

__all__ = [
    "CATALOGUE",
    "Bound",
    "Extend",
    "Integers",
    "Length",
    "Nonnegative",
    "Normalize",
    "PrepareStep",
    "Project",
    "Quantize",
    "Scale",
    "Select",
]

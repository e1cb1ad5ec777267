"""The steps of the preprocessing, one file each: what they mean in float64, and in the C.

`Scale` is the image of `Affine`, `Bound` of `Clip`, and so on; the template has the image's name.
`Quantize` and `Integers`, which make codes of inputs, are images of nothing that was trained.
"""

from inspect import isabstract
from pathlib import Path

from kmcompile import resources
from kmcompile.steps.bound import Bound, Clip
from kmcompile.steps.extend import Extend, Extension
from kmcompile.steps.image import Length, PrepareStep, StepContext
from kmcompile.steps.integers import Integers
from kmcompile.steps.nonnegative import Nonnegative, PositivePart
from kmcompile.steps.normalize import Normalization, Normalize
from kmcompile.steps.project import Project, Projection
from kmcompile.steps.quantize import Quantize
from kmcompile.steps.scale import Affine, Scale
from kmcompile.steps.select import Select, Selection
from kmcompile.steps.step import NOT_TRAINED, Order, Step

CATALOGUE: list[type[Step]] = [
    Affine,
    Clip,
    Projection,
    Normalization,
    PositivePart,
    Selection,
    Extension,
]
"""Every step that a machine may have: the package's own and those that were registered."""


def register(step: type[Step], templates: Path) -> None:
    """Make a step that is defined elsewhere one of those that a machine may have.

    Parameters
    ----------
    step : type of Step
    templates : Path
        A folder with `steps/NAME.c.j2`, NAME being `step.image.name`.

    Raises
    ------
    ValueError
        If the class is abstract, if its name is another's, or if the template is not there.
    """
    if step in CATALOGUE:
        return
    if isabstract(step) or isabstract(step.image):
        raise ValueError(f"{step.__name__} or its image lacks methods that every step has")
    if step.name in {other.name for other in CATALOGUE}:
        raise ValueError(f"{step.__name__}: another step has the name {step.name!r}")
    resources.register_templates(templates, f"steps/{step.image.name}.c.j2")
    CATALOGUE.append(step)


__all__ = [
    "CATALOGUE",
    "NOT_TRAINED",
    "Affine",
    "Bound",
    "Clip",
    "Extend",
    "Extension",
    "Integers",
    "Length",
    "Nonnegative",
    "Normalization",
    "Normalize",
    "Order",
    "PositivePart",
    "PrepareStep",
    "Project",
    "Projection",
    "Quantize",
    "Scale",
    "Select",
    "Selection",
    "Step",
    "StepContext",
    "register",
]

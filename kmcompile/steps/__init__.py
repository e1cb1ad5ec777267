"""The steps of the preprocessing, one file each: their meaning in float64 and in the C.

Each trained step has an image, the step as the C computes it: `Scale` is the image of `Affine`,
`Bound` of `Clip`, and so on. The template has the image's name. `Quantize`, `Integers` and
`LongIntegers`, which convert inputs to integers, are images without a trained step.
"""

from dataclasses import is_dataclass
from pathlib import Path

from kmcompile import resources
from kmcompile.additions import check_addition, check_stored
from kmcompile.steps.bound import Bound, Clip
from kmcompile.steps.digitize import Digitize
from kmcompile.steps.extend import Extend, Extension
from kmcompile.steps.image import ElementwiseStep, Length, PrepareStep, StepContext
from kmcompile.steps.integers import Integers
from kmcompile.steps.long_integers import LongIntegers
from kmcompile.steps.nonnegative import Nonnegative, PositivePart
from kmcompile.steps.normalize import Normalization, Normalize
from kmcompile.steps.project import Project, Projection
from kmcompile.steps.quantize import Quantize
from kmcompile.steps.scale import Affine, Scale
from kmcompile.steps.select import Columns, SeenFeatures, Select, Selection
from kmcompile.steps.step import NOT_TRAINED, Order, Step

CATALOGUE: list[type[Step]] = [
    Affine,
    Clip,
    Projection,
    Normalization,
    PositivePart,
    Selection,
    SeenFeatures,
    Extension,
]
"""All steps that a machine may have: the package's own and registered ones."""


def register(step: type[Step], templates: Path) -> None:
    """Register a step that is defined outside the package, so that machines may have it.

    Registering a class twice changes nothing.

    Parameters
    ----------
    step : type of Step
    templates : Path
        Folder with the C template `steps/NAME.c.j2`, where NAME is `step.image.name`.

    Raises
    ------
    ValueError
        If the class or its image lacks something, derives from that of another step or is no
        dataclass, if its name is another's, or if the template is not there.
    """
    if step in CATALOGUE:
        return
    check_addition(step, CATALOGUE, ("name", "image", "reads_length", "measures_length"))
    images: list[type[PrepareStep]] = [
        *(known.image for known in CATALOGUE),
        Quantize,
        Digitize,
        Integers,
        LongIntegers,
    ]
    check_addition(step.image, images, ("name",))
    if step.name in {other.name for other in CATALOGUE}:
        raise ValueError(f"{step.__name__}: another step has the name {step.name!r}")
    if not is_dataclass(step):
        raise ValueError(f"{step.__name__} is no dataclass: its fields are what was trained")
    check_stored(step.image)
    resources.register_templates(templates, f"steps/{step.image.name}.c.j2")
    CATALOGUE.append(step)


__all__ = [
    "CATALOGUE",
    "NOT_TRAINED",
    "Affine",
    "Bound",
    "Clip",
    "Columns",
    "Digitize",
    "ElementwiseStep",
    "Extend",
    "Extension",
    "Integers",
    "Length",
    "LongIntegers",
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
    "SeenFeatures",
    "Select",
    "Selection",
    "Step",
    "StepContext",
    "register",
]

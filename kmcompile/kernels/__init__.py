"""The kernel families, one file each, and their registry."""

from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path

from kmcompile import resources
from kmcompile.additions import check_addition
from kmcompile.kernels.additive_chi2 import AdditiveChi2
from kmcompile.kernels.chi2 import Chi2
from kmcompile.kernels.fourier import Fourier
from kmcompile.kernels.intersection import Intersection
from kmcompile.kernels.kernel import Additive, Kernel, KernelSum, Polynomial
from kmcompile.kernels.laplacian import Laplacian
from kmcompile.kernels.linear import Linear
from kmcompile.kernels.matern import Matern
from kmcompile.kernels.poly import Poly
from kmcompile.kernels.rational_quadratic import RationalQuadratic
from kmcompile.kernels.rbf import Rbf
from kmcompile.kernels.sigmoid import Sigmoid

CATALOGUE: list[type[Kernel]] = [
    Linear,
    Poly,
    Rbf,
    Sigmoid,
    Laplacian,
    Chi2,
    Intersection,
    AdditiveChi2,
    Fourier,
    Matern,
    RationalQuadratic,
]
"""All families that a machine may have: the package's own and registered ones."""


def names_of(able: Callable[[type[Kernel]], bool]) -> str:
    """Return the names of the families that are able to something, for messages.

    Examples
    --------
    >>> names_of(lambda kernel: kernel.self_value is not None)
    'rbf, laplacian, chi2, matern, rational_quadratic'
    """
    return ", ".join(kernel.name for kernel in CATALOGUE if able(kernel))


def register(kernel: type[Kernel], templates: Path) -> None:
    """Register a kernel family that is defined outside the package, so that machines may have it.

    Registering a class twice changes nothing.

    Parameters
    ----------
    kernel : type of Kernel
    templates : Path
        Folder with the C template `kernels/NAME.c.j2`, where NAME is `kernel.name`.

    Raises
    ------
    ValueError
        If the class lacks something, derives from another family or is no dataclass, if its name is
        another's, or if the template is not there.
    """
    if kernel in CATALOGUE:
        return
    check_addition(kernel, CATALOGUE, ("name",))
    if kernel.name in {other.name for other in CATALOGUE}:
        raise ValueError(f"{kernel.__name__}: another kernel has the name {kernel.name!r}")
    if not is_dataclass(kernel):
        raise ValueError(f"{kernel.__name__} is no dataclass: its fields are the parameters")
    resources.register_templates(templates, f"kernels/{kernel.name}.c.j2")
    CATALOGUE.append(kernel)


__all__ = [
    "CATALOGUE",
    "Additive",
    "AdditiveChi2",
    "Chi2",
    "Fourier",
    "Intersection",
    "Kernel",
    "KernelSum",
    "Laplacian",
    "Linear",
    "Matern",
    "Poly",
    "Polynomial",
    "RationalQuadratic",
    "Rbf",
    "Sigmoid",
    "names_of",
    "register",
]

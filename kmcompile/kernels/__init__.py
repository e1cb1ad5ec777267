"""The kernel families, one file each."""

from kmcompile.kernels.chi2 import Chi2
from kmcompile.kernels.fourier import Fourier
from kmcompile.kernels.intersection import Intersection
from kmcompile.kernels.kernel import Kernel
from kmcompile.kernels.laplacian import Laplacian
from kmcompile.kernels.linear import Linear
from kmcompile.kernels.poly import Poly
from kmcompile.kernels.rbf import Rbf
from kmcompile.kernels.sigmoid import Sigmoid

CATALOGUE: tuple[type[Kernel], ...] = (
    Linear,
    Poly,
    Rbf,
    Sigmoid,
    Laplacian,
    Chi2,
    Intersection,
    Fourier,
)
"""Every family there is; the equivalence tests go through it."""

__all__ = [
    "CATALOGUE",
    "Chi2",
    "Fourier",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Poly",
    "Rbf",
    "Sigmoid",
]

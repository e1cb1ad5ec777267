"""What each constant of a kernel's bound must at least be, from its derivation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from needed import Needed, U, gamma

from kmcompile.kernels.additive_chi2 import AdditiveChi2Float32
from kmcompile.kernels.chi2 import Chi2Float32
from kmcompile.kernels.exponential import ExponentialFloat32
from kmcompile.kernels.fourier import FourierFloat32
from kmcompile.kernels.intersection import IntersectionFloat32
from kmcompile.kernels.laplacian import LaplacianFloat32
from kmcompile.kernels.matern import MaternFloat32
from kmcompile.kernels.poly import PolyFloat32
from kmcompile.kernels.rational_quadratic import RationalQuadraticFloat32
from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.kernels.sigmoid import SigmoidFloat32
from kmcompile.numeric.scalar import power
from kmcompile.numeric.scalar.functions import COSINE, TANH


@dataclass(frozen=True)
class Facts:
    """What is known of a sum over vectors.

    Parameters
    ----------
    n : int
        Features.
    error, length : float
        Largest distance of a stored vector from the trained one, and largest length.
    sum_error : float
        Relative error of coefficients, products and additions.
    u, tiny : float
        Unit roundoff and the smallest normal number.
    """

    n: int
    error: float
    length: float
    sum_error: float
    u: float
    tiny: float


def rbf(kernel: RbfFloat32, of: Facts) -> Needed:
    """Return those of exp(-gamma |s - x|^2).

    The balance t of the two parts of 2 D e <= t D^2 + e^2 / t is free: `z_error` says which it is,
    and then `shift` has to fit.
    """
    n, scale = of.n, float(kernel.gamma)
    g, tau = gamma(2 if kernel.expands else n + 4, of.u), kernel.exponential.relative_error
    t = max(float(kernel.z_error) * (1 - g) * (1 - tau) - g, 1e-30)
    own = {"shift_minimum": 4 * (scale * n + 1) * of.tiny}
    if kernel.expands:  # all n features nonzero
        own = {
            "shift_minimum": scale * gamma(4, of.u) * of.length**2,
            "per_reach": scale * gamma(n + 2, of.u) / (n + 2),
            "twice_length": 2 * of.length,
        }
    return own | {
        "vector_error": of.error,
        "z_error": g / (1 - g),
        "shift": scale * (1 + 1 / t) / (1 - tau) * (1 - 4 * U),
        "value_error": tau / (1 - tau) + of.sum_error,
    }


def poly(kernel: PolyFloat32, of: Facts) -> Needed:
    """Return those of (gamma <s, x> + coef0)^p: of gamma, product and addition u each."""
    p = kernel.degree
    return {
        **_inner_product(kernel, of),
        "slope": p * (1 + gamma(p + 2, of.u)),
        "value_error": power.relative_error(p, of.u) + of.sum_error,
    }


def sigmoid(kernel: SigmoidFloat32, of: Facts) -> Needed:
    """Return those of tanh(gamma <s, x> + coef0)."""
    return {
        **_inner_product(kernel, of),
        "function_error": TANH[kernel.precision.dtype].relative_error,
        "value_error": of.sum_error,
    }


def _inner_product(kernel: Any, of: Facts) -> Needed:
    scale = abs(float(kernel.gamma)) * (1 - U)
    return {
        "per_length": scale * (gamma(of.n, of.u) * of.length + of.error + 3 * of.u * of.length),
        "per_deviation": scale * (of.length + of.error),
        "minimum": 2 * of.u * abs(float(kernel.coef0)),
    }


def exponential(kernel: ExponentialFloat32, of: Facts) -> Needed:
    """Return those of exp(-gamma D): its terms of 1 and 5 roundings move by 1 and 3 times."""
    roundings, underflows, steepest = {LaplacianFloat32: (1, 2, 1.0), Chi2Float32: (5, 5, 3.0)}[
        type(kernel)
    ]
    g, tau = gamma(roundings + of.n + 1, of.u), kernel.exponential.relative_error
    return {
        "vector_error": of.error,
        "z_error": g / (1 - g),
        "slope": float(kernel.gamma) * (1 - U) * steepest * math.sqrt(of.n),
        "shift_minimum": 2 * (float(kernel.gamma) * underflows * of.n + 1) * of.tiny,
        "value_error": tau / (1 - tau) + of.sum_error,
    }


def matern(kernel: MaternFloat32, of: Facts) -> Needed:
    """Return those of p(z) exp(-z): half the roundings of D^2, the root, gamma and a product.

    p and its product with the exponential have 0, 2 or 6 roundings; those beyond the exponential's
    are not attained together, so that half of them are asked for.
    """
    half = gamma(of.n + 2, of.u) / 2
    g = half + 3 * of.u
    tau = kernel.exponential.relative_error + (0, 1, 3)[kernel.degree] * of.u
    scale = float(kernel.gamma) * (1 - U)
    return {
        "vector_error": of.error,
        "z_error": g / (1 - g),
        "slope": scale,
        "shift_minimum": 2 * scale * math.sqrt(2 * of.n * of.tiny),
        "value_error": tau / (1 - tau) + of.sum_error,
    }


def rational_quadratic(kernel: RationalQuadraticFloat32, of: Facts) -> Needed:
    """Return those of exp(-z), z = alpha log(1 + gamma D^2): gamma, alpha and a product each round.

    2.9 roundings of the logarithm are attained in float32.
    """
    g, tau = gamma(of.n + 6, of.u) + 2.9 * of.u, kernel.exponential.relative_error
    scale, power = float(kernel.gamma) * (1 - U), float(kernel.alpha) * (1 - U)
    slopes = {"slope": power * math.sqrt(scale)}
    if kernel.moves_with_z:
        slopes = dict.fromkeys(("slope", "z_slope"), math.sqrt(power * scale))
    return {
        **slopes,
        "vector_error": of.error,
        "z_error": g / (1 - g),
        "shift_minimum": 2 * (power * (2 * scale * of.n + 1) + 1) * of.tiny,
        "value_error": tau / (1 - tau) + of.sum_error,
    }


def intersection(kernel: IntersectionFloat32, of: Facts) -> Needed:
    """Return those of sum_j min(s_j, x_j): n - 1 additions, and n terms that move."""
    root = math.sqrt(of.n)
    return {
        "per_length": gamma(of.n - 1, of.u) * root,
        "per_deviation": root,
        "minimum": root * (gamma(of.n - 1, of.u) * of.length + of.error),
        "value_error": of.sum_error,
    }


def additive_chi2(kernel: AdditiveChi2Float32, of: Facts) -> Needed:
    """Return those of a sum of terms of 5 roundings, none negative, that move by 3 times."""
    steepest = 3 * math.sqrt(of.n)
    g = gamma(5 + of.n - 1, of.u)
    return {
        "per_deviation": steepest,
        "minimum": steepest * of.error + 5 * of.n * of.tiny,
        "value_error": g / (1 - g) + of.sum_error,
    }


def fourier(kernel: FourierFloat32, of: Facts) -> Needed:
    """Return those of cos(<s, x>): n products and n - 1 additions that round or are flushed."""
    return {
        "per_length": gamma(of.n, of.u) * of.length + of.error,
        "per_deviation": of.length + of.error,
        "minimum": (2 * of.n - 1) * of.tiny,
        "function_error": COSINE[kernel.precision.dtype].absolute_error,
        "value_error": of.sum_error,
    }


KERNELS = {
    RbfFloat32: rbf,
    PolyFloat32: poly,
    SigmoidFloat32: sigmoid,
    LaplacianFloat32: exponential,
    Chi2Float32: exponential,
    IntersectionFloat32: intersection,
    AdditiveChi2Float32: additive_chi2,
    FourierFloat32: fourier,
    MaternFloat32: matern,
    RationalQuadraticFloat32: rational_quadratic,
}

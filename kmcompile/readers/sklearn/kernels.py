"""The kernels of sklearn.metrics.pairwise by name: preprocessing and a kernel of the catalogue."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kmcompile.errors import InputError
from kmcompile.kernels import (
    AdditiveChi2,
    Chi2,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Poly,
    RationalQuadratic,
    Rbf,
    Sigmoid,
)
from kmcompile.kernels.matern import DEGREES
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe
from kmcompile.steps import Extension, Normalization, Step

Expressed = tuple[tuple[Step, ...], Kernel]
"""Steps for both inputs and support vectors, and the kernel behind them."""

_MAX_DEGREE = 2**31 - 1
_STEP_COPIES = 4
"""Number of copies of the vectors while they are normalised."""


def read_pairwise_kernel(fields: Fields, n_features: int) -> Expressed:
    """Return the kernel of an estimator that holds `kernel`, `gamma`, `coef0` and `degree`.

    KernelRidge and Nystroem do, and call sklearn.metrics.pairwise with them.

    Raises
    ------
    InputError
        The kernel cannot be compiled, or a parameter is damaged.
    """
    gamma, coef0, degree = (fields.get(name, None) for name in ("gamma", "coef0", "degree"))
    return pairwise_kernel(
        fields.get("kernel"), n_features, gamma, coef0, degree, prefix=fields.prefix
    )


def pairwise_kernel(
    name: Any,
    n_features: int,
    gamma: Any = None,
    coef0: Any = None,
    degree: Any = None,
    alpha: Any = None,
    prefix: str = "",
) -> Expressed:
    """Return the steps and the kernel for a kernel's name in sklearn.metrics.pairwise.

    Parameters
    ----------
    name : str
        linear, poly or polynomial, rbf, sigmoid, laplacian, chi2, additive_chi2 or cosine; besides
        scikit-learn's also intersection, normalized_poly (`_normalized_poly`), matern (`_matern`)
        and rational_quadratic, (1 + gamma |s - x|^2)^-alpha.
    n_features : int
        Features of the vectors.
    gamma, coef0, degree, alpha : number or None
        None is the default of sklearn.metrics.pairwise: gamma 1 / n_features, chi2's 1;
        coef0 1; degree 3, matern's 1; alpha 1. Parameters that the kernel does not have are
        ignored.
    prefix : str
        Precedes the names of parameters in messages.

    Returns
    -------
    steps : tuple of Step
        Inputs and support vectors go through them, behind all other steps.
    kernel : Kernel

    Raises
    ------
    InputError
        The kernel cannot be compiled, or a parameter is none that it can have.

    Examples
    --------
    >>> pairwise_kernel("laplacian", 4)
    ((), Laplacian(gamma=0.25))
    """
    make = _KERNELS.get(name) if isinstance(name, str) else None
    if make is not None:
        given = {"gamma": gamma, "coef0": coef0, "degree": degree, "alpha": alpha}
        return make(_Parameters(given, n_features, prefix))
    found = f"{prefix}kernel is {describe(name)}, must be {ALLOWED}"
    reason = _REASONS.get(name) if isinstance(name, str) else None
    raise InputError(f"{found}{': ' + reason if reason else ''};\nretrain with one of these")


def through(steps: tuple[Step, ...], vectors: Float64Array) -> Float64Array:
    """Return the vectors after the steps of `pairwise_kernel`."""
    for step in steps:
        n_bytes = _STEP_COPIES * FLOAT_BYTES * vectors.size
        current_budget().spend(n_bytes, f"{len(vectors)} vectors behind a step of the kernel")
        vectors = step.apply(vectors)
    return vectors


class _Parameters:
    """gamma, coef0, degree and alpha with their defaults and checks."""

    def __init__(self, given: Mapping[str, Any], n_features: int, prefix: str) -> None:
        self.fields = Fields(Record("", "", dict(given)), prefix)
        self.n_features = n_features

    def number(self, name: str, default: float) -> float:
        """Return a finite number."""
        return default if self.fields.get(name, None) is None else self.fields.number(name)

    def positive(self, name: str, default: float) -> float:
        """Return a number > 0."""
        number = self.number(name, default)
        if number <= 0:
            raise self.fields.error(name, f"is {number}", "> 0", "retrain the model")
        return number

    def gamma(self, default: float | None = None) -> float:
        """Return gamma > 0."""
        return self.positive("gamma", 1.0 / self.n_features if default is None else default)

    def coef0(self, default: float = 1.0) -> float:
        """Return coef0."""
        return self.number("coef0", default)

    def degree(self, default: int = 3) -> int:
        """Return a whole degree, which KernelRidge also holds as a float."""
        degree = self.number("degree", default)
        if degree != int(degree) or not 0 <= degree <= _MAX_DEGREE:
            allowed = f"a whole number from 0 to {_MAX_DEGREE}"
            raise self.fields.error("degree", f"is {degree}", allowed, "retrain the model")
        return int(degree)


def _poly(given: _Parameters) -> Expressed:
    return (), Poly(given.gamma(), given.coef0(), given.degree())


def _matern(given: _Parameters) -> Expressed:
    """The Matern kernel of degree = nu - 1/2 and gamma = sqrt(2 nu) / length_scale."""
    degree = given.degree(1)
    if degree not in DEGREES:
        raise given.fields.error("degree", f"is {degree}", "0, 1 or 2", "retrain the model")
    return (), Matern(given.gamma(), degree)


def _cosine(given: _Parameters) -> Expressed:
    """<s, x> / (|s| |x|): a row of zeros stays, as in cosine_similarity."""
    return (Normalization("l2", given.n_features),), Linear()


def _normalized_poly(given: _Parameters) -> Expressed:
    """K(s, x) / sqrt(K(s, s) K(x, x)) of the polynomial kernel, coef0 = 0 by default.

    With c = coef0 and x' = (x, sqrt(c / gamma)): gamma <s, x> + c = gamma <s', x'>, and the
    quotient is (<s', x'> / (|s'| |x'|))^degree, whatever gamma is where c = 0 (DeCoste and
    Mazzoni 2003, section 2: normalized kernels).
    """
    coef0, degree, n = given.coef0(0.0), given.degree(), given.n_features
    if coef0 < 0:
        raise given.fields.error("coef0", f"is {coef0}", "0 or more", "retrain the model")
    if coef0 == 0:
        return (Normalization("l2", n),), Poly(1.0, 0.0, degree)
    extension = Extension(math.sqrt(coef0 / given.gamma()), n + 1)
    return (extension, Normalization("l2", n + 1)), Poly(1.0, 0.0, degree)


_KERNELS: Mapping[str, Callable[[_Parameters], Expressed]] = MappingProxyType(
    {
        "linear": lambda given: ((), Linear()),
        "poly": _poly,
        "polynomial": _poly,
        "rbf": lambda given: ((), Rbf(given.gamma())),
        "sigmoid": lambda given: ((), Sigmoid(given.gamma(), given.coef0())),
        "laplacian": lambda given: ((), Laplacian(given.gamma())),
        "chi2": lambda given: ((), Chi2(given.gamma(1.0))),
        "additive_chi2": lambda given: ((), AdditiveChi2()),
        "cosine": _cosine,
        "intersection": lambda given: ((), Intersection()),
        "normalized_poly": _normalized_poly,
        "matern": _matern,
        "rational_quadratic": lambda given: (
            (),
            RationalQuadratic(given.gamma(), given.positive("alpha", 1.0)),
        ),
    }
)

ALLOWED = "linear, poly, rbf, sigmoid, laplacian, chi2, additive_chi2 or cosine"

_REASONS = MappingProxyType(
    {
        "precomputed": "the kernel values of new inputs are not in the model",
    }
)

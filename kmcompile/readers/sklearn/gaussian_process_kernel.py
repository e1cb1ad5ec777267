"""A covariance of sklearn.gaussian_process.kernels as a constant and one kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels import Kernel, Linear, Matern, Poly, RationalQuadratic, Rbf
from kmcompile.kernels.matern import DEGREES
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, record_of, short_ascii
from kmcompile.readers.sklearn.kernels import pairwise_kernel
from kmcompile.steps import Affine, Step

MODULE = "sklearn.gaussian_process.kernels"

_ALLOWED = (
    "one RBF, Matern, RationalQuadratic, DotProduct (also to a whole power) or PairwiseKernel, "
    "with ConstantKernels as factors and ConstantKernels and WhiteKernels as terms"
)
_MAX_DEPTH = 10
_MAX_POWER = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """constant + scale K(s, x), between a training input and another input.

    Parameters
    ----------
    constant, scale : float
    kernel : Kernel, optional
        The kernel; None if the covariance is constant.
    steps : tuple of Step
        Steps before the kernel, for inputs and training inputs.
    """

    constant: float
    scale: float = 0.0
    kernel: Kernel | None = None
    steps: tuple[Step, ...] = ()


def is_covariance(value: Any) -> bool:
    """Return whether an estimator's `kernel` is an object of this module, alive or from a file."""
    return record_of(value).module == MODULE


def read_covariance(
    value: Any, n_features: int, depth: int = 0, name: str = "kernel_"
) -> Covariance:
    """Return the covariance of an estimator.

    Parameters
    ----------
    value : kernel object or Record
    n_features : int
    depth : int
        Number of sums and products around it.
    name : str
        The estimator's attribute, for errors.

    Raises
    ------
    InputError
        The kernel is not supported, or a parameter is damaged.
    """
    record = record_of(value)
    make = _READERS.get(record.name) if record.module == MODULE else None
    if make is None:
        raise _refusal(name, f"has {_shown(record)}")
    if depth > _MAX_DEPTH:
        raise _refusal(name, "is nested too deep")
    return make(Fields(record, f"{name}: {record.name}."), n_features, depth + 1)


def _name(fields: Fields) -> str:
    """Return the estimator's attribute in which a kernel stands."""
    return fields.prefix.partition(":")[0]


def _shown(record: Record) -> str:
    return short_ascii(f"{record.module}.{record.name}")


def _refusal(name: str, found: str) -> InputError:
    return InputError(f"{name} {found}, must be {_ALLOWED};\nretrain with such a kernel")


def _constant(fields: Fields, n: int, depth: int) -> Covariance:
    return Covariance(fields.number("constant_value"))


def _white(fields: Fields, n: int, depth: int) -> Covariance:
    """Noise of the training samples: no part of the covariance with another input."""
    fields.number("noise_level")
    return Covariance(0.0)


def _rbf(fields: Fields, n: int, depth: int) -> Covariance:
    """exp(-|(s - x) / length_scale|^2 / 2), of one length or of one a feature."""
    return _of_lengths(fields, n, lambda length: Rbf(float(0.5 / np.square(length))))


def _matern(fields: Fields, n: int, depth: int) -> Covariance:
    """The Matern kernel of nu 0.5, 1.5, 2.5 or infinity, which is rbf, of |(s - x) / length_scale|.

    gamma = sqrt(2 nu) / length_scale.
    """
    nu = fields.get("nu")
    if isinstance(nu, float) and nu == np.inf:
        return _rbf(fields, n, depth)
    nu = fields.number("nu")
    degree = nu - 0.5
    if degree not in DEGREES:
        allowed = "0.5, 1.5, 2.5 or infinity"
        raise fields.error("nu", f"is {nu}", allowed, "retrain with one of these")
    return _of_lengths(
        fields, n, lambda length: Matern(float(np.sqrt(2 * nu) / length), int(degree))
    )


def _rational_quadratic(fields: Fields, n: int, depth: int) -> Covariance:
    """(1 + |(s - x) / length_scale|^2 / (2 alpha))^-alpha, of one length."""
    if not _is_one(fields.get("length_scale")):
        raise fields.error("length_scale", "has several numbers", "one, as scikit-learn takes it")
    alpha = fields.first_number("alpha")
    _require_positive(fields, "alpha", alpha)
    return _of_lengths(
        fields, n, lambda length: RationalQuadratic(float(0.5 / alpha / np.square(length)), alpha)
    )


def _is_one(length: Any) -> bool:
    """Return whether a length is no array, list or tuple of several."""
    if isinstance(length, list | tuple):
        return len(length) == 1
    return not isinstance(length, np.ndarray) or length.size == 1


def _of_lengths(
    fields: Fields, n: int, make: Callable[[np.float64], Rbf | Matern | RationalQuadratic]
) -> Covariance:
    """Return a kernel of |(s - x) / length_scale|, of one length or of one a feature."""
    lengths = _lengths(fields, n)
    if len(lengths) == 1:
        length = float(lengths[0])
        _require_positive(fields, "length_scale", length)
        with np.errstate(over="ignore", divide="ignore"):
            kernel = make(np.float64(length))
        if not 0 < kernel.gamma < np.inf:
            allowed = "a length that leaves gamma above 0 and finite"
            raise fields.error("length_scale", f"is {length}", allowed, "retrain the model")
        return Covariance(0.0, 1.0, kernel)
    _require_positive(fields, "length_scale", float(lengths.min()))
    with np.errstate(over="ignore"):
        scaling = Affine(np.zeros(n), 1.0 / lengths)
    return Covariance(0.0, 1.0, make(np.float64(1.0)), (scaling,))


def _lengths(fields: Fields, n: int) -> Float64Array:
    """Return the length of a kernel, or one a feature; KernelRidge keeps a list as it was given."""
    value = fields.get("length_scale")
    if isinstance(value, list | tuple) and len(value) in (1, n):
        return np.array([fields.finite_number("length_scale", one) for one in value])
    if not isinstance(value, np.ndarray) or value.size == 1:
        return np.array([fields.first_number("length_scale")])
    return fields.array("length_scale", (n,))


def _require_positive(fields: Fields, name: str, value: float) -> None:
    if value <= 0:
        raise fields.error(name, f"has {value}", "> 0", "retrain the model")


def _dot_product(fields: Fields, n: int, depth: int) -> Covariance:
    """<s, x> + sigma_0^2."""
    return Covariance(_sigma_square(fields), 1.0, Linear())


def _power(fields: Fields, n: int, depth: int) -> Covariance:
    """(<s, x> + sigma_0^2)^exponent."""
    base = record_of(fields.get("kernel"))
    if (base.module, base.name) != (MODULE, "DotProduct"):
        raise _refusal(_name(fields), f"has a power of {_shown(base)}")
    exponent = fields.number("exponent")
    if exponent != int(exponent) or not 1 <= exponent <= _MAX_POWER:
        raise fields.error("exponent", f"is {exponent}", "a whole number > 0", "retrain the model")
    inner = Fields(base, f"{_name(fields)}: DotProduct.")
    return Covariance(0.0, 1.0, Poly(1.0, _sigma_square(inner), int(exponent)))


def _sigma_square(fields: Fields) -> float:
    with np.errstate(over="ignore"):
        square = np.square(np.float64(fields.number("sigma_0")))
    return fields.finite_number("sigma_0", square)


def _pairwise(fields: Fields, n: int, depth: int) -> Covariance:
    """Return a kernel of sklearn.metrics.pairwise, which is only given gamma."""
    given = fields.get("pairwise_kernels_kwargs")
    if given is not None and not (isinstance(given, dict) and not given):
        raise _refusal(_name(fields), "has a PairwiseKernel with other arguments than gamma")
    steps, kernel = pairwise_kernel(
        fields.get("metric"), n, fields.number("gamma"), prefix=fields.prefix
    )
    return Covariance(0.0, 1.0, kernel, steps)


def _sum(fields: Fields, n: int, depth: int) -> Covariance:
    one, other = (
        read_covariance(fields.get(part), n, depth, _name(fields)) for part in ("k1", "k2")
    )
    if one.kernel is not None and other.kernel is not None:
        raise _refusal(_name(fields), "is a sum of two kernels")
    with_kernel = other if one.kernel is None else one
    return replace(with_kernel, constant=one.constant + other.constant)


def _product(fields: Fields, n: int, depth: int) -> Covariance:
    one, other = (
        read_covariance(fields.get(part), n, depth, _name(fields)) for part in ("k1", "k2")
    )
    if one.kernel is not None and other.kernel is not None:
        raise _refusal(_name(fields), "is a product of two kernels")
    with_kernel, factor = (other, one) if one.kernel is None else (one, other)
    return replace(
        with_kernel,
        constant=factor.constant * with_kernel.constant,
        scale=factor.constant * with_kernel.scale,
    )


_READERS: Mapping[str, Callable[[Fields, int, int], Covariance]] = MappingProxyType(
    {
        "ConstantKernel": _constant,
        "WhiteKernel": _white,
        "RBF": _rbf,
        "Matern": _matern,
        "RationalQuadratic": _rational_quadratic,
        "DotProduct": _dot_product,
        "Exponentiation": _power,
        "PairwiseKernel": _pairwise,
        "Sum": _sum,
        "Product": _product,
    }
)

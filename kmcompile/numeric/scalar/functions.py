"""The scalar functions by name, each in float32 and in float64."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from kmcompile.numeric.arrays import Real
from kmcompile.numeric.rounding import precision_of
from kmcompile.numeric.scalar import (
    cosine,
    cosine_double,
    exp_negative,
    exp_negative_double,
    log1p,
    square_root,
    square_root_double,
    tanh,
    tanh_double,
)


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """A scalar function in one precision.

    Parameters
    ----------
    of : callable
        Takes an ndarray, returns one of equal shape and dtype: the reference semantics.
    relative_error : float
        Bound on the relative error of `of`.
    template : str
        Name of the function's template in templates/scalar/.
    view : object
        What the template reads: the function's module, or a view.
    limit : float32 or float64
        The exponential is 0 from this argument on. The square root takes no smaller argument, the
        cosine no larger one. For every other function 0.
    absolute_error : float
        Bound on the absolute error of `of` that is added to the relative one.
    """

    of: Callable[..., Any]
    relative_error: float
    template: str
    view: object
    limit: Real
    absolute_error: float = 0.0


ByPrecision = Mapping[type[Real], ScalarFunction]


def _of(
    of: Callable[..., Any], relative_error: float, limit: Real, absolute_error: float = 0.0
) -> ScalarFunction:
    """Return a function whose template has the name of the function's module and reads it."""
    module, template = sys.modules[of.__module__], of.__module__.rpartition(".")[2]
    return ScalarFunction(of, relative_error, template, module, limit, absolute_error)


def _by_precision(*functions: ScalarFunction) -> ByPrecision:
    return MappingProxyType({type(function.limit): function for function in functions})


EXP_NEGATIVE: Final = _by_precision(
    _of(exp_negative.exp_negative, exp_negative.RELATIVE_ERROR, exp_negative.CUTOFF),
    _of(
        exp_negative_double.exp_negative,
        exp_negative_double.RELATIVE_ERROR,
        exp_negative_double.CUTOFF,
    ),
)
"""exp(-z) for z >= 0."""

TANH: Final = _by_precision(
    _of(tanh.tanh, tanh.RELATIVE_ERROR, np.float32(0.0)),
    _of(tanh_double.tanh, tanh_double.RELATIVE_ERROR, np.float64(0.0)),
)

SQUARE_ROOT: Final = _by_precision(
    ScalarFunction(
        square_root.square_root,
        square_root.RELATIVE_ERROR,
        "square_root",
        square_root.VIEW,
        np.float32(0.0),
    ),
    _of(
        square_root_double.square_root,
        square_root_double.RELATIVE_ERROR,
        np.float64(square_root_double.SMALLEST),
    ),
)

LOG1P: Final = _by_precision(
    *(
        ScalarFunction(
            log1p.log1p,
            log1p.ROUNDOFFS * precision_of(view.ln2).unit_roundoff,
            "log1p",
            view,
            view.dtype(0.0),
            2 * precision_of(view.ln2).smallest_normal,
        )
        for view in (log1p.VIEW, log1p.VIEW_DOUBLE)
    )
)
"""log(1 + u) for u >= 0."""

COSINE: Final = _by_precision(
    _of(cosine.cosine, 0.0, cosine.LIMIT, cosine.ABSOLUTE_ERROR),
    _of(cosine_double.cosine, 0.0, cosine_double.LIMIT, cosine_double.ABSOLUTE_ERROR),
)

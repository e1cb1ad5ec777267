"""The scalar functions by name, each in float32 and in float64."""

from __future__ import annotations

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
        The view that the template renders.
    limit : float32 or float64
        The exponential is 0 from this argument on. The square root takes no smaller argument, the
        cosine no larger one. For every other function 0.
    absolute_error : float
        Bound on the absolute error of `of` that is added to the relative one.
    """

    of: Callable[..., Any]
    relative_error: float
    template: str
    view: Any
    limit: Real
    absolute_error: float = 0.0


ByPrecision = Mapping[type[Real], ScalarFunction]

EXP_NEGATIVE: Final[ByPrecision] = MappingProxyType(
    {
        np.float32: ScalarFunction(
            exp_negative.exp_negative,
            exp_negative.RELATIVE_ERROR,
            "exp_negative",
            exp_negative.VIEW,
            exp_negative.CUTOFF,
        ),
        np.float64: ScalarFunction(
            exp_negative_double.exp_negative,
            exp_negative_double.RELATIVE_ERROR,
            "exp_negative_double",
            exp_negative_double.VIEW,
            exp_negative_double.CUTOFF,
        ),
    }
)
"""exp(-z) for z >= 0."""

TANH: Final[ByPrecision] = MappingProxyType(
    {
        np.float32: ScalarFunction(
            tanh.tanh, tanh.RELATIVE_ERROR, "tanh", tanh.VIEW, np.float32(0.0)
        ),
        np.float64: ScalarFunction(
            tanh_double.tanh,
            tanh_double.RELATIVE_ERROR,
            "tanh_double",
            tanh_double.VIEW,
            np.float64(0.0),
        ),
    }
)

SQUARE_ROOT: Final[ByPrecision] = MappingProxyType(
    {
        np.float32: ScalarFunction(
            square_root.square_root,
            square_root.RELATIVE_ERROR,
            "square_root",
            square_root.VIEW,
            np.float32(0.0),
        ),
        np.float64: ScalarFunction(
            square_root_double.square_root,
            square_root_double.RELATIVE_ERROR,
            "square_root_double",
            square_root_double.VIEW,
            np.float64(square_root_double.SMALLEST),
        ),
    }
)

LOG1P: Final[ByPrecision] = MappingProxyType(
    {
        view.dtype: ScalarFunction(
            log1p.log1p,
            log1p.ROUNDOFFS * precision_of(view.ln2).unit_roundoff,
            "log1p",
            view,
            view.dtype(0.0),
            2 * precision_of(view.ln2).smallest_normal,
        )
        for view in (log1p.VIEW, log1p.VIEW_DOUBLE)
    }
)
"""log(1 + u) for u >= 0."""

COSINE: Final[ByPrecision] = MappingProxyType(
    {
        np.float32: ScalarFunction(
            cosine.cosine, 0.0, "cosine", cosine.VIEW, cosine.LIMIT, cosine.ABSOLUTE_ERROR
        ),
        np.float64: ScalarFunction(
            cosine_double.cosine,
            0.0,
            "cosine_double",
            cosine_double.VIEW,
            cosine_double.LIMIT,
            cosine_double.ABSOLUTE_ERROR,
        ),
    }
)

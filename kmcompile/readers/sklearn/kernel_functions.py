"""Kernels of scikit-learn's that are functions or objects, recognised by name, never called.

The LIBSVM estimators take a function of sklearn.metrics.pairwise as `kernel`, or an object of
sklearn.gaussian_process.kernels; gamma, coef0 and degree of the estimator are then ignored, those
of a functools.partial count.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from kmcompile.errors import InputError
from kmcompile.kernels import Linear, Poly
from kmcompile.readers.record import Function, Record, describe
from kmcompile.readers.sklearn.gaussian_process_kernel import is_covariance, read_covariance
from kmcompile.readers.sklearn.kernels import ALLOWED, Expressed, pairwise_kernel

MODULE = "sklearn.metrics.pairwise"
FUNCTIONS = {
    "linear_kernel": ("linear", ()),
    "polynomial_kernel": ("poly", ("gamma", "coef0", "degree")),
    "rbf_kernel": ("rbf", ("gamma",)),
    "sigmoid_kernel": ("sigmoid", ("gamma", "coef0")),
    "laplacian_kernel": ("laplacian", ("gamma",)),
    "chi2_kernel": ("chi2", ("gamma",)),
    "additive_chi2_kernel": ("additive_chi2", ()),
    "cosine_similarity": ("cosine", ()),
}
"""Function -> the kernel's name and the parameters that it takes."""


def is_kernel_function(module: str, name: str) -> bool:
    """Whether a name of a file is that of a function of this module."""
    return module == MODULE and name in FUNCTIONS


def is_function(kernel: Any) -> bool:
    """Whether an estimator's `kernel` is a function or an object, read from a file or alive."""
    is_one = isinstance(kernel, Function) or _is_partial(kernel) or callable(kernel)
    return is_one or is_covariance(kernel)


def function_kernel(kernel: Any, n_features: int) -> Expressed:
    """Return the steps and the kernel that are equivalent to a function.

    Raises
    ------
    InputError
        The function is none of `FUNCTIONS`, or has other arguments than their parameters; or the
        object has other parts than one kernel.
    """
    if is_covariance(kernel):
        return _of_object(kernel, n_features)
    function, arguments, keywords = _parts(kernel)
    known = _known(function)
    if known is None:
        raise refusal(function)
    name, parameters = FUNCTIONS[known.name]
    if arguments or not set(keywords) <= set(parameters):
        raise InputError(
            f"kernel is {known.name} with other arguments than "
            f"{', '.join(parameters) or 'none'}; retrain with these only"
        )
    return pairwise_kernel(name, n_features, **keywords)


def _of_object(kernel: Any, n_features: int) -> Expressed:
    """Read an object; <s, x> with a constant and a factor is a polynomial of degree 1."""
    covariance = read_covariance(kernel, n_features, name="kernel")
    constant, scale = covariance.constant, covariance.scale
    if covariance.kernel is not None and (constant, scale) == (0.0, 1.0):
        return covariance.steps, covariance.kernel
    if isinstance(covariance.kernel, Linear) and constant >= 0 and scale > 0:
        return covariance.steps, Poly(scale, constant, 1)
    raise InputError(
        "kernel has a factor or a constant besides its kernel, must have neither; retrain "
        "without them: what a factor does, C does too"
    )


def refusal(function: Any) -> InputError:
    """Return the error for any other function."""
    return InputError(
        f"kernel is a function ({describe(function)}), must be {ALLOWED} or one of "
        "sklearn.metrics.pairwise's functions for them: other functions cannot be compiled;\n"
        "retrain with one of these, or with kernel='precomputed' if it is intersection or "
        "normalized_poly:\nkmcompile.precomputed_machine takes the vectors"
    )


def _is_partial(kernel: Any) -> bool:
    return isinstance(kernel, Record) and (kernel.module, kernel.name) == ("functools", "partial")


def _parts(kernel: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return function, positional arguments and keywords, also of a functools.partial."""
    if isinstance(kernel, functools.partial):
        return kernel.func, kernel.args, kernel.keywords
    if not _is_partial(kernel):
        return kernel, (), {}
    match kernel.attributes.get("__state__"):
        case (function, tuple() as arguments, dict() as keywords, _) if all(
            isinstance(name, str) for name in keywords
        ):
            return function, arguments, keywords
    raise InputError("kernel is a damaged functools.partial; save the model again")


def _known(function: Any) -> Function | None:
    """Return the name of a function in `FUNCTIONS`; a live function is compared itself."""
    if isinstance(function, Function):
        return function if is_kernel_function(function.module, function.name) else None
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or name not in FUNCTIONS:
        return None
    is_real = getattr(sys.modules.get(MODULE), name, None) is function
    return Function(MODULE, name) if is_real else None

"""The attributes of scikit-learn's releases before 1.0, under the names of today.

| release | what is other |
| --- | --- |
| before 1.0 | the number of features is that of the arrays: `n_features_in_` came with 0.24 |
| before 0.24 | `MinMaxScaler` has no `clip` |
| before 0.23 | `n_support_` of SVC is no property of `_n_support` |
| before 0.22 | SVC has no `break_ties`; modules are `sklearn.svm.classes` and the like |
| before 0.20 | `OneClassSVM` has no `offset_` |
| before 0.19 | `decision_function_shape` of SVC is None, or not there: of pairs |
| before 0.18 | `_sklearn_version` is missing; searches are in `sklearn.grid_search` |
| before 0.16 | `dual_coef_` of SVC has LIBSVM's sign, and there is no `_dual_coef_` |
| before 0.17 | `StandardScaler` has `std_` in place of `scale_` |

Source: scikit-learn's changelog ("What's new") and the sources of these releases.
"""

from __future__ import annotations

import re
from typing import Any, TypeGuard

import numpy as np

BEFORE_VERSIONS = "0.17"
"""What stands for the release of a file that does not tell it: 0.18 was the first that did."""

_WIDTHS = ("coef_", "components_", "scale_", "mean_", "center_", "min_", "std_")
"""Arrays whose last axis are the features."""
_LIBSVM = ("SVC", "NuSVC", "OneClassSVM", "SVR", "NuSVR")


def add_newer_names(module: str, name: str, attributes: dict[str, Any]) -> None:
    """Add to an object's attributes what a release before 1.0 had under another name.

    Nothing is changed in objects of other releases or other packages.
    """
    if not module.startswith("sklearn.") or not _is_old(attributes):
        return
    attributes.setdefault("_sklearn_version", BEFORE_VERSIONS)
    if name == "StandardScaler" and "std_" in attributes:
        attributes.setdefault("scale_", attributes["std_"])
    if name == "MinMaxScaler":
        attributes.setdefault("clip", False)
    if name in _LIBSVM:
        _add_to_libsvm(name, attributes)
    width = _width(attributes)
    if width is not None:
        attributes.setdefault("n_features_in_", width)


def _is_old(attributes: dict[str, Any]) -> bool:
    if "_sklearn_version" not in attributes:
        return bool(attributes)
    version = attributes["_sklearn_version"]
    return isinstance(version, str) and re.match(r"0\.\d", version) is not None


def _add_to_libsvm(name: str, attributes: dict[str, Any]) -> None:
    if "n_support_" in attributes:
        attributes.setdefault("_n_support", attributes["n_support_"])
    if name in ("SVC", "NuSVC"):
        attributes.setdefault("break_ties", False)
        if attributes.get("decision_function_shape") is None:
            attributes["decision_function_shape"] = "ovo"
    intercept, dual_coef = attributes.get("intercept_"), attributes.get("dual_coef_")
    if name == "OneClassSVM" and "offset_" not in attributes and _is_numbers(intercept):
        attributes["offset_"] = -intercept
    if "_intercept_" in attributes and "_dual_coef_" not in attributes and _is_numbers(dual_coef):
        attributes["_dual_coef_"] = dual_coef
        if name in ("SVC", "NuSVC") and len(dual_coef) == 1:  # of two classes
            attributes["dual_coef_"] = -dual_coef


def _is_numbers(value: Any) -> TypeGuard[np.ndarray[Any, Any]]:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iuf"


def _width(attributes: dict[str, Any]) -> int | None:
    """Return the number of features of the input, by the first array that tells it."""
    shape = attributes.get("shape_fit_")
    if isinstance(shape, tuple | list) and len(shape) == 2:
        return int(shape[1]) if isinstance(shape[1], int | np.integer) else None
    for name in _WIDTHS:
        value = attributes.get(name)
        if isinstance(value, np.ndarray) and value.ndim:
            return int(value.shape[-1])
    return None

"""scikit-learn's fitted transformers that keep some columns, or all of them, as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.steps import Selection, Step

Mask = NDArray[np.bool_]


def _k_best(fields: Fields, n: int) -> Mask:
    """The k largest of scores_, of equal ones the last: feature_selection/_univariate_selection."""
    scores = _scores(fields, n)
    k = fields.get("k")
    if isinstance(k, str) and k == "all":
        return np.ones(n, dtype=bool)
    kept = np.zeros(n, dtype=bool)
    k = fields.integer("k", 1, 2**31 - 1)
    kept[np.argsort(scores, kind="stable")[-k:]] = True
    return kept


def _percentile(fields: Fields, n: int) -> Mask:
    """The scores_ above a percentile, and of those that equal it the first ones."""
    scores, percentile = _scores(fields, n), fields.number("percentile")
    if not 0 <= percentile <= 100:
        raise fields.error("percentile", f"is {percentile}", "from 0 to 100")
    if percentile == 100:
        return np.ones(n, dtype=bool)
    limit = np.percentile(scores, 100 - percentile)
    kept: Mask = scores > limit
    equal = np.flatnonzero(scores == limit)
    kept[equal[: max(0, int(n * percentile / 100) - int(kept.sum()))]] = True
    return kept


def _scores(fields: Fields, n: int) -> Float64Array:
    """Return scores_, where a feature without a score has the least one."""
    fields.require_fitted("scores_")
    raw = fields.raw_array("scores_")
    if raw.shape != (n,):
        raise fields.error("scores_", f"has shape {raw.shape}", f"of shape ({n},)")
    scores = raw.astype(np.float64)
    return np.where(np.isnan(scores), np.finfo(scores.dtype).min, scores)


def _variance(fields: Fields, n: int) -> Mask:
    """variances_ > threshold."""
    fields.require_fitted("variances_")
    kept: Mask = fields.array("variances_", (n,)) > fields.number("threshold")
    return kept


def _support(fields: Fields, n: int) -> Mask:
    """The mask support_ of RFE and RFECV."""
    fields.require_fitted("support_")
    mask = fields.get("support_")
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n,):
        raise fields.error("support_", f"is {describe(mask)}", f"{n} booleans")
    return mask.astype(bool)


def inner_of(selector: Fields) -> Record:
    """Return the record of the estimator whose weights SelectFromModel compares."""
    fitted = selector.has("estimator_") or not selector.flag("prefit", False)
    name = "estimator_" if fitted else "estimator"
    selector.require_fitted(name)
    return record_of(selector.get(name))


def _from_model(fields: Fields, n: int) -> Mask:
    """The features whose weights are at least a threshold: feature_selection/_from_model.py."""
    inner = Fields(inner_of(fields), prefix=f"{fields.prefix}estimator_.")
    getter = fields.get("importance_getter", "auto")
    if not isinstance(getter, str) or getter not in ("auto", "coef_"):
        raise fields.error("importance_getter", f"is {describe(getter)}", "'auto' or 'coef_'")
    if not inner.has("coef_"):
        raise fields.error(
            "estimator_",
            f"is {describe(inner.record)} without a stored coef_",
            "one that stores it, such as LinearSVC",
            "retrain with one of these",
        )
    weights = inner.array("coef_", (None,) if inner.raw_array("coef_").ndim == 1 else (None, n))
    order = fields.get("norm_order", 1)
    if not (isinstance(order, float) and np.isinf(order)):
        order = fields.finite_number("norm_order", order)
    scores = np.abs(weights) if weights.ndim == 1 else np.linalg.norm(weights, axis=0, ord=order)
    kept = np.ones(n, dtype=bool)
    asked = "max_features_" if fields.has("max_features_") else "max_features"
    if fields.get(asked, None) is not None:
        most = fields.integer(asked, 1, n)
        kept[:] = False
        kept[np.argsort(-scores, kind="stable")[:most]] = True
    kept[scores < _threshold(fields, inner, scores)] = False
    return kept


def _threshold(fields: Fields, inner: Fields, scores: Float64Array) -> float:
    """Return the threshold: a number, or a multiple of the mean or the median of the scores."""
    asked: Any = fields.get("threshold", None)
    if asked is None:
        penalty = inner.get("penalty", None)
        if "Lasso" in inner.record.name or (isinstance(penalty, str) and penalty == "l1"):
            return 1e-5
        for name in ("l1_ratio_", "l1_ratio"):
            ratio = inner.get(name, None)
            if isinstance(ratio, float | np.ndarray) and np.any(np.isclose(ratio, 1.0)):
                raise fields.error(
                    "threshold",
                    f"is None, and {name} of the estimator 1",
                    "a number: releases choose another one there",
                    "fit it with a threshold",
                )
        return float(scores.mean())
    if isinstance(asked, float) and np.isinf(asked):
        return asked
    if not isinstance(asked, str):
        return fields.number("threshold")
    scale, _, of = asked.rpartition("*")
    values = {"mean": float(np.mean(scores)), "median": float(np.median(scores))}
    try:
        return fields.finite_number("threshold", float(scale.strip() or 1)) * values[of.strip()]
    except (ValueError, KeyError):
        allowed = "a number, mean or median"
        raise fields.error("threshold", f"is {describe(asked)}", allowed) from None


def _imputed(fields: Fields, n: int) -> Mask:
    """All columns that have a statistic: what is missing is refused on the board."""
    missing = fields.get("missing_values", np.nan)
    if not (isinstance(missing, float | np.floating) and np.isnan(missing)):
        raise fields.error(
            "missing_values",
            f"is {describe(missing)}",
            "nan",
            "replace this value before the model, and compile the steps behind it",
        )
    if fields.flag("add_indicator", False):
        raise fields.error("add_indicator", "is True", "False", "retrain without it")
    fields.require_fitted("statistics_")
    statistics = fields.raw_array("statistics_")
    if statistics.shape != (n,):
        raise fields.error("statistics_", f"has shape {statistics.shape}", f"of shape ({n},)")
    if fields.flag("keep_empty_features", False):
        return np.ones(n, dtype=bool)
    kept: Mask = ~np.isnan(statistics.astype(np.float64))
    return kept


def _unchanged(fields: Fields, n: int) -> Mask:
    """A FunctionTransformer without a function."""
    if fields.get("func", None) is not None:
        raise fields.error(
            "func", f"is {describe(fields.get('func'))}", "None", "a function cannot be compiled"
        )
    return np.ones(n, dtype=bool)


_MASKS: Mapping[str, Callable[[Fields, int], Mask]] = MappingProxyType(
    {
        "SelectKBest": _k_best,
        "SelectPercentile": _percentile,
        "VarianceThreshold": _variance,
        "SelectFromModel": _from_model,
        "RFE": _support,
        "RFECV": _support,
        "SimpleImputer": _imputed,
        "FunctionTransformer": _unchanged,
    }
)


def _read(name: str) -> Callable[[Fields, int], tuple[Step, ...]]:
    def read(fields: Fields, n: int) -> tuple[Step, ...]:
        kept = np.flatnonzero(_MASKS[name](fields, n))
        if not len(kept):
            raise InputError(f"{name} keeps no column; retrain the model")
        if len(kept) == n:
            return ()
        return (Selection(tuple(int(column) for column in kept), n),)

    return read


READERS: Mapping[str, Callable[[Fields, int], tuple[Step, ...]]] = MappingProxyType(
    {name: _read(name) for name in _MASKS}
)

"""scikit-learn's meta-estimators, whose answers are those of an estimator inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.fields import Fields
from kmcompile.readers.sklearn.calibrated import read_calibrated
from kmcompile.readers.sklearn.decision_threshold import read_fixed_threshold, read_tuned_threshold
from kmcompile.readers.sklearn.one_vs_rest import read_one_vs_rest
from kmcompile.readers.sklearn.target_scaling import read_target_scaling

ReadInner = Callable[[Any], KernelMachine]
"""Reads an estimator or a Pipeline that is an attribute of another."""

MetaReader = Callable[[Fields, ReadInner], KernelMachine]


def _read_search(fields: Fields, read: ReadInner) -> KernelMachine:
    """Read a GridSearchCV and its like: `predict` is that of `best_estimator_`."""
    if not fields.has("best_estimator_") and fields.get("refit", True) is False:
        raise InputError(
            f"{fields.record.name} has no best_estimator_, as refit is False; "
            "fit it with refit=True, or compile an estimator fitted with its best_params_"
        )
    fields.require_fitted("best_estimator_")
    return read(fields.get("best_estimator_"))


def _read_frozen(fields: Fields, read: ReadInner) -> KernelMachine:
    """Read a FrozenEstimator, which only prevents its estimator from being fitted again."""
    return read(fields.get("estimator"))


_SEARCHES = (
    *("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"),
)

META_READERS: Mapping[str, MetaReader] = MappingProxyType(
    {
        **dict.fromkeys(_SEARCHES, _read_search),
        "FrozenEstimator": _read_frozen,
        "OneVsRestClassifier": read_one_vs_rest,
        "CalibratedClassifierCV": read_calibrated,
        "TransformedTargetRegressor": read_target_scaling,
        "FixedThresholdClassifier": read_fixed_threshold,
        "TunedThresholdClassifierCV": read_tuned_threshold,
    }
)

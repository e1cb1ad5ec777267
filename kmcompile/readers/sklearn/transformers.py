"""scikit-learn's fitted transformers as preprocessing steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record
from kmcompile.readers.sklearn import selectors
from kmcompile.readers.sklearn.classes import version_notes
from kmcompile.steps import Affine, Clip, Normalization, Projection, Step

_MAX_FEATURES = 2**31 - 1
_Norm = Literal["l1", "l2", "max"]
_NEEDS_NO_FIT = ("Normalizer", "FunctionTransformer")


def read_transformer(record: Record, n_features: int) -> tuple[Step, ...]:
    """Return the steps of a fitted transformer whose input has `n_features` features.

    Raises
    ------
    InputError
        It is not fitted or damaged, or does not fit the steps before it.
    """
    fields = Fields(record, prefix=f"{record.name}.")
    version_notes(record)
    width = input_width(record)
    if width is not None and width != n_features:
        raise fields.error("n_features_in_", f"is {width}", f"{n_features}, as its input has")
    return READERS[record.name](fields, n_features)


def input_width(record: Record) -> int | None:
    """Return the number of features for which a step was fitted; None if it was not fitted.

    A Normalizer works without having been fitted, and a FunctionTransformer may not look at X.
    """
    fields = Fields(record, prefix=f"{record.name}.")
    if record.name in _NEEDS_NO_FIT and not fields.has("n_features_in_"):
        return None
    if record.name == "SelectFromModel":  # its number of features is that of the estimator inside
        fields = Fields(selectors.inner_of(fields), prefix=f"{record.name}.estimator_.")
    fields.require_fitted("n_features_in_")
    return fields.integer("n_features_in_", 1, _MAX_FEATURES)


def _standard_scaler(fields: Fields, n: int) -> tuple[Step, ...]:
    """(x - mean_) / scale_; scale_ is 1 where the variance was 0."""
    return _scaler(fields, n, ("with_mean", "mean_"), ("with_std", "scale_"))


def _robust_scaler(fields: Fields, n: int) -> tuple[Step, ...]:
    """(x - center_) / scale_; unit_variance is part of scale_."""
    return _scaler(fields, n, ("with_centering", "center_"), ("with_scaling", "scale_"))


def _scaler(
    fields: Fields, n: int, centre: tuple[str, str], scale: tuple[str, str]
) -> tuple[Step, ...]:
    centred, scaled = fields.flag(centre[0]), fields.flag(scale[0])
    if centred:
        fields.require_fitted(centre[1])
        offset = fields.array(centre[1], (n,))
        factor = _reciprocal(fields, scale[1], n) if scaled else np.ones(n)
        return (Affine(offset, factor, np.zeros(n)),)
    if scaled:
        # The array is read first: its length proves that n is no mere claim of the file.
        factor = _reciprocal(fields, scale[1], n)
        return (Affine(np.zeros(n), factor),)
    return ()


def _min_max_scaler(fields: Fields, n: int) -> tuple[Step, ...]:
    """x scale_ + min_, written as (x + min_ / scale_) scale_.

    That keeps the signal of inputs that lie far from 0; the offset's rounding changes the
    result by no more than 2^-53 |min_|, as scikit-learn's own rounding of min_ does.
    """
    fields.require_fitted("scale_")
    factor = _positive(fields, "scale_", n)
    with np.errstate(over="ignore"):
        offset = -fields.array("min_", (n,)) / factor
    step = Affine(_all_finite(fields, "min_", offset), factor)
    if not fields.flag("clip"):
        return (step,)
    bounds = fields.get("feature_range")
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise fields.error("feature_range", "is no pair", "(low, high)")
    low, high = (fields.finite_number("feature_range", bound) for bound in bounds)
    if low >= high:
        raise fields.error("feature_range", f"is ({low}, {high})", "ascending")
    return step, Clip(low, high, n)


def _max_abs_scaler(fields: Fields, n: int) -> tuple[Step, ...]:
    """x / scale_, since 1.8 with clip to [-1, 1]."""
    fields.require_fitted("scale_")
    factor = _reciprocal(fields, "scale_", n)
    step = Affine(np.zeros(n), factor)
    return (step, Clip(-1.0, 1.0, n)) if fields.flag("clip", False) else (step,)


def _pca(fields: Fields, n: int) -> tuple[Step, ...]:
    """(x - mean_) components_^T, whitened: / sqrt(explained_variance_).

    Of a PCA fitted in float32 scikit-learn also rounds mean_ components_^T and the square roots
    to float32; here they are those of the stored numbers.
    """
    fields.require_fitted("components_")
    components = _some_rows(fields, "components_", fields.array("components_", (None, n)))
    if fields.flag("whiten"):
        scale = _whitening_scale(fields, len(components))
        with np.errstate(over="ignore"):
            components = components / scale[:, None]
        _all_finite(fields, "components_", components)
    exactly = Affine(fields.array("mean_", (n,)), np.ones(n), np.zeros(n))
    return exactly, Projection(components)


def _svd(fields: Fields, n: int) -> tuple[Step, ...]:
    """x components_^T: TruncatedSVD subtracts nothing."""
    fields.require_fitted("components_")
    return (Projection(_some_rows(fields, "components_", fields.array("components_", (None, n)))),)


def _ica(fields: Fields, n: int) -> tuple[Step, ...]:
    """(x - mean_) components_^T; without whitening nothing is subtracted."""
    fields.require_fitted("components_")
    matrix = _some_rows(fields, "components_", fields.array("components_", (None, n)))
    if fields.get("whiten", "unit-variance") is False:
        return (Projection(matrix),)
    return Affine(fields.array("mean_", (n,)), np.ones(n), np.zeros(n)), Projection(matrix)


def _factors(fields: Fields, n: int) -> tuple[Step, ...]:
    """(x - mean_) (W / psi)^T (1 + (W / psi) W^T)^-1: W are components_, psi noise_variance_."""
    fields.require_fitted("components_")
    components = _some_rows(fields, "components_", fields.array("components_", (None, n)))
    with np.errstate(all="ignore"):
        weighted = components / _positive(fields, "noise_variance_", n)
        own = np.eye(len(components)) + weighted @ components.T
    _all_finite(fields, "components_", own)
    try:
        matrix = np.asarray(np.linalg.solve(own, weighted), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise fields.error("components_", "has equal rows", "others", "retrain the model") from None
    exactly = Affine(fields.array("mean_", (n,)), np.ones(n), np.zeros(n))
    return exactly, Projection(_all_finite(fields, "components_", matrix))


def _discriminant(fields: Fields, n: int) -> tuple[Step, ...]:
    """(x - xbar_) scalings_, or of solver eigen x scalings_: the first _max_components columns."""
    solver = fields.choice("solver", ("svd", "eigen"))
    fields.require_fitted("scalings_")
    n_kept = fields.integer("_max_components", 1, _MAX_FEATURES)
    matrix = _some_rows(fields, "scalings_", fields.array("scalings_", (n, None)).T[:n_kept])
    if solver == "eigen":
        return (Projection(matrix),)
    return Affine(fields.array("xbar_", (n,)), np.ones(n), np.zeros(n)), Projection(matrix)


def _some_rows(fields: Fields, name: str, matrix: Float64Array) -> Float64Array:
    if len(matrix) == 0:
        raise fields.error(name, "is empty", "1 row or more", "retrain the model")
    return np.ascontiguousarray(matrix)


def _whitening_scale(fields: Fields, n_components: int) -> Float64Array:
    """Return sqrt(explained_variance_), at least the epsilon of its type as in scikit-learn.

    sklearn/decomposition/_base.py: rank-deficient data has variances next to 0.
    """
    variance = fields.array("explained_variance_", (n_components,))
    if np.any(variance < 0):
        raise fields.error("explained_variance_", f"has {variance.min()}", "0 or more")
    dtype = fields.raw_array("explained_variance_").dtype
    smallest = np.finfo(dtype if dtype.kind == "f" else np.float64).eps
    return np.maximum(np.sqrt(variance), float(smallest))


def _normalizer(fields: Fields, n: int) -> tuple[Step, ...]:
    """x / |x|."""
    norms: dict[str, _Norm] = {norm: norm for norm in get_args(_Norm)}
    return (Normalization(norms[fields.choice("norm", tuple(norms))], n),)


READERS: Mapping[str, Callable[[Fields, int], tuple[Step, ...]]] = MappingProxyType(
    {
        "StandardScaler": _standard_scaler,
        "MinMaxScaler": _min_max_scaler,
        "MaxAbsScaler": _max_abs_scaler,
        "RobustScaler": _robust_scaler,
        "PCA": _pca,
        "Normalizer": _normalizer,
        "TruncatedSVD": _svd,
        "FastICA": _ica,
        "FactorAnalysis": _factors,
        "LinearDiscriminantAnalysis": _discriminant,
        **selectors.READERS,
    }
)


def _reciprocal(fields: Fields, name: str, n: int) -> Float64Array:
    fields.require_fitted(name)
    with np.errstate(over="ignore"):
        return _all_finite(fields, name, 1.0 / _positive(fields, name, n))


def _positive(fields: Fields, name: str, n: int) -> Float64Array:
    values = fields.array(name, (n,))
    bad = np.flatnonzero(values <= 0)
    if len(bad):
        raise fields.error(f"{name}[{bad[0]}]", f"is {values[bad[0]]}", "> 0", "retrain the model")
    return values


def _all_finite(fields: Fields, name: str, values: Float64Array) -> Float64Array:
    if not np.all(np.isfinite(values)):
        raise InputError(
            f"{fields.prefix}{name} is so small or large that scaling overflows; "
            "rescale the training data and retrain"
        )
    return values

"""scikit-learn's linear classifiers and regressors: their weights become the vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Label, Task
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.fields import Fields
from kmcompile.readers.linear import linear_machine
from kmcompile.readers.sklearn.labels import label_binarizer


def _read_classifier(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a classifier with scikit-learn's LinearClassifierMixin: linear_model/_base.py.

    Two classes have one row, f > 0 is `classes_[1]`; more have a row each and the first of
    equal largest ones wins, whether they were trained one-vs-rest, jointly (Crammer and
    Singer, multinomial) or follow from class densities (LinearDiscriminantAnalysis).
    """
    fields.require_fitted("classes_")
    return _classifier(fields, notes, fields.labels("classes_"))


def _read_ridge_classifier(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a RidgeClassifier, whose classes are those of its LabelBinarizer."""
    fields.require_fitted("_label_binarizer")
    binarizer = label_binarizer(fields, "_label_binarizer", ("binary", "multiclass"))
    return _classifier(fields, notes, binarizer.labels("classes_"))


def _classifier(
    fields: Fields, notes: tuple[str, ...], classes: tuple[Label, ...]
) -> KernelMachine:
    fields.require_fitted("coef_")
    rows = 1 if len(classes) == 2 else len(classes)
    weights = _weights(fields, rows)
    current_budget().spend(2 * FLOAT_BYTES * rows**2, f"{rows} classes")
    return linear_machine(
        fields.record.name,
        Task.BINARY if rows == 1 else Task.ONE_VS_REST,
        weights,
        _intercept(fields, rows),
        classes,
        log_odds=rows == 1 and _has_log_odds(fields),
        notes=notes,
    )


def _has_log_odds(fields: Fields) -> bool:
    """Whether predict_proba of two classes is 1 / (1 + exp(-f)).

    Not where multi_class="multinomial" was asked for, before 1.8: there it is 1 / (1 + exp(-2 f)).
    """
    name = fields.record.name
    if name == "SGDClassifier":
        loss = fields.get("loss")
        return isinstance(loss, str) and loss in ("log_loss", "log")
    if name in ("LogisticRegression", "LogisticRegressionCV"):
        asked = fields.get("multi_class", "auto")
        return not (isinstance(asked, str) and asked == "multinomial")
    return name == "LinearDiscriminantAnalysis"


def _read_regressor(fields: Fields, notes: tuple[str, ...]) -> KernelMachine:
    """Read a regressor with scikit-learn's LinearModel.predict: <coef_, x> + intercept_.

    A target of shape (n_samples, 1) gives one row, one of shape (n_samples,) a vector.
    """
    fields.require_fitted("coef_")
    weights = fields.raw_array("coef_")
    if weights.ndim == 2 and len(weights) > 1:
        raise InputError(
            f"{fields.record.name} was trained on {len(weights)} targets, must be 1; "
            "train one model a target"
        )
    row, intercept = _weights(fields, 1), _intercept(fields, 1)
    return linear_machine(fields.record.name, Task.REGRESSION, row, intercept, notes=notes)


_CLASSIFIERS = (
    *("LinearSVC", "LogisticRegression", "LogisticRegressionCV", "SGDClassifier"),
    *("Perceptron", "PassiveAggressiveClassifier", "LinearDiscriminantAnalysis"),
)
_RIDGE_CLASSIFIERS = ("RidgeClassifier", "RidgeClassifierCV")
_REGRESSORS = (
    *("LinearSVR", "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV"),
    *("ElasticNet", "ElasticNetCV", "SGDRegressor", "HuberRegressor", "BayesianRidge"),
)

READERS: Mapping[str, Callable[[Fields, tuple[str, ...]], KernelMachine]] = MappingProxyType(
    {
        **dict.fromkeys(_CLASSIFIERS, _read_classifier),
        **dict.fromkeys(_RIDGE_CLASSIFIERS, _read_ridge_classifier),
        **dict.fromkeys(_REGRESSORS, _read_regressor),
    }
)


def _weights(fields: Fields, rows: int) -> Float64Array:
    """Return `coef_` as rows; regressors and RidgeClassifier may store one row as a vector."""
    one_dimension = rows == 1 and fields.raw_array("coef_").ndim == 1
    weights = fields.array("coef_", (None,) if one_dimension else (rows, None)).reshape(rows, -1)
    fields.require_width(weights.shape[1])
    return weights


def _intercept(fields: Fields, rows: int) -> Float64Array:
    value = fields.get("intercept_")
    if isinstance(value, np.ndarray) and value.ndim:
        return fields.array("intercept_", (rows,))
    # fit_intercept=False leaves a plain 0.0, a regression of one target a number.
    return np.full(rows, fields.number("intercept_"))

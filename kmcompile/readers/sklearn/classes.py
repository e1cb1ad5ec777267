"""The supported classes and releases of scikit-learn."""

from __future__ import annotations

import re

from kmcompile.errors import InputError
from kmcompile.readers.older_names import BEFORE_VERSIONS
from kmcompile.readers.record import Record, describe, short_ascii

ESTIMATORS = {
    **dict.fromkeys(("SVC", "NuSVC", "LinearSVC", "OneClassSVM", "SVR", "NuSVR"), "svm"),
    "LinearSVR": "svm",
    "KernelRidge": "kernel_ridge",
    "GaussianProcessRegressor": "gaussian_process",
    **dict.fromkeys(
        (
            *("LogisticRegression", "LogisticRegressionCV", "RidgeClassifier"),
            *("RidgeClassifierCV", "SGDClassifier", "Perceptron", "PassiveAggressiveClassifier"),
            *("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet"),
            *("ElasticNetCV", "SGDRegressor", "HuberRegressor", "BayesianRidge"),
        ),
        "linear_model",
    ),
    "LinearDiscriminantAnalysis": "discriminant_analysis",
    "OneVsRestClassifier": "multiclass",
    "CalibratedClassifierCV": "calibration",
    "FrozenEstimator": "frozen",
    "TransformedTargetRegressor": "compose",
    **dict.fromkeys(
        (
            *("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV"),
            *("HalvingRandomSearchCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV"),
        ),
        "model_selection",
    ),
}
"""Class of an estimator -> its package: the supported last steps of a pipeline."""
OWN_ESTIMATORS = ("FaLKSVC", "DCPredClassifier", "DCPredRegressor")
"""The estimators of `kmcompile.training`."""
SCALERS = {
    "StandardScaler": "preprocessing",
    "MinMaxScaler": "preprocessing",
    "MaxAbsScaler": "preprocessing",
    "RobustScaler": "preprocessing",
}
"""Transformers that scale each column alone, so that a ColumnTransformer may have them."""
TRANSFORMERS = {
    **SCALERS,
    "PCA": "decomposition",
    "Normalizer": "preprocessing",
    "TruncatedSVD": "decomposition",
    "FastICA": "decomposition",
    "FactorAnalysis": "decomposition",
    "LinearDiscriminantAnalysis": "discriminant_analysis",
    **dict.fromkeys(
        (
            *("SelectKBest", "SelectPercentile", "VarianceThreshold", "SelectFromModel"),
            *("RFE", "RFECV"),
        ),
        "feature_selection",
    ),
    "SimpleImputer": "impute",
    "FunctionTransformer": "preprocessing",
    "ColumnTransformer": "compose",
}
FEATURE_MAPS = {"Nystroem": "kernel_approximation", "RBFSampler": "kernel_approximation"}
"""Transformers that turn a linear estimator behind them into a kernel machine."""
_PARTS = {
    "_RemainderColsList": "compose",
    "make_column_selector": "compose",
    "KernelCenterer": "preprocessing",
}
"""Parts of a ColumnTransformer, and of what `precomputed_machine` takes; supported only there."""
_PACKAGES = {**ESTIMATORS, **TRANSFORMERS, **FEATURE_MAPS, **_PARTS, "Pipeline": "pipeline"}

_OLDER_PACKAGES = dict.fromkeys(("GridSearchCV", "RandomizedSearchCV"), "grid_search")
"""Packages of releases before 0.20."""

SUPPORTED = (
    f"supported: {', '.join((*ESTIMATORS, *OWN_ESTIMATORS))}, alone or at the end of a Pipeline of "
    f"{', '.join(TRANSFORMERS)}, and {' or '.join(FEATURE_MAPS)} before a linear one"
)
INSTEAD = {
    "KernelCenterer": "it centres a kernel's matrix; give the pipeline to precomputed_machine",
    "OneVsOneClassifier": "use SVC, which is one-vs-one itself",
    "QuantileTransformer": "its thousand steps a feature are no matrix; use RobustScaler",
    "PowerTransformer": "powers of inputs have no bounds here; use StandardScaler",
    "PolynomialFeatures": "use SVC(kernel='poly'), which has the same products",
}

OLDEST_READABLE = (0, 14)
"""Oldest supported release; `older_names` has what is other before 1.0."""
OLDEST_TESTED, NEWEST_TESTED = (1, 1), (1, 9)
"""Oldest and newest release whose files the tests read."""


def is_supported(module: str, name: str) -> bool:
    """Return whether a class is supported.

    Subclasses of a supported class are not, because they may compute other answers.
    """
    if name in OWN_ESTIMATORS:
        return module.startswith("kmcompile.training.")
    package = f"sklearn.{_PACKAGES.get(name)}"
    older = f"sklearn.{_OLDER_PACKAGES.get(name)}"
    return name in _PACKAGES and (
        module in (package, older) or module.startswith((package + ".", older + "."))
    )


def require_supported(record: Record) -> None:
    """Raise InputError unless the record is of a supported scikit-learn class."""
    if not is_supported(record.module, record.name):
        raise InputError(refusal(record.module, record.name))


def refusal(module: str, name: str) -> str:
    """Return an error text: why a class is refused, and which are supported."""
    shown = short_ascii(f"{module}.{name}")
    if not module.startswith("sklearn."):
        return (
            f"the model is {shown}, must be a scikit-learn estimator itself (a subclass may "
            f"compute its answers in another way);\n{SUPPORTED}"
        )
    instead = INSTEAD.get(name)
    return f"{shown} is not supported{', ' + instead if instead else ''};\n{SUPPORTED}"


def release_of(record: Record) -> tuple[int, int]:
    """Return the release that saved the model.

    Raises
    ------
    InputError
        The release is older than `OLDEST_READABLE`, or not in the file.
    """
    text = record.attributes.get("_sklearn_version")
    match = re.match(r"(\d{1,4})\.(\d{1,4})", text) if isinstance(text, str) else None
    oldest = ".".join(map(str, OLDEST_READABLE))
    if match is None or (release := (int(match[1]), int(match[2]))) < OLDEST_READABLE:
        found = "not told" if text is None else describe(text)
        raise InputError(
            f"the scikit-learn release that saved it is {found}, must be {oldest} or newer; "
            "retrain the model"
        )
    return release


def version_notes(record: Record) -> tuple[str, ...]:
    """Return a note if the release that saved the model is outside the tested ones.

    Raises
    ------
    InputError
        The release is older than `OLDEST_READABLE`, or not in the file.
    """
    if OLDEST_TESTED <= release_of(record) <= NEWEST_TESTED:
        return ()
    text = record.attributes["_sklearn_version"]
    tested = "{}.{} to {}.{}".format(*OLDEST_TESTED, *NEWEST_TESTED)
    if text == BEFORE_VERSIONS:
        return (f"saved by scikit-learn before 0.18, or altered; tested are {tested}",)
    return (f"saved by scikit-learn {short_ascii(str(text))}; tested are {tested}",)

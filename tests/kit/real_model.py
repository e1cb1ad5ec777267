"""A fitted scikit-learn estimator in real numbers: its attributes, evaluated with 50 digits.

It uses no code of kmcompile, so that a comparison covers readers, passes and lowering.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy import sparse
from sklearn.metrics import pairwise

from kit.function_kernels import (
    intersection_kernel,
    matern_kernel,
    rational_quadratic_kernel,
)

DIGITS = 50
_NEARLY_ZERO = 10 * np.finfo(np.float64).eps  # sklearn.preprocessing.normalize


class RealModel:
    """The decision values of an SVC, NuSVC, LinearSVC, SVR or a Pipeline that ends with one.

    Attributes
    ----------
    n_decisions : int
        1, the pairs in one-vs-one order, or the classes.
    """

    def __init__(self, estimator: Any) -> None:
        *self.transformers, self.classifier = _flattened(estimator)
        classifier = self.classifier
        self.n_classes = len(getattr(classifier, "classes_", (-1, 1)))  # a regression has one sum
        self.is_linear_svc = hasattr(classifier, "coef_") and not hasattr(classifier, "n_support_")
        if self.is_linear_svc:
            self.weights = _table(classifier.coef_)
            self.intercept = _row(np.broadcast_to(classifier.intercept_, len(self.weights)))
            self.n_decisions = len(self.weights)
            return
        vectors = classifier.support_vectors_
        if callable(classifier.kernel):
            vectors = classifier._BaseLibSVM__Xfit[classifier.support_]
        self.vectors = _table(_dense(vectors))
        self.dual_coef = _table(_dense(classifier.dual_coef_))
        self.intercept = _row(classifier.intercept_)
        self.n_decisions = len(self.intercept)
        ends = np.cumsum(classifier.n_support_)
        self.parts = [range(e - n, e) for e, n in zip(ends, classifier.n_support_, strict=True)]
        with mp.workdps(DIGITS):
            self.squares = [mp.fdot(s, s) for s in self.vectors]

    def decisions(self, row: np.ndarray) -> list[Any]:
        """Return the real decision values of one input; binary: f > 0 is `classes_[1]`."""
        with mp.workdps(DIGITS):
            x = self.prepared(row)
            if self.is_linear_svc:
                pairs = zip(self.weights, self.intercept, strict=True)
                return [mp.fdot(w, x) + b for w, b in pairs]
            return self._sums(self._kernel_values(x))

    def label(self, decisions: list[Any]) -> int:
        """Return the index of the label that scikit-learn's rules give."""
        classifier = self.classifier
        if self.n_classes == 2:
            f = decisions[0]
            return int(f > 0 if self.is_linear_svc else f >= 0)
        if self.is_linear_svc:
            return max(range(self.n_classes), key=lambda c: (decisions[c], -c))
        votes, total = [0] * self.n_classes, [mpf(0)] * self.n_classes
        for (i, j), f in zip(pairs_of(self.n_classes), decisions, strict=True):
            for_i = f >= 0 if classifier.break_ties else f > 0
            votes[i if for_i else j] += 1
            total[i] += f
            total[j] -= f
        if not classifier.break_ties:
            return votes.index(max(votes))
        return max(range(self.n_classes), key=lambda c: (votes[c], total[c], -c))

    def prepared(self, row: np.ndarray) -> list[Any]:
        """Return the input after the transformers."""
        with mp.workdps(DIGITS):
            x = _row(row)
            for step in self.transformers:
                x = _TRANSFORM[type(step).__name__](step, x)
            return x

    def _kernel_values(self, x: list[Any]) -> list[Any]:
        classifier = self.classifier
        if callable(classifier.kernel):
            return [function_value(classifier.kernel, s, x) for s in self.vectors]
        inner = [mp.fdot(s, x) for s in self.vectors]
        if classifier.kernel == "linear":
            return inner
        gamma, coef0 = mpf(float(classifier._gamma)), mpf(float(classifier.coef0))
        if classifier.kernel == "poly":
            return [(gamma * t + coef0) ** int(classifier.degree) for t in inner]
        if classifier.kernel == "sigmoid":
            return [mp.tanh(gamma * t + coef0) for t in inner]
        # Cancellation loses fewer digits than the 50 have to spare.
        size = mp.fdot(x, x)
        each = zip(self.squares, inner, strict=True)
        return [mp.exp(-gamma * (square - 2 * t + size)) for square, t in each]

    def _sums(self, values: list[Any]) -> list[Any]:
        if self.n_classes == 2:
            return [mp.fdot(self.dual_coef[0], values) + self.intercept[0]]
        sums = []
        for (i, j), b in zip(pairs_of(self.n_classes), self.intercept, strict=True):
            own = mp.fdot((self.dual_coef[j - 1][n], values[n]) for n in self.parts[i])
            other = mp.fdot((self.dual_coef[i][n], values[n]) for n in self.parts[j])
            sums.append(own + other + b)
        return sums


def function_value(kernel: Any, s: list[Any], x: list[Any]) -> Any:
    """Return the value of one of the functions of `function_kernels`.

    For both kernels of chi2, a feature that a scaler rounds below 0, which scikit-learn refuses,
    counts as 0.
    """
    function = getattr(kernel, "func", kernel)
    if function is intersection_kernel:
        return mp.fsum(min(a, b) for a, b in zip(s, x, strict=True))
    gamma = mpf(float(getattr(kernel, "keywords", {}).get("gamma", 1 / len(x))))
    if function is matern_kernel:
        z = gamma * mp.sqrt(mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True)))
        return (1, 1 + z, 1 + z + z * z / 3)[kernel.keywords["degree"]] * mp.exp(-z)
    if function is rational_quadratic_kernel:
        total = mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True))
        return (1 + gamma * total) ** -mpf(kernel.keywords["alpha"])
    if function is pairwise.laplacian_kernel:
        return mp.exp(-gamma * mp.fsum(abs(a - b) for a, b in zip(s, x, strict=True)))
    each = [(a, max(b, mpf(0))) for a, b in zip(s, x, strict=True)]
    total = mp.fsum((a - b) ** 2 / (a + b) for a, b in each if a + b > 0)
    if function is pairwise.additive_chi2_kernel:
        return -total
    assert function is pairwise.chi2_kernel
    return mp.exp(-gamma * total)


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Return the classes of each one-vs-one decision."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def _flattened(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, with nested pipelines replaced by their steps."""
    if not hasattr(estimator, "steps"):
        return [estimator]
    return [inner for _, step in estimator.steps for inner in _flattened(step)]


def _standard(step: Any, x: list[Any]) -> list[Any]:
    mean = _row(step.mean_) if step.with_mean else [mpf(0)] * len(x)
    scale = _row(step.scale_) if step.with_std else [mpf(1)] * len(x)
    return [(v - m) / s for v, m, s in zip(x, mean, scale, strict=True)]


def _robust(step: Any, x: list[Any]) -> list[Any]:
    center = _row(step.center_) if step.with_centering else [mpf(0)] * len(x)
    scale = _row(step.scale_) if step.with_scaling else [mpf(1)] * len(x)
    return [(v - m) / s for v, m, s in zip(x, center, scale, strict=True)]


def _min_max(step: Any, x: list[Any]) -> list[Any]:
    x = [v * s + m for v, s, m in zip(x, _row(step.scale_), _row(step.min_), strict=True)]
    low, high = (mpf(float(bound)) for bound in step.feature_range)
    return [min(max(v, low), high) for v in x] if step.clip else x


def _max_abs(step: Any, x: list[Any]) -> list[Any]:
    x = [v / s for v, s in zip(x, _row(step.scale_), strict=True)]
    return [min(max(v, mpf(-1)), mpf(1)) for v in x] if getattr(step, "clip", False) else x


def _pca(step: Any, x: list[Any]) -> list[Any]:
    centred = [v - m for v, m in zip(x, _row(step.mean_), strict=True)]
    projected = [mp.fdot(row, centred) for row in _table(step.components_)]
    if not step.whiten:
        return projected
    smallest = mpf(float(np.finfo(step.explained_variance_.dtype).eps))
    scale = [max(mp.sqrt(v), smallest) for v in _row(step.explained_variance_)]
    return [v / s for v, s in zip(projected, scale, strict=True)]


def _normalizer(step: Any, x: list[Any]) -> list[Any]:
    if step.norm == "l2":
        size = mp.sqrt(mp.fdot(x, x))
    else:
        size = (sum if step.norm == "l1" else max)(abs(v) for v in x)
    return x if size < _NEARLY_ZERO else [v / size for v in x]


def _columns(step: Any, x: list[Any]) -> list[Any]:
    taken = []
    for name, transformer, columns in step.transformers_:
        indices = np.arange(len(x))[columns]
        weight = mpf(float((step.transformer_weights or {}).get(name, 1.0)))
        part = [x[index] for index in indices]
        inner = getattr(transformer, "steps", [("", transformer)])
        for _, each in inner if not isinstance(transformer, str) else ():
            if type(each).__name__ != "FunctionTransformer":
                part = _TRANSFORM[type(each).__name__](each, part)
        if not (isinstance(transformer, str) and transformer == "drop"):
            taken += [value * weight for value in part]
    return taken


def _nystroem(step: Any, x: list[Any]) -> list[Any]:
    gamma = mpf(1) / len(x) if step.gamma is None else mpf(float(step.gamma))
    squares = [
        mp.fsum((a - b) ** 2 for a, b in zip(s, x, strict=True)) for s in _table(step.components_)
    ]
    values = [mp.exp(-gamma * square) for square in squares]
    return [mp.fdot(row, values) for row in _table(step.normalization_)]


def _rbf_sampler(step: Any, x: list[Any]) -> list[Any]:
    factor = mp.sqrt(mpf(2) / step.n_components)
    each = zip(_table(step.random_weights_.T), _row(step.random_offset_), strict=True)
    return [factor * mp.cos(mp.fdot(w, x) + offset) for w, offset in each]


_TRANSFORM = {
    "Nystroem": _nystroem,
    "RBFSampler": _rbf_sampler,
    "ColumnTransformer": _columns,
    "StandardScaler": _standard,
    "RobustScaler": _robust,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "PCA": _pca,
    "Normalizer": _normalizer,
}


def _row(values: Any) -> list[Any]:
    return [mpf(float(value)) for value in np.asarray(values)]


def _table(values: Any) -> list[list[Any]]:
    return [_row(row) for row in np.asarray(values)]


def _dense(values: Any) -> np.ndarray:
    return values.toarray() if sparse.issparse(values) else values

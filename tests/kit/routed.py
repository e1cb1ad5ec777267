"""Small routed machines of real data, for tests that ask every target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.svm import SVC, SVR

from kit.emitted import Emitted, named
from kit.sharing import once, shared
from kmcompile.kernels import Poly, Rbf
from kmcompile.kernels.kernel import Kernel
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.routing import Routing
from kmcompile.target import Target


def samples(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Return scaled samples of a data set with their labels or values."""
    load = {"wine": load_wine, "iris": load_iris, "diabetes": load_diabetes}[data]
    X, y = load(return_X_y=True)
    X = np.float32((X - X.mean(axis=0)) / X.std(axis=0))[:, :6].astype(np.float64)
    return X, (y - y.mean()) / y.std() if data == "diabetes" else y


def tree(centres: np.ndarray, shape: str) -> tuple[np.ndarray, ...]:
    """Return weights, offsets, node ends and targets of a flat or a binary tree."""
    n = len(centres)
    half = (centres**2).sum(axis=1) / 2
    if shape == "flat" or n == 1:
        return centres, half, np.array([n]), -1 - np.arange(n)
    # A chain of nodes: node i parts leaf i from the mean of the later leaves.
    weights, offsets, targets = [], [], []
    for i in range(n - 1):
        rest = centres[i + 1 :].mean(axis=0)
        weights += [centres[i], rest]
        offsets += [half[i], (rest**2).sum() / 2]
        targets += [-1 - i, i + 1 if i + 2 < n else -n]
    ends = 2 * np.arange(1, n)
    return np.array(weights), np.array(offsets), ends, np.array(targets)


@dataclass(frozen=True)
class Routed:
    """Machines of k-means cells; a cell of one class is a constant."""

    data: str
    n_leaves: int
    shape: str = "flat"
    kernel: str = "rbf"
    extra: str = ""
    """What leaves have besides: "widths", "products", "linear", or several of them; or "votes":
    three classes, of which a leaf's pairs vote."""

    number_format: str = "float32"

    def __str__(self) -> str:
        extra = f"-{self.extra}" if self.extra else ""
        width = "" if self.number_format == "float32" else f"-{self.number_format}"
        return f"routed-{self.data}-{self.n_leaves}-{self.shape}-{self.kernel}{extra}{width}"

    @property
    def kernel_machine_kernel(self) -> Kernel:
        """The kernel of all leaves."""
        return Rbf(0.2) if self.kernel == "rbf" else Poly(0.2, 1.0, 3)

    @once
    def machine(self) -> KernelMachine:
        """Return the routed machine."""
        X, y = samples(self.data)
        cells = KMeans(self.n_leaves, n_init=1, random_state=0).fit(X)
        n_classes = 0 if self.data == "diabetes" else 3 if self.data == "wine" else 2
        if n_classes == 2:
            y = (y == 2).astype(int)
        n_decisions = n_classes if n_classes > 2 else 1  # three classes have three pairs, too
        vectors, rows, sizes, gammas = [], [], [], []
        intercepts = np.zeros((self.n_leaves, n_decisions))
        for leaf in range(self.n_leaves):
            own = cells.labels_ == leaf
            share = (leaf + 1) / self.n_leaves if "widths" in self.extra else 1.0
            parts = [self._part(X[own], y[own], p, n_classes, share) for p in range(n_decisions)]
            sizes.append(sum(len(part[0]) for part in parts))
            gammas.append(np.full(sizes[-1], share))
            for p, (s, beta, b) in enumerate(parts):
                row = np.zeros((n_decisions, len(s)))
                row[p] = beta
                vectors.append(s)
                rows.append(row)
                intercepts[leaf, p] = b
        weights, offsets, ends, targets = tree(cells.cluster_centers_, self.shape)
        return KernelMachine(
            kind="FaLKSVC" if n_classes else "DCPredRegressor",
            task=self._task(n_classes),
            kernel=self.kernel_machine_kernel,
            support_vectors=np.concatenate(vectors),
            dual_coef=np.concatenate(rows, axis=1),
            intercept=np.zeros(n_decisions),
            classes=tuple(range(n_classes)),
            n_features=X.shape[1],
            zero_is_positive=bool(n_classes),
            routing=Routing(
                weights,
                offsets,
                ends,
                targets,
                np.cumsum(sizes),
                intercepts,
                np.concatenate(gammas),
                *self._more(np.array(sizes), n_decisions, X.shape[1]),
            ),
        )

    def _task(self, n_classes: int) -> Task:
        if n_classes == 3:
            return Task.ONE_VS_ONE if "votes" in self.extra else Task.ONE_VS_REST
        return Task.BINARY if n_classes else Task.REGRESSION

    def _more(self, sizes: np.ndarray, n_decisions: int, width: int) -> tuple[np.ndarray, ...]:
        """Return the coefficients of pairs of kernels, and the weights of linear parts."""
        rng = np.random.default_rng(0)
        n_pairs = int((sizes * (sizes + 1) // 2).sum()) if "products" in self.extra else 0
        n_linear = self.n_leaves if "linear" in self.extra else 0
        weights = rng.normal(scale=0.3, size=(n_linear, n_decisions, width))
        return rng.normal(scale=0.1, size=(n_decisions, n_pairs)), weights

    def _part(
        self, X: np.ndarray, y: np.ndarray, p: int, n_classes: int, share: float
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return vectors, coefficients and intercept of a decision of a leaf."""
        kernel = {"kernel": "rbf", "gamma": 0.2 * share}
        if self.kernel == "poly":
            kernel = {"kernel": "poly", "gamma": 0.2, "coef0": 1.0, "degree": 3}
        if n_classes == 0:
            fitted = SVR(C=1.0, **kernel).fit(X, y)
        else:
            own = y == (1 if n_classes == 2 else p)
            if "votes" in self.extra:
                first, second = ((0, 1), (0, 2), (1, 2))[p]
                chosen = (y == first) | (y == second)
                own, X = y[chosen] == first, X[chosen]
            if own.all() or not own.any():
                return X[:0], np.zeros(0), 1.0 if own.all() else -1.0
            fitted = SVC(C=10.0, **kernel).fit(X, own)
        return fitted.support_vectors_, fitted.dual_coef_[0], float(fitted.intercept_[0])

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        machine = self.machine()
        lowered = lower_in_format(machine, named(target), name, self.number_format)
        return Emitted(machine, lowered.program, named(target))


CORE = (
    Routed("iris", 5),
    Routed("iris", 6, "chain"),
    Routed("wine", 4),
    Routed("wine", 5, "chain", "poly"),
    Routed("diabetes", 6, "chain"),
    Routed("wine", 5, "chain", extra="widths"),
    Routed("iris", 1),
    Routed("wine", 4, extra="linear"),
    Routed("diabetes", 30, extra="products"),
    Routed("wine", 6, "chain", extra="widths products linear"),
    Routed("iris", 4, kernel="poly", extra="linear"),
    Routed("iris", 6, "chain", number_format="int16"),
    Routed("wine", 4, number_format="int8"),
    Routed("diabetes", 5, number_format="int16"),
    Routed("iris", 6, "chain", extra="widths", number_format="int16"),
    Routed("wine", 5, extra="widths", number_format="int8"),
    Routed("wine", 4, extra="linear", number_format="int8"),
    Routed("diabetes", 5, "chain", extra="widths linear", number_format="int16"),
    Routed("diabetes", 30, extra="products", number_format="int16"),
    Routed("wine", 6, "chain", extra="widths products linear", number_format="int16"),
)

VOTES = (
    Routed("wine", 6, extra="votes"),
    Routed("wine", 3, "chain", "poly", extra="votes"),
    Routed("wine", 5, "chain", extra="widths votes"),
    Routed("wine", 6, extra="votes", number_format="int16"),
    Routed("wine", 5, "chain", extra="widths votes", number_format="int8"),
)

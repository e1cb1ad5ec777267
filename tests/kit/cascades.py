"""Statistical programs on handwritten digits in which every stage decides some of the queries.

For tests of the C of statistical exits, of their storage and of calls with wrong arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kit import class_scores
from kit.emitted import Emitted, emit_model
from kit.reduced_sets import estimate, fitted_reduced_set, scaled
from kit.sharing import shared
from kmcompile.exits.statistical.case import gate_of
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    ClassScores,
    ExactSum,
    FixedSum,
    InnerProducts,
    LinearFilter,
    NearestVectors,
    Nonzeros,
    RangeGate,
    ReducedSet,
    Stage,
)
from kmcompile.program.stages.input.range_gate import sum_of_squares, usual_squares
from kmcompile.target import Target

KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"gamma": 0.1},
    "poly": {"degree": 3, "gamma": 0.1, "coef0": 0.5},
    "sigmoid": {"gamma": 0.02, "coef0": -0.5},
}
PREPROCESSING: dict[str, Any] = {"raw": list, "standard": lambda: [StandardScaler()]}
PREPROCESSING["l2"] = lambda: [Normalizer()]
N_TRAINED = 160
N_DIMENSIONS = 9  # of the reduced set
N_COLUMNS = 24  # that the first of two reduced sets looks at
N_FITTED = 13
LEVEL_ENDS = (5, 12)


@dataclass(frozen=True)
class Cascade:
    """A machine with early exits of real shapes and ordinary, uncalibrated thresholds.

    Parameters
    ----------
    scheme : str
        "estimate", "tug_of_war" or "by_score": how the nearest vectors are touched.
    n_levels : int
        Levels of the nearest vectors' projection.
    n_reduced : int
        Reduced sets: of two, the first looks at some columns only.
    pooled : bool
        Whether a feature is the mean of four pixels.
    n_fitted : int
        Vectors of a reduced set; up to four are one block.
    n_scores : int
        Class scores of a machine of pairs: linear ones, by vectors in some columns, and by vectors
        that check the range.
    """

    kernel: str
    task: str
    scheme: str = "estimate"
    n_levels: int = 1
    skip_zeros: bool = True
    n_reduced: int = 1
    preprocessing: str = "raw"
    pooled: bool = False
    n_trained: int = N_TRAINED
    n_fitted: int = N_FITTED
    n_scores: int = 0

    def __str__(self) -> str:
        words = [self.kernel, self.task, self.scheme, f"{self.n_levels}_levels", self.preprocessing]
        words += [] if self.skip_zeros else ["dense"]
        words += [f"{self.n_scores}_scores"] if self.n_scores else []
        return "-".join([*words, f"{self.n_reduced}_reduced"])

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        X, y = _digits(self.task, self.pooled)
        tie = {"break_ties": True} if self.task == "break_ties" else {}
        classifier = SVC(kernel=self.kernel, C=10, **KERNELS[self.kernel], **tie)
        model = make_pipeline(*PREPROCESSING[self.preprocessing](), classifier)
        plain = emit_model(model.fit(X[: self.n_trained], y[: self.n_trained]), target, name)
        fresh = X[self.n_trained :].astype(np.float32)
        program = Stages(self, plain.program, fresh).program
        queries = np.concatenate([fresh, fresh[:20] * np.float32(2.5), plain.queries[::2]])
        return Emitted(plain.machine, program, plain.target, queries)


def _digits(task: str, pooled: bool) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    digits = (3, 8) if task == "binary" else (1, 3, 8, 9)
    chosen = np.isin(y, digits)
    X = X[chosen] / 16
    if pooled:
        X = X.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(X), 16)
    return X, y[chosen]


class Stages:
    """The early exits of a cascade: least-squares fits, bands that leave some queries open."""

    def __init__(self, cascade: Cascade, plain: Program, fresh: np.ndarray) -> None:
        self.cascade, self.plain = cascade, plain
        exact = plain.ends.exact
        assert isinstance(exact, ExactSum | FixedSum)
        self.exact = exact
        assert (interpret(plain, fresh).results["status"] == Status.OK).all()
        self.batch = plain.prepare.run(Batch.of(fresh, plain.n_decisions))
        self.x = self.batch.x.astype(np.float64)
        self.f = exact.run(self.batch).decision.astype(np.float64)
        self.rng = np.random.default_rng(3)

    @property
    def program(self) -> Program:
        """The program with all early exits."""
        has_list = isinstance(self.exact, ExactSum) and self.exact.skip_zeros
        skips = self.cascade.skip_zeros and not has_list
        first = [Nonzeros(self.exact.n_features)] if skips else []
        between: list[Stage] = [*first, self.gate(), *self.scores(), self.filter()]
        batch = replace(self.batch, in_range=np.ones(len(self.batch), dtype=bool))
        for number in range(1, self.cascade.n_reduced + 1):
            stage = self.reduced(number, batch)
            batch = stage.decide(batch, self.plain.ends)[0]
            between.append(stage)
        if isinstance(self.exact, ExactSum) and not self.plain.ends.in_integers:
            between.append(self.nearest(batch))
        exits = (*self.plain.exits, *between)
        return replace(self.plain, mode="statistical", exits=exits)

    @cached_property
    def directions(self) -> np.ndarray:
        """Orthonormal rows on which the support vectors lie nearly."""
        vectors = self.exact.columns().T.astype(np.float64)
        return np.linalg.svd(vectors, full_matrices=False)[2]

    def products(self, rows: np.ndarray) -> InnerProducts:
        """Return the products with some rows."""
        return InnerProducts.of_rows(rows, self.cascade.skip_zeros)

    def gate(self) -> RangeGate:
        """Return a gate that one query in twenty does not pass, or one behind a norm."""
        own = gate_of(self.plain, self.batch.x)
        if own.divided and not self.cascade.skip_zeros:
            return own
        square = sum_of_squares(self.batch.x)
        ends = np.float32(np.quantile(square, (0.03, 0.98)))
        usual = np.clip(usual_squares(square), *ends)
        return RangeGate(self.exact.n_features, *ends, self.cascade.skip_zeros, usual=usual)

    def scores(self) -> list[ClassScores]:
        """Return class scores of every kind, each with a band that few queries leave."""
        skips = self.cascade.skip_zeros
        rows, triangle = scaled(self.directions[:N_DIMENSIONS], self.x)
        n_columns = min(N_COLUMNS, self.exact.n_features // 2)
        columns = np.sort(np.argsort(-self.x.std(axis=0))[:n_columns])
        some = InnerProducts.of_rows(rows[:, columns], skips, columns)
        vectors = self.exact.columns().T[: self.cascade.n_fitted]
        in_some = (some, np.zeros((0, 0)), vectors, self.batch, self.f)
        in_all = (self.products(rows), triangle, vectors[:4], self.batch, self.f)
        kinds = [
            lambda: class_scores.linear_scores(1, self.x, self.f, skips),
            lambda: class_scores.vector_scores(2, *in_some),
            lambda: class_scores.vector_scores(3, *in_all),
        ]
        return [kind() for kind in kinds[: self.cascade.n_scores]]

    def filter(self) -> LinearFilter:
        """Return the linear fit, with a band that half of the decisions lie in."""
        with_one = np.column_stack([self.x, np.ones(len(self.x))])
        w = np.linalg.lstsq(with_one, self.f, rcond=None)[0].T
        half_width = np.quantile(np.abs(with_one @ w.T), 0.7, axis=0)
        if self.exact.n_decisions > 1:
            half_width[0] = np.inf
        return LinearFilter(self.products(w[:, :-1]), w[:, -1], half_width)

    def reduced(self, number: int, batch: Batch) -> ReducedSet:
        """Return the reduced set of some support vectors in a skewed projection."""
        rows, triangle = scaled(self.directions[:N_DIMENSIONS], self.x)
        columns = None
        looks_at_some = number < self.cascade.n_reduced
        if looks_at_some:
            n_columns = min(N_COLUMNS, self.exact.n_features // 2)
            columns = np.sort(np.argsort(-self.x.std(axis=0))[:n_columns])
            rows, triangle = rows[:, columns], np.zeros((0, 0))
        else:
            skew = np.eye(len(rows)) + np.tril(self.rng.normal(size=triangle.shape), -1) * 0.1
            rows, triangle = skew @ rows, triangle @ np.linalg.inv(skew)
        products = InnerProducts.of_rows(rows, self.cascade.skip_zeros, columns)
        vectors = self.exact.columns().T[: self.cascade.n_fitted]
        stage = fitted_reduced_set(number, products, triangle, vectors, batch, self.f)
        # Off by so much that some labels are not the exact sum's.
        bias = np.append(np.median(np.abs(self.f), axis=0), 0.0)
        stage = replace(stage, intercept=stage.intercept + bias)
        decision, spread = estimate(stage, batch)
        inside = 0.6 if looks_at_some else 0.3
        rest = stage.residual(products.of(batch.x), sum_of_squares(batch.x))
        return replace(
            stage,
            half_width=np.quantile(np.abs(decision) / spread, inside, axis=0),
            largest=np.float32(np.quantile(rest, 0.93)),
        )

    def nearest(self, batch: Batch) -> NearestVectors:
        """Return nearest vectors whose bands narrow from test to test."""
        exact, ends = self.exact, LEVEL_ENDS[: self.cascade.n_levels]
        vectors, V = exact.columns().T.astype(np.float64), self.directions[: ends[-1]]
        projected = vectors @ V.T
        squares = (vectors**2).sum(axis=1)
        residuals = np.stack([squares - (projected[:, :p] ** 2).sum(axis=1) for p in ends])
        residuals = np.maximum(residuals, 0.0)  # what is rounded below 0
        rests = np.stack(
            [(self.x**2).sum(axis=1) - ((self.x @ V[:p].T) ** 2).sum(axis=1) for p in ends]
        )
        estimates = self.cascade.scheme == "estimate"
        touched = np.array([2, 5, 9, 14]) if estimates else np.arange(1, 15)
        touched = touched[touched <= exact.n_vectors]
        steps = np.concatenate([np.zeros(len(ends) if estimates else 0), touched])
        n_blocks, lanes = exact.n_blocks, exact.lanes
        open_bands = NearestVectors(
            levels=tuple(
                self.products(V[first:end]) for first, end in zip((0, *ends), ends, strict=False)
            ),
            vectors=projected.reshape(n_blocks, lanes, -1).transpose(0, 2, 1),
            residuals=residuals if exact.kernel.uses_distance else np.zeros((0, 0)),
            weights=np.abs(exact.coefficients).sum(axis=1).reshape(-1),
            far=np.float32(40.0 if exact.kernel.uses_distance else np.inf),
            from_estimate=estimates,
            tug_of_war=self.cascade.scheme == "tug_of_war",
            steps=steps,
            own=np.linspace(0.5, 1.0, len(steps))[:, None].repeat(exact.n_decisions, axis=1),
            earlier=np.linspace(0.5, 0.0, len(steps))[:, None].repeat(exact.n_decisions, axis=1),
            offset=np.zeros((len(steps), exact.n_decisions)),
            half_width=np.full((len(steps), exact.n_decisions), np.inf),
            least=np.full(len(ends), -np.inf),
            largest=np.full(len(ends), np.inf),
        )
        offset, half_width = self.bands(open_bands, batch)
        largest = np.quantile(rests, 0.96, axis=1)
        return replace(open_bands, offset=offset, half_width=half_width, largest=largest)

    def bands(self, stage: NearestVectors, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        """Return middles and halves of bands, of which more queries leave from test to test."""
        # What is left of two classes lies near 0 in an estimate, the paper's sums less so.
        two_classes = (0.6, 0.3) if stage.from_estimate else (0.95, 0.8)
        widest, narrowest = two_classes if self.exact.n_decisions == 1 else (0.7, 0.4)
        offset, half_width = [], []
        for n, inside in enumerate(np.linspace(widest, narrowest, len(stage.steps)), start=1):
            n = max(n, stage.n_levels if stage.from_estimate else 1)
            until = replace(
                stage,
                steps=stage.steps[:n],
                own=stage.own[:n],
                earlier=stage.earlier[:n],
                offset=stage.offset[:n],
                half_width=stage.half_width[:n],
            )
            running = until.decide(batch, self.plain.ends)[0].decision
            offset.append(0.1 * np.median(running, axis=0))
            relative = np.abs(running - offset[-1]) / batch.spread[:, None]
            half_width.append(np.quantile(relative, inside, axis=0))
        return np.stack(offset), np.stack(half_width)


CORE = [
    Cascade("rbf", "binary", n_levels=2),
    Cascade("poly", "binary", "tug_of_war", n_reduced=2, preprocessing="l2"),
    Cascade(
        "rbf", "break_ties", n_levels=2, skip_zeros=False, n_reduced=2, preprocessing="standard"
    ),
    Cascade("sigmoid", "one_vs_one", "by_score", n_reduced=0),
    Cascade("rbf", "binary", skip_zeros=False, preprocessing="l2"),
    Cascade("rbf", "one_vs_one", n_scores=3),
    Cascade("poly", "break_ties", "by_score", skip_zeros=False, n_scores=3),
]
"""Each path of the templates at least once: for every compiler and every board."""

EVERY = [
    Cascade(kernel, task, scheme, n_levels, skip_zeros, n_reduced=n_levels)
    for kernel in KERNELS
    for task in ("binary", "one_vs_one", "break_ties")
    for scheme in ("estimate", "by_score", *(["tug_of_war"] if task == "binary" else []))
    for n_levels, skip_zeros in ((1, True), (2, False))
]

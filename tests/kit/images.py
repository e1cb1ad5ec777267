"""Models in images: first models whose code flies, and retrained ones of the same shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

from kit.emitted import Emitted, named
from kit.function_kernels import load_machine
from kit.plans import plan_for
from kmcompile.choice.program import for_image
from kmcompile.emit.emitter import emit_files
from kmcompile.target import Target

_SHARE = 0.75
_MODELS: dict[str, tuple[Any, Any]] = {
    "iris_rbf": (load_iris, lambda: make_pipeline(StandardScaler(), SVC(C=3, gamma=0.3))),
    "wine_poly": (
        load_wine,
        lambda: make_pipeline(StandardScaler(), SVC(kernel="poly", degree=3, coef0=1.0)),
    ),
    "wine_break_ties": (
        load_wine,
        lambda: make_pipeline(
            StandardScaler(), SVC(gamma=0.05, break_ties=True, decision_function_shape="ovr")
        ),
    ),
    "wine_normalized": (load_wine, lambda: make_pipeline(Normalizer(), SVC(C=100, gamma=10))),
    "breast_cancer_sigmoid": (
        load_breast_cancer,
        lambda: make_pipeline(StandardScaler(), SVC(kernel="sigmoid", gamma=0.01, coef0=0.1)),
    ),
    "breast_cancer_linear": (
        load_breast_cancer,
        lambda: make_pipeline(StandardScaler(), SVC(kernel="linear", C=2)),
    ),
    "breast_cancer_rbf": (
        load_breast_cancer,
        lambda: make_pipeline(StandardScaler(), SVC(C=3, gamma=0.03)),
    ),
    "breast_cancer_one_class": (
        load_breast_cancer,
        lambda: make_pipeline(StandardScaler(), OneClassSVM(gamma=0.05, nu=0.2)),
    ),
    "iris_one_vs_rest": (
        load_iris,
        lambda: make_pipeline(StandardScaler(), OneVsRestClassifier(SVC(C=3, gamma=0.3))),
    ),
    "wine_linear_one_vs_rest": (
        load_wine,
        lambda: make_pipeline(MinMaxScaler(), LinearSVC(C=2)),
    ),
    "diabetes_regression": (
        load_diabetes,
        lambda: make_pipeline(StandardScaler(), SVR(C=30, gamma=0.1, epsilon=20)),
    ),
    "digits_rbf": (load_digits, lambda: SVC(C=3, gamma=0.002)),
}
NAMES = tuple(name for name in _MODELS if name != "digits_rbf")


@cache
def estimator(name: str, part: int) -> Any:
    """Return a model that was fitted to part 0, 1, ... of its data; parts overlap.

    All tests of a process share it, and the images of it that have the same options.
    """
    load, make = _MODELS[name]
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(part)
    size = 500 if name == "digits_rbf" else int(_SHARE * len(X))
    rows = rng.permutation(len(X))[:size]
    return make().fit(X[rows], y[rows])


@dataclass(frozen=True, eq=False)
class InImage(Emitted):
    """A compiled model in an image."""

    @cached_property
    def image(self) -> bytes:
        """The image in the byte order of the target."""
        files = emit_files(self.program, self.target, self._command, "a model of the tests")
        assert files.image is not None
        return files.image

    @property
    def _command(self) -> str:
        return f"kmcompile {self.name}.pkl --target {self.target.name}"

    def with_image_of(self, other: InImage) -> InImage:
        """Return this code with the image of another model."""
        flying = InImage(other.machine, other.program, other.target)
        name = f"{self.name}_image.c"
        return flying.with_files({**self.files, name: other.files[name]})


def in_image(
    fitted: Any,
    target: str | Target = "host",
    mode: str = "exact",
    like: InImage | None = None,
    vectors: int | None = None,
    **more: Any,
) -> InImage:
    """Return a fitted estimator in an image, for the code of another one if this is given."""
    options: dict[str, Any] = {"mode": mode, **more} if mode == "exact" else more
    return _in_image(fitted, named(target), like, vectors, **options)


@lru_cache(maxsize=128)
def _in_image(
    fitted: Any, target: Target, like: InImage | None, vectors: int | None, **options: Any
) -> InImage:
    machine = load_machine(fitted)
    plan = plan_for(
        machine, tables="image", capacity=vectors, name="iris", target=target.name, **options
    )
    program = for_image(machine, plan, str, None if like is None else like.program).program
    return InImage(machine, program, target)


@dataclass(frozen=True)
class Case:
    """A model of this module in an image, for tests that go through cases of several kits."""

    name: str
    mode: str = "exact"
    more: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return "-".join([self.name, self.mode, *(option for option, _ in self.more), "image"])

    def emit(self, target: str | Target) -> InImage:
        """Return the emitted C."""
        return in_image(estimator(self.name, 0), target, self.mode, **dict(self.more))


CORE = (
    Case("iris_rbf", "certified"),
    Case("wine_poly"),
    Case("wine_linear_one_vs_rest", "certified"),
    Case("diabetes_regression", "exact", (("telemetry", True),)),
    Case("iris_rbf", "exact", (("format", "int8"),)),
    Case("breast_cancer_rbf", "exact", (("format", "int16"), ("telemetry", True))),
)

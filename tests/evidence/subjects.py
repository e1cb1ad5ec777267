"""What the tools of the evidence look at: small models of every kind, and real ones."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kmcompile
from kit.every_target import FEW, GROUPS
from kit.images import InImage, estimator, in_image
from kit.plans import plan_for
from kmcompile.evidence.subject import Subject
from kmcompile.output.files import save_queries
from kmcompile.target import Target, load_target
from kmcompile.verify.verifier import collect_queries

TARGET = "cortex-m7"


@dataclass(frozen=True)
class _InImage:
    """A model in an image: its name in `kit.images`, and options."""

    model: str
    options: dict[str, Any]

    def emit(self, target: Target, name: str) -> InImage:
        return in_image(estimator(self.model, 0), target, **self.options)


_IN_IMAGES = (
    _InImage("iris_rbf", {"mode": "certified"}),
    _InImage("wine_linear_one_vs_rest", {"mode": "certified"}),
    _InImage("diabetes_regression", {"telemetry": True}),
    _InImage("iris_rbf", {"format": "int8"}),
    _InImage("breast_cancer_rbf", {"format": "int16"}),
)


def small_models(share: float = 1.0, with_vectors: bool = False) -> Iterator[Subject]:
    """Yield the models that every target is asked: each kernel, stage, format, mode and task.

    Parameters
    ----------
    share : float
        Of the models.
    with_vectors : bool
        Whether the vectors are collected that would ship with each, in queries.npz. It takes
        some seconds a model.
    """
    models = [
        (f"{group}_{n}", model)
        for group, own in GROUPS.items()
        if group != FEW
        for n, model in enumerate(own)
    ]
    models += [(f"images_{n}", one) for n, one in enumerate(_IN_IMAGES)]
    target = load_target(TARGET)
    for name, model in models[:: max(1, round(1 / share))]:
        emitted = model.emit(target, name)
        files = dict(emitted.files)
        if with_vectors:
            plan = plan_for(emitted.machine)
            files["queries.npz"] = save_queries(
                collect_queries(emitted.machine, emitted.program, plan)
            )
        yield Subject(name, emitted.program, target, files, {})


def real_models(trained: Path) -> Iterator[Subject]:
    """Yield models of real data with all their vectors, as the command line compiles them.

    Each estimator is written into the folder `trained`, for `kmcompile verify --model`.
    """
    for name, load, machine, options in (
        ("breast_cancer", load_breast_cancer, SVC(C=3, gamma=0.03), {"mode": "certified"}),
        ("wine", load_wine, SVC(C=3, gamma=0.05), {"format": "int8", "mode": "exact"}),
        ("digits", load_digits, SVC(C=10, gamma=0.02), {"mode": "exact"}),
    ):
        X, y = load(return_X_y=True)
        yield _compiled(
            trained, name, machine, (X[::2], y[::2]), test_data=X[1::2], verify="target", **options
        )


def option_models(trained: Path) -> Iterator[Subject]:
    """Yield models of real data with the other options, whose reports show what these promise.

    Each estimator is written into the folder `trained`.
    """
    X, digit = load_digits(return_X_y=True)
    flight = {"monitor": 0.05, "risk": 0.02, "telemetry": True, "redundancy": 2, "data": X[1::3]}
    flight |= {"test_data": X[2::3], "verify": "target"}
    yield _compiled(trained, "flight", SVC(C=3, gamma=0.01), (X[::3], digit[::3] % 2), **flight)
    few = {"reduce": "300", "mode": "exact", "data": X[1::2], "verify": "target"}
    yield _compiled(trained, "reduced", SVC(C=10, gamma=0.02), (X[::2], digit[::2]), **few)
    steps = {"input_tolerance": 0.01, "step": 4000, "verify": "target"}
    yield _compiled(trained, "steps", SVC(C=3, gamma=0.05), load_wine(return_X_y=True), **steps)
    image = {"tables": "image", "mode": "exact", "verify": "target"}
    yield _compiled(trained, "image", SVC(), load_iris(return_X_y=True), **image)
    calibrated = CalibratedClassifierCV(SVC(C=3, gamma=0.03), ensemble=False)
    samples = load_breast_cancer(return_X_y=True)
    yield _compiled(trained, "probability", calibrated, samples, verify="target")
    yield _compiled(trained, "threshold", SVC(), samples, threshold=0.25, verify="target")
    diabetes = load_diabetes(return_X_y=True)
    yield _compiled(trained, "regression", SVR(C=100), diabetes, tolerance=5.0, verify="target")


def _compiled(
    trained: Path, name: str, machine: Any, samples: tuple[Any, Any], **options: Any
) -> Subject:
    fitted = make_pipeline(StandardScaler(), machine).fit(*samples)
    trained.mkdir(parents=True, exist_ok=True)
    (trained / f"{name}.pkl").write_bytes(pickle.dumps(fitted))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / name
        kmcompile.compile_model(fitted, target=TARGET, name=name, out=out, **options)
        return Subject.of_folder(out)

"""Files as people have them, with right answers: the folder `field` of the shared material.

It lies beside the clone, or where KMCOMPILE_FIELD says; where it is not there, each file is skipped
by its name. A kind of files is a row of `MODELS`, `REFUSED` or a table of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import kmcompile
from kmcompile import cli
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

_BESIDE = Path(__file__).parents[2].parent / "shared" / "field"
FIELD = Path(os.environ.get("KMCOMPILE_FIELD", _BESIDE))
pytestmark = [
    pytest.mark.skipif(not FIELD.is_dir(), reason="the folder of files as people have them"),
    pytest.mark.exhaustive,
]


@dataclass(frozen=True)
class Model:
    """A model file and its right answers.

    Parameters
    ----------
    path : str
        Below the folder.
    answers : str
        The .npz file beside it, with the inputs `X`.
    labels : str
        The name of the right labels or values in it.
    decisions : str, optional
        The name of the right decisions, of two classes above 0 for the first.
    float32 : bool
        Whether the program that answered rounds kernel values to float32.
    """

    path: str
    answers: str
    labels: str
    decisions: str = ""
    float32: bool = False

    def __str__(self) -> str:
        return self.path


def _opencv(name: str, raw: bool = False) -> Model:
    stem = name.split(".")[0]
    return Model(f"opencv/{name}", "right.npz", stem, f"{stem}_raw" if raw else "", float32=True)


MODELS = [
    Model("libsvm-index-0/zero.model", "right.npz", "y", "decision"),
    Model("liblinear/two.model", "right.npz", "y_two", "decision_two"),
    *(_opencv(f"{name}.xml", raw=True) for name in ("chi2", "inter", "poly", "sigmoid")),
    *(_opencv(name, raw=True) for name in ("rbf.yml", "rbf_json.json")),
    *(_opencv(f"{name}.xml") for name in ("rbf_3_classes", "linear_3_classes", "opencv2")),
    *(_opencv(name) for name in ("one_class.xml", "eps_svr.xml", "nu_svr.yml")),
]

# What the message names, and a word of its advice.
REFUSED = {
    "cv3.xml": ("opencv_ml_svm.var_count is missing", "save the model again"),
    "cv3.yml": ("YAML of OpenCV", "save()"),
    "html.pkl": ("an HTML page", "download"),
    "lfs.pkl": ("a Git LFS pointer", "git lfs pull"),
    "m.RData": ("an R file", "recipes"),
    "m.h": ("C source", "trained model"),
    "m.json": ("JSON", "recipes"),
    "m.pmml": ("a PMML model", "recipes"),
    "m.rds": ("an R file", "recipes"),
    "svm.mlmodel": ("a Core ML model", "recipes"),
    "v5.mat": ("a MATLAB file", "recipes"),
    "weka.model": ("a Weka model", "recipes"),
}


def _rounding(machine, X):
    """Return a bound on what float32 does to decisions: OpenCV rounds the kernel's values in it.

    A value moves by the rounding of its sum, of the function's argument and of itself.
    """
    values = np.abs(machine.kernel.values(machine.support_vectors, X))
    sizes = X @ np.abs(machine.support_vectors).T + 1
    if machine.kernel.name == "poly":
        inner = machine.kernel.gamma * sizes + abs(machine.kernel.coef0)
        sizes = machine.kernel.degree * inner**machine.kernel.degree
    moved = 2.0**-24 * 2 * (X.shape[1] + 4) * (values + sizes)
    return (moved @ np.abs(machine.dual_coef).T).max(axis=1) + 2.0**-20


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_program_gives_the_right_answers(model, tmp_path):
    path = FIELD / model.path
    right = np.load(path.parent / model.answers)
    X = right["X"]
    machine = load_model(path)
    compiled = kmcompile.compile_model(
        path, target="host", mode="exact", verify="none", out=tmp_path / "out"
    )
    answers = compiled.predict(X)
    if machine.task is Task.REGRESSION:
        interval = compiled.predict_interval(X)
        bound = _rounding(machine, X) + interval["upper"] - interval["lower"]
        assert np.all(np.abs(answers - right[model.labels]) <= bound)
        return
    assert np.array_equal(answers, right[model.labels])
    if model.decisions:
        reference = evaluate(machine, X)
        sign = -1 if machine.task is Task.BINARY else 1
        bound = 2 * reference.error[:, 0] + machine.intercept_error
        bound += _rounding(machine, X) if model.float32 else 0
        off = np.abs(sign * reference.decisions[:, 0] - right[model.decisions])
        assert np.all(off <= bound)


@pytest.mark.parametrize("name", REFUSED)
def test_a_foreign_file_is_named(name, capsys, tmp_path):
    words = [str(FIELD / "foreign-files" / name), "--out", str(tmp_path / "out")]
    assert cli.run(words) == 3
    message = capsys.readouterr().err
    assert all(word in message for word in REFUSED[name]), message


def test_an_svm_light_file_is_read():
    machine = load_model(FIELD / "foreign-files" / "svmlight.model")
    assert machine.description == "SVC, rbf kernel, gamma 0.5, 2 support vectors of 2 features"

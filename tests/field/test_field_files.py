"""Files as people have them, with right answers: the folder `field` of the shared material.

It lies beside the clone, or where KMCOMPILE_FIELD says; where it is not there, each file is skipped
by its name. A kind of files is a row of `MODELS`, `REFUSED` or a table of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris

import kmcompile
from kmcompile import cli
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import Reading, load_model

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
    before : tuple of str
        Files beside it for `--before`.
    second : bool
        Whether decisions are above 0 for the second class, as those of scikit-learn.
    """

    path: str
    answers: str
    labels: str
    decisions: str = ""
    float32: bool = False
    before: tuple[str, ...] = ()
    second: bool = False

    def __str__(self) -> str:
        return self.path


def _opencv(name: str, raw: bool = False) -> Model:
    stem = name.split(".")[0]
    return Model(f"opencv/{name}", "right.npz", stem, f"{stem}_raw" if raw else "", float32=True)


CONTAINERS = ("dict", "tuple", "list")
MODELS = [
    Model("libsvm-index-0/zero.model", "right.npz", "y", "decision"),
    Model("liblinear/two.model", "right.npz", "y_two", "decision_two"),
    *(_opencv(f"{name}.xml", raw=True) for name in ("chi2", "inter", "poly", "sigmoid")),
    *(_opencv(name, raw=True) for name in ("rbf.yml", "rbf_json.json")),
    *(_opencv(f"{name}.xml") for name in ("rbf_3_classes", "linear_3_classes", "opencv2")),
    *(_opencv(name) for name in ("one_class.xml", "eps_svr.xml", "nu_svr.yml")),
    Model("scaler-apart/model.pkl", "raw.npz", "y", before=("scaler.pkl",)),
    Model("libsvm-range/scaled.model", "raw.npz", "y", "decision", before=("range",)),
    Model("r-write-svm/sensor.svm", "raw.npz", "y", "decision", before=("sensor.scale",)),
    *(Model(f"model-in-a-container/{name}.pkl", "raw.npz", "y") for name in CONTAINERS),
    *(
        Model(f"old-scikit-learn/{name}.pkl", "scaled.npz", "y", "decision", second=True)
        for name in ("svc_0_19", "svc_0_24", "svc_externals_joblib")
    ),
    Model("old-scikit-learn/linearsvc_0_18.pkl", "scaled.npz", "y_linear"),
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
    "m.pmml": ("a PMML model", "exports"),
    "m.rds": ("an R file", "recipes"),
    "svm.mlmodel": ("a Core ML model", "exports"),
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
    before = tuple(path.parent / name for name in model.before)
    if "externals" in model.path:  # the length of its release's text is one too small
        whole = path.read_bytes().replace(b"\x050.20.3", b"\x060.20.3")
        path = tmp_path / path.name
        path.write_bytes(whole)
    machine = load_model(path, Reading(before=before))
    compiled = kmcompile.compile_model(
        path, before=before, target="host", mode="exact", verify="none", out=tmp_path / "out"
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
        sign = -1 if machine.task is Task.BINARY and not model.second else 1
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


def test_a_scaler_of_an_old_release_goes_before_the_model():
    folder = FIELD / "old-scikit-learn"
    machine = load_model(folder / "svc_0_24.pkl", Reading(before=(folder / "scaler_0_19.pkl",)))
    raw = np.load(FIELD / "scaler-apart" / "raw.npz")
    labels = np.array(machine.classes)[evaluate(machine, raw["X"]).labels]
    assert np.array_equal(labels, raw["y"])


def test_steps_that_are_linear_are_read(tmp_path):
    make = FIELD / "steps-that-are-linear" / "make.py"
    subprocess.run([sys.executable, "-W", "ignore", str(make), str(tmp_path)], check=True)
    files = sorted(tmp_path.glob("*.joblib"))
    assert len(files) == 9
    X = load_iris().data
    for path in files:
        machine = load_model(path)
        labels = np.array(machine.classes)[evaluate(machine, X).labels]
        assert np.array_equal(labels, joblib.load(path).predict(X)), path.name

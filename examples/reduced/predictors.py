"""The predictors of Table 2 of the RSS paper, trained in seconds, and their errors.

Data sets come from `$KMCOMPILE_DATA` or `../shared/data`. All features are standardised by the
training samples, optdigits are shares of 16. 'Image' is segment with three of its seven classes
against four. sigma and C of the binary sets and of abalone are the paper's, with gamma =
1 / (2 sigma^2); letter, optdigits and kin8nm, which are not the paper's sets or codings, have
others.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))

BINARY = {"german": (5.24, 3.16), "banana": (0.7, 316.0), "image": (3.9, 500.0)}
"""sigma and C."""
CLASSES = {"optdigits": (2000, 0.05, 10.0), "letter": (4000, 0.12, 10.0)}
"""Training samples, gamma and C of one-vs-rest machines."""
RIDGE = {"abalone": (3133, 15.0, 1e-5), "kin8nm": (3000, 2.0, 0.1)}
"""Training samples, sigma and ridge; inputs and outputs are standardised."""
NAMES = (*BINARY, *CLASSES, *RIDGE)


@dataclass(frozen=True, eq=False)
class Predictor:
    """A trained machine with its samples, as it sees them.

    Parameters
    ----------
    name : str
    machine : KernelMachine
    X, X_test : ndarray of shape (n, n_features), float64
    fresh : ndarray of shape (n, n_features), float64
        Training samples of the set that the machine was not trained on, if it took not all.
    y, y_test : ndarray of shape (n,)
        Indices of classes, or outputs of mean 0 and variance 1.
    """

    name: str
    machine: KernelMachine
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    fresh: np.ndarray

    def error(self, machine: KernelMachine) -> float:
        """Return the share of wrong test labels, or the mean squared error."""
        return self._error(machine, self.X_test, self.y_test)

    def training_error(self, machine: KernelMachine) -> float:
        """Return the same of the training samples."""
        return self._error(machine, self.X, self.y)

    def _error(self, machine: KernelMachine, X: np.ndarray, y: np.ndarray) -> float:
        answers = evaluate(machine, X)
        if machine.task is Task.REGRESSION:
            return float(((answers.decisions[:, 0] - y) ** 2).mean())
        return float((answers.labels != y).mean())


def load(name: str) -> Predictor:
    """Return a trained predictor."""
    n, model = _model(name)
    with np.load(DATA / f"{'segment' if name == 'image' else name}.npz") as file:
        X, y, X_test, y_test = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
    X, y, X_test = X.astype(float), y[:n], X_test.astype(float)
    X, fresh = np.split(X, [len(y)])
    mean, scale = X.mean(axis=0), X.std(axis=0)
    if name == "optdigits":
        mean, scale = np.zeros(64), np.full(64, 16.0)
    scale[scale == 0] = 1.0
    X, X_test, fresh = ((part - mean) / scale for part in (X, X_test, fresh))
    if name in RIDGE:
        y, y_test = ((part - y.mean()) / y.std() for part in (y.astype(float), y_test))
    else:
        if name == "image":
            y, y_test = y < 3, y_test < 3
        classes = np.unique(y)
        y, y_test = np.searchsorted(classes, y), np.searchsorted(classes, y_test)
    return Predictor(name, load_model(model.fit(X, y)), X, y, X_test, y_test, fresh)


def _model(name: str) -> tuple[int | None, Any]:
    if name in BINARY:
        sigma, C = BINARY[name]
        return None, SVC(C=C, gamma=0.5 / sigma**2)
    if name in CLASSES:
        n, gamma, C = CLASSES[name]
        return n, OneVsRestClassifier(SVC(C=C, gamma=gamma))
    n, sigma, alpha = RIDGE[name]
    return n, KernelRidge(kernel="rbf", gamma=0.5 / sigma**2, alpha=alpha)


def parser(text: str | None, names: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return a parser with the names of sets and the folder of the results."""
    options = argparse.ArgumentParser(description=(text or "").splitlines()[0])
    options.add_argument("names", nargs="*", default=list(names), metavar="SET")
    options.add_argument("--out", type=Path, default=Path("build/reduced"))
    return options


def plot(path: Path, panels: Mapping[str, Mapping[str, np.ndarray]], x: str, y: str) -> None:
    """Write curves as SVG and PNG: panels of named arrays of shape (n, 2)."""
    mpl.rcParams["svg.hashsalt"] = "reduced"
    figure, axes = plt.subplots(1, len(panels), figsize=(5 * len(panels), 3.8), squeeze=False)
    for axis, (title, curves) in zip(axes[0], panels.items(), strict=True):
        for (label, points), marker in zip(curves.items(), "osv^Dx+*", strict=False):
            points = points[np.argsort(points[:, 0], kind="stable")]
            axis.plot(points[:, 0], points[:, 1], marker=marker, ms=3, lw=1, label=label)
        axis.set_xscale("log")
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        axis.set_title(title, fontsize=10)
        axis.legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=150)
    plt.close(figure)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows under a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in row])

"""Machines of integers and of real numbers, and what auto takes for one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile import readers
from kmcompile.choice.formats import FormatCandidate, choose_format
from kmcompile.lower.formats import Lowered
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.target import Target, load_target

TARGET = load_target("cortex-m7")


def digits_machine(**parameters: Any) -> KernelMachine:
    """Return a machine of digits: its vectors are integers from 0 to 16."""
    X, y = load_digits(return_X_y=True)
    return readers.load_model(SVC(gamma=0.001, **parameters).fit(X[:400], y[:400] == 8))


def cancer_machine() -> KernelMachine:
    """Return a machine of real numbers, scaled."""
    X, y = load_breast_cancer(return_X_y=True)
    return readers.load_model(make_pipeline(StandardScaler(), SVC()).fit(X, y))


def wiggly_machine() -> KernelMachine:
    """Return a machine with large coefficients and a narrow kernel, of real numbers."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :2] + np.random.default_rng(0).standard_normal((len(X), 2)) / 1000
    return readers.load_model(make_pipeline(StandardScaler(), SVC(C=1e4, gamma=5.0)).fit(X, y))


def cancer_samples() -> np.ndarray:
    """Return the inputs that it was trained on, float32."""
    return load_breast_cancer().data.astype(np.float32)


def chosen(
    machine: KernelMachine, target: Target = TARGET, flash_bytes: int | None = None, **given: Any
) -> tuple[Lowered, dict[str, FormatCandidate]]:
    """Return what auto takes, and the candidates by their formats."""
    lowered, candidates = choose_format(machine, target, "model", flash_bytes, **given)
    by_format = {candidate.number_format: candidate for candidate in candidates}
    assert [c.lowered for c in candidates if c.chosen] == [lowered]
    return lowered, by_format

"""Answers of the C, and decisions in float64, for a rebuilt machine to be compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kmcompile.compiled import Compiled
from kmcompile.evidence.subject import Subject
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import generate
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array
from kmcompile.output import files as folder_files
from kmcompile.program.interpreter import Status

_WORK = 150_000
"""Terms of all kernels of all queries, about: some seconds in 50 digits."""
_MOST, _LEAST = 100, 8


def answers_of(subject: Subject, machine: KernelMachine) -> dict[str, Any]:
    """Return inputs, float64 decisions with bounds on their rounding, and answers of the C.

    Parameters
    ----------
    subject : Subject
    machine : KernelMachine
        The machine that the description holds.
    """
    X = _inputs(subject, machine)
    compiled = Compiled(subject.program, dict(subject.report), subject.files, None)
    is_regression = subject.program.is_regression
    asked = compiled.predict_interval(X) if is_regression else compiled.classify(X)
    accepted = asked["status"] == Status.OK
    X, results = X[accepted], asked[accepted]
    reference = evaluate(machine, X)
    statistical = [n for n, stage in enumerate(subject.program.early_exits) if stage.is_calibrated]
    none = np.zeros(len(X), dtype=bool)
    plain = {
        "X": X.astype(np.float64),
        "decisions": reference.decisions,
        "error": reference.error,
        "label": np.full(len(X), -1) if is_regression else results["label"],
        "lower": results["lower"].astype(np.float64),
        "upper": results["upper"].astype(np.float64),
        "certified": none if is_regression else results["certified"],
        "proved": ~np.isin(results["stage"], statistical),
    }
    answers = {name: values.tolist() for name, values in plain.items()}
    if subject.program.probability is not None and len(X):
        answers["probabilities"] = compiled.predict_proba(X).astype(np.float64).tolist()
    return answers


def _inputs(subject: Subject, machine: KernelMachine) -> Float32Array:
    """Return queries of the folder, or likely inputs, as many as a few seconds are enough for."""
    terms = machine.support_vectors.size + machine.dual_coef.size
    n = max(_LEAST, min(_MOST, _WORK // max(terms, 1)))
    if "queries.npz" in subject.files:
        queries = folder_files.load_queries(subject.files, subject.program, None)
        ordinary = queries.X[: queries.n_ordinary]
    else:
        ordinary = generate(machine, max(n, 20)).astype(np.float32)
    return np.ascontiguousarray(ordinary[:: max(1, len(ordinary) // n)][:n], dtype=np.float32)


def figure_of(found: Mapping[str, Any]) -> str:
    """Return what came out of the comparisons in a few words."""
    text = (
        f"{found['queries']} queries, {found['outside']} of {found['proved']} proved intervals "
        "without the exact value, "
        f"{found['other_labels']} other labels of {found['certified']} certified ones, largest "
        f"difference from float64 {found['largest_difference']:.2g}, "
        f"{found['beyond_rounding']} beyond its rounding"
    )
    if found["probability_difference"]:
        text += f", probabilities within {found['probability_difference']:.2g}"
    return text

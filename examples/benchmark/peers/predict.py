"""Python's `predict` on 10,000 rows: kmcompile's beside scikit-learn's, onnxruntime's and numpy's.

    build/bench/venv/bin/python examples/benchmark/peers/predict.py

All are asked in turns in one process, with one thread each. The rows are the model's test samples,
repeated, with a little noise. numpy is what a user writes: float32 distances by one matrix product.
Printed are CPU nanoseconds a row, medians of rounds, and the labels unlike scikit-learn's.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from itertools import combinations

# Before numpy is imported, which reads it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from bench_models import MODELS, Model, names_here

import kmcompile

N_ROWS = 10_000
ROUNDS = 5
NOISE = 1e-3

Predict = Callable[[np.ndarray], np.ndarray]


def of_kmcompile(mode: str) -> Callable[[Model], Predict]:
    """Return what makes the compiled model's `predict`, in a mode."""

    def make(model: Model) -> Predict:
        compiled = kmcompile.compile_model(model.svc, name="model", mode=mode, verify="none")
        compiled.predict(model.X[:1])  # builds
        return compiled.predict

    return make


def of_scikit_learn(model: Model) -> Predict:
    """Return scikit-learn's `predict`."""
    return model.svc.predict


def of_onnxruntime(model: Model) -> Predict:
    """Return the `predict` of the model that skl2onnx makes."""
    import onnxruntime
    from skl2onnx import to_onnx

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    text = to_onnx(model.svc, model.X[:1], options={"zipmap": False}).SerializeToString()
    session = onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda X: session.run(None, {name: X})[0]


def of_numpy(model: Model) -> Predict:
    """Return distances by one matrix product, and votes."""
    svc = model.svc
    vectors = svc.support_vectors_.astype(np.float32)
    squares = (vectors**2).sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(svc.n_support_)])
    pairs = list(combinations(range(len(svc.classes_)), 2))
    weights = np.zeros((len(vectors), len(pairs)), dtype=np.float32)
    for pair, (a, b) in enumerate(pairs):
        of_a, of_b = (slice(starts[c], starts[c + 1]) for c in (a, b))
        weights[of_a, pair], weights[of_b, pair] = (
            svc._dual_coef_[b - 1, of_a],
            svc._dual_coef_[a, of_b],
        )
    first, second = np.array(pairs).T
    gamma, intercepts = np.float32(svc._gamma), svc._intercept_.astype(np.float32)

    def predict(X: np.ndarray) -> np.ndarray:
        kernel = X @ vectors.T
        kernel *= -2
        kernel += squares
        kernel += (X**2).sum(axis=1)[:, None]
        kernel *= -gamma
        np.exp(kernel, out=kernel)
        winners = np.where(kernel @ weights + intercepts > 0, first, second)
        votes = np.zeros((len(X), len(svc.classes_)), dtype=np.int32)
        np.add.at(votes, (np.arange(len(X))[:, None], winners), 1)
        return svc.classes_[votes.argmax(axis=1)]

    return predict


PREDICTORS: dict[str, Callable[[Model], Predict]] = {
    "kmcompile": of_kmcompile("certified"),
    "kmcompile exact": of_kmcompile("exact"),
    "scikit-learn": of_scikit_learn,
    "onnxruntime": of_onnxruntime,
    "numpy": of_numpy,
}


def rows_of(model: Model) -> np.ndarray:
    """Return 10,000 rows near the test samples, float32."""
    rng = np.random.default_rng(0)
    X = model.X[rng.integers(len(model.X), size=N_ROWS)]
    return (X + NOISE * rng.standard_normal(X.shape) * (X != 0)).astype(np.float32)


def measure(model: Model, names: list[str]) -> dict[str, tuple[float, int]]:
    """Return of each predictor CPU nanoseconds a row, and labels unlike scikit-learn's."""
    X = rows_of(model)
    predictors = {name: PREDICTORS[name](model) for name in names}
    expected = model.svc.predict(X.astype(np.float64))
    spent: dict[str, list[float]] = {name: [] for name in names}
    wrong: dict[str, int] = {}
    for _ in range(ROUNDS):
        for name, predict in predictors.items():
            started = time.process_time_ns()
            labels = predict(X)
            spent[name].append((time.process_time_ns() - started) / len(X))
            wrong[name] = int((labels != expected).sum())
    return {name: (float(np.median(spent[name])), wrong[name]) for name in names}


def main() -> None:
    """Print a table a model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=names_here())
    parser.add_argument("--predictors", nargs="+", choices=PREDICTORS, default=tuple(PREDICTORS))
    arguments = parser.parse_args()
    print("| model | predictor | ns of CPU a row | wrong labels of 10,000 |")
    print("| --- | --- | ---: | ---: |")
    for name in arguments.models:
        for predictor, (ns, wrong) in measure(MODELS[name](), arguments.predictors).items():
            print(f"| {name} | {predictor} | {ns:,.0f} | {wrong} |", flush=True)


if __name__ == "__main__":
    main()

"""A sum by pairs refuses what the sum of all vectors refuses."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from kit.function_kernels import kernel_function, load_machine
from kmcompile.lower import lower
from kmcompile.lower.pair_choice import with_pair_sum
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status, interpret
from kmcompile.target import load_target


def test_a_sum_by_pairs_of_the_chi2_kernel_refuses_negative_features():
    rng = np.random.default_rng(8)
    X = rng.random((60, 4))
    own = SVC(kernel=kernel_function("chi2", gamma=0.5)).fit(X, np.arange(60) % 5)
    machine = run_passes(load_machine(own))
    ordinary = ordinary_inputs(machine, 16)
    exact = lower(machine, load_target("host"), "model", ordinary)
    pairs = with_pair_sum(machine, exact, ordinary, X.astype(np.float32))
    assert pairs is not None
    queries = np.array([[0.5] * 4, [0.5, -1e-6, 0.5, 0.5], [0.0, -3.0, 1.0, 1.0]], np.float32)
    refused = [Status.OK, Status.ERROR_RANGE, Status.ERROR_RANGE]
    for program in (exact, pairs):
        assert interpret(program, queries).results["status"].tolist() == refused

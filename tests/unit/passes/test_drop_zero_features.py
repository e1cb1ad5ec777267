"""Features that no support vector has are left out where that changes no decision."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kmcompile.lower import lower
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.reference import evaluate
from kmcompile.passes.drop_zero_features import drop_zero_features
from kmcompile.program.interpreter import Status, interpret
from kmcompile.readers import load_model
from kmcompile.target import load_target

UNSEEN = (0, 32, 39)
"""Pixels of the digits that are 0 in all of them."""


def digits(*steps, **parameters):
    X, y = load_digits(n_class=2, return_X_y=True)
    svc = SVC(**{"kernel": "poly", "degree": 3, "coef0": 1.0, **parameters})
    return load_model(make_pipeline(*steps, svc).fit(X[:120], y[:120]))


def inputs() -> np.ndarray:
    """Return digits with anything in the pixels that are always 0, and more."""
    X = load_digits(n_class=2, return_X_y=True)[0][120:200].astype(np.float32)
    X[:, UNSEEN] = np.random.default_rng(0).normal(size=(len(X), len(UNSEEN))) * 50
    return X


CHAINS = {
    "raw": (),
    "standard": (StandardScaler(),),
    "l2": (Normalizer(),),
    "columns": (
        ColumnTransformer([("all", StandardScaler(), slice(63, None, -1))]),
        StandardScaler(with_mean=False),
    ),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("kernel", ["poly", "sigmoid", "linear"])
def test_decisions_stay_the_same_whatever_is_in_features_left_out(chain, kernel):
    machine = digits(*CHAINS[chain], kernel=kernel)
    dropped = drop_zero_features(machine)
    trained, now = evaluate(machine, inputs()), evaluate(dropped, inputs())
    assert (np.abs(trained.decisions - now.decisions) <= trained.error + now.error).all()
    assert dropped.n_features == machine.n_features
    assert (dropped.support_vectors != 0).any(axis=0).all() or dropped is machine


@pytest.mark.parametrize("chain", CHAINS)
def test_every_feature_that_stays_is_in_some_vector(chain):
    machine = digits(*CHAINS[chain])
    dropped = drop_zero_features(machine)
    seen = (machine.support_vectors != 0).any(axis=0).sum()
    assert dropped.support_vectors.shape[1] == seen < 64


def test_kernels_of_differences_keep_every_feature():
    machine = digits(kernel="rbf")
    assert drop_zero_features(machine) is machine


def test_a_linear_machine_whose_copies_would_cost_more_keeps_every_feature():
    machine = digits(kernel="linear")
    assert drop_zero_features(machine) is machine


def test_a_program_takes_fewer_operations_and_refuses_what_it_refused():
    machine, host = digits(StandardScaler()), load_target("host")
    program = lower_in_format(machine, host, "iris", "float32").program
    X = inputs()
    X[0, 0], X[1, 32], X[2, 39] = np.nan, np.inf, -np.inf
    status = interpret(program, X).results["status"]
    assert (status[:3] == Status.ERROR_NOT_FINITE).all()
    assert (status[3:] == Status.OK).all()
    n_seen = int((machine.support_vectors != 0).any(axis=0).sum())
    assert program.prepare.n_out == n_seen
    assert program.n_features == 64


def test_sums_that_skip_zeros_already_copy_no_features():
    machine = digits(kernel="poly")
    sparse = np.where(np.abs(machine.support_vectors) > 12, machine.support_vectors, 0.0)
    machine = type(machine)(
        **{
            name: getattr(machine, name)
            for name in machine.__dataclass_fields__
            if name != "support_vectors"
        },
        support_vectors=sparse,
    )
    program = lower_in_format(machine, load_target("host"), "iris", "float32").program
    assert program.prepare.n_out == 64


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_a_normalizer_computes_only_the_features_that_stay(norm):
    machine, host = digits(Normalizer(norm)), load_target("host")
    program = lower_in_format(machine, host, "iris", "float32").program
    (step,) = program.prepare.steps
    seen = (machine.support_vectors != 0).any(axis=0)
    assert step.n_in == 64 and np.array_equal(step.columns, np.flatnonzero(seen))
    assert (
        program.prepare.operations() < lower(machine, host, "iris", inputs()).prepare.operations()
    )
    X = inputs()
    trained, answers = evaluate(machine, X), interpret(program, X).results
    exact = trained.decisions[:, 0]
    assert (answers["lower"] - trained.error[:, 0] <= exact).all()
    assert (exact <= answers["upper"] + trained.error[:, 0]).all()

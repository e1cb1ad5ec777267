"""Which machines have quadratic bounds, and that they are chosen where they pay."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kmcompile.exits.certified.lower_quadratic import Parts, lower_quadratic
from kmcompile.exits.certified.quadratic import why_not
from kmcompile.kernels import Sigmoid
from kmcompile.lower import lower
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.passes import run_passes
from kmcompile.readers import load_model
from kmcompile.target import load_target


def trained(two_classes: bool = True, **parameters):
    X, y = load_breast_cancer(return_X_y=True) if two_classes else load_wine(return_X_y=True)
    svc = SVC(**{"kernel": "poly", "degree": 2, "coef0": 1.0, **parameters})
    return make_pipeline(StandardScaler(), svc).fit(X[:150], y[:150])


def reason(model) -> str:
    machine = run_passes(load_model(model))
    program = lower(machine, load_target("host"), "iris", ordinary_inputs(machine, 16))
    return why_not(machine, program)


def roundings(machine, parts, x):
    """Return a bound on what float64 rounds of the decision, from the parts and from kernels.

    The parts have their own bounds. No sum here has more terms than vectors and features together,
    and each is of terms that are at most a sum of magnitudes: of the parts or of the kernels.
    """
    length = np.linalg.norm(x, axis=1)
    of_parts = parts.error[0] + parts.error[1] * length
    of_parts += (parts.error[2] + parts.remainder) * length**2
    sizes = np.abs(parts.intercept) + np.linalg.norm(parts.linear) * length
    sizes += np.abs(parts.factors).sum() * length**2
    inner = machine.kernel.gamma * length[:, None] * np.linalg.norm(machine.support_vectors, axis=1)
    inner += abs(machine.kernel.coef0)
    kernels = 1 + inner if isinstance(machine.kernel, Sigmoid) else inner**machine.kernel.degree
    sizes += kernels @ np.abs(machine.dual_coef[0]) + np.abs(machine.intercept[0])
    n_terms = machine.support_vectors.shape[0] + 4 * machine.support_vectors.shape[1] + 20
    return of_parts + n_terms * UNIT_ROUNDOFF_64 * sizes


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ""),
        ({"degree": 4}, ""),
        ({"coef0": 0.0}, ""),
        ({"kernel": "sigmoid"}, ""),
        ({"kernel": "rbf"}, "the kernel is rbf"),
        ({"degree": 5}, "the degree must be 2 to 4"),
        ({"degree": 3, "coef0": 0.0}, "no part below degree 3"),
        ({"two_classes": False}, "for two classes"),
    ],
)
def test_machines_without_quadratic_bounds_are_told_why(parameters, expected):
    assert expected in reason(trained(**parameters))
    assert bool(expected) == bool(reason(trained(**parameters)))


def test_the_parts_add_up_to_the_decision():
    model = trained(degree=2)
    machine = run_passes(load_model(model))
    parts = Parts.of(machine)
    x = np.random.default_rng(0).normal(size=(20, 30))
    squares = (x @ parts.directions.T) ** 2 @ parts.factors
    f = parts.intercept + x @ parts.linear + squares
    K = (machine.kernel.gamma * x @ machine.support_vectors.T + machine.kernel.coef0) ** 2
    difference = np.abs(f - K @ machine.dual_coef[0] - machine.intercept[0])
    assert (difference <= roundings(machine, parts, x)).all()


def test_eigenvalues_lie_within_what_each_level_says():
    parts = Parts.of(run_passes(load_model(trained())))
    stage = lower_quadratic(parts, 5)
    assert (np.diff(stage.levels[:, 1:], axis=0) <= 0).all()
    for r, (_, below, above) in enumerate(stage.levels):
        assert -below <= parts.factors[r:].min()
        assert above >= parts.factors[r:].max()


def test_higher_degrees_are_bounded_by_the_norm_of_their_tensor():
    machine = run_passes(load_model(trained(degree=3)))
    S, beta, gamma = machine.support_vectors, machine.dual_coef[0], machine.kernel.gamma
    tensor = np.einsum("i,ia,ib,ic->abc", beta, S, S, S) * gamma**3
    singular = np.linalg.norm(tensor.reshape(len(tensor), -1), 2)
    assert singular <= Parts.of(machine).higher[0] <= 1.001 * singular


def test_the_remainder_of_tanh_holds_along_every_vector():
    machine = run_passes(load_model(trained(kernel="sigmoid", gamma=0.05, coef0=-0.7)))
    parts = Parts.of(machine)
    x = np.concatenate([machine.support_vectors * t for t in (0.01, 0.1, 0.5, 1.0)])
    K = np.tanh(machine.kernel.gamma * x @ machine.support_vectors.T + machine.kernel.coef0)
    f = K @ machine.dual_coef[0] + machine.intercept[0]
    squares = (x @ parts.directions.T) ** 2 @ parts.factors
    rest = np.abs(f - (parts.intercept + x @ parts.linear + squares))
    most = parts.higher[0] * np.linalg.norm(x, axis=1) ** 3
    assert (rest <= most + roundings(machine, parts, x)).all()
    assert (rest > 0.001 * most).any()


@pytest.mark.exhaustive
@pytest.mark.parametrize("degree", [2, 3])
def test_they_are_chosen_before_the_sum_of_a_polynomial_machine(degree):
    options = {"target": "host", "mode": "certified", "verify": "none"}
    compiled = kmcompile.compile_model(trained(degree=degree), **options)
    names = [stage["name"] for stage in compiled.report["stages"]]
    assert "quadratic_bounds" in names
    assert ("polynomial_sum" in names) == (degree == 2)


@pytest.mark.exhaustive
def test_they_are_built_on_request_and_left_out_on_request():
    options = {"target": "host", "mode": "certified", "verify": "none"}
    for asked, is_there in (("require", True), ("exclude", False)):
        compiled = kmcompile.compile_model(trained(), **options, **{asked: ("quadratic_bounds",)})
        names = [stage["name"] for stage in compiled.report["stages"]]
        assert ("quadratic_bounds" in names) is is_there

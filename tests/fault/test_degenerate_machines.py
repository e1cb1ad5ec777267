"""Machines and options at the edge of what makes sense: programs, or errors with an exit code."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.function_kernels import kernel_function, load_machine
from kmcompile.errors import InputError, UsageError
from kmcompile.exits.certified.likely import likely_inputs_of_leaves
from kmcompile.training import FaLKSVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = (X[:, 0] > 0).astype(int)


def _compiled(model, **options):
    return kmcompile.compile_model(model, target="host", verify="none", name="m", **options)


def test_likely_inputs_of_two_levels_with_more_nodes_than_leaves():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(150, 5))
    model = FaLKSVC(k=80, gamma=1.0, route="two_levels", random_state=0)
    model.fit(many, many[:, 0] > 0)
    assert len(model.node_ends_) > len(model.leaf_ends_)
    likely = likely_inputs_of_leaves(load_machine(model), 100)
    assert likely.shape[1] == 5 and np.isfinite(likely).all()


def test_an_exit_whose_constants_are_no_numbers_is_left_out():
    """All vectors are one: an expansion of the leaves' kernels divides 0 by 0."""
    model = FaLKSVC(k=4, random_state=0).fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert not _compiled(model).program.early_exits


@pytest.mark.parametrize("make", [SVC, KernelRidge])
def test_tolerance_beyond_float32_is_refused(make):
    made = make_pipeline(StandardScaler(), make(kernel="poly", degree=5, gamma=0.5, coef0=1.0))
    made.fit(X * [1.0, 1e-8], Y)
    _compiled(made, input_tolerance=1e-10, mode="exact")
    with pytest.raises(InputError, match="--input-tolerance: within it decisions differ by more"):
        _compiled(made, input_tolerance=1e4, mode="exact")


@pytest.mark.parametrize(
    "options",
    [{"mode": "exact"}, {"mode": "certified"}, {"mode": "exact", "format": "int8"}],
    ids=str,
)
@pytest.mark.parametrize("name", ["additive_chi2", "intersection", "laplacian", "chi2"])
def test_image_of_a_kernel_that_no_image_holds_is_refused(name, options):
    model = SVC(kernel=kernel_function(name)).fit(np.round(np.abs(X) * 40), Y)
    with pytest.raises(InputError, match=f"no image holds the {name} kernel"):
        _compiled(load_machine(model), tables="image", **options)


@pytest.mark.parametrize("mode", ["certified", "exact"])
def test_machine_that_answers_no_generated_query_is_compiled(mode):
    """Weights of rounding noise: the boundary lies beyond what the input limit allows."""
    same = np.full((150, 2), -3e6)
    model = make_pipeline(MaxAbsScaler(), SVC(kernel="linear", C=0.05387935859584146))
    model.fit(same, np.arange(150) % 2)
    svm = model.steps[1][1]
    svm.intercept_ = np.array([0.9997])
    svm._intercept_ = -svm.intercept_
    with pytest.warns(UserWarning, match="gives every input the same answer"):
        assert _compiled(model, mode=mode).report["cost"]["mean_ops"] > 0


def test_input_tolerance_may_be_an_array():
    model = SVC().fit(X, Y)
    for given, right in (
        (np.array([0.25, 0.5]), [0.25, 0.5]),
        ([[0.25, 0.5]], [0.25, 0.5]),
        (np.float32(0.5), [0.5, 0.5]),
    ):
        found = _compiled(model, input_tolerance=given, mode="exact").program.box.tolerance
        assert (found >= right).all() and (found <= np.nextafter(np.float32(right), 1)).all()


@pytest.mark.parametrize(
    "tolerance",
    [[0.1, -0.2], [0.1, np.nan], [], [[0.1], [0.2]], [[[0.1, 0.2]]], ["a", "b"], {}, object()],
    ids=lambda given: "object" if type(given) is object else str(given),
)
def test_input_tolerance_of_other_arrays_is_refused(tolerance):
    with pytest.raises(UsageError, match="input_tolerance: must be a number of at least 0, or an"):
        _compiled(SVC().fit(X, Y), input_tolerance=tolerance)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *((option, np.array([1, 2])) for option in ("mode", "risk", "format", "reduce", "stages")),
        *(("stages", 5), ("require", True), ("exclude", object())),
        *(("name", 5), ("name", ["m"]), ("package", {}), ("threshold", [0.5])),
    ],
    ids=lambda given: "object" if type(given) is object else str(given),
)
def test_options_of_other_types_are_wrong_usage(option, value):
    with pytest.raises(UsageError, match=f"^{option} is of type"):
        kmcompile.compile_model(SVC().fit(X, Y), **{option: value})


@pytest.mark.few
@pytest.mark.parametrize("value", [np.float64(0.5), "0.5", 0.5, None])
def test_numbers_of_numpy_and_texts_are_taken(value):
    assert _compiled(SVC().fit(X, Y), threshold=value, mode="exact", max_flash=np.int64(10**6))

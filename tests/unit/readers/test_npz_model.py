"""kmcompile's own .npz layout: what is written is read back, and what is read is checked."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pytest
from float64_decisions import decisions_and_bounds
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    chi2_kernel,
    cosine_similarity,
    laplacian_kernel,
    rbf_kernel,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM

import kmcompile
from kit import routed
from kmcompile.errors import InputError, OutputError
from kmcompile.kernels import (
    Fourier,
    Laplacian,
    Linear,
    Matern,
    Poly,
    RationalQuadratic,
    Rbf,
    Sigmoid,
)
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.routing import Routing
from kmcompile.readers import load_model
from kmcompile.readers.npz.layout import (
    AFFINE_ERRORS,
    OPTIONAL,
    PARAMETERS,
    REQUIRED,
    ROUTING,
    STEPS,
)
from kmcompile.readers.npz.model import read_npz_model
from kmcompile.readers.npz.writer import npz_model
from kmcompile.steps import (
    CATALOGUE,
    Affine,
    Clip,
    Extension,
    Normalization,
    Projection,
    Selection,
)

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "späť"])
MODELS = [
    SVC().fit(X, Y),
    SVC(kernel="poly", break_ties=True).fit(X, NAMES[Y]),
    SVC(kernel="sigmoid", coef0=0.5).fit(X, Y > 0),
    NuSVC(kernel="linear", decision_function_shape="ovo").fit(X, Y * 2.0),
    LinearSVC().fit(X, Y),
    OneClassSVM().fit(X),
    SVR().fit(X, Y),
    make_pipeline(
        StandardScaler(), MinMaxScaler(clip=True), PCA(3, whiten=True), Normalizer(), SVC()
    ).fit(X, Y),
]


def assert_same(machine, other):
    """Every field but the notes, also what is not a part of the model's hash."""
    assert other.canonical_bytes() == machine.canonical_bytes()
    for name in ("rounded_vectors", "intercept_error"):
        assert getattr(other, name) == getattr(machine, name)
    for step, read in zip(machine.preprocessing, other.preprocessing, strict=True):
        for field in dataclasses.fields(step):
            assert np.array_equal(getattr(step, field.name), getattr(read, field.name))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_a_saved_model_is_the_same_machine(model, tmp_path):
    path = tmp_path / "any.name"
    kmcompile.save_model(path, model)
    assert_same(load_model(model), load_model(path))
    again = tmp_path / "again"
    kmcompile.save_model(again, path)
    assert again.read_bytes() == path.read_bytes()


finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-300, allow_nan=False, allow_infinity=False)
kernels = st.one_of(
    st.just(Linear()),
    st.just(Fourier()),
    st.builds(Rbf, positive),
    st.builds(Laplacian, positive),
    st.builds(Matern, positive, st.integers(0, 2)),
    st.builds(RationalQuadratic, positive, positive),
    st.builds(Poly, positive, finite, st.integers(0, 2**31 - 1)),
    st.builds(Sigmoid, positive, finite),
)
labels = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2, unique=True),
    st.lists(finite, min_size=2, max_size=2, unique=True),
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        min_size=2,
        max_size=2,
        unique=True,
    ),
    st.just([False, True]),
)


@st.composite
def machines(draw):
    """Binary machines with every step of preprocessing, in any order."""

    def vector(n, elements=finite):
        return draw(arrays(np.float64, n, elements=elements))

    n_features = width = draw(st.integers(1, 4))
    steps = []
    for kind in draw(st.lists(st.sampled_from(sorted(STEPS)), max_size=4)):
        if kind == "Affine":
            steps.append(Affine(vector(width), vector(width, positive)))
        elif kind == "Clip":
            steps.append(Clip(*sorted(vector(2).tolist()), width))
        elif kind == "Projection":
            steps.append(Projection(vector((draw(st.integers(1, 3)), width))))
        elif kind == "Normalization":
            steps.append(Normalization(draw(st.sampled_from(["l1", "l2", "max"])), width))
        elif kind == "Selection":
            columns = draw(st.lists(st.integers(0, width - 1), min_size=1, max_size=5))
            steps.append(Selection(tuple(columns), width))
        else:
            steps.append(Extension(draw(finite), width + 1))
        width = steps[-1].n_out
    n_sv = draw(st.integers(1, 3))
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=draw(kernels),
        support_vectors=vector((n_sv, width)),
        dual_coef=vector((1, n_sv)),
        intercept=vector(1),
        classes=tuple(draw(labels)),
        n_features=n_features,
        preprocessing=tuple(steps),
        zero_is_positive=draw(st.booleans()),
        log_odds=draw(st.booleans()),
        threshold=draw(finite),
        rounded_vectors=draw(st.booleans()),
        intercept_error=draw(st.floats(0.0, 1e300)),
    )


@settings(max_examples=150)
@given(machines())
def test_any_machine_is_read_back_to_the_last_bit(machine):
    content = npz_model(machine)
    assert content == npz_model(machine)
    assert_same(machine, read_npz_model(content))


def test_the_layout_has_every_field_of_a_machine_and_every_step():
    names = {field.name for field in dataclasses.fields(KernelMachine)}
    own = {"preprocessing", "notes", "reduced_from", "routing", "trained_classes", "feature_names"}
    assert names - own <= {*REQUIRED, *OPTIONAL}
    assert {f"routing_{field.name}" for field in dataclasses.fields(Routing)} == set(ROUTING)
    added_by_passes = {"Nonnegative", "SeenFeatures"}
    steps = {step.name: step for step in CATALOGUE}
    assert set(steps) - added_by_passes == set(STEPS)
    for name, held in STEPS.items():
        fields = {field.name for field in dataclasses.fields(steps[name])}
        assert fields - {"n_in", "n_out"} - set(AFFINE_ERRORS) == set(held)


@pytest.mark.parametrize("case", (*routed.CORE, *routed.VOTES), ids=str)
def test_a_routed_machine_is_read_back_to_the_last_bit(case):
    machine = case.machine()
    content = npz_model(machine)
    assert_same(machine, read_npz_model(content))
    assert content == npz_model(read_npz_model(content))


def test_a_routed_machine_that_lacks_a_part_of_its_tree_is_refused(tmp_path):
    arrays = dict(np.load(io.BytesIO(npz_model(routed.CORE[0].machine()))))
    del arrays["routing_targets"]
    np.savez(tmp_path / "part.npz", **arrays)
    with pytest.raises(InputError, match="routing_targets is missing in a routed machine"):
        load_model(tmp_path / "part.npz")


def test_classes_that_one_array_cannot_hold_are_refused():
    machine = load_model(MODELS[2])
    for classes in [("a", 1), (1, 2.5), ("a\0", "b"), (2**64, -(2**63)), (0, True)]:
        with pytest.raises(InputError, match=r"classes are of different types"):
            npz_model(dataclasses.replace(machine, classes=classes))


PRECOMPUTED = [
    ("rbf", {"gamma": 0.25}, rbf_kernel),
    ("laplacian", {"gamma": 0.5}, laplacian_kernel),
    ("chi2", {"gamma": 0.5}, chi2_kernel),
    ("additive_chi2", {}, additive_chi2_kernel),
    ("cosine", {}, cosine_similarity),
]


@pytest.mark.parametrize(("name", "options", "function"), PRECOMPUTED, ids=lambda v: str(v)[:12])
@pytest.mark.parametrize("make", [SVC, NuSVC, OneClassSVM, SVR])
def test_precomputed_estimators_get_their_kernel_back(make, name, options, function, tmp_path):
    """reliability 14: what a user of kernel="precomputed" does."""
    model = make(kernel="precomputed").fit(function(X, **options), Y)
    machine = kmcompile.precomputed_machine(model, X[model.support_], name, **options)
    assert machine.n_features == 4
    if hasattr(model, "decision_function_shape"):
        model.decision_function_shape = "ovo"
    decide = model.predict if make is SVR else model.decision_function
    expected = decide(function(X, X, **options)).reshape(len(X), -1)
    if name in ("rbf", "cosine"):
        decisions, bounds = decisions_and_bounds(machine, X)
        assert np.all(np.abs(decisions - expected) <= bounds)
    path = tmp_path / "machine.npz"
    kmcompile.save_model(path, machine)
    assert_same(machine, load_model(path))


def test_kernel_and_vectors_given_by_hand_are_the_precomputed_machine(tmp_path):
    """The layout written with numpy alone, as its table says."""
    model = SVC(kernel="precomputed").fit(cosine_similarity(X), Y)
    np.savez(
        tmp_path / "by-hand.npz",
        format_version=1,
        kind="SVC",
        task="one-vs-one",
        n_features=4,
        kernel="cosine",
        support_vectors=X[model.support_],
        dual_coef=model.dual_coef_,
        intercept=model.intercept_,
        classes=model.classes_,
        class_counts=model.n_support_,
        zero_is_positive=True,
    )
    expected = kmcompile.precomputed_machine(model, X[model.support_], "cosine")
    assert_same(expected, load_model(tmp_path / "by-hand.npz"))


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_kernel_of_the_layout_is_read(name, tmp_path):
    values = {"gamma": 0.5, "coef0": 1.0, "degree": 2, "alpha": 1.5}
    np.savez(
        tmp_path / "k.npz",
        format_version=1,
        kind="Trained_Elsewhere",
        task="regression",
        n_features=2,
        kernel=name,
        support_vectors=np.array([[1, 2]], dtype=np.int16),
        dual_coef=np.array([[0.5]], dtype=np.float32),
        intercept=[0.25],
        zero_is_positive=False,
        **{parameter: values[parameter] for parameter in PARAMETERS[name]},
    )
    machine = load_model(tmp_path / "k.npz")
    assert machine.task is Task.REGRESSION
    for parameter, value in machine.kernel.parameters().items():
        assert value == values[parameter] or name == "normalized_poly"


@pytest.mark.parametrize(
    ("model", "vectors", "word"),
    [
        (MODELS[0], X, "SVC.kernel is 'rbf', must be 'precomputed'"),
        (SVC(kernel="precomputed"), X, "not fitted"),
        (SVC(kernel="precomputed").fit(X @ X.T, Y), X[:2], "support_vectors has shape (2, 4)"),
        (SVC(kernel="precomputed").fit(X @ X.T, Y), "many", "support_vectors is an array of shape"),
        (3, X, "int.kernel is None"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_what_does_not_fit_is_refused(model, vectors, word):
    with pytest.raises(InputError) as caught:
        kmcompile.precomputed_machine(model, vectors, "rbf", gamma=1.0)
    assert word in str(caught.value)


def test_text_beyond_unicode_is_refused(tmp_path):
    """numpy gives it to Python, whose strings fail by SystemError then."""
    path = tmp_path / "iris.npz"
    kmcompile.save_model(path, MODELS[0])
    with np.load(path) as stored:
        fields = dict(stored)
    codes = np.array(["ab", "cd", "ef"]).view(np.uint32).copy()
    codes[1] = 0x500000
    np.savez(path, **{**fields, "classes": codes.view("U2")})
    with pytest.raises(InputError, match=r"classes.*text that is none"):
        load_model(path)


def test_unknown_kernels_of_precomputed_ones_are_refused():
    model = SVC(kernel="precomputed").fit(X @ X.T, Y)
    with pytest.raises(InputError, match="kernel is 'gauss', must be linear, poly"):
        kmcompile.precomputed_machine(model, X[model.support_], "gauss")


def test_files_that_cannot_be_written_are_output_errors(tmp_path):
    for path in (tmp_path / "none" / "x.npz", tmp_path, "a\0b"):
        with pytest.raises(OutputError, match="cannot be written"):
            kmcompile.save_model(path, MODELS[0])
    assert not list(tmp_path.iterdir())

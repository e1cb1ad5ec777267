"""ColumnTransformers of scalers, with columns told in every way and as every release keeps them."""

from __future__ import annotations

import pickle
from collections import UserList
from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler
from sklearn.svm import SVC

from kmcompile.errors import InputError
from kmcompile.readers import load_model
from kmcompile.steps import Affine, Clip, Selection

X, Y = load_iris(return_X_y=True)
ROUNDED = 64 * 2.0**-53 * 2.0**4
"""Of a few operations on numbers below 2^4, relative to them."""


def pipeline(*parts: Any, **arguments: Any) -> Any:
    return make_pipeline(ColumnTransformer(list(parts), **arguments), SVC()).fit(X, Y)


def prepared_alike(model: Any, **arguments: Any) -> None:
    """Compare with scikit-learn's own result."""
    machine = load_model(model, **arguments)
    np.testing.assert_allclose(machine.prepare(X), model[:-1].transform(X), rtol=0, atol=ROUNDED)


COLUMNS = {
    "indices": [2, 0],
    "an array": np.array([3, 1]),
    "from the end": [-1],
    "repeated": [1, 1, 3],
    "a mask": [True, False, True, False],
    "an array of a mask": np.array([False, False, True, True]),
    "a slice": slice(1, 3),
    "a slice from the end": slice(-2, None),
    "every second": slice(0, None, 2),
    "no": [],
    "called for": lambda data: [1, 2],
}


@pytest.mark.parametrize("remainder", ["drop", "passthrough", RobustScaler()], ids=str)
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_columns_are_those_that_scikit_learn_takes(columns, remainder):
    part = ("part", StandardScaler(), columns)
    if isinstance(columns, list) and not columns and remainder == "drop":
        remainder = "passthrough"
    prepared_alike(pipeline(part, remainder=remainder))


def test_pipelines_weights_and_what_is_dropped_come_out_in_order():
    model = pipeline(
        ("second", make_pipeline(MinMaxScaler(), "passthrough", StandardScaler()), [1]),
        ("left_out", "drop", [3]),
        ("first", "passthrough", [0]),
        remainder=RobustScaler(),
        transformer_weights={"second": -2.0, "remainder": 0.5},
    )
    prepared_alike(model)
    selection, *scalers = load_model(model).preprocessing
    assert isinstance(selection, Selection)
    assert selection.columns == (1, 0, 2)
    assert {type(step) for step in scalers} == {Affine}


def test_all_columns_in_order_are_no_selection():
    model = pipeline(("all", StandardScaler(), slice(0, 4)))
    (scaler,) = load_model(model).preprocessing
    assert isinstance(scaler, Affine)


def test_columns_that_all_clip_alike_are_clipped():
    model = pipeline(
        ("first", MinMaxScaler(clip=True), [3, 1]), ("second", MinMaxScaler(clip=True), [0])
    )
    prepared_alike(model)
    assert isinstance(load_model(model).preprocessing[-1], Clip)


class _RemainderColsList(UserList):
    """As releases 1.5 to 1.8 keep the remaining columns."""


def with_names(model: Any) -> Any:
    """Return the pipeline as if it had been fitted to a table with named columns."""
    transformer = model[0]
    transformer.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    return transformer


@pytest.mark.parametrize(
    "columns", [["c", "a"], np.array(["c", "a"], dtype=object), ("c", "a")], ids=type
)
def test_names_stand_for_their_columns(columns):
    model = pipeline(("part", StandardScaler(), [2, 0]))
    expected = load_model(model).sha256
    transformer = with_names(model)
    (name, scaler, _), rest = transformer.transformers_
    transformer.transformers_ = [(name, scaler, columns), rest]
    assert load_model(model).sha256 == expected


def test_a_slice_of_names_includes_its_end():
    model = pipeline(("part", StandardScaler(), [1, 2]))
    expected = load_model(model).sha256
    transformer = with_names(model)
    (name, scaler, _), rest = transformer.transformers_
    transformer.transformers_ = [(name, scaler, slice("b", "c")), rest]
    assert load_model(model).sha256 == expected


def test_what_older_releases_keep_is_read():
    """Until 1.3 "passthrough" itself, from 1.5 to 1.8 a list of their own."""
    model = pipeline(("part", StandardScaler(), [2, 0]), remainder="passthrough")
    expected = load_model(model).sha256
    first, (name, _, columns) = model[0].transformers_
    model[0].transformers_ = [first, (name, "passthrough", _RemainderColsList(columns))]
    assert load_model(model).sha256 == expected


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_gives_the_same_machine(protocol, tmp_path):
    model = pipeline(
        ("part", StandardScaler(), slice(0, 2)),
        ("mask", MinMaxScaler(), [False, False, True, False]),
        remainder="passthrough",
    )
    model[0].transformers[0] = ("part", "drop", make_column_selector(dtype_include=np.number))
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model, protocol=protocol))
    assert load_model(path).sha256 == load_model(model).sha256


class Subclass(StandardScaler):
    """May scale in another way."""


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([("pca", PCA(1), [0, 1])], "'pca' in a ColumnTransformer is PCA, must be one of"),
        ([("own", Subclass(), [0])], "Subclass, must be one of StandardScaler"),
        ([("one", OneHotEncoder(), [0])], "OneHotEncoder, must be one of"),
        ([("clip", MinMaxScaler(clip=True), [0]), ("rest", "passthrough", [1])], "clips some"),
        (
            [("a", MinMaxScaler(clip=True), [0]), ("b", MinMaxScaler((0, 2), clip=True), [1])],
            "to other limits",
        ),
        ([("inner", ColumnTransformer([("a", StandardScaler(), [0])]), [0])], "must be one of"),
    ],
)
def test_parts_that_do_more_than_scale_each_column_are_refused(parts, words):
    with pytest.raises(InputError, match=words) as caught:
        load_model(pipeline(*parts))
    assert len(str(caught.value).splitlines()) <= 3


DAMAGED = {
    "beyond": [4],
    "before": [-5],
    "an unknown name": ["e"],
    "a short mask": [True, False],
    "a number": 2,
    "a float": [0.5],
    "a slice of floats": slice(0.5, 2),
    "a slice without steps": slice(0, 2, 0),
    "nested": [[1], [2]],
    "others than worked out": [1, 0],
}


@pytest.mark.parametrize("columns", DAMAGED.values(), ids=DAMAGED)
def test_columns_that_are_none_are_refused(columns):
    """reliability 10: inconsistent shapes, types and values."""
    model = pipeline(("part", StandardScaler(), [0, 1]))
    with_names(model)
    (name, scaler, _), rest = model[0].transformers_
    model[0].transformers_ = [(name, scaler, columns), rest]
    with pytest.raises(InputError) as caught:
        load_model(model)
    assert len(str(caught.value).splitlines()) <= 3


def test_claimed_columns_cost_no_memory():
    """reliability 10: n_features_in_ and a slice are only numbers."""
    model = pipeline(("part", "passthrough", slice(0, 4)))
    model[0].n_features_in_ = 2**31 - 1
    model[0].transformers_ = [("part", "passthrough", slice(None))]
    with pytest.raises(InputError, match="at most"):
        load_model(model)


def test_a_weight_of_nothing_is_refused():
    model = pipeline(("part", StandardScaler(), [0, 1]), transformer_weights={"part": 0.0})
    with pytest.raises(InputError, match="drop these columns instead"):
        load_model(model)

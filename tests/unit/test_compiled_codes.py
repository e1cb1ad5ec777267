"""Compiled models in integer formats: which entry an array goes to, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.covering import some
from kit.tools import need
from kmcompile.errors import InputError
from kmcompile.pipeline import verify_folder
from kmcompile.program.interpreter import interpret

RNG = np.random.default_rng(11)
PIXELS, DIGITS = load_digits(return_X_y=True)
REAL = RNG.normal(size=(90, 3)) * [1, 100, 0.01]

MODELS = {
    "uint8": (SVC(gamma=0.3, C=10).fit(PIXELS[:200] / 16, DIGITS[:200]), "int8"),
    "int8": (SVC(gamma=0.01).fit(PIXELS[:90] - 8, DIGITS[:90] > 4), "int8"),
    "int16": (make_pipeline(StandardScaler(), SVC()).fit(REAL, REAL[:, 0] > 0), "int16"),
}


@pytest.fixture(scope="module", params=some(list(MODELS), ("int16",)))
def case(request, tmp_path_factory):
    """Return type of codes, estimator, compiled model and codes of ordinary inputs."""
    need("gcc")
    root = tmp_path_factory.mktemp("coded")
    model, number_format = MODELS[request.param]
    (root / "model.pkl").write_bytes(pickle.dumps(model))
    compiled = kmcompile.compile_model(
        root / "model.pkl",
        target="host",
        format=number_format,
        name="model",
        out=root / "out",
        verify="host",
    )
    table = compiled.program.codes
    assert table.width == request.param
    middle = table.low + (table.high - table.low) // 2
    reach = (table.high - table.low) // 8
    codes = RNG.integers(middle - reach, middle + reach, size=(60, table.n_features))
    return request.param, model, compiled, codes


@pytest.mark.exhaustive
def test_codes_go_to_their_entry(case):
    width, model, compiled, codes = case
    scale = compiled.program.scale
    given = codes.astype(width)
    results = compiled.classify(given, codes=True)
    expected = interpret(compiled.program, codes)
    assert results.tobytes() == expected.results.tobytes()
    raw = scale.values(codes)
    certified = results["certified"]
    assert certified.any()
    np.testing.assert_array_equal(
        compiled.predict(given, codes=True)[certified], model.predict(raw)[certified]
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", ["F", "strided", "big-endian"])
def test_codes_may_stand_in_memory_in_any_way(case, order):
    width, _, compiled, codes = case
    plain = codes.astype(width)
    given = {
        "F": np.asfortranarray(plain),
        "strided": np.repeat(plain, 2, axis=0)[::2],
        "big-endian": plain.astype(np.dtype(width).newbyteorder(">")),
    }[order]
    assert (
        compiled.classify(given, codes=True).tobytes()
        == compiled.classify(plain, codes=True).tobytes()
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.int64, np.float32, np.float64])
def test_an_array_of_any_type_holds_raw_features(case, dtype):
    _, _, compiled, codes = case
    X = np.abs(codes[:, ::-1] % 100).astype(dtype)
    expected = interpret(compiled.program, X.astype(np.float32))
    assert compiled.classify(X).tobytes() == expected.results.tobytes()
    assert compiled.classify(X.tolist()).tobytes() == expected.results.tobytes()


def test_codes_outside_the_scale_are_refused(case):
    width, _, compiled, codes = case
    table = compiled.program.codes
    given = codes.astype(width)
    given[1, 0] = np.iinfo(width).min
    refused = bool(table.low > np.iinfo(width).min)
    assert (compiled.classify(given, codes=True)["status"] != 0).tolist() == [
        refused and row == 1 for row in range(len(given))
    ]
    if refused:
        with pytest.raises(InputError, match=r"X\[1\] is refused with ERROR_RANGE"):
            compiled.predict(given, codes=True)


def test_raw_features_outside_the_scale_are_refused(case):
    _, _, compiled, codes = case
    scale, table = compiled.program.scale, compiled.program.codes
    X = scale.values(codes)
    X[2] = scale.values(np.full(table.n_features, table.high + 2))
    with pytest.raises(InputError, match=r"X\[2\] is refused with ERROR_RANGE"):
        compiled.predict(X)


def test_both_entries_give_the_same_decisions_at_the_same_input(case):
    width, _, compiled, codes = case
    of_codes = compiled.decision_function(codes.astype(width), codes=True)
    raw = compiled.program.scale.values(codes)
    np.testing.assert_array_equal(compiled.decision_function(raw), of_codes)


@pytest.mark.parametrize("shape", [(64,), (3, 5), (2, 2, 4)])
def test_codes_of_other_shapes_are_refused(case, shape):
    width, _, compiled, _ = case
    with pytest.raises(InputError, match="X has shape"):
        compiled.predict(np.zeros(shape, dtype=width), codes=True)


def test_what_is_no_code_is_refused(case):
    width, _, compiled, codes = case
    with pytest.raises(InputError, match="codes are integers, X is float64"):
        compiled.predict(codes.astype(float), codes=True)
    beyond = codes + (1 << 20)
    with pytest.raises(InputError, match=f"codes are {width}, X goes from"):
        compiled.predict(beyond, codes=True)


def test_complex_numbers_are_refused(case):
    _, _, compiled, codes = case
    with pytest.raises(InputError, match="it is complex"):
        compiled.predict(codes + 1j)


def test_no_rows_give_no_answers(case):
    width, _, compiled, codes = case
    assert len(compiled.predict(codes[:0].astype(width), codes=True)) == 0


def test_a_loaded_folder_answers_codes_with_the_same_bits_and_verifies(case):
    width, _, compiled, codes = case
    loaded = kmcompile.load(compiled.folder)
    given = codes.astype(width)
    assert (
        loaded.classify(given, codes=True).tobytes()
        == compiled.classify(given, codes=True).tobytes()
    )
    facts = verify_folder(compiled.folder, compiled.folder.parent / "model.pkl", None)
    assert facts["verification"]["exact"]["host"]["mismatches"] == 0

"""reliability.md, "Reading models": hostile, broken and unsuitable model files."""

from __future__ import annotations

import copy
import io
import os
import pickle
import random
import struct
import subprocess
import sys
import zlib

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

from kmcompile.errors import InputError
from kmcompile.frontend import load_model, model_file
from kmcompile.ir.kernel_machine import KernelMachine

X, Y = load_iris(return_X_y=True)
SMALL = SVC().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], ["a", "b", "b"])


def refused(path, *words):
    """Assert that the file is refused in one to three printable lines with these words."""
    with pytest.raises(InputError) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path.name}: ")
    assert len(message.splitlines()) <= 3
    assert message.replace("\n", " ").isprintable()
    for word in words:
        assert word in message
    return message


def write(tmp_path, content, name="model.pkl"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


# --- items 1 and 2: payloads -----------------------------------------------------------


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.reduced = (function, arguments)

    def __reduce__(self):
        return self.reduced


def run_command(canary):
    return f"{sys.executable} -c \"open({str(canary)!r}, 'w')\""


def _payloads(canary):
    """Yield the name that must be reported, and an object that does harm when unpickled."""
    source = f"open({str(canary)!r}, 'w')"
    yield "system", Call(os.system, run_command(canary))
    yield "builtins.eval", Call(eval, source)
    yield "builtins.exec", Call(exec, source)
    yield "builtins.open", Call(open, str(canary), "w")
    yield "builtins.getattr", Call(getattr, Call(__import__, "os"), "system")
    yield "subprocess.Popen", Call(subprocess.Popen, ["touch", str(canary)])
    yield "operator.methodcaller", Call(__import__("operator").methodcaller, "system", "x")
    yield "operator.attrgetter", Call(__import__("operator").attrgetter("system"), "x")
    yield "functools.partial", Call(__import__("functools").partial(os.system, "x"))
    yield "joblib.numpy_pickle.load", Call(joblib.load, str(canary))
    yield "runpy", Call(__import__("runpy").run_path, str(canary))
    yield "numpy", Call(np.load, str(canary), None, True)
    yield "numpy", Call(np.fromfile, str(canary))
    yield "numpy", Call(np.testing.assert_raises, Exception, os.system, run_command(canary))
    yield "numpy", Call(np.vectorize(os.system), [run_command(canary)])
    yield "sklearn.utils", Call(np.array([0]).__reduce__()[0], os.system, (0,), b"b")


def _hidden(payload):
    """Yield objects in which a payload can lie."""
    yield payload
    yield [payload]
    yield np.array([payload, payload], dtype=object)
    for name in ("C", "kernel", "class_weight", "support_vectors_", "classes_", "_gamma", "new"):
        model = copy.deepcopy(SMALL)
        setattr(model, name, payload)
        yield model
    model = copy.deepcopy(SMALL)
    model.classes_ = np.array(["a", payload], dtype=object)
    yield model
    yield Pipeline([("scale", payload), ("svc", SMALL)])


def _payload_count():
    return len(list(_payloads("x"))) - 1


@pytest.mark.parametrize("number", range(_payload_count()))
def test_payloads_never_run_and_the_forbidden_name_is_told(number, tmp_path):
    """reliability 1: wherever it lies in the data, in every protocol."""
    canary = tmp_path / "canary"
    name, payload = list(_payloads(canary))[number]
    for hidden in _hidden(payload):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            refused(write(tmp_path, pickle.dumps(hidden, protocol)), name.split(".")[-1])
            assert not canary.exists()


@pytest.mark.parametrize("compress", [0, *(("zlib", "gzip", "bz2", "lzma", "xz"))])
def test_payloads_in_joblib_files_never_run_whatever_the_extension(compress, tmp_path):
    """reliability 2: the format is told by content, not by extension."""
    canary = tmp_path / "canary"
    for name, payload in list(_payloads(canary))[:4]:
        for hidden in _hidden(payload):
            content = io.BytesIO()
            joblib.dump(hidden, content, compress=(compress, 1) if compress else 0)
            for extension in (".pkl", ".joblib", ".npz", ".onnx", ""):
                refused(
                    write(tmp_path, content.getvalue(), f"model{extension}"), name.split(".")[-1]
                )
                assert not canary.exists()


RAW_PAYLOADS = {
    "protocol 0": (b"cos\nsystem\n(S'touch x'\ntR.", "os.system"),
    "inst": (b"(S'touch x'\nios\nsystem\n.", "STRING"),
    "inst without string": (b"(Vtouch x\nios\nsystem\n.", "os.system"),
    "obj": (b"(cos\nsystem\nVtouch x\no.", "os.system"),
    "dotted name": (b"\x80\x04\x8c\x05numpy\x8c\tos.system\x93.", "numpy.os.system"),
    "method of an estimator": (
        b"\x80\x04\x8c\x14sklearn.svm._classes\x8c\x07SVC.fit\x93.",
        "sklearn.svm._classes.SVC.fit",
    ),
    "control codes in the name": (b"\x80\x04V\x1b[2J\\u202e\nVf\n\x93.", "\\x1b[2J\\u202e.f"),
    "persistent id": (b"Pos.system\n.", "PERSID"),
    "binary persistent id": (b"\x80\x04Nq\x00Q.", "BINPERSID"),
    "extension code": (b"\x80\x04\x82\x01.", "EXT1"),
    "out-of-band buffer": (b"\x80\x05\x97.", "NEXT_BUFFER"),
    "keyword arguments": (b"\x80\x04csklearn.svm\nSVC\n)}\x92.", "NEWOBJ_EX"),
    "class of an attribute": (
        b"\x80\x04csklearn.svm\nSVC\n)\x81}\x8c\t__class__cos\nsystem\nsb.",
        "os.system",
    ),
    "dtype of a class": (b"cnumpy\ndtype\n(cos\nsystem\ntR.", "os.system"),
    "array of a class": (
        b"cnumpy.core.multiarray\n_reconstruct\n(cposix\nsystem\n(I0\ntVb\ntR.",
        "posix.system",
    ),
}


@pytest.mark.parametrize("name", RAW_PAYLOADS)
def test_handwritten_payloads_are_refused(name, tmp_path):
    """reliability 1: opcodes and names that no pickler of an estimator writes."""
    content, word = RAW_PAYLOADS[name]
    refused(write(tmp_path, content), word)


def test_every_way_of_calling_stays_inert(tmp_path):
    """reliability 1: real constructors of numpy never see what the file gives them."""
    for function in (np.dtype, np.array([0]).__reduce__()[0], np.float64(0).__reduce__()[0]):
        for arguments in ((), (None,), ("O",), ({"names": ["a"], "formats": ["O"]},), ([], [])):
            refused(write(tmp_path, pickle.dumps(Call(function, *arguments), 4)))


# --- item 3: bombs ---------------------------------------------------------------------


def _array(dtype, shape, raw):
    """Return pickle code of an array whose header claims anything."""

    def number(n):
        return b"\x8a\x08" + struct.pack("<q", n)

    numbers = b"(" + b"".join(map(number, shape)) + b"t"
    return (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
        b"(K\x01" + numbers + b"cnumpy\ndtype\n\x8c" + bytes([len(dtype)]) + dtype.encode() + b""
        b"\x89\x88\x87R(K\x03\x8c\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        + (raw if raw.startswith(b"]") else b"B" + struct.pack("<I", len(raw)) + raw)
        + b"tb"
    )


def _nested(opening, closing, depth):
    return b"\x80\x04" + opening * depth + b"N" + closing * depth + b"."


BOMBS = {
    "declared shape": (b"\x80\x04" + _array("f8", (2**30, 2**20), b"\0" * 8) + b".", "has 8"),
    "negative shape": (b"\x80\x04" + _array("f8", (-1, -1), b"\0" * 8) + b".", "shape"),
    "empty items": (b"\x80\x04" + _array("U0", (2**39,), b"") + b".", "dtype"),
    "objects": (b"\x80\x04" + _array("O", (2**39,), b"]") + b".", "has 0"),
    "objects as bytes": (b"\x80\x04" + _array("O", (1,), b"\x01" * 8) + b".", "as bytes"),
    "array in an array": (
        b"\x80\x04" + _array("O", (1,), b"]" + _array("f8", (1,), b"\0" * 8) + b"a") + b".",
        "other than text and numbers",
    ),
    "declared bytes": (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x00N.", "not a whole"),
    "declared text": (b"\x80\x04X\xff\xff\xff\xffN.", "not a whole"),
    "memo index": (b"\x80\x04Nr\xff\xff\xff\xff.", "memo"),
    "nested tuples": (_nested(b"", b"\x85", 300_000), "deep"),
    "nested lists": (_nested(b"(", b"l", 300_000), "deep"),
    "nested dicts": (_nested(b"(K\x01", b"d", 200_000), "deep"),
    "nested keys": (_nested(b"", b"\x85", 300_000)[:-1] + b"}\x86\x85." + b"", "deep"),
    "tuple as a key": (b"\x80\x04}N" + b"\x85" * 1000 + b"Ns.", "key"),
    "colliding keys": (b"\x80\x04}\x8a\x09\0\0\0\0\0\0\0\0\x7fNs.", "key"),
    "list in itself": (b"\x80\x04]q\x00h\x00a.", "contains itself"),
    "dict in itself": (b"\x80\x04}q\x00K\x01h\x00s.", "contains itself"),
    "object in itself": (b"\x80\x04csklearn.svm\nSVC\n)\x81q\x00}Va\nh\x00sb.", "itself"),
    "shared lists": (
        b"\x80\x04(]q\x00" + b"".join(b"h%ch%c\x86q%c" % (i, i, i + 1) for i in range(99)) + b"t.",
        "deep",
    ),
    "no end": (b"\x80\x04" + b"N" * 1_000_001, "opcodes"),
    "long number": (b"L" + b"9" * 100_000 + b"L\n.", "not a whole"),
    "huge number": (b"\x80\x04\x8b\xff\xff\x00\x00" + b"\x7f" * 65535 + b".", "must be"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused(name, tmp_path):
    """reliability 3: sizes are checked against the bytes that are there; no deep recursion."""
    content, word = BOMBS[name]
    refused(write(tmp_path, content), word)


@pytest.mark.parametrize("method", ["zlib", "gzip", "bz2", "lzma", "xz"])
def test_compression_bombs_are_refused(method, tmp_path, monkeypatch):
    """reliability 3: decompression stops at the cap."""
    monkeypatch.setattr(model_file, "MAX_MODEL_BYTES", 1_000_000)
    path = tmp_path / "model.joblib"
    joblib.dump(np.zeros(1_000_000), path, compress=(method, 9))
    assert path.stat().st_size < 100_000
    refused(path, "decompresses to more than 1000000 bytes")


def test_too_large_a_file_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """reliability 3: size caps."""
    monkeypatch.setattr(model_file, "MAX_MODEL_BYTES", 1_000)
    refused(write(tmp_path, b"\0" * 1_001), "1001 bytes, must be at most 1000")


def test_pipelines_in_themselves_and_multiplying_ones_are_refused():
    """reliability 3: cyclic, and 2^60 steps out of 60 shared ones."""
    cyclic = Pipeline([("svc", SMALL)])
    cyclic.steps.insert(0, ("again", cyclic))
    multiplied = Pipeline([("scale", "passthrough")])
    for _ in range(60):
        multiplied = Pipeline([("a", multiplied), ("b", multiplied)])
    for model in (cyclic, multiplied):
        with pytest.raises(InputError, match="more than 100 steps"):
            load_model(model)


def test_deeply_nested_joblib_arrays_are_refused(tmp_path):
    """reliability 3: an array of objects holds no other array of objects."""
    content = io.BytesIO()
    inner = np.array(["a", "b"], dtype=object)
    joblib.dump(inner, content)
    wrapper = content.getvalue()[: content.getvalue().index(b"\x80", 1)]
    refused(write(tmp_path, wrapper * 500), "lies in another")
    joblib.dump(np.array([inner, inner, 0], dtype=object), content := io.BytesIO())
    refused(write(tmp_path, content.getvalue()), "other than text and numbers")


# --- damage ----------------------------------------------------------------------------


def _small_files():
    yield "pickle", pickle.dumps(SMALL, 4)
    yield "protocol 0", pickle.dumps(LinearSVC().fit(X[:, :1], Y > 1), 0)
    yield "protocol 5", pickle.dumps(SMALL, 5)
    for compress in (0, "zlib", "gzip", "bz2", "lzma", "xz"):
        content = io.BytesIO()
        joblib.dump(SMALL, content, compress=(compress, 1) if compress else 0)
        yield f"joblib {compress}", content.getvalue()


SMALL_FILES = dict(_small_files())


@pytest.mark.parametrize("kind", SMALL_FILES)
def test_truncated_files_are_refused_at_every_byte(kind, tmp_path):
    """reliability 3: nothing but the whole file is a model."""
    content = SMALL_FILES[kind]
    load_model(write(tmp_path, content))
    for length in range(len(content)):
        refused(write(tmp_path, content[:length]))
    refused(write(tmp_path, content + b"x"))


def _mutated(content, rng):
    """Return the file with a few bytes changed, cut out, doubled or moved."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        start = rng.randrange(len(content))
        end = min(len(content), start + rng.randrange(1, 30))
        match rng.randrange(6):
            case 0 | 1:
                content[start] ^= 1 << rng.randrange(8)
            case 2:
                content[start] = rng.choice(b"\x00\xff.()RbtN]}0125acqhsu\x81\x85\x93\x94")
            case 3:
                del content[start:end]
            case 4:
                content[start:start] = content[start:end]
            case 5:
                other = rng.randrange(len(content))
                content[start:end] = content[other : other + end - start]
    return bytes(content)


def _mutation_sources():
    names = np.array(["x", "y", "z"], dtype=object)
    model = make_pipeline(
        StandardScaler(), MinMaxScaler(clip=True), PCA(2, whiten=True), Normalizer(), SVC()
    ).fit(X[::5], names[Y[::5]])
    sparse = SVC(kernel="poly").fit(scipy.sparse.csr_matrix(X[::9]), Y[::9])
    yield from SMALL_FILES.values()
    for other in (model, sparse, LinearSVC().fit(X, names[Y])):
        for protocol in (0, 2, 4, 5):
            yield pickle.dumps(other, protocol)
        joblib.dump(other, content := io.BytesIO())
        yield content.getvalue()


@pytest.mark.parametrize("part", range(6))
def test_mutated_files_give_an_input_error_or_a_valid_machine(part, tmp_path):
    """reliability 3 and 10: 6,000 damaged files, and never another exception."""
    rng = random.Random(part)
    sources = list(_mutation_sources())
    for number in range(1_000):
        path = write(tmp_path, _mutated(sources[number % len(sources)], rng))
        try:
            machine = load_model(path)
        except InputError as error:
            assert len(str(error).splitlines()) <= 3
            assert str(error).replace("\n", " ").isprintable()
        else:
            assert isinstance(machine, KernelMachine)
            assert machine.sha256


@pytest.mark.parametrize("part", range(2))
def test_damage_behind_an_intact_compression_is_found(part, tmp_path):
    """reliability 2: the compressed layer hides nothing."""
    rng = random.Random(part)
    sources = [SMALL_FILES["joblib 0"], SMALL_FILES["pickle"]]
    for number in range(300):
        path = write(tmp_path, zlib.compress(_mutated(sources[number % 2], rng)))
        try:
            load_model(path)
        except InputError:
            continue


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b"svm_type c_svc\nkernel_type rbf\n", "a LIBSVM model, not supported yet"),
        (b"MZ\x90\x00", "not a whole pickle or joblib file"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x93NUMPY\x01\x00", ".npy array"),
        (b"\x04\x22\x4d\x18rest", "lz4"),
        (b"ZF0x10", "joblib before 0.10"),
        (b"\x89HDF\r\n", "HDF5"),
        (b"x\x9cgarbage", "its zlib compression is damaged"),
        (pickle.dumps(SMALL) + pickle.dumps(SMALL), "bytes follow the model"),
        (zlib.compress(pickle.dumps(SMALL)) + b"more", "4 bytes follow its zlib compression"),
        (pickle.dumps({"model": 1}), "the model is builtins.dict"),
        (pickle.dumps(None), "the model is builtins.NoneType"),
        (pickle.dumps(np.zeros(3)), "the model is numpy.ndarray"),
    ],
)
def test_other_formats_and_contents_are_named(content, word, tmp_path):
    """reliability 2: no silent fallback."""
    refused(write(tmp_path, content), word)


# --- items 9 to 12, 14, 18: what a file may say -----------------------------------------


def _fitted():
    yield "SVC", SVC(kernel="poly", coef0=1.0).fit(X, Y)
    yield "binary", SVC().fit(X, Y > 0)
    yield "linear", SVC(kernel="linear").fit(X, Y)
    yield "sigmoid", SVC(kernel="sigmoid", coef0=0.5).fit(X, Y)
    yield "sparse", SVC().fit(scipy.sparse.csr_matrix(X), Y)
    yield "LinearSVC", LinearSVC().fit(X, Y)


FITTED = dict(_fitted())
SCALERS = [StandardScaler(), MinMaxScaler(clip=True), MaxAbsScaler(), RobustScaler()]
STEPS = [*SCALERS, PCA(2, whiten=True), Normalizer()]


def _saved(model, tmp_path):
    return write(tmp_path, pickle.dumps(model, 4))


def _poisoned(value, poison):
    """Return `value` with one number replaced, or None if it holds no float."""
    if isinstance(value, float | np.floating) or type(value) is float:
        return poison
    if scipy.sparse.issparse(value):
        result = value.copy()
        result.data[-1] = poison
        return result
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        result = value.copy()
        result.flat[-1] = poison
        return result
    return None


UNUSED = {
    *("tol", "C", "nu", "epsilon", "cache_size", "class_weight_", "gamma", "intercept_scaling"),
    *("var_", "n_samples_seen_", "data_min_", "data_max_", "data_range_", "max_abs_", "tol"),
    *("explained_variance_ratio_", "singular_values_", "noise_variance_", "_probA", "_probB"),
}
"""Attributes that neither scikit-learn's predict nor kmcompile looks at."""


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", FITTED)
def test_numbers_that_are_not_finite_are_refused(kind, poison, tmp_path):
    """reliability 9: in vectors, coefficients, intercept, gamma, coef0."""
    found = set()
    for name, value in vars(FITTED[kind]).items():
        changed = _poisoned(value, poison)
        if changed is None or name in UNUSED:
            continue
        model = copy.copy(FITTED[kind])
        setattr(model, name, changed)
        message = refused(_saved(model, tmp_path), name.strip("_"), "must be finite")
        assert str(poison) in message
        found.add(name)
    assert {"intercept_"} < found


@pytest.mark.parametrize("poison", [np.nan, np.inf])
@pytest.mark.parametrize("step", STEPS[:-1], ids=str)
def test_scalers_that_are_not_finite_are_refused(step, poison, tmp_path):
    """reliability 9: in scalers and PCA."""
    model = make_pipeline(step, SVC()).fit(X, Y)
    fitted, found = model.steps[0][1], 0
    for name, value in list(vars(fitted).items()):
        changed = _poisoned(value, poison)
        if changed is None or name in UNUSED:
            continue
        setattr(fitted, name, changed)
        refused(_saved(model, tmp_path), f"{type(step).__name__}.{name}", "must be finite")
        setattr(fitted, name, value)
        found += 1
    assert found


def _tampered(value):
    """Yield values of other types, shapes and contents."""
    yield from (None, "text", [], {}, -1, 2**70, np.zeros((0,)), np.zeros((2, 3, 4)))
    yield np.array(["a", "b"], dtype=object)
    if isinstance(value, np.ndarray) and value.ndim:
        yield value[:-1]
        yield value[:0]
        yield value[None]
        yield value.astype(complex) if value.dtype.kind == "f" else value.astype(np.float64)
        yield np.concatenate([value, value])
        yield -value if value.dtype.kind in "if" else value[::-1]
        if value.ndim == 2:
            yield value[:, :-1]
            yield value.T
    if scipy.sparse.issparse(value):
        yield value[:-1]
        yield value[:, :-1]
        yield value.tocsc()
        yield value.toarray()[:, :-1]
        for name in ("data", "indices", "indptr", "_shape"):
            for other in (None, np.zeros(3), np.array([2**62, -1]), (2**40, 2**40), (1, 2)):
                changed = value.copy()
                setattr(changed, name, other)
                yield changed
    if isinstance(value, tuple):
        yield value[::-1]
        yield (*value, 1)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield value + 1


MEANINGFUL = {"kernel", "degree", "coef0", "_gamma", "classes_", "support_vectors_", "coef_"}
MEANINGFUL |= {"decision_function_shape", "break_ties", "fit_status_", "probability"}
MEANINGFUL |= {"intercept_", "whiten", "clip", "norm", "feature_range", "with_mean", "scale_"}
MEANINGFUL |= {"center_", "mean_", "min_", "components_", "explained_variance_", "_n_support"}
"""Attributes of which another consistent value is another model."""


def _check_tampering(target, model, expected, tmp_path):
    """Every changed attribute is refused, or is one that makes no difference."""
    for name, value in list(vars(target).items()):
        for changed in _tampered(value):
            setattr(target, name, changed)
            try:
                machine = load_model(model)
            except InputError as error:
                assert len(str(error).splitlines()) <= 3
            else:
                assert machine.sha256 == expected or name in MEANINGFUL, (name, changed)
        delattr(target, name)
        try:
            machine = load_model(model)
        except InputError:
            pass
        else:
            assert machine.sha256 == expected, name
        setattr(target, name, value)


@pytest.mark.parametrize("kind", FITTED)
def test_tampering_with_any_field_is_refused_or_harmless(kind, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = copy.deepcopy(FITTED[kind])
    _check_tampering(model, model, load_model(model).sha256, tmp_path)


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_tampering_with_any_transformer_field_is_refused_or_harmless(step, tmp_path):
    """reliability 10: inconsistent shapes, types and values, in every attribute."""
    model = make_pipeline(copy.deepcopy(step), SVC()).fit(X, Y)
    _check_tampering(model.steps[0][1], model, load_model(model).sha256, tmp_path)


@pytest.mark.parametrize(
    ("name", "change", "word"),
    [
        ("support_vectors_", lambda a: a[:, :-1], "n_features_in_ is 4, must be 3"),
        ("support_vectors_", lambda a: a[:-1], "_n_support adds up to"),
        ("support_vectors_", lambda a: a[:0], "support_vectors_ is empty, must be 1 or more"),
        ("dual_coef_", lambda a: a[:, :-1], "dual_coef_ has shape"),
        ("dual_coef_", lambda a: 2 * a, "dual_coef_ differs from _dual_coef_"),
        ("_intercept_", lambda a: -a, "intercept_ differs from _intercept_"),
        ("intercept_", lambda a: a[:-1], "intercept_ has shape (2,), must be of shape (3,)"),
        ("_n_support", lambda a: a[::-1] * 2, "_n_support adds up to"),
        ("_n_support", lambda a: a.astype(float), "_n_support is an array of shape (3,)"),
        ("support_", lambda a: a[:-1], "support_ has shape"),
        ("classes_", lambda a: a[:1], "classes_ has 1 class, must be 2 or more"),
        ("classes_", lambda a: a * 0, "classes_ has a class twice"),
        ("classes_", lambda a: np.array([b"a", b"b", b"c"]), "must be text, integers"),
        ("classes_", lambda a: np.array(["a", "\ud800", "b"], dtype=object), "must be text"),
        ("classes_", lambda a: a + np.nan, "classes_ has nan"),
        ("n_features_in_", lambda a: a + 1, "n_features_in_ is 5, must be 4"),
        ("shape_fit_", lambda a: (150, 7), "shape_fit_ does not fit"),
        ("_sparse", lambda a: None, "_sparse is None, must be True or False"),
        ("degree", lambda a: 2.5, "degree is 2.5, must be an integer"),
        ("degree", lambda a: -1, "degree is -1, must be an integer from 0"),
        ("degree", lambda a: 10**5000, "degree is an integer of"),
        ("coef0", lambda a: "1", "coef0 is '1', must be a number"),
        ("coef0", lambda a: 10**400, "coef0 is an integer of 1329 bits, must be finite"),
        ("_gamma", lambda a: np.array(0.0), "gamma is 0.0, must be > 0; retrain"),
        ("decision_function_shape", lambda a: "all", "must be ovr or ovo"),
    ],
)
def test_inconsistent_models_name_field_value_and_remedy(name, change, word, tmp_path):
    """reliability 10 and 12: file, field, found, allowed, next step."""
    model = copy.deepcopy(FITTED["SVC"])
    setattr(model, name, change(getattr(model, name)))
    path = _saved(model, tmp_path)
    assert ";" in refused(path, word)


@pytest.mark.parametrize("gamma", [0.0, -0.5, np.float64(-0.0), 0])
@pytest.mark.parametrize("kernel", ["poly", "rbf", "sigmoid"])
def test_gamma_must_be_positive(kernel, gamma, tmp_path):
    """reliability 11: gamma <= 0."""
    model = SVC(kernel=kernel).fit(X, Y)
    model._gamma = gamma
    message = refused(_saved(model, tmp_path))
    assert message == f"model.pkl: gamma is {float(gamma)}, must be > 0; retrain the model"


@pytest.mark.parametrize("model", [SVC(), LinearSVC(), make_pipeline(StandardScaler(), SVC())])
def test_unfitted_estimators_are_refused(model, tmp_path):
    """reliability 12: outputs of an unfitted estimator."""
    refused(_saved(model, tmp_path), "is not fitted (classes_ is missing); call fit")


def test_models_without_support_vectors_or_with_one_class_are_refused(tmp_path):
    """reliability 12: no SV, one class."""
    model = copy.deepcopy(FITTED["binary"])
    model.support_vectors_ = model.support_vectors_[:0]
    refused(_saved(model, tmp_path), "support_vectors_ is empty")
    model = copy.deepcopy(FITTED["LinearSVC"])
    model.classes_ = model.classes_[:1]
    refused(_saved(model, tmp_path), "classes_ has 1 class, must be 2 or more; retrain")


def own_kernel(a, b):
    return a @ b.T


@pytest.mark.parametrize("kernel", [own_kernel, laplacian_kernel, os.path.join])
def test_callable_kernels_are_refused_and_the_remedy_is_told(kernel, tmp_path):
    """reliability 14: in a file the function is only a name."""
    model = copy.deepcopy(FITTED["binary"])
    model.kernel = kernel
    path = _saved(model, tmp_path)
    refused(path, "kernel is the function", "retrain with one of these", kernel.__name__)
    with pytest.raises(InputError, match="SVC: kernel is a function"):
        load_model(model)
    with pytest.raises(InputError, match="SVC: kernel is a function"):
        load_model(SVC(kernel=own_kernel).fit(X, Y))


def test_precomputed_kernels_are_refused_and_the_remedy_is_told(tmp_path):
    """reliability 14: the kernel values of new inputs are not in the model."""
    model = SVC(kernel="precomputed").fit(X @ X.T, Y)
    refused(_saved(model, tmp_path), "kernel is 'precomputed'", "retrain with one of these")


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (RandomForestClassifier(2).fit(X, Y), "RandomForestClassifier is not supported"),
        (LogisticRegression(max_iter=999).fit(X, Y), "LogisticRegression is not supported"),
        (SVR().fit(X, Y), "SVR is not supported yet: it comes with a later release"),
        (OneClassSVM().fit(X), "OneClassSVM is not supported yet"),
        (GridSearchCV(SVC(), {"C": [1]}, cv=2).fit(X, Y), "GridSearchCV is not supported"),
        (make_pipeline(FunctionTransformer(np.log1p), SVC()).fit(X, Y), "FunctionTransformer"),
        (StandardScaler().fit(X), "must be a classifier"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_estimators_are_refused_and_the_supported_listed(model, word, tmp_path):
    """reliability 12: what isn't supported says what is."""
    message = refused(_saved(model, tmp_path), word, "supported: SVC, NuSVC, LinearSVC")
    with pytest.raises(InputError) as caught:
        load_model(model)
    assert word in str(caught.value)
    assert "\nsupported: " in message


def test_scale_that_is_zero_or_overflows_is_refused(tmp_path):
    """reliability 18: scikit-learn itself never leaves a scale of 0."""
    model = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    model.steps[0][1].scale_[1] = 0.0
    refused(_saved(model, tmp_path), "StandardScaler.scale_[1] is 0.0, must be > 0")
    model.steps[0][1].scale_[1] = 5e-324
    refused(_saved(model, tmp_path), "StandardScaler.scale_ is so small or large")


def test_trusted_files_that_fail_give_one_clear_error(tmp_path):
    """reliability 1: --trust-pickle runs the file's code, and reports what it raises."""
    path = write(tmp_path, pickle.dumps(Call(eval, "1 / 0")))
    with pytest.raises(InputError, match=r"model.pkl: cannot be unpickled \(ZeroDivisionError"):
        load_model(path, trust_pickle=True)
    path = write(tmp_path, b"cnowhere\nto be found\n.")
    with pytest.raises(InputError, match=r"\(ModuleNotFoundError"):
        load_model(path, trust_pickle=True)

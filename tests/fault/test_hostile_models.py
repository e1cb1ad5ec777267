"""reliability.md, items 1 to 3: files that attack."""

from __future__ import annotations

import codecs
import copy
import copyreg
import io
import os
import pickle
import random
import struct
import subprocess
import sys

import joblib
import numpy as np
import pytest
from model_files import SMALL, Call, refused, write
from sklearn.pipeline import Pipeline

from kit.covering import some
from kmcompile.errors import InputError
from kmcompile.readers import load_model, model_file


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
    yield "system", Call(__import__("functools").partial(os.system, "x"))
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


@pytest.mark.few
@pytest.mark.parametrize("number", range(_payload_count()))
def test_payloads_never_run_and_the_forbidden_name_is_told(number, tmp_path):
    """reliability 1: wherever it lies in the data, in every protocol."""
    canary = tmp_path / "canary"
    name, payload = list(_payloads(canary))[number]
    for hidden in _hidden(payload):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            refused(write(tmp_path, pickle.dumps(hidden, protocol)), name.split(".")[-1])
            assert not canary.exists()


@pytest.mark.few
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
    "inst": (b"(S'touch x'\nios\nsystem\n.", "os.system"),
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("protocol", [2, 4])
def test_every_way_of_calling_stays_inert(protocol, tmp_path):
    """reliability 1: real constructors of numpy never see what the file gives them."""
    array, dtype = np.zeros((2, 2)), np.dtype("f8")
    functions = [np.dtype, array.__reduce__()[0], np.float64(0).__reduce__()[0]]
    functions += [array.__reduce_ex__(5)[0], codecs.encode, copyreg._reconstructor, bytes]
    values = [
        array,
        array[:0],
        None,
        "O",
        "latin1",
        "x",
        b"x",
        bytearray(b"x"),
        dtype,
        (1,),
        (array,),
    ]
    values += [{"names": ["a"], "formats": ["O"]}, [array], object, 2**70, np.float64(1)]
    rng = random.Random(0)
    for function in functions:
        for _ in range(300):
            arguments = rng.choices(values, k=rng.randrange(6))
            refused(write(tmp_path, pickle.dumps(Call(function, *arguments), protocol)))


class Built:
    """Pickles as what `_reconstruct` and `dtype` make, followed by any state."""

    def __init__(self, reduced, state):
        self.reduced = (*reduced, state)

    def __reduce__(self):
        return self.reduced


def test_every_state_is_refused_or_plain(tmp_path):
    """reliability 1 and 3: the states of arrays and dtypes hold what numpy's own do."""
    array, dtype = np.zeros((2, 2)), np.dtype("f8")
    values = [array, array[:0], None, "<", b"x" * 8, [], [array], {}, dtype, (1,), 1, True, ()]
    rng = random.Random(1)
    for target in (array, dtype):
        reduced = target.__reduce__()[:2]
        for _ in range(600):
            state = list(rng.choice([array.__reduce__()[2], dtype.__reduce__()[2]]))
            for _ in range(rng.randrange(4)):
                state[rng.randrange(len(state))] = rng.choice(values)
            built = Built(reduced, rng.choice([tuple(state), tuple(state[:-1]), state]))
            refused(write(tmp_path, pickle.dumps(built, 4)))


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
    "nested objects": (
        b"\x80\x04" + b"csklearn.svm\nSVC\n)\x81}Va\n" * 90_000 + b"N" + b"sb" * 90_000 + b".",
        "deep",
    ),
    "text beyond Unicode": (b"\x80\x04" + _array("U1", (1,), b"\xff" * 4) + b".", "no text"),
    "no end": (b"\x80\x04" + b"N" * 1_000_001, "opcodes"),
    "long number": (b"L" + b"9" * 100_000 + b"L\n.", "not a whole"),
    "huge number": (b"\x80\x04\x8b\xff\xff\x00\x00" + b"\x7f" * 65535 + b".", "must be"),
}


DEEP = ("nested lists", "nested tuples", "nested dicts", "nested keys", "nested objects")


@pytest.mark.few
@pytest.mark.parametrize("name", some(list(BOMBS), set(BOMBS) - set(DEEP)))
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

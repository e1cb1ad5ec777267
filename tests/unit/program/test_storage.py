"""program.npz: what comes back answers with the same bits and is the same bytes."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kit.lowered import lowered
from kmcompile.errors import InputError
from kmcompile.program import storage
from kmcompile.program.interpreter import interpret


def models():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 3))
    two, three = (X[:, 0] > 0).astype(int), np.argmax(X, axis=1)
    names = np.array(["a", "b", "c"])
    chain = [MinMaxScaler(clip=True), StandardScaler(), PCA(2), Normalizer()]
    return {
        "rbf": make_pipeline(*chain, SVC()).fit(X, names[three]),
        "poly": SVC(kernel="poly", break_ties=True).fit(X, three),
        "sigmoid": SVC(kernel="sigmoid").fit(X, two == 1),
        "linear": SVC(kernel="linear").fit(X, two * 2 - 1),
        "linear_svc": LinearSVC(random_state=0).fit(X, three),
    }


MODELS = models()


@pytest.fixture(params=MODELS, scope="module")
def low(request):
    return lowered(MODELS[request.param])


def differences(a, b, path="program"):
    """Return where two trees of dataclasses, tuples and arrays differ, types included."""
    if type(a) is not type(b):
        return [path]
    if is_dataclass(a):
        pairs = [(getattr(a, f.name), getattr(b, f.name), f.name) for f in fields(a)]
    elif isinstance(a, tuple):
        if len(a) != len(b):
            return [path]
        pairs = [(x, y, str(n)) for n, (x, y) in enumerate(zip(a, b, strict=True))]
    elif isinstance(a, np.ndarray):
        same = (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        return [] if same and not b.flags.writeable else [path]
    else:
        return [] if a == b else [path]
    return [d for x, y, name in pairs for d in differences(x, y, f"{path}.{name}")]


def test_a_stored_program_comes_back_whole(low):
    again = storage.load(storage.save(low.program), "program.npz")
    assert differences(low.program, again) == []


def test_a_stored_program_answers_with_the_same_bits(low):
    again = interpret(storage.load(storage.save(low.program), "p"), low.queries)
    answers = low.answers(low.queries)
    assert again.results.tobytes() == answers.results.tobytes()
    assert again.decisions.tobytes() == answers.decisions.tobytes()
    assert again.bounds.tobytes() == answers.bounds.tobytes()


def test_the_same_program_gives_the_same_bytes(low):
    content = storage.save(low.program)
    assert storage.save(low.program) == content
    assert storage.save(storage.load(content, "p")) == content
    assert storage.save(lowered(low.estimator).program) == content


def test_a_damaged_program_is_refused_and_not_run(low):
    content = storage.save(low.program)
    rng = np.random.default_rng(3)
    for position in rng.integers(0, len(content), size=150):
        damaged = bytearray(content)
        damaged[position] ^= 1 << rng.integers(8)
        try:
            storage.load(bytes(damaged), "program.npz")  # what no check value covers may pass
        except InputError as error:
            assert "program.npz: damaged" in str(error)
    for length in rng.integers(0, len(content), size=40):
        with pytest.raises(InputError, match="damaged"):
            storage.load(content[:length], "program.npz")


def test_another_release_is_named(low):
    archive = dict(np.load(io.BytesIO(storage.save(low.program))))
    tree = json.loads(archive["tree"].tobytes())
    tree["version"] += 1
    archive["tree"] = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **archive)
    with pytest.raises(InputError, match=f"version {tree['version']}"):
        storage.load(buffer.getvalue(), "program.npz")


def test_nothing_in_the_file_tells_when_or_where_it_was_made(low):
    with zipfile.ZipFile(io.BytesIO(storage.save(low.program))) as archive:
        assert {item.date_time for item in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}

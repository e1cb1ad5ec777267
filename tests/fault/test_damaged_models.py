"""reliability.md, items 2, 3 and 10: files that broke."""

from __future__ import annotations

import io
import itertools
import pickle
import pickletools
import random
import zlib

import joblib
import numpy as np
import pytest
import scipy.sparse
from model_files import SMALL, X, Y, mutated, refused, write
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from kit.covering import some
from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers import load_model


def _small_files():
    yield "pickle", pickle.dumps(SMALL, 4)
    yield "protocol 0", pickle.dumps(LinearSVC().fit(X[:, :1], Y > 1), 0)
    yield "protocol 5", pickle.dumps(SMALL, 5)
    for compress in (0, "zlib", "gzip", "bz2", "lzma", "xz"):
        content = io.BytesIO()
        joblib.dump(SMALL, content, compress=(compress, 1) if compress else 0)
        yield f"joblib {compress}", content.getvalue()


SMALL_FILES = dict(_small_files())


@pytest.mark.few
@pytest.mark.parametrize("kind", SMALL_FILES)
def test_truncated_files_are_refused_at_every_byte(kind, tmp_path):
    """reliability 3: nothing but the whole file is a model."""
    content = SMALL_FILES[kind]
    load_model(write(tmp_path, content))
    for length in range(len(content)):
        refused(write(tmp_path, content[:length]))
    refused(write(tmp_path, content + b"x"))


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


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", some(range(6), ("0", "3")))
def test_mutated_files_give_an_input_error_or_a_valid_machine(part, tmp_path):
    """reliability 3 and 10: 6,000 damaged files, and never another exception."""
    rng = random.Random(part)
    sources = list(_mutation_sources())
    for number in range(1_000):
        path = write(tmp_path, mutated(sources[number % len(sources)], rng))
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
        path = write(tmp_path, zlib.compress(mutated(sources[number % 2], rng)))
        try:
            load_model(path)
        except InputError:
            continue


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b"svm_type c_svc\nkernel_type rbf\n", "line 3: the file ends here"),
        (b"MZ\x90\x00", "not a whole pickle or joblib file"),
        (b"solver_type L2R_LR\n", "line 2: the file ends here"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"\x93NUMPY\x01\x00", ".npy array"),
        (b"\x04\x22\x4d\x18rest", "lz4"),
        (b"ZF0x10", "joblib before 0.10"),
        (b"\x89HDF\r\n", "HDF5"),
        (b"x\x9cgarbage", "its zlib compression is damaged"),
        (pickle.dumps(SMALL) + pickle.dumps(SMALL), "bytes follow the model"),
        (zlib.compress(pickle.dumps(SMALL)) + b"more", "4 bytes follow its zlib compression"),
        (pickle.dumps({"model": 1}), "no machine among them: none that is supported"),
        (pickle.dumps(None), "the model is builtins.NoneType"),
        (pickle.dumps(np.zeros(3)), "the model is numpy.ndarray"),
    ],
)
def test_other_formats_and_contents_are_named(content, word, tmp_path):
    """reliability 2: no silent fallback."""
    refused(write(tmp_path, content), word)


def _opcodes(content):
    """Return the pickle cut into its opcodes with their arguments."""
    starts = [position for _, _, position in pickletools.genops(content)]
    return [content[a:b] for a, b in itertools.pairwise([*starts, len(content)])]


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", some(range(3), ("0",)))
def test_shuffled_opcodes_give_an_input_error_or_a_valid_machine(part, tmp_path):
    """reliability 3 and 10: well-formed opcodes in places where no pickler puts them."""
    rng = random.Random(part)
    sources = [_opcodes(c) for c in _mutation_sources() if c[:1] == b"\x80" and b"joblib" not in c]
    for number in range(1_000):
        pieces = list(sources[number % len(sources)])
        for _ in range(rng.choice((1, 2, 4))):
            here, there = rng.randrange(len(pieces)), rng.randrange(len(pieces))
            pieces[here] = rng.choice((pieces[there], pieces[there] + pieces[here], b"N", b""))
        try:
            machine = load_model(write(tmp_path, b"".join(pieces)))
        except InputError as error:
            assert len(str(error).splitlines()) <= 3
        else:
            assert machine.sha256

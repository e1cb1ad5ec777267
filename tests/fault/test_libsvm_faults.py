"""reliability.md, items 4, 5, 9, 11, 12 and 14: LIBSVM files that lie or broke."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_files import X, Y, refused, write
from sklearn.svm import SVC, SVR

from kit.libsvm_files import libsvm_text
from kmcompile.errors import InputError
from kmcompile.readers import load_model
from kmcompile.readers.libsvm import sv_lines
from kmcompile.readers.libsvm import text as text_module
from kmcompile.readers.libsvm.model import read_libsvm

BINARY = libsvm_text(SVC(gamma=0.5).fit([[0.25, 1.0], [1.0, -3.5], [2.0, 2.0]], [1, 5, 5]))
THREE = libsvm_text(SVC(kernel="poly").fit(X[::15], Y[::15]))
REGRESSION = libsvm_text(SVR(kernel="sigmoid").fit(X[::25], Y[::25]))
LINE = re.compile(r"model\.pkl: line (\d+): ")


def line_of(path, *words):
    """Return the line that the refusal names."""
    return int(LINE.match(refused(path, *words))[1])


@pytest.mark.parametrize("content", [BINARY, THREE, REGRESSION], ids=["two", "three", "svr"])
def test_truncated_files_are_refused_at_every_byte(content, tmp_path):
    """reliability 4: with the number of the line at which the file ends."""
    load_model(write(tmp_path, content))
    signature = len(b"svm_type")
    for length in range(signature):
        refused(write(tmp_path, content[:length]))
    for length in range(signature, len(content)):
        last = content[:length].count(b"\n") + 1
        assert line_of(write(tmp_path, content[:length])) == last


COMPRESSIONS = {"gzip": gzip.compress, "zlib": zlib.compress, "bz2": bz2.compress}
COMPRESSIONS |= {"xz": lzma.compress, "lzma": lambda c: lzma.compress(c, lzma.FORMAT_ALONE)}


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS)
def test_compressed_files_are_read_and_checked_alike(compress, tmp_path):
    """reliability 2, 4: the format is told by the content behind the compression."""
    assert load_model(write(tmp_path, compress(BINARY))).classes == (1, 5)
    assert line_of(write(tmp_path, compress(BINARY[:60]))) == BINARY[:60].count(b"\n") + 1
    refused(write(tmp_path, compress(BINARY)[:-9]), "compression")


def test_whatever_follows_the_last_vector_is_refused(tmp_path):
    """reliability 5: total_sv is too small."""
    lines = BINARY.count(b"\n")
    for rest in (b"\n", b"1 1:1\n", b"\0"):
        assert line_of(write(tmp_path, BINARY + rest), "follows the last") == lines + 1


HEADER_LIES = [
    (b"svm_type c_svc", b"svm_type c_svm", 1, "is 'c_svm', must be c_svc, nu_svc"),
    (b"svm_type c_svc", b"svm_type c_svc nu_svc", 1, "has 2 values, must have 1"),
    (b"kernel_type rbf", b"kernel_type", 2, "has 0 values"),
    (b"kernel_type rbf", b"kernel_type gauss", 2, "is 'gauss'"),
    (b"kernel_type rbf\n", b"", 8, "kernel_type is missing"),
    (b"gamma 0.5\n", b"", 8, "gamma is missing"),
    (b"gamma 0.5", b"gamma 0.5\ngamma 0.5", 4, "gamma again, first in line 3"),
    (b"gamma 0.5", b"gama 0.5", 3, "'gama', must be svm_type"),
    (b"gamma 0.5", b"", 3, "an empty line"),
    (b"gamma 0.5", b"gamma 0.5\ncoef", 4, "remove this line and the next"),
    (b"nr_class 2", b"nr_class 4294967298", 4, "must be an integer from 1 to 4096"),
    (b"nr_class 2", b"nr_class 99999999999999999999999", 4, "must be an integer"),
    (b"nr_class 2", b"nr_class -2", 4, "must be an integer"),
    (b"nr_class 2", b"nr_class 0", 4, "must be an integer"),
    (b"nr_class 2", b"nr_class 2.0", 4, "must be an integer"),
    (b"nr_class 2", b"nr_class 4096", 6, "rho has 1 values, must have 8386560"),
    (b"nr_class 2", b"nr_class 1", 4, "must be 2 or more; retrain with two classes"),
    (b"total_sv 3", b"total_sv 2", 8, "nr_sv adds up to 3, must be 2"),
    (b"total_sv 3", b"total_sv 0", 5, "is 0, must be 1 or more"),
    (b"total_sv 3", b"total_sv 2147483648", 5, "must be an integer"),
    (b"total_sv 3", b"total_sv 2000000000", 8, "adds up to 3, must be 2000000000"),
    (b"label 1 5", b"label 1 1", 7, "a label twice"),
    (b"label 1 5", b"label 1", 7, "has 1 values, must have 2"),
    (b"label 1 5", b"label 1 five", 7, "is 'five'"),
    (b"label 1 5\n", b"", 8, "label is missing"),
    (b"nr_sv 1 2", b"nr_sv -1 4", 8, "must be an integer"),
    (b"nr_sv 1 2", b"nr_sv 1 2 0", 8, "has 3 values"),
    (b"nr_sv 1 2", b"nr_sv 1 2\nprobA 1 2", 9, "probA has 2 values"),
    (b"nr_sv 1 2", b"nr_sv 1 2\nprobB nan", 9, "must be finite"),
    (b"nr_sv 1 2", b"nr_sv 1 2\nprob_density_marks 1", 9, "only one_class has it"),
    (b"SV\n", b"SV 3\n", 9, "'SV', must be"),
]


@pytest.mark.parametrize(("old", "new", "line", "word"), HEADER_LIES, ids=lambda v: str(v)[:40])
def test_headers_that_lie_are_refused(old, new, line, word, tmp_path):
    """reliability 5, 12: counts that do not fit, keys twice, unknown or missing."""
    content = BINARY.replace(old, new, 1)
    assert content != BINARY
    found = line_of(write(tmp_path, content), word)
    assert found == line or "is missing" in word


def test_more_vectors_than_there_are_cost_no_memory(tmp_path):
    """reliability 5: total_sv and nr_sv lie together."""
    content = BINARY.replace(b"total_sv 3", b"total_sv 2000000000")
    content = content.replace(b"nr_sv 1 2", b"nr_sv 1 1999999999")
    assert line_of(write(tmp_path, content), "1999999997 more support vectors") == 13


NUMBERS = [
    (b"0", "> 0"),
    (b"-1", "> 0"),
    (b"nan", "must be finite"),
    (b"inf", "must be finite"),
    (b"-Infinity", "must be finite"),
    (b"1e999", "must be finite"),
    (b"0x1p-3", "must be a decimal number"),
    (b"1_0", "must be a decimal number"),
    (b"0,5", "must be a decimal number"),
    (b"--1", "must be a decimal number"),
    (b"1e", "must be a decimal number"),
    (b".", "must be a decimal number"),
]


@pytest.mark.parametrize(("word", "found"), NUMBERS, ids=lambda v: str(v))
def test_gamma_must_be_a_positive_decimal_number(word, found, tmp_path):
    """reliability 9, 11: C's printf writes neither hexadecimal floats nor underscores."""
    path = write(tmp_path, BINARY.replace(b"gamma 0.5", b"gamma " + word))
    assert line_of(path, "gamma", found) == 3


def test_digits_of_other_alphabets_are_refused(tmp_path):
    """reliability 5: Python's float() takes them."""
    path = write(tmp_path, BINARY.replace(b"gamma 0.5", "gamma ٣".encode()))
    assert line_of(path, "not printable ASCII") == 3


@pytest.mark.parametrize("degree", [b"-1", b"2.5", b"9999999999", b"3e0", b"0x3"])
def test_degree_must_be_an_integer(degree, tmp_path):
    """reliability 5: degree."""
    path = write(tmp_path, THREE.replace(b"degree 3", b"degree " + degree))
    assert line_of(path, "degree is", "must be an integer from 0") == 3


VECTOR_LIES = [
    (b"0:1 0:2", "index '0', must be an integer from 1"),
    (b"-1:1", "index '-1'"),
    (b"1:1 1:2", "index '1', must be an integer from 2"),
    (b"2:1 1:2", "index '1', must be an integer from 3"),
    (b"2147483648:1", "to 2147483647"),
    (b"99999999999999999999:1", "must be an integer"),
    (b"1:nan", "the value of index 1 is 'nan', must be finite"),
    (b"1:-inf", "must be finite"),
    (b"1:1e400", "must be finite"),
    (b"1:0x1", "must be a decimal number"),
    (b"1:", "the value of index 1 is ''"),
    (b":1", "index ''"),
    (b"1:2:3", "must be index:value"),
    (b"1", "must be index:value"),
    (b"1 :2", "must be index:value"),
]


@pytest.mark.parametrize(("pairs", "word"), VECTOR_LIES, ids=lambda v: str(v)[:40])
def test_vectors_that_lie_are_refused(pairs, word, tmp_path):
    """reliability 5, 9: bad index, values that are no finite numbers."""
    lines = BINARY.split(b"\n")
    coefficient = lines[10].split()[0]
    lines[10] = coefficient + b" " + pairs
    assert line_of(write(tmp_path, b"\n".join(lines)), word) == 11


@pytest.mark.parametrize(("word", "found"), [n for n in NUMBERS if n[1] != "> 0"], ids=str)
def test_coefficients_must_be_finite_decimal_numbers(word, found, tmp_path):
    """reliability 9: and rho."""
    lines = BINARY.split(b"\n")
    lines[10] = word + b" 1:1"
    assert line_of(write(tmp_path, b"\n".join(lines)), "the coefficient is", found) == 11
    lines[5] = b"rho " + word
    assert line_of(write(tmp_path, b"\n".join(lines)), "rho is", found) == 6


def test_a_line_without_all_coefficients_is_refused(tmp_path):
    """reliability 5: nr_class - 1 of them."""
    lines = THREE.split(b"\n")
    start = lines.index(b"SV")
    lines[start + 2] = b"1"
    assert line_of(write(tmp_path, b"\n".join(lines)), "has 1 coefficients, must have 2")


def test_a_short_file_with_a_large_index_is_refused(tmp_path, monkeypatch):
    """reliability 3, 5: checked before anything is allocated."""
    lines = BINARY.split(b"\n")
    lines[10] += b" 2147483647:1"
    path = write(tmp_path, b"\n".join(lines))
    assert line_of(path, "take 51539607528 bytes, must be at most 10000000") == 12
    lines[10] += b" " * 300_000
    path = write(tmp_path, b"\n".join(lines))
    assert line_of(path, "must be at most 200000000") == 12
    monkeypatch.setattr(sv_lines, "MAX_DENSE_BYTES", 47)
    refused(write(tmp_path, BINARY), "take 48 bytes, must be at most 47")


def test_an_endless_line_is_refused(tmp_path, monkeypatch):
    """reliability 3: a line is read up to a cap."""
    monkeypatch.setattr(text_module, "MAX_LINE_BYTES", 1000)
    path = write(tmp_path, BINARY.replace(b"gamma 0.5", b"gamma " + b"1 " * 1000))
    assert line_of(path, "longer than 1000 bytes") == 3


def test_vectors_without_features_are_refused(tmp_path):
    """reliability 12: nothing is left to look at."""
    content = re.sub(rb" [0-9]+:\S+", b"", BINARY)
    refused(write(tmp_path, content), "no support vector has a feature")


def test_precomputed_kernels_are_refused_with_what_to_do(tmp_path):
    """reliability 14."""
    content = BINARY.replace(b"kernel_type rbf", b"kernel_type precomputed")
    refused(write(tmp_path, content), "line 2", "kmcompile.precomputed_machine", ".npz layout")


@pytest.mark.parametrize("key", [b"label 1 2", b"nr_sv 3 4", b"prob_density_marks 1"])
def test_keys_of_other_types_are_refused(key, tmp_path):
    """reliability 5: a regression has no labels."""
    refused(write(tmp_path, REGRESSION.replace(b"SV\n", key + b"\nSV\n")), "must not be")


WORDS = st.sampled_from(
    [w for content in (BINARY, THREE) for w in re.split(rb"([ \n:])", content) if w]
    + [b"-1", b"0", b"2147483648", b"nan", b"1e308", b"probA", b"\r", b"\0", b"\xff", b"0x1"]
)


@settings(max_examples=300)
@given(st.data())
def test_anything_near_the_grammar_is_a_machine_or_refused(data):
    """reliability 5: words moved, lost and doubled."""
    parts = re.split(rb"([ \n:])", BINARY)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(parts)))
        end = start + data.draw(st.integers(0, 3))
        parts[start:end] = data.draw(st.lists(WORDS, max_size=3))
    try:
        machine = read_libsvm(b"".join(parts))
    except InputError as error:
        assert len(str(error).splitlines()) <= 3
        assert re.match(r"line \d+: ", str(error))
    else:
        assert np.isfinite(machine.support_vectors).all()


def test_a_header_in_any_order_is_one_of_libsvm(tmp_path):
    refused(write(tmp_path, b"kernel_type linear\nsvm_type epsilon_svr\n"), "line 3")

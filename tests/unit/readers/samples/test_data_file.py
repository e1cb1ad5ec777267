"""Data files: every format gives the same samples; what cannot be used is refused by name."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import dump_svmlight_file

from kmcompile.errors import InputError, UsageError
from kmcompile.readers.samples.file import Samples, read_samples

X = np.array([[1.5, 0.0, -3.0], [0.1, 2.0, 1e-3]])
Y = np.array([1, -1])


def _csv(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def _write(path: Path, kind: str) -> Path:
    rows = [",".join(map(repr, row.tolist())) for row in X]
    if kind == "npz":
        np.savez(path.open("wb"), X=X, y=Y)
    elif kind == "compressed npz":
        np.savez_compressed(path.open("wb"), X=X, y=Y)
    elif kind == "npz of training data":
        np.savez(path.open("wb"), X_train=X, y_train=Y)
    elif kind == "npz in Fortran order":
        np.savez(path.open("wb"), X=np.asfortranarray(X), y=Y)
    elif kind == "csv":
        _csv(path, "".join(f"{row},{label}\n" for row, label in zip(rows, Y, strict=True)))
    elif kind == "csv with header":
        lines = [f"{row},{label}\r\n" for row, label in zip(rows, Y, strict=True)]
        _csv(path, "\ufeffa,b,c,label\r\n" + "".join(lines))
    elif kind == "csv with semicolons":
        lines = [f"{r},{label}".replace(",", ";") for r, label in zip(rows, Y, strict=True)]
        _csv(path, "\n\n".join(lines))
    elif kind == "svmlight":
        dump_svmlight_file(X, Y, str(path), zero_based=False)
    elif kind == "svmlight from 0":
        dump_svmlight_file(X, Y, str(path), zero_based=True)
    return path


KINDS = [
    "npz",
    "compressed npz",
    "npz of training data",
    "npz in Fortran order",
    "csv",
    "csv with header",
    "csv with semicolons",
    "svmlight",
    "svmlight from 0",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["data", "data.csv", "data.npz"])
def test_a_file_is_read_whatever_its_extension(tmp_path, kind, name):
    samples = read_samples(_write(tmp_path / name, kind), 3)
    assert samples.X.dtype == np.float32
    np.testing.assert_array_equal(samples.X, X.astype(np.float32))
    np.testing.assert_array_equal(samples.y, Y)


def test_npy_has_no_labels(tmp_path):
    np.save(tmp_path / "x.npy", X)
    samples = read_samples(tmp_path / "x.npy", 3)
    np.testing.assert_array_equal(samples.X, X.astype(np.float32))
    assert samples.y is None and len(samples) == 2


@pytest.mark.parametrize("dtype", ["u1", "i2", "<i8", ">f8", "f2", "?", "f4", "g"])
def test_every_number_type_is_read(tmp_path, dtype):
    values = np.array([[1, 0], [0, 1]], dtype=dtype)
    np.save(tmp_path / "x.npy", values)
    np.testing.assert_array_equal(read_samples(tmp_path / "x.npy", 2).X, values.astype("f4"))


def test_samples_are_read_only_and_contiguous(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    samples = read_samples(tmp_path / "x.npy", 3)
    assert samples.X.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        samples.X[0, 0] = 1


@pytest.mark.parametrize(
    ("part", "arrays", "expected"),
    [
        ("test", ("X_train", "X_test"), "X_test"),
        ("test", ("X", "X_test"), "X_test"),
        ("test", ("X", "X_train"), "X"),
        ("test", ("X_train",), "X_train"),
        ("calibration", ("X_train", "X_test"), "X_train"),
        ("calibration", ("X", "X_train"), "X"),
    ],
)
def test_the_part_chooses_the_array_and_its_labels(tmp_path, part, arrays, expected):
    content: dict[str, Any] = {}
    for number, name in enumerate(arrays):
        content[name] = np.full((2, 3), number)
        content["y" + name[1:]] = np.full(2, number)
    np.savez(tmp_path / "d.npz", **content)
    samples = read_samples(tmp_path / "d.npz", 3, part)
    assert samples.X[0, 0] == samples.y[0] == arrays.index(expected)


def test_calibration_never_takes_the_test_samples(tmp_path):
    np.savez(tmp_path / "d.npz", X_test=X)
    with pytest.raises(InputError, match="holds X_test; must hold X or X_train"):
        read_samples(tmp_path / "d.npz", 3)


@pytest.mark.parametrize("labels", [["a", "b"], [1, -1], [0.5, 1.5]])
def test_labels_keep_their_kind(tmp_path, labels):
    np.savez(tmp_path / "d.npz", X=X, y=labels)
    assert read_samples(tmp_path / "d.npz", 3).y.tolist() == labels
    rows = "".join(f"1,2,3,{label}\n" for label in labels)
    assert read_samples(_csv(tmp_path / "d.csv", rows), 3).y.tolist() == labels


@given(hnp.arrays(np.float64, (3, 2), elements=st.floats(-3e38, 3e38)))
def test_values_are_the_nearest_float32(values):
    text = "".join(",".join(map(repr, row)) + "\n" for row in values.tolist())
    with tempfile.TemporaryDirectory() as folder:
        samples = read_samples(_csv(Path(folder) / "d.csv", text), 2)
    np.testing.assert_array_equal(samples.X, values.astype(np.float32))


def test_a_header_line_with_quotes_and_an_empty_line_are_skipped(tmp_path):
    text = '"length, mm","width"\n\n1,2\n"3", 4\n'
    samples = read_samples(_csv(tmp_path / "d.csv", text), 2)
    assert samples.X.tolist() == [[1, 2], [3, 4]]


def test_one_column_needs_no_separator(tmp_path):
    samples = read_samples(_csv(tmp_path / "d.csv", "x\n1\n2\n"), 1)
    assert samples.X.tolist() == [[1], [2]] and samples.y is None


def test_svmlight_with_comments_and_empty_rows(tmp_path):
    text = "# made by hand, with a comma\n+1 qid:3 1:2.5 # first\n\n-1\n1 3:1e-3\n"
    samples = read_samples(_csv(tmp_path / "d.txt", text), 3)
    np.testing.assert_array_equal(samples.X, np.float32([[2.5, 0, 0], [0, 0, 0], [0, 0, 1e-3]]))
    assert samples.y.tolist() == [1, -1, 1]


CSV_REFUSED = [
    ("", "no samples"),
    ("a,b\n", "no samples"),
    ("1,2\n3,nan\n", r"X\[1, 1\] is nan, must be finite"),
    ("1,2\n-inf,4\n", r"X\[1, 0\] is -inf, must be finite"),
    ("1,2\n3,1e39\n", r"X\[1, 1\] is 1e\+39, beyond float32"),
    ("1,2\n3,\n", "line 2, column 2 is '', must be a number"),
    ("1,2\n3,1_0\n", "line 2, column 2 is '1_0', must be a number"),
    ("1,x\n3,4\n", "line 1, column 2 is 'x', must be a number"),
    ("a,b\n3,x\n", "line 2, column 2 is 'x', must be a number"),
    ("1,2,3,4\n", "line 1 has 4 columns, must have 2, or 3 with the label last"),
    ("1\n2\n", "line 1 has 1 columns"),
    ("1,2\n3\n", "line 2 has 1 columns, the first line 2"),
    ("1,2\n3,4,5\n", "line 2 has 3 columns, the first line 2"),
    ('1,"2\n', "no readable CSV"),
    ("1,2,nan\n", r"y\[0\] is nan, must be finite"),
]
SVMLIGHT_REFUSED = [
    ("1 1:2 3:1\n", "line 1 has index 3 after 1, must ascend and be at most 2"),
    ("1 2:2 1:1\n", "line 1 has index 1 after 2, must ascend"),
    ("1 1:2 1:1\n", "line 1 has index 1 after 1, must ascend"),
    ("1 0:2\n1 2:1\n", "line 2 has index 2, must be below it"),
    ("1 1:x 2:1\n", "line 1 has '1:x', must be index:value"),
    ("1 -1:2 2:1\n", "line 1 has '-1:2', must be index:value"),
    ("1 1:1 2\n", "line 1 has '2', must be index:value"),
    ("1,2 1:1\n", "line 1 starts with '1,2', must be one numeric label"),
    ("yes 1:1\n", "line 1 starts with 'yes'"),
    ("1 1:nan\n", r"X\[0, 0\] is nan"),
    ("1 1:1e39\n", r"X\[0, 0\] is 1e\+39, beyond float32"),
    ("nan 1:1\n", r"y\[0\] is nan"),
]


@pytest.mark.parametrize(("text", "message"), CSV_REFUSED + SVMLIGHT_REFUSED)
def test_text_that_cannot_be_used_is_refused_by_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        read_samples(_csv(tmp_path / "d.csv", text), 2)
    assert str(caught.value).startswith("d.csv")
    assert len(str(caught.value).splitlines()) <= 3


ARRAYS_REFUSED = [
    ({"X": np.array([[1, np.nan]])}, r"X\[0, 1\] is nan"),
    ({"X": np.array([[1, 2], [-np.inf, 0]])}, r"X\[1, 0\] is -inf"),
    ({"X": np.array([[1, 1e39]])}, r"X\[0, 1\] is 1e\+39, beyond float32"),
    ({"X": np.zeros((2, 3))}, r"X has shape \(2, 3\), must be \(n_samples, 2\)"),
    ({"X": np.zeros(2)}, r"X has shape \(2,\)"),
    ({"X": np.zeros((0, 2))}, "no samples"),
    ({"X": np.zeros((2, 2), complex)}, "type complex128"),
    ({"X": np.array([["1", "2"]])}, "X has type <U1"),
    ({"X": np.zeros((2, 2), "M8[s]")}, "type datetime64"),
    ({"X": np.zeros((1, 2)), "y": np.zeros(2)}, r"y has shape \(2,\), must be \(1,\)"),
    ({"X": np.zeros((1, 2)), "y": np.zeros((1, 1))}, r"y has shape \(1, 1\)"),
    ({"X": np.zeros((1, 2)), "y": np.array([np.nan])}, r"y\[0\] is nan"),
    ({"Z": np.zeros((1, 2))}, "holds Z; must hold X or X_train"),
    ({}, "holds nothing"),
]


@pytest.mark.parametrize(("arrays", "message"), ARRAYS_REFUSED)
def test_arrays_that_cannot_be_used_are_refused_by_field(tmp_path, arrays, message):
    np.savez(tmp_path / "d.npz", **arrays)
    with pytest.raises(InputError, match=message) as caught:
        read_samples(tmp_path / "d.npz", 2)
    assert str(caught.value).startswith("d.npz")


def test_the_largest_float32_is_accepted(tmp_path):
    largest = float(np.finfo(np.float32).max)
    np.save(tmp_path / "x.npy", [[largest, -largest]])
    assert read_samples(tmp_path / "x.npy", 2).X.tolist() == [[largest, -largest]]


@pytest.mark.parametrize("path", ["missing.npz", "file/missing.npz", "."])
def test_a_path_without_a_file_is_a_usage_error(tmp_path, path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError):
        read_samples(tmp_path / path, 2)


def test_samples_are_a_plain_pair():
    samples = Samples(np.zeros((2, 3), np.float32), None)
    assert len(samples) == 2

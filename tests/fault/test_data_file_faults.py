"""reliability 3, 6: data files that are bombs, pickles or damaged."""

from __future__ import annotations

import io
import pickle
import random
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kmcompile.errors import InputError
from kmcompile.readers.samples import arrays as data_arrays
from kmcompile.readers.samples import text as data_text
from kmcompile.readers.samples.file import read_samples


class _Canary:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.write_text, (self.path, "executed"))


def _objects(canary: Path) -> np.ndarray:
    array = np.empty((1, 2), dtype=object)
    array[:] = _Canary(canary)
    return array


def _npy(header: str, content: bytes = b"", version: bytes = b"\1\0") -> bytes:
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header.encode() + content


def _header(shape: str, descr: str = "<f8", order: str = "False") -> str:
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"


@pytest.mark.parametrize("field", ["X", "y"])
def test_object_arrays_are_refused_and_nothing_runs(tmp_path, field):
    """reliability 6: .npz with object arrays."""
    canary = tmp_path / "canary"
    objects = _objects(canary)
    arrays = {"X": np.zeros((1, 2)), field: objects if field == "X" else objects[0, :1]}
    np.savez(tmp_path / "d.npz", **arrays, allow_pickle=True)
    with pytest.raises(InputError, match=f"{field} holds Python objects"):
        read_samples(tmp_path / "d.npz", 2)
    assert not canary.exists()


def test_an_npy_of_objects_is_refused_and_nothing_runs(tmp_path):
    """reliability 6: the same in .npy."""
    canary = tmp_path / "canary"
    np.save(tmp_path / "x.npy", _objects(canary), allow_pickle=True)
    with pytest.raises(InputError, match="holds Python objects"):
        read_samples(tmp_path / "x.npy", 2)
    assert not canary.exists()


@pytest.mark.parametrize("name", ["x.pkl", "x.npy", "x.csv"])
def test_a_pickle_is_refused_whatever_its_name(tmp_path, name):
    """reliability 6: numpy.load would unpickle such a file."""
    canary = tmp_path / "canary"
    (tmp_path / name).write_bytes(pickle.dumps(_Canary(canary)))
    with pytest.raises(InputError, match="is a pickle"):
        read_samples(tmp_path / name, 2)
    assert not canary.exists()


def test_a_zip_bomb_is_refused_by_its_declared_size(tmp_path, monkeypatch):
    """reliability 3: checked before anything is decompressed."""
    monkeypatch.setattr(data_arrays, "MAX_ARRAY_BYTES", 1_000_000)
    np.savez_compressed(tmp_path / "d.npz", X=np.zeros((100_000, 2)))
    assert (tmp_path / "d.npz").stat().st_size < 10_000
    with pytest.raises(InputError, match="1600128 bytes, must be at most 1000000"):
        read_samples(tmp_path / "d.npz", 2)


def test_a_member_that_lies_about_its_size_is_refused(tmp_path):
    """reliability 3: the archive says few bytes, the stream holds many."""
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.zeros((100_000, 2)))
    content = stream.getvalue()
    place = content.rindex(b"PK\1\2")  # the central directory, which zipfile believes
    content = content[: place + 24] + struct.pack("<I", 200) + content[place + 28 :]
    (tmp_path / "d.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"d\.npz"):
        read_samples(tmp_path / "d.npz", 2)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (_header("(10**9, 2)"), "damaged"),
        (_header("(1000000000000, 2)"), "must be at most"),
        (_header("(-1, 2)"), "must not be negative"),
        (_header("(100, 2)"), "its header says 1600"),
        (_header("(1, 2)", descr="|V99999999999"), "damaged"),
        (_header("(1, 2)", descr="|V8"), "type"),
        (_header("(1, 2)", descr="|O"), "Python objects"),
        (_header("(1, 2)", descr="nonsense"), "damaged"),
        (_header("(1, 2)", order="__import__('os')"), "damaged"),
        ("(" * 5000, "damaged"),
        ("{" + "'a': 1, " * 2000, "damaged"),
        ("", "damaged"),
    ],
)
def test_an_npy_header_that_lies_is_refused(tmp_path, header, message):
    """reliability 3: npy bombs; nothing is allocated on a header's word."""
    (tmp_path / "x.npy").write_bytes(_npy(header, b"\0" * 8))
    with pytest.raises(InputError, match=message):
        read_samples(tmp_path / "x.npy", 2)


def test_more_bytes_than_the_header_says_are_refused(tmp_path):
    """reliability 3: what follows the array is not silently ignored."""
    (tmp_path / "x.npy").write_bytes(_npy(_header("(1, 2)"), b"\0" * 17))
    with pytest.raises(InputError, match="more bytes"):
        read_samples(tmp_path / "x.npy", 2)


def test_a_sparse_text_that_grows_beyond_memory_is_refused(tmp_path, monkeypatch):
    """reliability 3: two bytes a line, many features."""
    monkeypatch.setattr(data_text, "MAX_VALUES", 100_000)
    (tmp_path / "d.txt").write_text("1 1:1\n" + "1\n" * 200)
    with pytest.raises(InputError, match="more than 100000 values"):
        read_samples(tmp_path / "d.txt", 1000)


def test_a_compressed_or_binary_file_is_refused(tmp_path):
    for content in (b"\x1f\x8b\x08\0\0\0", b"\xff\xfe1\0,\0", b"\0\xff" * 50):
        (tmp_path / "d.csv").write_bytes(content)
        with pytest.raises(InputError, match=r"d\.csv"):
            read_samples(tmp_path / "d.csv", 2)


def _originals() -> list[bytes]:
    X, y = np.arange(12.0).reshape(6, 2) + 1, np.arange(6)
    stored, packed, single = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(stored, X=X, y=y)
    np.savez_compressed(packed, X=X, y=y)
    np.save(single, X)
    lzma = io.BytesIO()
    with zipfile.ZipFile(lzma, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", single.getvalue())
    csv = "a,b,label\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(X, y, strict=True))
    light = "".join(f"{c} 1:{a} 2:{b}\n" for (a, b), c in zip(X, y, strict=True))
    streams = [s.getvalue() for s in (stored, packed, single, lzma)]
    return [*streams, csv.encode(), light.encode()]


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(6))
def test_damaged_files_give_samples_or_an_input_error(tmp_path, number):
    """reliability 3, 6: 1,500 mutations of each format; nothing else is ever raised."""
    original = _originals()[number]
    source = random.Random(number)
    path = tmp_path / "d"
    for _ in range(1500):
        damaged = bytearray(original)
        for _ in range(source.choice([1, 1, 2, 8])):
            place = source.randrange(len(damaged))
            damaged[place] = source.choice([0, 0x7F, 0xFF, source.randrange(256)])
        if source.random() < 0.3:
            damaged = damaged[: source.randrange(len(damaged))]
        path.unlink(missing_ok=True)  # overwriting would wait for the disk
        path.write_bytes(damaged)
        try:
            samples = read_samples(path, 2)
        except InputError as error:
            assert 1 <= len(str(error).splitlines()) <= 3
        else:
            assert np.isfinite(samples.X).all() and samples.X.shape[1] == 2

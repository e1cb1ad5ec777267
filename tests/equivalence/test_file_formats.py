"""One machine through each file format gives the same C, but for the command in line 1."""

from __future__ import annotations

from pathlib import Path

import pytest

import kmcompile
from kit.covering import every_nth
from kmcompile.readers import load_model

FOLDER = Path(__file__).parents[1] / "fault" / "stored_models" / "formats"
NAMES = sorted(path.stem for path in FOLDER.glob("*.joblib"))


def _files(name, tmp_path):
    """Return the stored files of a model, and its machine in kmcompile's own layout."""
    own = tmp_path / f"{name}.npz"
    kmcompile.save_model(own, load_model(FOLDER / f"{name}.joblib"))
    return [*sorted(FOLDER.glob(f"{name}.*")), own]


def _code(path, tmp_path):
    """Return the lines of the C and its header, without the first of each."""
    out = tmp_path / path.suffix[1:]
    options = {"target": "host", "mode": "exact", "verify": "none", "name": "same", "out": out}
    kmcompile.compile_model(path, **options)
    return [(out / f"same.{end}").read_bytes().split(b"\n", 1)[1] for end in ("c", "h")]


@pytest.mark.few
@pytest.mark.parametrize("name", every_nth(NAMES, 4))
def test_one_machine_through_each_format_gives_the_same_c(name, tmp_path):
    """joblib, skops, ONNX, kmcompile's .npz, and LIBSVM where that can hold it."""
    files = _files(name, tmp_path)
    assert len(files) == 5 if name not in ("linear", "scaled") else 4
    assert len({load_model(path).sha256 for path in files}) == 1
    first, *others = (_code(path, tmp_path) for path in files)
    assert all(other == first for other in others)

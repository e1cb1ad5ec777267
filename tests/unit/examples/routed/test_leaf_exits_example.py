"""The example of exits in leaves, on small made-up samples."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import kmcompile
from kmcompile.training import FaLKSVC

_FOLDER = Path(kmcompile.__file__).resolve().parents[1] / "examples" / "routed"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(_FOLDER))
    spec = importlib.util.spec_from_file_location("leaf_exits", _FOLDER / "leaf_exits.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("falk", "falk_sets"):
        monkeypatch.delitem(sys.modules, name)
    return module


def test_a_row_tells_what_exits_decide_and_save(example):
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = X[:, 0] + 0.3 * np.sin(9 * X[:, 1]) > 0.5
    model = FaLKSVC(k=100, C=10.0, gamma=3.0, selection="nearest_centre", random_state=0)
    queries = np.float32(rng.random((300, 3)))
    row = example.row(model.fit(X, y), queries[:150], queries[150:], "host")
    before, after = map(int, row["ops"].split(" -> "))
    assert after < before
    assert 0.2 < float(row["decided"].rstrip("%")) / 100 < 1
    assert row["instructions"] == ""

"""The benchmark of other generators: ours and the plain loop are right; reasons are rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kmcompile
from kit.tools import need

_FOLDER = Path(kmcompile.__file__).resolve().parents[1] / "examples" / "benchmark" / "peers"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(_FOLDER))
    for path in _FOLDER.glob("*.py"):
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
    import bench

    return bench


@pytest.fixture
def model(bench: Any) -> Any:
    X, y = load_iris(return_X_y=True)
    return bench.Model.fitted("iris", SVC(gamma=0.5), (X[::2], y[::2] * 2, X[1::2]))


@pytest.mark.few
@pytest.mark.parametrize("peer", ["plain", "plain_fast", "kmcompile_exact", "kmcompile_auto"])
def test_labels_of_our_own_rows_are_those_of_predict(
    bench: Any, model: Any, peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("gcc")
    monkeypatch.setattr(bench, "callgrind", lambda program, X: None)
    row = bench.measure(tmp_path, model, peer, "host")
    assert (row["wrong"], row["asked"]) == (0, 75), row.get("reason")


@pytest.mark.parametrize("peer", ["sklearn2c", "embml_q", "cmsis_dsp", "libsvm"])
def test_a_peer_that_writes_nothing_is_a_row_that_says_why(
    bench: Any, model: Any, peer: str, tmp_path: Path
) -> None:
    row = bench.measure(tmp_path, model, peer, "host")
    assert row["vectors"] == len(model.svc.support_vectors_)
    assert row["reason"] and "instructions" not in row
    of_board = bench.not_generated([row], "iris", peer, "cortex-m7")
    assert of_board == row | {"target": "cortex-m7"}
    assert bench.not_generated([{**row, "generated": True}], "iris", peer, "cortex-m7") is None
    assert bench.not_generated([], "iris", peer, "cortex-m7") is None


def test_tables_have_every_row(bench: Any, tmp_path: Path) -> None:
    sizes = {"model": "bc", "vectors": 9, "features": 3, "classes": 2, "target": "cortex-m7"}
    counted = {"instructions": 1234.5, "flash": 900, "ram": 0, "stack": 80, "wrong": 1, "asked": 20}
    rows = [{**sizes, "peer": "a", **counted}, {**sizes, "peer": "b", "reason": "no C"}]
    text = bench.write_tables(tmp_path, rows)
    assert "| a | 1,234 | - | 900 | 0 | 80 | 1 of 20 |" in text
    assert "| b | - | - | - | - | - | no C |" in text
    assert len((tmp_path / "bench.csv").read_text().splitlines()) == 3
    assert (tmp_path / "bench.svg").is_file()


def test_numpy_and_ours_predict_as_scikit_learn(bench: Any, model: Any) -> None:
    need("gcc")
    import predict

    X = model.X.astype(np.float32)
    for name in ("numpy", "kmcompile exact"):
        assert (predict.PREDICTORS[name](model)(X) == model.svc.predict(X)).all()

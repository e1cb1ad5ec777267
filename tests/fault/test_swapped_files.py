"""reliability 43: the wrong table with the right code, or the other way, is found by `verify`."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

import kmcompile
from kit.covering import every_nth
from kit.tools import need
from kmcompile import cli


def model(gamma: float) -> SVC:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    return SVC(gamma=gamma).fit(X, (X[:, 0] > 0).astype(int))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """Return a folder with two output folders, `a` and `b`, of the same shape and names."""
    need("gcc")
    root = tmp_path_factory.mktemp("swapped")
    for name, gamma in (("a", 0.5), ("b", 0.6)):
        path = root / f"{name}.pkl"
        path.write_bytes(pickle.dumps(model(gamma)))
        words = [str(path), "--name", "m", "--mode", "exact", "--verify", "host", "--quiet"]
        assert cli.run([*words, "--out", str(root / name)]) == 0
    return root


@pytest.fixture
def folder(compiled, tmp_path) -> Path:
    """Return a copy of `a`, to be damaged."""
    return Path(shutil.copytree(compiled / "a", tmp_path / "a"))


def verify(folder: Path, capsys, *words: str) -> str:
    """Return what a failing verification says."""
    assert cli.run(["verify", str(folder), *words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= len(err.splitlines()) <= 3
    return err


def agree(folder: Path, *names: str) -> None:
    """Make the hashes in report.json and recipe.json those of the files, as a forger would."""
    for listing, key in (("recipe.json", "sha256"), ("report.json", "files")):
        path = folder / listing
        plain = json.loads(path.read_text())
        for name in (*names, "recipe.json"):
            if name in plain[key]:
                plain[key][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        path.write_text(json.dumps(plain, indent=2, sort_keys=listing == "recipe.json") + "\n")


def test_what_was_compiled_verifies(compiled, capsys):
    assert cli.run(["verify", str(compiled / "a")]) == 0
    assert cli.run(["verify", str(compiled / "a"), "--model", str(compiled / "a.pkl")]) == 0


@pytest.mark.parametrize(
    "name", every_nth(["program.npz", "m.c", "m.h", "m.ffx", "m_harness.c", "queries.npz"], 5)
)
def test_a_file_of_another_model_is_found_by_its_hash(name, compiled, folder, capsys):
    """reliability 43: swapped files."""
    other = (compiled / "b" / name).read_bytes()
    if other == (folder / name).read_bytes():
        other += b"\n"  # the harness and the header may not depend on the model's numbers
    (folder / name).write_bytes(other)
    assert f"{name}: SHA-256 differs" in verify(folder, capsys)


@pytest.mark.parametrize("name", ["program.npz", "m.c"])
def test_a_file_of_another_model_with_forged_hashes_is_found_by_its_answers(
    name, compiled, folder, capsys
):
    """reliability 43: the exact check compares the C with the tables, not only their hashes."""
    shutil.copy(compiled / "b" / name, folder / name)
    agree(folder, name)
    if name == "program.npz":
        report = json.loads((folder / "report.json").read_text())
        report["model"]["sha256"] = kmcompile.load(compiled / "b").program.model_sha256
        (folder / "report.json").write_text(json.dumps(report))
    assert "answers differ from the interpreter's" in verify(folder, capsys)


def test_a_program_of_another_model_is_found_by_the_model_s_hash(compiled, folder, capsys):
    """reliability 43: the report says which model it is of."""
    shutil.copy(compiled / "b" / "program.npz", folder / "program.npz")
    agree(folder, "program.npz")
    assert "not the one that program.npz was made from" in verify(folder, capsys)


def test_a_report_without_a_hash_is_found(folder, capsys):
    """reliability 43: nothing escapes by being left out of the report."""
    report = json.loads((folder / "report.json").read_text())
    del report["files"]["m.c"]
    (folder / "report.json").write_text(json.dumps(report))
    assert "lists no hash of m.c" in verify(folder, capsys)


def test_another_model_is_found_by_its_hash(compiled, folder, capsys):
    """reliability 43: everything in the folder agrees, but it is of another model."""
    message = verify(folder, capsys, "--model", str(compiled / "b.pkl"))
    assert "is not the model of this program" in message


def test_a_missing_file_is_named(folder, capsys):
    (folder / "m.h").unlink()
    assert "m.h: missing" in verify(folder, capsys)


def test_of_a_folder_that_is_not_ours_nothing_is_read(tmp_path, monkeypatch, capsys):
    """It can be as large as a disk."""
    (tmp_path / "large.bin").write_bytes(b"0")
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert cli.run(["verify", str(tmp_path)]) == 3
    assert "recipe.json: missing" in capsys.readouterr().err

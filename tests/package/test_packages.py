"""`--package`: what holds for every framework.

The frameworks are no packages that can be installed here. `stubs/` holds the parts of their
interfaces that the packages use.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import kmcompile
from kit.packages import fitted, packaged
from kmcompile import cli
from kmcompile.emit.packages.package import KINDS
from kmcompile.request.option_values import CHOICES


def test_the_option_has_a_value_for_each_framework() -> None:
    assert CHOICES["package"] == KINDS


@pytest.mark.few
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", ["regression", "codes"])
def test_a_regression_and_an_integer_format_are_packaged_too(
    model: str, kind: str, tmp_path: Path
) -> None:
    folder = packaged(kind, tmp_path / "o", model, name="m_2")
    files = [path for path in folder.rglob("*") if path.is_file()]
    text = "".join(path.read_text() for path in files)
    # Called with a workspace, or linked by this name.
    called = "m_2_predict(&" in text or '"m_2_predict"' in text
    assert called == (model == "regression")
    report = kmcompile.load(tmp_path / "o").report
    assert report["files"].keys() >= {path.relative_to(tmp_path / "o").as_posix() for path in files}


def test_the_c_is_the_same_with_a_package_and_without(tmp_path: Path) -> None:
    texts = set()
    for kind in KINDS:
        packaged(kind, tmp_path / kind)
        texts.add((tmp_path / kind / "iris.c").read_bytes())
    assert len(texts) == 1


@pytest.mark.exhaustive
def test_packages_of_several_frameworks_lie_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("iris.pkl").write_bytes(pickle.dumps(fitted("iris")))
    asked = ["iris.pkl", "--mode", "exact", "--verify", "none", "--quiet", "--out"]
    every = [word for kind in KINDS for word in ("--package", kind)]
    assert cli.run([*asked, "all", *every]) == 0
    assert cli.run(["verify", "all", "--quiet"]) == 0
    assert kmcompile.load("all").report["options"]["package"] == ",".join(KINDS)
    for kind in KINDS:
        assert cli.run([*asked, kind, "--package", kind]) == 0
        alone = {path: path.read_bytes() for path in Path(kind, kind).rglob("*") if path.is_file()}
        assert alone
        for path, content in alone.items():
            assert Path("all", *path.parts[1:]).read_bytes() == content


def test_python_takes_a_sequence_of_frameworks(tmp_path: Path) -> None:
    packaged("rust", tmp_path / "o", package=["rust", "cfs"])
    assert (tmp_path / "o/rust/iris/Cargo.toml").is_file()
    assert (tmp_path / "o/cfs/iris_app").is_dir()


def test_a_changed_file_of_the_package_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = packaged("cfs", tmp_path / "o")
    assert cli.run(["verify", str(tmp_path / "o"), "--quiet"]) == 0
    app = next(folder.rglob("iris_app.c"))
    app.write_text(app.read_text() + "/* changed */\n")
    assert cli.run(["verify", str(tmp_path / "o"), "--quiet"]) == 1
    assert "iris_app.c: SHA-256 differs" in capsys.readouterr().err


def test_a_package_is_replaced_by_the_next_but_nothing_of_anybody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("iris.pkl").write_bytes(pickle.dumps(fitted("iris")))
    asked = ["iris.pkl", "--mode", "exact", "--verify", "none", "--out", "o", "--quiet"]
    again = [*asked, "--package"]
    assert cli.run([*again, "zephyr"]) == 0
    assert cli.run([*again, "arduino"]) == 0
    assert not Path("o/zephyr").exists()
    Path("o/arduino/iris/notes.txt").write_text("mine")
    assert cli.run([*again, "arduino"]) == 6
    assert "arduino/iris/notes.txt" in capsys.readouterr().err
    assert Path("o/arduino/iris/notes.txt").read_text() == "mine"

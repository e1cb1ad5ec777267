"""`--package cfs`: the app runs on a stand-in for the software bus."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.packages import C, fitted, packaged
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "cfs"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the package of a model of four features."""
    return packaged("cfs", tmp_path_factory.mktemp("packages") / "o")


def test_long_names_keep_lines_short_and_fit_into_osal(tmp_path: Path) -> None:
    name = "a_name_of_20_letters"
    fsw = packaged("cfs", tmp_path / "o", name=name) / f"{name}_app" / "fsw"
    lines = [line for path in fsw.rglob("*.[ch]") for line in path.read_text().splitlines()[1:]]
    assert max(map(len, lines)) <= 100
    assert any(line.endswith(' "A_NAME_OF_20_L_PIPE"') for line in lines)


def test_the_app_runs_on_its_bus(package: Path, tmp_path: Path) -> None:
    need("gcc")
    answer = int(fitted("iris").predict([[5.0, 0.0, 0.0, 0.0]])[0])
    fsw = package / "iris_app" / "fsw"
    sources = [fsw / "src" / "iris_app.c", fsw / "src" / "iris.c", STUBS / "bus.c"]
    includes = [f"-I{fsw / 'inc'}", f"-I{STUBS}"]
    succeed([*C, *includes, *sources, "-o", tmp_path / "app"])
    lines = succeed([tmp_path / "app"]).splitlines()
    assert "subscribes to 0x18C0" in lines
    assert f"label {answer}, certified 1" in lines
    assert "event 3: iris: refused, status 2" in lines
    assert any(line.startswith("event 2: iris: 1 bytes, must be ") for line in lines)
    assert lines[-2:] == ["event 5: iris: pipe error, ends", "exit 2"]

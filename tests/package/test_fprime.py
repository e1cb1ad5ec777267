"""`--package fprime`: the component runs, and its model is one that F´'s own checker accepts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.packages import CXX, C, fitted, packaged
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "fprime"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the package of a model of four features."""
    return packaged("fprime", tmp_path_factory.mktemp("packages") / "o")


def test_the_component_runs(package: Path, tmp_path: Path) -> None:
    need("gcc", "g++")
    answer = int(fitted("iris").predict([[5.0, 0.0, 0.0, 0.0]])[0])
    component = package / "Iris"
    succeed([*C, "-c", component / "iris.c", "-o", tmp_path / "iris.o"])
    sources = [component / "Iris.cpp", STUBS / "deployment.cpp", tmp_path / "iris.o"]
    includes = [f"-I{component}", f"-I{STUBS}"]
    succeed([*CXX, *includes, *sources, "-o", tmp_path / "deployment"])
    assert succeed([tmp_path / "deployment"]).splitlines() == [
        f"status 0, label {answer}, certified 1",
        "status 1",
        "status 0",
    ]


def test_fpp_accepts_the_model(package: Path) -> None:
    checker = Path(sys.executable).with_name("fpp-check")
    if not checker.exists():
        pytest.skip("fpp-check has no wheel for this system")
    fpp = package / "Iris" / "Iris.fpp"
    succeed([checker, fpp, STUBS / "Svc" / "Svc.fpp"])

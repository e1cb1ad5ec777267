"""The wheel and the sdist hold all that kmcompile needs, and work outside the checkout."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from kit.tools import HANGS_S

pytest.importorskip("hatchling", reason="the test extra brings it")

CHECKOUT = Path(__file__).resolve().parents[2]
# As a user has it: nothing points to the checkout.
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def run(*arguments: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        arguments,
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(kind: str, source: Path, folder: Path) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder, cwd=source)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", CHECKOUT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs' folder of an environment that has the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    # The dependencies come from this environment. A path file's folder is searched last, and
    # path files inside it are not read, so that an editable install here does not count.
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(python, "-c", ask, cwd=folder).strip())
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run(*pip, "--no-deps", "--no-index", wheel, cwd=folder)
    return folder / "bin"


def test_wheel_holds_every_template_and_target(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("templates", "targets"):
        files = [path for path in (CHECKOUT / folder).rglob("*") if path.is_file()]
        assert files
        for path in files:
            assert f"kmcompile/_resources/{path.relative_to(CHECKOUT).as_posix()}" in inside


def test_wheel_holds_every_page_of_the_manual(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".md")}
    pages = {path.name for path in (CHECKOUT / "kmcompile" / "manual").glob("*.md")}
    assert pages and inside >= {f"kmcompile/manual/{name}" for name in pages}


@pytest.mark.exhaustive
def test_wheel_from_the_sdist_is_the_same(wheel: Path, tmp_path: Path) -> None:
    sdist = build("sdist", CHECKOUT, tmp_path / "sdist")
    shutil.unpack_archive(sdist, tmp_path / "source")
    (source,) = (tmp_path / "source").iterdir()
    again = build("wheel", source, tmp_path / "wheel")
    assert again.name == wheel.name
    assert set(zipfile.ZipFile(again).namelist()) == set(zipfile.ZipFile(wheel).namelist())


def test_installed_wheel_is_used_and_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    where = run(
        installed / "python", "-c", "import kmcompile; print(kmcompile.__file__)", cwd=tmp_path
    )
    assert Path(where.strip()).is_relative_to(installed.parent)


def test_installed_wheel_knows_the_targets(installed: Path, tmp_path: Path) -> None:
    assert "cortex-m7" in run(installed / "kmcompile", "targets", cwd=tmp_path)


def test_installed_wheel_shows_the_manual(installed: Path, tmp_path: Path) -> None:
    assert "exit_codes" in run(installed / "kmcompile", "manual", cwd=tmp_path)
    page = (CHECKOUT / "kmcompile" / "manual" / "boards.md").read_text(encoding="utf-8")
    assert run(installed / "kmcompile", "manual", "boards", cwd=tmp_path) == page


@pytest.mark.exhaustive
def test_installed_wheel_compiles_and_packages_a_model(installed: Path, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    (tmp_path / "iris.pkl").write_bytes(pickle.dumps(SVC().fit(X, y)))
    run(installed / "kmcompile", "iris.pkl", "--package", "zephyr", cwd=tmp_path)
    assert (tmp_path / "iris-host" / "iris.c").is_file()
    assert (tmp_path / "iris-host" / "zephyr" / "iris" / "Kconfig").is_file()

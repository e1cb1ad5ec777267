"""The wheel is the same bytes wherever it is built, and installs where there is no network."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

pytest.importorskip("hatchling", reason="the test extra brings it")

from evidence.supply import build_twice
from kit.tools import HANGS_S, succeed
from kmcompile.evidence.bills import check
from kmcompile.evidence.finding import Outcome
from kmcompile.version import VERSION

CHECKOUT = Path(__file__).resolve().parents[3]
SCRIPTS = Path(build_twice.__file__).parent


def sdist(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, timeout=HANGS_S)
    (made,) = folder.iterdir()
    return made


@pytest.mark.exhaustive
def test_two_builds_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = build_twice.digests(sdist(tmp_path))
    assert first == second


@pytest.mark.exhaustive
def test_another_source_gives_another_wheel(tmp_path: Path) -> None:
    made = sdist(tmp_path / "one")
    shutil.unpack_archive(made, tmp_path, filter="data")
    (source,) = tmp_path.glob("kmcompile-*")
    readme = source / "README.md"
    readme.write_text(f"{readme.read_text(encoding='utf-8')}\n", encoding="utf-8")
    other = shutil.make_archive(str(tmp_path / "other"), "gztar", tmp_path, source.name)
    assert build_twice.digests(made)[0] != build_twice.digests(Path(other))[0]


@pytest.mark.exhaustive
def test_folder_of_make_offline_installs_without_a_network(tmp_path: Path) -> None:
    house = tmp_path / "house"
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(CHECKOUT / ".ci/offline"), str(house)],
        env=environment | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    if done.returncode != 0 and os.environ.get("CI") != "true":
        pytest.skip(f"no index of packages is reached: {done.stderr.strip().splitlines()[-1:]}")
    assert done.returncode == 0, done.stderr
    spdx, cyclonedx = (
        (house / f"kmcompile-{VERSION}.{kind}.json").read_bytes() for kind in ("spdx", "cdx")
    )
    n_wheels = len(list(house.glob("*.whl")))
    assert check.faults_of_digests(spdx, cyclonedx, house) == (n_wheels, [])
    (tmp_path / "iris.pkl").write_bytes(pickle.dumps(SVC().fit(*load_iris(return_X_y=True))))
    script = SCRIPTS / "install_offline.sh"
    said = succeed(["env", f"PYTHON={sys.executable}", "sh", script, house, tmp_path / "iris.pkl"])
    assert said.splitlines()[-1] == "/* kmcompile model.pkl --target host --mode exact */"


@pytest.mark.exhaustive
def test_part_about_kmcompile_finds_no_fault(tmp_path: Path) -> None:
    pytest.importorskip("spdx_tools", reason="the test extra brings it")
    from evidence.supply_chain import run_supply_chain

    findings = {one.claim: one for one in run_supply_chain(tmp_path, 0.1)}
    assert findings["reproducible-wheel"].outcome is Outcome.SHOWN
    assert findings["lock-fits"].outcome is Outcome.SHOWN
    # The environment has the newest versions, which may be newer than the locked ones.
    assert findings["tested-is-locked"].outcome in (Outcome.SHOWN, Outcome.OPEN)
    for finding in findings.values():
        for name in finding.files:
            assert (tmp_path / name.removeprefix("supply_chain/")).is_file()

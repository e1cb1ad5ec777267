"""What goes wrong in `kmcompile MODEL`, through the real command line and the real pipeline."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import kmcompile
from kit.tools import HANGS_S, need
from kmcompile import cli

KMCOMPILE = [sys.executable, "-m", "kmcompile"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(kmcompile.__file__).parents[1])}

X, Y = load_iris(return_X_y=True)
MODEL = SVC().fit(X, Y)
EXACT = ("--mode", "exact")
"""No early exits are searched for, where the test is of a step behind that."""


class Payload:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch canary",)


def with_nan_coefficient() -> SVC:
    model = copy.deepcopy(MODEL)
    model.dual_coef_ = model._dual_coef_ = model.dual_coef_.copy()
    model.dual_coef_[0, 0] = np.nan
    return model


# The contents of m.pkl, and what the message must say.
REFUSED_MODELS: dict[str, tuple[Callable[[], bytes], str]] = {
    "malicious": (lambda: pickle.dumps(Payload()), "posix.system, which is forbidden"),
    "truncated": (lambda: pickle.dumps(MODEL)[:700], "not a whole pickle"),
    "empty": (lambda: b"", "the file is empty"),
    "NaN coefficient": (
        lambda: pickle.dumps(with_nan_coefficient()),
        "dual_coef_[0, 0] is nan, must be finite",
    ),
    "unfitted": (lambda: pickle.dumps(SVC()), "SVC is not fitted"),
    "precomputed kernel": (
        lambda: pickle.dumps(SVC(kernel="precomputed").fit(X @ X.T, Y)),
        "kernel is 'precomputed', must be linear, poly, rbf or sigmoid",
    ),
    "other estimator": (
        lambda: pickle.dumps(DecisionTreeClassifier().fit(X, Y)),
        "DecisionTreeClassifier is not supported",
    ),
}


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to a folder with a good model, and return the folder."""
    monkeypatch.chdir(tmp_path)
    Path("m.pkl").write_bytes(pickle.dumps(MODEL))
    return tmp_path


def fail(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Run a command that must fail; return its exit code and message, which is checked."""
    before = sorted(os.listdir())
    code = cli.run(words)
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= len(err.splitlines()) <= 3
    assert err.startswith("kmcompile: ")
    assert sorted(os.listdir()) == before
    return code, err


@pytest.mark.parametrize("kind", REFUSED_MODELS)
def test_model_that_cannot_be_used_exits_3_and_is_told(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """reliability 1, 9, 12, 14."""
    content, text = REFUSED_MODELS[kind]
    Path("m.pkl").write_bytes(content())
    code, message = fail(capsys, "m.pkl", "--target", "cortex-m7")
    assert code == 3
    assert message.startswith("kmcompile: m.pkl: ")
    assert text in message


def test_typo_in_the_target_suggests_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    code, message = fail(capsys, "m.pkl", "--target", "cortx-m7")
    assert code == 2
    assert "did you mean cortex-m7?" in message


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        (X[:, :2], "X has shape (150, 2), must be (n_samples, 4)"),
        (np.full((3, 4), np.nan), "X[0, 0] is nan, must be finite"),
        (np.zeros((0, 4)), "no samples"),
    ],
    ids=["shape", "NaN", "empty"],
)
def test_samples_that_cannot_be_used_exit_3(
    samples: np.ndarray, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez("test.npz", X=samples)
    code, message = fail(capsys, "m.pkl", "--test-data", "test.npz")
    assert code == 3
    assert text in message


def test_model_larger_than_the_budget_exits_4_with_the_tables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """reliability 25."""
    code, message = fail(capsys, "m.pkl", "--target", "cortex-m7", "--max-flash", "1000")
    assert code == 4
    assert "cortex-m7 may use 1,000" in message
    assert "vectors" in message


def test_name_that_is_no_c_prefix_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    """reliability 20."""
    code, message = fail(capsys, "m.pkl", "--name", "int")
    assert code == 2
    assert "--name 'int'" in message


def test_without_a_compiler_the_command_that_installs_it_is_told(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """reliability 27."""
    monkeypatch.setenv("PATH", str(model))
    code, message = fail(capsys, "m.pkl", *EXACT)
    assert code == 5
    assert "gcc is not installed" in message
    assert "apt-get install" in message


def test_asking_for_the_target_without_its_tools_exits_5(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """reliability 27."""
    monkeypatch.setenv("PATH", str(model))
    code, message = fail(capsys, "m.pkl", "--target", "cortex-m7", "--verify", "target", *EXACT)
    assert code == 5
    assert "gcc-arm-none-eabi" in message


def test_without_the_emulator_the_host_is_verified_and_the_rest_is_null_with_a_reason(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """reliability 27: not run is never passed."""
    need("gcc")
    only_host = model / "bin"
    only_host.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for tool in Path(directory).glob("*") if Path(directory).is_dir() else ():
            if "arm" not in tool.name and not (only_host / tool.name).is_symlink():
                (only_host / tool.name).symlink_to(tool)
    monkeypatch.setenv("PATH", str(only_host))
    assert cli.run(["m.pkl", "--target", "cortex-m7", "--json", *EXACT]) == 0
    out, err = capsys.readouterr()
    assert "warning: not verified on cortex-m7" in err
    report = json.loads(out)
    assert report["verification"]["exact"]["host"]["mismatches"] == 0
    assert report["verification"]["exact"]["target"] is None
    assert report["target"]["instructions"] is None
    for field in ("verification.exact.target", "target.instructions", "memory.stack_bytes"):
        assert "qemu-system-arm" in report["not_available"][field]


@pytest.mark.parametrize("out", ["m.pkl", "m.pkl/o", "foreign", "/proc/no/o"])
def test_output_that_cannot_be_written_exits_6(
    out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """reliability 21: a file, below a file, somebody else's folder, a file system of none."""
    Path("foreign").mkdir()
    Path("foreign/letter.txt").write_text("mine")
    code, _ = fail(capsys, "m.pkl", "--out", out, "--verify", "none")
    assert code == 6
    assert Path("foreign/letter.txt").read_text() == "mine"


def test_full_disk_exits_6_and_leaves_nothing(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """reliability 22."""
    disk = model / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, timeout=HANGS_S).returncode:
        pytest.skip("mounting a tmpfs needs root")
    try:
        code, message = fail(capsys, "m.pkl", "--out", "disk/o", "--verify", "none", *EXACT)
        assert code == 6
        assert "No space left on device" in message
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True, timeout=HANGS_S)


@pytest.mark.exhaustive
def test_existing_folder_is_replaced_as_a_whole() -> None:
    assert cli.run(["m.pkl", "--out", "o", "--name", "one", "--verify", "none", "--quiet"]) == 0
    assert cli.run(["m.pkl", "--out", "o", "--name", "two", "--verify", "none", "--quiet"]) == 0
    assert Path("o/two.c").is_file()
    assert not Path("o/one.c").exists()


def start(*words: str) -> subprocess.Popen[str]:
    """Start the command; ctrl-C reaches it also where the tests run in the background."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from kmcompile import cli; sys.exit(cli.run(sys.argv[1:]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env={**ENVIRONMENT, "TMPDIR": os.getcwd()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop_the_compiler(model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a gcc into PATH that never ends; return the file that it makes when it is run."""
    started = model / "bin" / "started"
    started.parent.mkdir()
    gcc = started.parent / "gcc"
    gcc.write_text(
        f'#!/bin/sh\ncase "$1" in --version) echo gcc 1;; esac\n: > {started}\nsleep 3600\n'
    )
    gcc.chmod(0o755)
    monkeypatch.setitem(ENVIRONMENT, "PATH", f"{gcc.parent}{os.pathsep}{os.environ['PATH']}")
    return started


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def test_ctrl_c_during_the_build_exits_130_and_leaves_nothing(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """reliability 22."""
    started = stop_the_compiler(model, monkeypatch)
    with start("m.pkl", "--out", "o", *EXACT) as process:
        wait_for(started)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANGS_S)
    assert (process.returncode, out, err) == (130, "", "kmcompile: interrupted\n")
    assert sorted(os.listdir()) == ["bin", "m.pkl"]


@pytest.mark.exhaustive
def test_of_two_runs_on_one_folder_the_second_exits_6(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """reliability 23."""
    started = stop_the_compiler(model, monkeypatch)
    with start("m.pkl", "--out", "o", *EXACT) as first:
        wait_for(started)
        code, message = fail(capsys, "m.pkl", "--out", "o", "--verify", "none")
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=HANGS_S)
    assert code == 6
    assert "is being written by another run" in message
    assert cli.run(["m.pkl", "--out", "o", "--verify", "none", "--quiet"]) == 0


@pytest.mark.exhaustive
def test_reader_that_goes_away_does_not_look_like_a_failed_check() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [*KMCOMPILE, "m.pkl", "--verify", "none"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        timeout=HANGS_S,
        check=False,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (6, b"")
    assert Path("m-host/m.c").is_file()


@pytest.mark.exhaustive
def test_verify_refuses_a_file_that_was_changed(capsys: pytest.CaptureFixture[str]) -> None:
    """reliability 43."""
    assert cli.run(["m.pkl", "--out", "o", "--verify", "none", "--quiet"]) == 0
    with Path("o/m.c").open("a") as file:
        file.write("\n")
    code, message = fail(capsys, "verify", "o")
    assert code == 1
    assert "m.c: SHA-256 differs" in message


def test_verify_refuses_another_model(capsys: pytest.CaptureFixture[str]) -> None:
    """reliability 43."""
    assert cli.run(["m.pkl", "--out", "o", "--verify", "none", "--quiet", *EXACT]) == 0
    Path("other.pkl").write_bytes(pickle.dumps(SVC(gamma=2.0).fit(X, Y)))
    code, message = fail(capsys, "verify", "o", "--model", "other.pkl")
    assert code == 1
    assert "is not the model of this program" in message


def test_verify_of_a_folder_of_somebody_else_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    Path("foreign").mkdir()
    code, message = fail(capsys, "verify", "foreign")
    assert code == 3
    assert "recipe.json: missing" in message

"""Every way to misuse the command line ends in its exit code and one clear message."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import kmcompile
from kit.tools import HANGS_S
from kmcompile import cli, errors

KMCOMPILE = [sys.executable, "-m", "kmcompile"]
# A checkout that is not installed is found from any folder.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(kmcompile.__file__).parents[1])}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("m.pkl").write_bytes(b"")
    Path("d.npz").write_bytes(b"")
    return "m.pkl"


def replace_pipeline(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> None:
    fake = types.ModuleType("kmcompile.pipeline")
    vars(fake).update(functions)
    monkeypatch.setitem(sys.modules, "kmcompile.pipeline", fake)
    monkeypatch.setattr(kmcompile, "pipeline", fake, raising=False)


def failing_with(error: BaseException) -> Any:
    def compile_model(*_arguments: Any) -> None:
        raise error

    return compile_model


def error_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the error's lines, after checking what holds for every error."""
    out, err = capsys.readouterr()
    lines: list[str] = err.splitlines()
    assert out == ""
    assert 1 <= len(lines) <= 3
    assert lines[0].startswith("kmcompile: ")
    assert "Traceback" not in err
    return lines


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--reduce auto", "--reduce auto counts disagreements on samples"),
        ("--reduce auto --data {model} --risk auto", "does not go with --risk auto"),
        ("--reduce auto --data {model} --thresholds simple", "--thresholds simple"),
        ("--reduce 5 --replay float64", "brings a reduced machine no nearer"),
        ("--reduce 0", "--reduce 0: must be a whole number of at least 1"),
        ("--max-instructions 0", "--max-instructions 0: must be a whole number"),
        ("--step 0", "--step 0: must be a whole number of at least 1"),
    ],
)
def test_reductions_that_cannot_be_asked_for_exit_2(
    words: str, problem: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, *words.format(model=model).split()]) == 2
    assert problem in error_lines(capsys)[0]


def test_a_package_for_an_unknown_framework_is_refused(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, "--package", "pip"]) == 2
    assert "zephyr" in error_lines(capsys)[0]


def test_an_option_that_is_given_twice_is_refused(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["--name", "a", "--name", "b"], ["--exclude", "a", "--exclude=b"]):
        assert cli.run([model, *words]) == 2
        assert f"{words[0]} is given twice, must be given once" in error_lines(capsys)[0]
    assert cli.run([model, "--package", "rust", "--package", "rust"]) == 2
    assert "--package: rust is given twice" in error_lines(capsys)[0]


def test_statistical_without_data_names_the_option_that_is_missing(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, "--mode", "statistical"]) == 2
    lines = error_lines(capsys)
    assert "--mode statistical needs calibration samples" in lines[0]
    assert "--data FILE" in lines[1]
    assert "not built" not in " ".join(lines)


PROMISES = ["--risk 0.01", "--risk 0.001", "--risk auto", "--risk-control expected"]
PROMISES += ["--risk-control guaranteed", "--thresholds simple", "--thresholds risk"]


@pytest.mark.parametrize("words", PROMISES)
def test_promise_without_samples_exits_2_and_asks_for_them(
    words: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, *words.split()]) == 2
    lines = error_lines(capsys)
    assert f"needed for {words}" in lines[0]
    assert "--data FILE" in lines[1]


@pytest.mark.parametrize(
    "given", ["--mode exact", "--data d.npz --mode exact", "--data d.npz --mode certified"]
)
@pytest.mark.parametrize("words", PROMISES)
def test_promise_in_a_mode_that_makes_none_exits_2(
    words: str, given: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, *given.split(), *words.split()]) == 2
    lines = error_lines(capsys)
    assert f"--mode {given.split()[-1]} has no use for {words}" in lines[0]
    assert "--mode statistical" in lines[1]


@pytest.mark.parametrize("thresholds", ["simple", "maxsmoothed"])
@pytest.mark.parametrize("words", ["--risk 0.001", "--risk auto", "--risk-control guaranteed"])
def test_thresholds_of_the_paper_go_with_no_promise(
    words: str, thresholds: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [model, "--data", "d.npz", "--thresholds", thresholds, *words.split()]
    assert cli.run(given) == 2
    first = error_lines(capsys)[0]
    assert f"--thresholds {thresholds} promises nothing" in first
    assert words in first


def test_all_promises_that_lack_samples_are_told_in_one_message(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, *["--risk", "0.01", "--risk-control", "expected"]]) == 2
    assert "--risk 0.01, --risk-control expected" in error_lines(capsys)[0]


@pytest.mark.parametrize(
    "words",
    [
        "m.pkl --mode fast",
        "m.pkl --risk 1.5",
        "m.pkl --risk nan",
        "m.pkl --data d.npz --risk 0",
        "m.pkl --data d.npz --risk -0.1",
        "m.pkl --data d.npz --risk-control hoped",
        "m.pkl --data d.npz --thresholds none",
        "m.pkl --risk maybe",
        "m.pkl --tolerance -1",
        "m.pkl --threshold high",
        "m.pkl --threshold nan",
        "m.pkl --threshold inf",
        "m.pkl --reduce 0",
        "m.pkl --reduce some",
        "m.pkl --max-flash 0",
        "m.pkl --max-ram -5",
        "m.pkl --max-flash 1GB",
        "m.pkl --max-flash 1.5MB",
        "m.pkl --max-ram 0KiB",
        "m.pkl --verify emulator",
        "m.pkl --no-such-option",
        "m.pkl second.pkl",
        "m.pkl --test-data missing.npz",
        "missing.pkl",
        ".",
        "",
        "verify missing",
        "verify m.pkl",
        "inspect",
        "show",
        "show missing.pkl",
        "show . --mode exact",
        "show m.pkl --out folder",
        "targets extra",
    ],
)
def test_wrong_usage_exits_2_and_points_to_the_remedy(
    words: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words.split()) == 2
    error_lines(capsys)


def test_missing_model_file_is_named(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["missing.pkl"]) == 2
    assert "missing.pkl" in error_lines(capsys)[0]


@pytest.mark.parametrize(
    "kind",
    [
        errors.VerificationError,
        errors.UsageError,
        errors.InputError,
        errors.BudgetError,
        errors.ToolError,
        errors.OutputError,
    ],
)
def test_expected_error_gives_its_exit_code(
    kind: type[errors.KmcompileError],
    model: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    replace_pipeline(monkeypatch, compile_model=failing_with(kind("gamma is 0\nretrain it")))
    assert cli.run([model]) == kind.exit_code
    assert error_lines(capsys) == ["kmcompile: gamma is 0", "  retrain it"]


def test_error_text_cannot_control_the_terminal_or_flood_it(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "\x1b]0;title\x07 \u202eright to left " + "x" * 10_000 + "\nb\nc\nd\ne"
    replace_pipeline(monkeypatch, compile_model=failing_with(errors.InputError(text)))
    assert cli.run([model]) == 3
    lines = error_lines(capsys)
    assert all(line.isprintable() and len(line) < 600 for line in lines)


def test_defect_exits_70_and_asks_for_a_report(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KMCOMPILE_DEBUG", raising=False)
    replace_pipeline(monkeypatch, compile_model=failing_with(TypeError("unexpected\nthing")))
    assert cli.run([model]) == 70
    lines = error_lines(capsys)
    assert "defect in kmcompile itself: TypeError: unexpected thing" in lines[0]
    assert "report" in lines[1]


def test_defect_shows_its_traceback_under_kmcompile_debug(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KMCOMPILE_DEBUG", "1")
    replace_pipeline(monkeypatch, compile_model=failing_with(TypeError("unexpected")))
    assert cli.run([model]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_missing_memory_is_no_defect(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_pipeline(monkeypatch, compile_model=failing_with(MemoryError()))
    assert cli.run([model]) == 3
    error_lines(capsys)


def test_a_full_folder_of_temporary_files_is_no_defect(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/tmp/kmcompile-1/iris.c")
    replace_pipeline(monkeypatch, compile_model=failing_with(full))
    assert cli.run([model]) == 6
    assert "no space is left for temporary files" in capsys.readouterr().err


def test_library_that_raises_a_broken_pipe_is_a_defect(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = BrokenPipeError(errno.EPIPE, "Broken pipe")
    replace_pipeline(monkeypatch, compile_model=failing_with(error))
    assert cli.run([model]) == 70
    error_lines(capsys)


def test_interrupt_exits_130(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_pipeline(monkeypatch, compile_model=failing_with(KeyboardInterrupt()))
    assert cli.run([model]) == 130
    assert error_lines(capsys) == ["kmcompile: interrupted"]


def test_ctrl_c_ends_a_running_compilation_with_130(model: str) -> None:
    code = """
import signal, sys, time, types, kmcompile
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from kmcompile import cli
def compile_model(*arguments):
    print("started", flush=True)
    time.sleep(3600)
kmcompile.pipeline = types.ModuleType("kmcompile.pipeline")
kmcompile.pipeline.compile_model = compile_model
sys.modules["kmcompile.pipeline"] = kmcompile.pipeline
sys.exit(cli.run(["m.pkl"]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANGS_S)
    assert process.returncode == 130
    assert err == "kmcompile: interrupted\n"


@pytest.mark.parametrize("words", [["targets"], ["--help"]])
def test_reader_that_goes_away_is_no_noise(words: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [*KMCOMPILE, *words],
        stdout=write_end,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        timeout=HANGS_S,
        check=False,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (6, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_full_standard_output_exits_6() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*KMCOMPILE, "targets"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            timeout=HANGS_S,
            check=False,
        )
    assert done.returncode == 6
    assert b"standard output cannot be written: No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_file_name_that_is_no_text_is_still_told() -> None:
    done = subprocess.run(
        [*(word.encode() for word in KMCOMPILE), b"\xff\xfe.pkl"],
        capture_output=True,
        env=ENVIRONMENT,
        timeout=HANGS_S,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.isascii() or done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_typo_in_a_target_suggests_the_nearest_name() -> None:
    from kmcompile.target import load_target

    with pytest.raises(errors.UsageError, match="did you mean cortex-m7"):
        load_target("cortex-7")


@pytest.fixture
def digits_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write small digits against large ones: a model, its training samples and others."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    monkeypatch.chdir(tmp_path)
    joblib.dump(SVC(gamma=0.5, C=10).fit(X[:500], y[:500] > 4), "m.pkl")
    np.save("trained.npy", X[:500])
    np.save("fresh.npy", X[500:1500])


def test_samples_of_mode_certified_that_are_too_few_exit_3(
    digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("few.npy", np.load("fresh.npy")[:20])
    assert cli.run([*COMPILE.split(), "--data", "few.npy", "--mode", "certified"]) == 3
    lines = error_lines(capsys)
    assert "--data has 20 usable samples, must have at least" in lines[0]
    assert "for mode certified" in lines[0]
    assert "leave out --data" in lines[1]
    assert not Path("o").exists()


@pytest.mark.parametrize("mode", ["certified", "exact"])
def test_samples_of_another_shape_exit_3_in_every_mode(
    mode: str, digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("narrow.npy", np.load("fresh.npy")[:, :5])
    assert cli.run([*COMPILE.split(), "--data", "narrow.npy", "--mode", mode]) == 3
    assert "must be (n_samples, 64)" in error_lines(capsys)[0]


COMPILE = "m.pkl --trust-pickle --verify none --out o"


def test_risk_beyond_the_samples_exits_3_and_names_the_one_to_ask_for(
    digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*COMPILE.split(), "--data", "fresh.npy", "--risk", "0.0001"]) == 3
    lines = capsys.readouterr().err.splitlines()
    message = "\n".join(lines)
    assert "of the 1,000 in --data support a risk of" in message
    assert "ask for --risk" in message
    assert not Path("o").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("words", "guarantee", "thresholds"),
    [
        ("--data fresh.npy --risk auto", "guaranteed", "risk"),
        ("--data trained.npy", "none", "risk"),
        ("--data fresh.npy --thresholds simple", "none", "simple"),
    ],
)
def test_report_tells_what_is_promised(
    words: str, guarantee: str, thresholds: str, digits_files: None
) -> None:
    assert cli.run([*COMPILE.split(), *words.split()]) == 0
    report = json.loads(Path("o/report.json").read_text())
    assert report["risk"]["guarantee"] == guarantee
    assert report["calibration"]["thresholds"] == thresholds
    assert (report["risk"]["upper_bound"] is None) == (guarantee == "none")


def test_a_replay_that_is_asked_for_and_does_not_fit_exits_4(
    digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """By default it is left out instead, and a note says so."""
    common = ["m.pkl", "--trust-pickle", "--verify", "none"]
    assert cli.run([*common, "--mode", "exact", "--out", "exact"]) == 0
    needed = json.loads(Path("exact/report.json").read_text())["memory"]["flash_bytes"]
    tight = [*common, "--max-flash", str(needed + 200)]
    assert cli.run([*tight, "--out", "default"]) == 0
    assert "there is no replay" in Path("default/report.json").read_text()
    capsys.readouterr()
    assert cli.run([*tight, "--out", "o", "--replay", "float64"]) == 4
    assert "bytes of flash" in error_lines(capsys)[0]
    assert not Path("o").exists()

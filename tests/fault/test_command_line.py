"""Every way to misuse the command line ends in its exit code and one clear message."""

from __future__ import annotations

import errno
import sys
import types
from typing import Any

import pytest
from failing_commands import error_lines

import kmcompile
from kmcompile import cli, errors


def replace_pipeline(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> None:
    fake = types.ModuleType("kmcompile.pipeline")
    vars(fake).update(functions)
    monkeypatch.setitem(sys.modules, "kmcompile.pipeline", fake)
    monkeypatch.setattr(kmcompile, "pipeline", fake, raising=False)


def failing_with(error: BaseException) -> Any:
    def compile_model(*_arguments: Any) -> None:
        raise error

    return compile_model


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


def test_typo_in_a_target_suggests_the_nearest_name() -> None:
    from kmcompile.target import load_target

    with pytest.raises(errors.UsageError, match="did you mean cortex-m7"):
        load_target("cortex-7")

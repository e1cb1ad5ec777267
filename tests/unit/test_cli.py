"""The command line passes on what it was given and prints what it got."""

from __future__ import annotations

import json
import subprocess
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import kmcompile
from kit.tools import HANGS_S
from kmcompile import cli, commands
from kmcompile.grouped_help import GROUPS
from kmcompile.readers import Reading
from kmcompile.request.option_values import without_defaults
from kmcompile.request.options import Options

REPORT = {"tool": "kmcompile", "memory": {"flash_bytes": 10, "stack_bytes": 20}, "target": {}}
VERIFIED = {
    "files": 7,
    "verification": {
        "queries_source": "generated",
        "exact": {"host": {"queries": 1000, "mismatches": 0}, "target": None},
        "bounded": None,
        "certified": None,
        "probabilities": None,
        "input_tolerance": None,
    },
    "accuracy": None,
    "target": {"name": "host", "emulator": None},
    "not_available": {
        "verification.exact.target": "the target is the host",
        "verification.bounded": "give --model to check against it",
        "verification.certified": "give --model to check against it",
        "verification.probabilities": "give --model to check against it",
        "verification.input_tolerance": "there is no input tolerance",
    },
}


class FakePipeline(types.ModuleType):
    """Remembers how it was called, without what merely repeats a default, as the real one."""

    def __init__(self) -> None:
        super().__init__("kmcompile.pipeline")
        self.calls: list[tuple[Any, ...]] = []
        self.warning = ""

    def compile_model(
        self, model: Path, options: Options, progress: Callable[[str], None]
    ) -> types.SimpleNamespace:
        self.calls.append((model, without_defaults(options)))
        progress("building")
        if self.warning:
            warnings.warn_explicit(
                self.warning, UserWarning, "pipeline.py", 1, module="kmcompile.pipeline"
            )
        return types.SimpleNamespace(report=REPORT, folder=Path("m-host"))

    def verify_folder(self, *arguments: Any) -> dict[str, Any]:
        self.calls.append(arguments)
        return VERIFIED

    def program_of(self, path: Path, options: Options, progress: Callable[[str], None]) -> str:
        self.calls.append((path, options))
        return "program.name = 'm'"

    def inspect_model(self, *arguments: Any) -> dict[str, Any]:
        self.calls.append(arguments)
        return {"kind": "one-vs-one", "classes": ["a", "b\x1b[2J"], "notes": []}


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> FakePipeline:
    fake = FakePipeline()
    monkeypatch.setitem(sys.modules, "kmcompile.pipeline", fake)
    monkeypatch.setitem(sys.modules, "kmcompile.unbuilt", fake)
    monkeypatch.setattr(kmcompile, "pipeline", fake, raising=False)
    return fake


@pytest.fixture
def printed_reports(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    printed: list[dict[str, Any]] = []
    terminal = types.ModuleType("kmcompile.report.terminal")
    vars(terminal)["print_report"] = lambda report, *_, **__: printed.append(report)
    import kmcompile.report

    monkeypatch.setitem(sys.modules, "kmcompile.report.terminal", terminal)
    monkeypatch.setattr(kmcompile.report, "terminal", terminal, raising=False)
    return printed


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("m.pkl").write_bytes(b"")
    Path("d.npz").write_bytes(b"")
    return "m.pkl"


def test_model_alone_compiles_for_the_host(
    pipeline: FakePipeline, printed_reports: list[dict[str, Any]], model: str
) -> None:
    assert cli.run([model]) == 0
    assert pipeline.calls == [(Path("m.pkl"), Options(n_jobs=-1))]
    assert printed_reports == [REPORT]


def test_every_built_option_reaches_the_pipeline(
    pipeline: FakePipeline, printed_reports: list[dict[str, Any]], model: str
) -> None:
    words = (
        "m.pkl --target cortex-m7 --data d.npz --test-data d.npz --format float32 --max-flash 1000 "
        "--max-ram 500 --out o --name iris --trust-pickle --verify host --risk 0.01 "
        "--risk-control expected --threshold -0.5"
    )
    assert cli.run(words.split()) == 0
    assert pipeline.calls[0][1] == Options(
        target="cortex-m7",
        data=Path("d.npz"),
        test_data=Path("d.npz"),
        threshold=-0.5,
        risk=0.01,
        risk_control="expected",
        format="float32",
        max_flash=1000,
        max_ram=500,
        out=Path("o"),
        name="iris",
        trust_pickle=True,
        verify="host",
        n_jobs=-1,
    )


def test_values_that_repeat_a_default_are_left_out(
    pipeline: FakePipeline, printed_reports: list[dict[str, Any]], model: str
) -> None:
    assert cli.run([model, *["--mode", "certified", "--reduce", "off"]]) == 0
    assert pipeline.calls[0][1] == Options(n_jobs=-1)


def test_a_replay_that_is_asked_for_stays_so_that_it_must_fit(
    pipeline: FakePipeline, printed_reports: list[dict[str, Any]], model: str
) -> None:
    assert cli.run([model, "--replay", "float64"]) == 0
    assert pipeline.calls[0][1] == Options(replay="float64", n_jobs=-1)


@pytest.mark.parametrize("risk", ["0.001", "1e-3", ".0010"])
def test_values_that_repeat_a_default_of_mode_statistical_are_left_out(
    risk: str, pipeline: FakePipeline, printed_reports: list[dict[str, Any]], model: str
) -> None:
    words = f"--data d.npz --mode statistical --risk {risk} --risk-control guaranteed"
    assert cli.run([model, *words.split(), "--thresholds", "risk"]) == 0
    # The mode stays: without it, fewer vectors may take the place of early exits.
    assert pipeline.calls[0][1] == Options(data=Path("d.npz"), mode="statistical", n_jobs=-1)


def test_mode_exact_is_kept_where_samples_make_another_the_default(
    pipeline: FakePipeline, printed_reports: list[dict[str, Any]], model: str
) -> None:
    assert cli.run([model, "--data", "d.npz", "--mode", "exact"]) == 0
    options = pipeline.calls[0][1]
    assert options == Options(data=Path("d.npz"), mode="exact", n_jobs=-1)
    assert (
        options.canonical_command("m.pkl")
        == "kmcompile m.pkl --target host --data d.npz --mode exact"
    )


def test_json_prints_the_report_and_nothing_else(
    pipeline: FakePipeline, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == REPORT
    assert err == ""


def test_quiet_prints_nothing_not_even_warnings(
    pipeline: FakePipeline, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.warning = "no emulator"
    assert cli.run([model, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_own_warning_is_one_line_on_stderr(
    pipeline: FakePipeline, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.warning = "qemu-system-arm is not here:\nthe target was not run"
    assert cli.run([model, "--json"]) == 0
    assert capsys.readouterr().err == (
        "kmcompile: warning: qemu-system-arm is not here: the target was not run\n"
    )


def test_first_word_targets_is_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["targets"]) == 0
    assert "cortex-m7" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["./targets"], ["--", "targets"], ["--quiet", "targets"]])
def test_model_file_called_targets_is_reachable(
    words: list[str],
    pipeline: FakePipeline,
    printed_reports: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("targets").write_bytes(b"")
    assert cli.run(words) == 0
    assert pipeline.calls[0][0] == Path("targets")


def test_targets_as_json_are_objects_with_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["targets", "--json"]) == 0
    assert "host" in [target["name"] for target in json.loads(capsys.readouterr().out)]


def test_verify_passes_on_folder_model_and_samples(
    pipeline: FakePipeline, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["verify", ".", "--model", model, "--test-data", "d.npz"]) == 0
    assert pipeline.calls[0][:4] == (Path("."), Path("m.pkl"), Path("d.npz"), Reading())
    out = capsys.readouterr().out
    assert "verified on the host" in out
    assert "1,000 queries, 0 mismatches" in out
    assert "not run" in out


def test_verify_as_json_has_the_shape_of_the_report(
    pipeline: FakePipeline, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["verify", ".", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == VERIFIED


def test_inspect_escapes_what_a_label_would_do_to_the_terminal(
    pipeline: FakePipeline, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["inspect", model]) == 0
    assert pipeline.calls == [(Path("m.pkl"), Reading())]
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "classes: a, b\\x1b[2J" in out
    assert "notes: none" in out


def test_show_prints_the_program_of_the_options(
    pipeline: FakePipeline, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "show m.pkl --target avr --data d.npz --format int8 --mode exact --trust-pickle"
    assert cli.run(words.split()) == 0
    asked = Options(
        target="avr",
        data=Path("d.npz"),
        format="int8",
        mode="exact",
        trust_pickle=True,
        n_jobs=-1,
    )
    assert pipeline.calls == [(Path("m.pkl"), asked)]
    assert capsys.readouterr().out == "program.name = 'm'\n"


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("verb", [[], *([verb] for verb in commands.VERBS)])
def test_help_is_there_for(
    verb: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*verb, option]) == 0
    assert "Usage: " + " ".join(["kmcompile", *verb]) in capsys.readouterr().out


def test_version_names_the_tool_and_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out.split() == ["kmcompile", kmcompile.version.VERSION]


LIGHT = {"click", "colorama", "kmcompile"}
MANUAL = LIGHT | {"rich", "markdown_it", "mdurl", "pygments"}


def test_every_option_of_a_grouped_command_is_under_one_heading() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    own = click.Context(commands.compile_command)
    options = commands.compile_command.get_params(own)
    names = {"help" if "--help" in one.opts else one.name for one in options}
    assert names - {"model"} == set(grouped)
    assert commands.compile_command.get_help(own).count("--before FILE,...") == 1


STARTS = [("--help", LIGHT), ("--version", LIGHT), ("bench --help", LIGHT), ("manual", MANUAL)]


@pytest.mark.parametrize(("line", "allowed"), STARTS, ids=[line for line, _ in STARTS])
def test_a_command_that_needs_no_model_loads_no_other_library(line: str, allowed: set[str]) -> None:
    code = (
        "import sys; before = set(sys.modules); from kmcompile import cli; cli.run(sys.argv[1:]);"
        "own = {name.split('.')[0] for name in set(sys.modules) - before};"
        "print(*own - sys.stdlib_module_names, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=True)
    assert set(done.stderr.split()) - allowed == set()

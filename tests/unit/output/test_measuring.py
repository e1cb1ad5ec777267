"""`kmcompile report DIR --measured FILE`: what a board printed becomes part of the report."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kmcompile
from kmcompile import cli
from kmcompile.emit.packages.bench_view import digest
from kmcompile.output import folder as output_folder
from kmcompile.report.bench_text import MOST_BYTES, lines_of, sum_of

OWN = {"unit": "cycles", "hz": 480_000_000, "wrong": 0, "lost": 0, "queries": 16}
COUNTS = {"overhead": 4, "min": 1200, "median": 1500, "max": 4800}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an output folder for a board whose cycles are not modelled."""
    folder = tmp_path_factory.mktemp("made") / "o"
    model = SVC(gamma=0.5).fit(*load_iris(return_X_y=True))
    asked = {"mode": "exact", "verify": "host", "name": "iris", "target": "cortex-m7"}
    kmcompile.compile_model(model, out=folder, package="bench", **asked)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    return Path(shutil.copytree(made, tmp_path / "o"))


def line_of(folder: Path, **changed: object) -> str:
    """Return a line as the board of this folder prints it, with changed fields."""
    source = (folder / "iris.c").read_bytes()
    fields = {"name": "iris", "target": "cortex-m7", "program": digest(source)}
    fields |= {"counter": "dwt_cyccnt", "unit": "", "bits": 32, "hz": 0}
    fields |= {"queries": 0, "wrong": 0, "lost": 0, **OWN, **COUNTS, **changed}
    text = "kmcompile-bench 1 " + " ".join(f"{name}={value}" for name, value in fields.items())
    return f"{text} sum={sum_of(text.encode())}"


def report(folder: Path, text: str | bytes, tmp_path: Path) -> int:
    """Give a text to the command; return its exit code."""
    measured = tmp_path / "terminal.txt"
    measured.write_bytes(text if isinstance(text, bytes) else text.encode())
    return cli.run(["report", str(folder), "--measured", str(measured), "--quiet"])


def told(folder: Path) -> dict:
    return json.loads((folder / "report.json").read_text())


NOISE = {
    "alone": "{}",
    "with an end of DOS": "{}\r\n",
    "behind a time and a colour": "\x1b[32m[00:00:01.5] I: {}\x1b[0m\r\n",
    "among other lines": "*** Booting ***\n\n{}\nsensor=5\n",
    "among bytes that are no text": "\xff\x00\xfe\n{}\n\x80",
    "behind a damaged one": "kmcompile-bench 1 name=iri\n{}\n",
    "behind one of another program": "OTHER\n{}\nOTHER\n",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("noise", NOISE)
def test_the_line_is_found_in_what_a_terminal_shows(
    noise: str, folder: Path, tmp_path: Path
) -> None:
    text = NOISE[noise].format(line_of(folder)).replace("OTHER", line_of(folder, name="other"))
    assert report(folder, text.encode("latin-1"), tmp_path) == 0
    measured = told(folder)["target"]["measured"]
    assert measured == {
        "counter": "dwt_cyccnt",
        "clock_hz": 480_000_000,
        "min_cycles": 1200,
        "median_cycles": 1500,
        "max_cycles": 4800,
        "min_seconds": 1200 / 480e6,
        "median_seconds": 1500 / 480e6,
        "max_seconds": 4800 / 480e6,
        "queries": 16,
        "file": "terminal.txt",
        "sha256": hashlib.sha256(text.encode("latin-1")).hexdigest(),
    }


@pytest.mark.exhaustive
def test_the_last_line_counts_and_replaces_an_older_one(folder: Path, tmp_path: Path) -> None:
    two = line_of(folder, max=5000) + "\n" + line_of(folder, max=6000)
    assert report(folder, two, tmp_path) == 0
    assert told(folder)["target"]["measured"]["max_cycles"] == 6000
    assert report(folder, line_of(folder, max=7000), tmp_path) == 0
    assert told(folder)["target"]["measured"]["max_cycles"] == 7000


@pytest.mark.exhaustive
def test_both_reports_show_it_and_all_other_files_stay(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    page = (folder / "report.html").read_text()
    assert "no board was measured: --package bench writes" in page
    assert report(folder, line_of(folder), tmp_path) == 0
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    changed = {path.name for path in before if before[path] != after[path]}
    assert before.keys() == after.keys() and changed == {"report.json", "report.html"}
    assert "target.measured" not in told(folder)["not_available"]
    page = (folder / "report.html").read_text()
    assert "no board was measured" not in page
    label = "<dt>time at 480 MHz, measured on a board</dt>"
    assert f"{label}<dd>least 0.0025 ms, median 0.00313 ms, largest 0.01 ms</dd>" in page
    assert cli.run(["verify", str(folder), "--quiet"]) == 0
    capsys.readouterr()
    assert cli.run(["report", str(folder)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "cycles, measured on a board least 1,200, median 1,500, largest 4,800 (16" in shown
    assert cli.run(["report", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == told(folder)


@pytest.mark.exhaustive
def test_only_what_tells_the_time_changes_on_the_page(folder: Path, tmp_path: Path) -> None:
    def others(page: str) -> list[str]:
        sections = page.split("<section ")
        return [one for one in sections if not one.startswith(('id="time"', 'id="missing"'))]

    before = (folder / "report.html").read_text()
    assert report(folder, line_of(folder), tmp_path) == 0
    after = (folder / "report.html").read_text()
    assert others(before) == others(after)
    assert before.count("<section ") == after.count("<section ") == after.count("</section>")


def test_a_counter_without_a_clock_gives_what_it_can(folder: Path, tmp_path: Path) -> None:
    assert report(folder, line_of(folder, hz=0), tmp_path) == 0
    measured, why = told(folder)["target"]["measured"], told(folder)["not_available"]
    assert (measured["max_cycles"], measured["max_seconds"], measured["clock_hz"]) == (
        *(4800, None, None),
    )
    assert "at which clock" in why["target.measured.max_seconds"]
    assert report(folder, line_of(folder, unit="ticks", hz=1_000_000), tmp_path) == 0
    measured, why = told(folder)["target"]["measured"], told(folder)["not_available"]
    assert (measured["max_cycles"], measured["max_seconds"]) == (None, 0.0048)
    assert "does not count the clock" in why["target.measured.clock_hz"]
    assert "target.measured.max_seconds" not in why


REFUSED = {
    "": (3, "no line begins with kmcompile-bench"),
    "kmcompile-bench 1 name=iris": (3, "letters that are missing or wrong"),
    "DAMAGED": (3, "letters that are missing or wrong"),
    "name=other": (3, "its line is of name other, target cortex-m7"),
    "target=cortex-m4": (3, "its line is of name iris, target cortex-m4"),
    "program=0123456789ab": (3, "build the bench of this folder again"),
    "wrong=1": (1, "the board answered 1 of 16 queries otherwise"),
    "lost=16": (3, "16 of 16 queries were not counted: dwt_cyccnt"),
    "queries=0": (3, "0 of 0 queries were not counted"),
    "unit=ticks hz=0": (3, "define IRIS_BENCH_HZ"),
    "unit=years": (3, "letters that are missing or wrong"),
    "max=-5": (3, "letters that are missing or wrong"),
    "max=4294967296": (3, "letters that are missing or wrong"),
    "queries=17": (3, "letters that are missing or wrong"),
    "min=1501": (3, "letters that are missing or wrong"),
    "unit=ticks hz=32768 min=1 median=19": (3, "is too coarse: 19 ticks in the median"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_tells_of_no_time_is_refused_and_changes_nothing(
    what: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, message = REFUSED[what]
    text = what
    if what == "DAMAGED":
        text = line_of(folder).replace("min=1200", "min=120")
    elif "=" in what and " name" not in what:
        text = line_of(folder, **dict(one.split("=") for one in what.split()))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert report(folder, text, tmp_path) == code
    assert message in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_terminal_of_windows_writes_two_bytes_a_letter(folder: Path, tmp_path: Path) -> None:
    assert report(folder, f"boot\r\n{line_of(folder)}\r\n".encode("utf-16"), tmp_path) == 0


def test_a_file_inside_the_folder_is_refused_by_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(folder, line_of(folder), folder) == 3
    assert "terminal.txt lies in the output folder" in capsys.readouterr().err


def test_each_lost_or_changed_letter_is_noticed(folder: Path) -> None:
    line = line_of(folder)
    for at in range(len(line)):
        for damaged in (line[:at] + line[at + 1 :], line[:at] + "~" + line[at + 1 :]):
            assert lines_of(damaged)[0] == [], damaged


def test_a_text_beyond_its_budget_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = line_of(folder).encode()
    assert report(folder, line + bytes(MOST_BYTES + 1 - len(line)), tmp_path) == 3
    assert "more than 1,048,576 bytes" in capsys.readouterr().err
    assert report(folder, line + bytes(MOST_BYTES - len(line)), tmp_path) == 0


def test_a_changed_folder_and_a_page_of_another_release_are_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line, page = line_of(folder), folder / "report.html"
    page.write_text(page.read_text().replace('<section id="time">', '<section id="clock">'))
    assert report(folder, line, tmp_path) == 3
    assert "has no section 'time'; compile the model again" in capsys.readouterr().err
    with (folder / "iris.h").open("a") as header:
        header.write("/* changed */\n")
    assert report(folder, line, tmp_path) == 1
    assert "iris.h: SHA-256 differs" in capsys.readouterr().err


def test_a_write_that_fails_leaves_the_old_report(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = told(folder)
    monkeypatch.setattr(output_folder, "_sync_folder", fails)
    assert report(folder, line_of(folder), tmp_path) == 6
    assert told(folder) == before
    assert sorted(os.listdir(tmp_path)) == ["o", "terminal.txt"]

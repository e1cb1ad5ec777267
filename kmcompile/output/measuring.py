"""Putting what a board printed into the report of an output folder."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kmcompile.emit.packages.bench_view import DIGEST_LETTERS, digest
from kmcompile.errors import InputError, VerificationError
from kmcompile.output import files as folder_files
from kmcompile.output.folder import reserve
from kmcompile.program.program import Program
from kmcompile.report import html, json_report
from kmcompile.report.bench_text import MOST_BYTES, BenchLine, lines_of
from kmcompile.report.measured import measured_of

_FIELD = "target.measured"
_LEAST_TICKS = 20
"""One of them is 5 %: below, a time would be a guess."""
_SECTIONS = ("time", "missing")
"""Those of the page that tell what was measured."""


def report_of(folder: Path) -> dict[str, Any]:
    """Return the report of an output folder."""
    return folder_files.parse(folder_files.read(folder))[1]


def measured_report(folder: Path, measured: Path) -> dict[str, Any]:
    """Put what a board printed into both reports of an output folder; return report.json.

    The folder is replaced whole or not at all; all its other files stay as they are.

    Parameters
    ----------
    folder : Path
    measured : Path
        A file with what a terminal showed.

    Raises
    ------
    InputError
        If the file has no whole line of the program's bench, or of counts.
    VerificationError
        If the board gave other answers than the verified ones, or a file of the folder was changed.
    """
    path = folder if folder.name else folder.resolve()
    if measured.resolve().is_relative_to(path.resolve()):
        raise InputError(f"{measured} lies in the output folder\nmove it to another place")
    with reserve(path) as output:
        found = folder_files.checked(path)
        files, program, report = found.files, found.program, found.report
        content = _content(measured)
        line = _line(_text(content), program, report, files, measured.name)
        facts, reasons = json_report.plain(measured_of(line, measured.name, content))
        report["target"]["measured"] = facts
        kept = {
            field: why
            for field, why in report["not_available"].items()
            if field != _FIELD and not field.startswith(f"{_FIELD}.")
        }
        kept |= {f"{_FIELD}.{field}": why for field, why in reasons.items()}
        report["not_available"] = dict(sorted(kept.items()))
        json_report.validate(report)
        page = html.told_again(files.get("report.html", b""), report, _SECTIONS)
        made = {"report.json": json_report.dumps(report), "report.html": page}
        output.write({**files, **made})
    return report


def _content(measured: Path) -> bytes:
    try:
        with measured.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{measured}: cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise InputError(
            f"{measured}: more than {MOST_BYTES:,} bytes\ngive the part with the board's line"
        )
    return content


def _text(content: bytes) -> str:
    """Return the text, of which terminals of Windows write two bytes a letter."""
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8", "replace")


def _line(
    text: str,
    program: Program,
    report: Mapping[str, Any],
    files: Mapping[str, bytes],
    name: str,
) -> BenchLine:
    """Return the last line of the program, refused where it tells of no time.

    Raises
    ------
    InputError, VerificationError
    """
    lines, damaged = lines_of(text)
    own = program.name, report["target"]["name"], digest(files[f"{program.name}.c"])
    belonging = [one for one in lines if (one.name, one.target, one.program) == own]
    if not lines:
        raise InputError(
            f"{name}: {damaged} lines of a bench, each with letters that are missing or wrong\n"
            "let the board print it again"
            if damaged
            else f"{name}: no line begins with kmcompile-bench\n"
            "give what the board printed with the function of --package bench"
        )
    if not belonging:
        other = lines[-1]
        raise InputError(
            f"{name}: its line is of name {other.name}, target {other.target}, program "
            f"{other.program[:DIGEST_LETTERS]}\n"
            f"the folder's are {own[0]}, {own[1]}, {own[2]}: build the bench of this folder again"
        )
    line = belonging[-1]
    if line.wrong:
        raise VerificationError(
            f"{name}: the board answered {line.wrong} of {line.queries} queries otherwise than "
            "was verified\n"
            "run the self-test there: without it the time tells nothing"
        )
    if line.lost or not line.queries:
        raise InputError(
            f"{name}: {line.lost} of {line.queries} queries were not counted: {line.counter} "
            "stood still or ran over\nuse another counter in the header of the bench"
        )
    if line.unit == "ticks" and not line.hz:
        raise InputError(
            f"{name}: the counter {line.counter} has no rate\n"
            f"define {program.name.upper()}_BENCH_HZ as its counts in a second"
        )
    if line.unit == "ticks" and line.median < _LEAST_TICKS:
        raise InputError(
            f"{name}: the counter {line.counter} is too coarse: {line.median} ticks in the median\n"
            "use another counter in the header of the bench"
        )
    return line

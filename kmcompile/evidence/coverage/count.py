"""What clang's coverage says of a C file: lines, outcomes of branches, and conditions (MC/DC).

Usage: python3 count.py NAME, in the folder with NAME.c, coverage.json and what `llvm-cov export`
has written of each build: covered*.export.json and covered*.lcov. It prints how many of each kind
some build covers, and each that none covers with its reason. Exit code: 0, or 1 where one has no
reason or the numbers are not those of coverage.json. It needs nothing of kmcompile.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FUNCTION = re.compile(r"^(?:static )?(?:inline )?[\w *]+?\b(\w+)\((?!.*;$)")

_LINE = re.compile(r"^DA:(\d+),(\d+)", re.M)

KINDS = {"line": "lines", "branch": "outcomes of branches", "condition": "conditions (MC/DC)"}

Place = tuple[str, int, int, int]
"""Kind, line, column, and which outcome or condition."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A line, an outcome of a branch or a condition of a decision, and whether it is covered.

    Attributes
    ----------
    kind : {"line", "branch", "condition"}
        A condition is covered (MC/DC) if two executions show that it alone changes its decision.
    function : str
        Without the model's prefix.
    text : str
        The line, or the condition as the C has it, without the model's prefix.
    value : str
        Of a branch "true" or "false", otherwise empty.
    line : int
    covered : bool
    """

    kind: str
    function: str
    text: str
    value: str
    line: int
    covered: bool


def outcomes(export: str, lcov: str, source: str, prefix: str) -> dict[Place, Outcome]:
    """Return what `llvm-cov export` says of one C file.

    Parameters
    ----------
    export : str
        JSON of a run with -fcoverage-mcdc.
    lcov : str
        The lines of the run, in the format of lcov.
    source : str
        The C file.
    prefix : str
        The model's prefix.
    """
    (file,) = json.loads(export)["data"][0]["files"]
    text = Source(source, prefix)
    found: dict[Place, Outcome] = {}
    for number, count in _LINE.findall(lcov):
        line = int(number)
        found["line", line, 0, 0] = text.outcome("line", line, text.line(line), "", count != "0")
    for branch in file["branches"]:
        line, column = branch[:2]
        condition = text.between(*branch[:4])
        for n, value in enumerate(("true", "false")):
            covered = branch[4 + n] > 0
            found["branch", line, column, n] = text.outcome(
                "branch", line, condition, value, covered
            )
    for decision in file["mcdc_records"]:
        for n, (place, covered) in enumerate(_conditions(file["branches"], decision)):
            line, column = place[:2]
            condition = text.between(*place)
            found["condition", line, column, n] = text.outcome(
                "condition", line, condition, "", covered
            )
    return found


def merged(runs: Sequence[Mapping[Place, Outcome]]) -> dict[Place, Outcome]:
    """Return the outcomes of several builds of one file: covered is what any of them covers."""
    found: dict[Place, Outcome] = {}
    for run in runs:
        for place, outcome in run.items():
            if place not in found or outcome.covered:
                found[place] = outcome
    return found


def numbers(found: Mapping[Place, Outcome]) -> dict[str, list[int]]:
    """Return how many of each kind are covered, and how many there are."""
    return {
        kind: [
            sum(one.covered for one in found.values() if one.kind == kind),
            sum(one.kind == kind for one in found.values()),
        ]
        for kind in KINDS
    }


def _conditions(
    branches: list[list[Any]], decision: list[Any]
) -> Iterator[tuple[tuple[int, int, int, int], bool]]:
    """Yield the place of each condition of a decision, and whether it is covered."""
    start, end = tuple(decision[:2]), tuple(decision[2:4])
    inside = sorted(
        {tuple(one[:4]) for one in branches if start <= tuple(one[:2]) and tuple(one[2:4]) <= end}
    )
    flags = next(part for part in reversed(decision) if isinstance(part, list))
    for place, covered in zip(inside, flags, strict=True):
        yield (place[0], place[1], place[2], place[3]), bool(covered)


class Source:
    """The text of a C file, and which function each line is in."""

    def __init__(self, source: str, prefix: str) -> None:
        self._lines = source.split("\n")
        self._prefix = prefix
        self._functions = []
        function = ""
        for line in self._lines:
            if (found := _FUNCTION.match(line)) is not None:
                function = self._plain(found[1])
            self._functions.append(function)

    def line(self, line: int) -> str:
        """Return the text of a line, counted from 1, without the prefix."""
        return self._plain(self._lines[line - 1])

    def between(self, line: int, column: int, last_line: int, last_column: int) -> str:
        """Return the text from a place up to another one, in one line."""
        if line == last_line:
            return self._plain(self._lines[line - 1][column - 1 : last_column - 1])
        first, *middle = self._lines[line - 1 : last_line - 1]
        last = self._lines[last_line - 1][: last_column - 1]
        return self._plain(" ".join([first[column - 1 :], *middle, last]))

    def outcome(self, kind: str, line: int, text: str, value: str, covered: bool) -> Outcome:
        """Return an outcome in the function that the line is in."""
        return Outcome(kind, self._functions[line - 1], text, value, line, covered)

    def _plain(self, text: str) -> str:
        """Return a text without the prefix and with single blanks."""
        for own in (self._prefix, self._prefix.upper()):
            text = re.sub(rf"\b{own}_", "", text)
        return " ".join(text.split())


def main() -> int:
    """Print what the builds in this folder cover."""
    name = sys.argv[1]
    source = Path(f"{name}.c").read_text(encoding="ascii")
    exports = sorted(Path().glob("covered*.export.json"))
    lcov = [Path(one.name.replace(".export.json", ".lcov")).read_text() for one in exports]
    runs = zip(exports, lcov, strict=True)
    found = merged([outcomes(one.read_text(), own, source, name) for one, own in runs])
    told = json.loads(Path("coverage.json").read_text(encoding="utf-8"))
    reasons = {(one["kind"], one["line"], one["text"], one["value"]): one for one in told["left"]}
    n_open = 0
    for one in found.values():
        if not one.covered:
            left = reasons.get((one.kind, one.line, one.text, one.value), {})
            n_open += left.get("reason") is None
            print(f"{one.kind}, line {one.line}, {one.function}: {one.text} {one.value}")
            print(f"    {left.get('reason') or 'no reason is known'}")
    counted = numbers(found)
    for kind, (covered, all_) in counted.items():
        print(f"{covered} of {all_} {KINDS[kind]}")
    is_told = counted == told["covered"]
    print(f"{'as' if is_told else 'not as'} in coverage.json; {n_open} without a reason")
    return 0 if is_told and n_open == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

"""The line that `<name>_bench` prints on a board, read from what a terminal shows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kmcompile.emit.packages.bench_view import MARK, MOST_QUERIES, NUMBERS

MOST_BYTES = 1 << 20
"""Of a terminal's text: some thousand lines."""

_NAMES = ("name", "target", "program", "counter", "unit", "bits", *NUMBERS)
_FIELDS = "".join(f" {name}=(?P<{name}>[a-zA-Z0-9_-]{{1,64}})" for name in _NAMES)
_LINE = re.compile(f"{re.escape(MARK)}{_FIELDS} sum=")
_SUM = re.compile(r"(\d{1,5})(?!\d)")
_UNITS = ("cycles", "ticks")


@dataclass(frozen=True, slots=True)
class BenchLine:
    """What a board says of its queries.

    Attributes
    ----------
    name, target, program : str
        The prefix, the target and the beginning of the SHA-256 of the C.
    counter : str
    unit : str
        "cycles" of the processor, or "ticks" of another clock.
    hz : int
        How many of them are a second; 0 if the board does not say.
    queries, wrong, lost : int
        How many were asked, had another answer than the verified one, could not be counted.
    least, median, most : int
        In units of the counter.
    """

    name: str
    target: str
    program: str
    counter: str
    unit: str
    hz: int
    queries: int
    wrong: int
    lost: int
    least: int
    median: int
    most: int


def lines_of(text: str) -> tuple[list[BenchLine], int]:
    """Return the whole lines in a terminal's text, in their order, and how many are damaged.

    Other text may stand before and behind a line: a time, colours, the end of a line in either
    form.

    Examples
    --------
    >>> lines_of("booting\\r\\nkmcompile-bench 1 name=i")
    ([], 1)
    """
    found: list[BenchLine] = []
    damaged = 0
    for begin in re.finditer(re.escape(MARK), text):
        line = _line_at(text, begin.start())
        if line is None:
            damaged += 1
        else:
            found.append(line)
    return found, damaged


def _line_at(text: str, begin: int) -> BenchLine | None:
    """Return the line that begins there; None if a letter is missing or another one."""
    line = _LINE.match(text, begin)
    if line is None:
        return None
    told = _SUM.match(text, line.end())
    covered = text[begin : line.end() - len(" sum=")]
    if told is None or int(told[1]) != sum_of(covered.encode("ascii")):
        return None
    if line["unit"] not in _UNITS or not all(line[name].isdecimal() for name in NUMBERS):
        return None
    numbers = {name: int(line[name]) for name in NUMBERS}
    if max(numbers.values()) >= 1 << 32 or not numbers["queries"] <= MOST_QUERIES:
        return None
    if not numbers["lost"] and not numbers["min"] <= numbers["median"] <= numbers["max"]:
        return None
    return BenchLine(
        name=line["name"],
        target=line["target"],
        program=line["program"],
        counter=line["counter"],
        unit=line["unit"],
        hz=numbers["hz"],
        queries=numbers["queries"],
        wrong=numbers["wrong"],
        lost=numbers["lost"],
        least=numbers["min"],
        median=numbers["median"],
        most=numbers["max"],
    )


def sum_of(letters: bytes) -> int:
    """Return Fletcher's sum of a line, as the board computes it.

    Examples
    --------
    >>> sum_of(b"abcde")  # as published of Fletcher-16
    51440
    """
    low = high = 0
    for letter in letters:
        low = (low + letter) % 255
        high = (high + low) % 255
    return 256 * high + low

"""The analyses of one model: of any bits with two sizes of int, and of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kmcompile.evidence.run_time_errors import copy
from kmcompile.evidence.run_time_errors.driver import Driver
from kmcompile.evidence.run_time_errors.eva import Analysis, analyse
from kmcompile.evidence.run_time_errors.header import read_header

_SHARED = ("-eva-msg-key=-initial-state,-final-states", "-eva-plevel", "20000")
INT16 = "gcc_x86_16"
"""The machine of Frama-C with int of 16 bits."""

_OF_NUMBERS = ("float_to_int", "is_nan_or_infinite")
"""Alarms of conversions from float: of any bits Eva keeps NaN, which the entry has refused."""
_STATES = 10
"""States that stay apart where a result tells whether what was written is to be used."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of analysis.

    Parameters
    ----------
    name : str
        Of its folder.
    claim : str
    text : str
        What it shows, in a few words.
    machine : str
        As Frama-C calls it.
    finite : bool
        Whether a NaN or an infinity is an alarm; then the driver gives numbers.
    """

    name: str
    claim: str
    text: str
    machine: str
    finite: bool


KINDS = (
    Kind(
        "any_bits",
        "no-memory-or-integer-error-of-any-bits",
        "any bits as input",
        "gcc_x86_32",
        finite=False,
    ),
    Kind(
        "any_bits_int16",
        "no-memory-or-integer-error-of-any-bits-with-16-bit-int",
        "any bits as input, int of 16 bits",
        INT16,
        finite=False,
    ),
    Kind(
        "numbers",
        "no-overflow-or-nan-of-accepted-numbers",
        "all numbers that the entry accepts",
        "gcc_x86_32",
        finite=True,
    ),
)


def run(kind: Kind, prefix: str, text: str, header: str, folder: Path, limit_s: float) -> Analysis:
    """Write the copy and the driver of one analysis into a folder, and run it there.

    Parameters
    ----------
    kind : Kind
    prefix, text, header : str
        Of the emitted names, and the emitted C and its header.
    folder : Path
        Which is made.
    limit_s : float
        Seconds of processor time.

    Raises
    ------
    ToolError
        If Frama-C is not installed, fails, or does not end within the time limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    of_kind: Callable[[str, str], str] = copy.of_numbers if kind.finite else copy.of_any_bits
    driver = Driver(read_header(prefix, header), kind.finite).text()
    assumed = copy.assumed(prefix, text, kind.finite)
    for name, content in (
        ("assumed.md", _page(kind, assumed)),
        (f"{prefix}.c", of_kind(prefix, text)),
        (f"{prefix}.h", header),
        ("driver.c", driver),
    ):
        (folder / name).write_text(content, encoding="utf-8")
    found = analyse(folder / "eva.sh", prefix, options(kind, prefix, text), limit_s)
    found = replace(found, assumed=len(assumed))
    if kind.finite:
        return found
    alarms = tuple(one for one in found.alarms if one.kind not in _OF_NUMBERS)
    return replace(found, alarms=alarms, of_floats=len(found.alarms) - len(alarms))


def _page(kind: Kind, assumed: Sequence[str]) -> str:
    """Return what an analysis takes for true."""
    lines = ["# What this analysis takes for true", ""]
    if not kind.finite:
        lines += [
            "Alarms about the values of floats are left to the analysis of numbers: of any bits",
            "Eva keeps NaN and infinities, which the entry refuses.",
            "",
        ]
    lines += [f"- {line}" for line in assumed] or ["Nothing else."]
    return "\n".join(lines) + "\n"


def options(kind: Kind, prefix: str, text: str) -> list[str]:
    """Return the options of Frama-C for one analysis."""
    special = "non-finite" if kind.finite else "none"
    shared = ["-machdep", kind.machine, "-warn-special-float", special, *_SHARED]
    shared += ["-eva-split-return", "full", "-eva-interprocedural-splits"]
    states = ",".join(f"{name}:{_STATES}" for name in copy.deciders(prefix, text))
    unrolled = "2000" if kind.finite else "100"
    return [*shared, "-eva-min-loop-unroll", unrolled, "-eva-slevel-function", states]

"""The analyses of one model: of any bits with two sizes of int, and of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kmcompile.evidence.run_time_errors import copy
from kmcompile.evidence.run_time_errors.driver import Driver
from kmcompile.evidence.run_time_errors.eva import Analysis, analyse
from kmcompile.evidence.run_time_errors.header import read_header
from kmcompile.evidence.subject import Subject

_SHARED = ("-eva-msg-key=-initial-state,-final-states", "-eva-plevel", "20000")
INT16 = "gcc_x86_16"
"""The machine of Frama-C with int of 16 bits."""

_OF_NUMBERS = ("float_to_int", "is_nan_or_infinite")
"""Alarms of conversions from float: of any bits Eva keeps NaN, which the entry has refused."""
_OF_IMAGE = "20000"
"""Turns of a loop that stay apart where the image is opened, whose words are known."""

_IMAGE = (
    "The image is the one that was emitted, byte for byte. Other images, damaged ones among them, "
    "are opened by tests/fault/test_damaged_images.py, with sanitizers."
)
_SELF_TEST = (
    "In the whole self-test, a step leaves any state and any status. The step itself is read "
    "apart, from every state."
)
_CHECK = (
    "The entry's check of the input is left out: the inputs are the numbers that it accepts. The "
    "analysis of any bits reads it."
)
_FLOATS = (
    "Alarms about the values of floats are left to the analysis of numbers: of any bits Eva keeps "
    "NaN and infinities, which the entry refuses."
)
_JOBS = (
    "Nothing but the steps changes a job between them. tests/fault/test_damaged_jobs.py changes "
    "each word of one, with sanitizers."
)
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


@dataclass(frozen=True, slots=True)
class Emitted:
    """The C of a model.

    Parameters
    ----------
    prefix : str
        Of the emitted names.
    text, header : str
    image : str
        The C that holds the image of the model; "" where the tables are in the code.
    """

    prefix: str
    text: str
    header: str
    image: str = ""

    @classmethod
    def of(cls, subject: Subject) -> Emitted:
        """Return the C of a compiled model."""
        prefix = subject.program.name
        names = (f"{prefix}.c", f"{prefix}.h", f"{prefix}_image.c")
        return cls(prefix, *(subject.files.get(name, b"").decode() for name in names))


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


def run(kind: Kind, emitted: Emitted, folder: Path, limit_s: float) -> Analysis:
    """Write the copy and the driver of one analysis into a folder, and run it there.

    Parameters
    ----------
    kind : Kind
    emitted : Emitted
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
    prefix, text, header = emitted.prefix, emitted.text, emitted.header
    of_kind: Callable[[str, str], str] = copy.of_numbers if kind.finite else copy.of_any_bits
    driver = Driver(read_header(prefix, header), kind.finite).text()
    assumed = copy.assumed(prefix, text, kind.finite)
    if emitted.image:
        assumed.append(_IMAGE)
    for name, content in (
        ("assumed.md", _page(kind, emitted, assumed)),
        (f"{prefix}.c", of_kind(prefix, text) + emitted.image),
        (f"{prefix}.h", header),
        ("driver.c", driver),
    ):
        (folder / name).write_text(content, encoding="utf-8")
    found = analyse(folder / "eva.sh", prefix, options(kind, emitted), limit_s)
    found = replace(found, assumed=len(assumed))
    if kind.finite:
        return found
    alarms = tuple(one for one in found.alarms if one.kind not in _OF_NUMBERS)
    return replace(found, alarms=alarms, of_floats=len(found.alarms) - len(alarms))


def _page(kind: Kind, emitted: Emitted, assumed: Sequence[str]) -> str:
    """Return what an analysis takes for true, and what it reads in another way."""
    lines = ["# What this analysis takes for true", ""]
    lines += [f"- {line}" for line in assumed] or ["Nothing."]
    lines += ["", "# What it reads in another way", "", f"- {_SELF_TEST}"]
    lines.append(f"- {_CHECK if kind.finite else _FLOATS}")
    if f"{emitted.prefix}_job_t" in emitted.header:
        lines.append(f"- {_JOBS}")
    return "\n".join(lines) + "\n"


def options(kind: Kind, emitted: Emitted) -> list[str]:
    """Return the options of Frama-C for one analysis."""
    special = "non-finite" if kind.finite else "none"
    shared = ["-machdep", kind.machine, "-warn-special-float", special, *_SHARED]
    shared += ["-eva-split-return", "full"]
    if f"{emitted.prefix}_pair_sum(" not in emitted.text:
        # Over pairs of classes the states that are told apart multiply, and nothing needs them.
        shared += ["-eva-interprocedural-splits"]
    states = ",".join(f"{name}:{_STATES}" for name in copy.deciders(emitted.prefix, emitted.text))
    unrolled = "2000" if kind.finite else "100"
    if emitted.image:
        unrolled = _OF_IMAGE
    return [*shared, "-eva-min-loop-unroll", unrolled, "-eva-slevel-function", states]

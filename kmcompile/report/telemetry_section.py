"""The section of the report on the telemetry of the C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kmcompile.program.program import Program
from kmcompile.program.telemetry import WORD_BYTES, words
from kmcompile.report.section import Section
from kmcompile.text.visible import visible

_NOT_ASKED = "the C counts nothing of what it answers: --telemetry makes it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryWord:
    """A word of the struct; its offset is in bytes."""

    name: str
    offset: int
    type: Literal["uint32", "float32"]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """The struct of the telemetry.

    Attributes
    ----------
    bytes : int
        Of the struct, which is the caller's.
    file : str
        The file that describes it in XTCE.
    words : sequence of TelemetryWord
    """

    bytes: int
    file: str
    words: Sequence[TelemetryWord]


def telemetry_section(program: Program) -> Section[Telemetry | None]:
    """Return the section on `--telemetry`; its content is None without it."""
    if not program.telemetry:
        return Section(None, {"telemetry": _NOT_ASKED})
    own = words(program)
    content = Telemetry(
        bytes=WORD_BYTES * len(own),
        file=f"{program.name}_telemetry.xml",
        words=[
            TelemetryWord(
                name=name,
                offset=WORD_BYTES * place,
                type="float32" if is_float else "uint32",
                meaning=visible(meaning),
            )
            for place, (name, meaning, is_float) in enumerate(own)
        ],
    )
    return Section(content, {})

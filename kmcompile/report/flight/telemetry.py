"""The telemetry of the C in the report."""

from __future__ import annotations

from kmcompile.program.telemetry import WORD_BYTES, words
from kmcompile.report.compilation import Compilation
from kmcompile.report.flight.flight_section import FlightSection
from kmcompile.report.missing import Content
from kmcompile.report.summary import Report
from kmcompile.report.told import Rows, Text, Told
from kmcompile.text.figures import count_text
from kmcompile.text.visible import visible


def _made(made: Compilation) -> Content | None:
    program = made.chosen.program
    if not program.telemetry:
        return None
    own = words(program)
    return dict(
        bytes=WORD_BYTES * len(own),
        file=f"{program.name}_telemetry.xml",
        words=[
            dict(
                name=name,
                offset=WORD_BYTES * place,
                type="float32" if is_float else "uint32",
                meaning=visible(meaning),
            )
            for place, (name, meaning, is_float) in enumerate(own)
        ],
    )


def _told(section: Report) -> Told:
    rows = [
        (word["name"], count_text(word["offset"]), word["type"], word["meaning"])
        for word in section["words"]
    ]
    caption = "Words of 32 bits in the byte order of the core; the offset is in bytes."
    heads = ("Word", "Offset", "Type", "Meaning")
    return Told("telemetry", "Telemetry", (Rows(heads, rows), Text(caption)))


SECTION = FlightSection(
    "telemetry", "the C counts nothing of what it answers: --telemetry makes it", _made, _told
)

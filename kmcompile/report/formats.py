"""The number formats that were compared, as the report tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from kmcompile.lower.format_choice import FormatCandidate
from kmcompile.report import chosen

_OPEN = (
    "lossless",
    "width",
    "flash_tables_bytes",
    "operations",
    "speedup_ops",
    "instructions_estimated",
    "certified_share",
    "queries",
)


def formats_section(
    compared: Sequence[FormatCandidate], reasons: dict[str, str]
) -> list[chosen.Format] | None:
    """Return the formats that were compared; `reasons` takes why a field is null."""
    if not compared:
        reasons["formats"] = "the format was given: --format auto compares all of them"
        return None
    return [_format(candidate, reasons) for candidate in compared]


def _format(candidate: FormatCandidate, reasons: dict[str, str]) -> chosen.Format:
    name = cast("Literal['float32', 'int16', 'int8']", candidate.number_format)
    lowered = candidate.lowered
    if lowered is None:
        reasons.update({f"formats.{name}.{field}": "no such program" for field in _OPEN})
        return chosen.Format(
            format=name,
            **dict.fromkeys(_OPEN),
            chosen=False,
            reason=candidate.reason,
        )
    coded = lowered.coded
    if coded is None:
        reasons[f"formats.{name}.lossless"] = "float32 has no codes"
    if candidate.speedup is None:
        reasons[f"formats.{name}.speedup_ops"] = "no early exits were made in this format"
    return chosen.Format(
        format=name,
        lossless=None if coded is None else coded.lossless,
        width="float" if coded is None else f"{coded.width}_t",
        flash_tables_bytes=lowered.program.table_bytes,
        operations=lowered.measured.operations,
        speedup_ops=candidate.speedup,
        instructions_estimated=candidate.instructions,
        certified_share=lowered.measured.certified_share,
        queries=lowered.measured.inputs,
        chosen=candidate.chosen,
        reason=candidate.reason,
    )

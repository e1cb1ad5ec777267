"""The section of the report on the compared number formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from kmcompile.choice.formats import FormatCandidate
from kmcompile.report import chosen
from kmcompile.report.section import Section

_OPEN = (
    "lossless",
    "width",
    "flash_tables_bytes",
    "operations",
    "speedup_ops",
    "instructions_estimated",
    "worst_estimated",
    "flash_estimated",
    "certified_share",
    "queries",
)


def formats_section(compared: Sequence[FormatCandidate]) -> Section[list[chosen.Format] | None]:
    """Return the section on the compared number formats; None if the format was given."""
    if not compared:
        return Section(
            None,
            {"formats": "the format was given, or fewer vectors were counted in it"},
        )
    reasons: dict[str, str] = {}
    formats = []
    for candidate in compared:
        formats.append(_format(candidate))
        reasons |= _unknown_of(candidate)
    return Section(formats, reasons)


def _unknown_of(candidate: FormatCandidate) -> dict[str, str]:
    """Return the null fields of a format, and why each is null."""
    path = f"formats.{candidate.number_format}"
    if candidate.lowered is None:
        return {f"{path}.{field}": "no such program" for field in _OPEN}
    reasons = {}
    if candidate.lowered.coded is None:
        reasons[f"{path}.lossless"] = "float32 has no codes"
    if candidate.speedup is None:
        reasons[f"{path}.speedup_ops"] = "no early exits were made in this format"
    return reasons


def _format(candidate: FormatCandidate) -> chosen.Format:
    name = cast("Literal['float32', 'int16', 'int8']", candidate.number_format)
    lowered, estimate = candidate.lowered, candidate.estimate
    if lowered is None or estimate is None:
        return chosen.Format(
            format=name,
            **dict.fromkeys(_OPEN),
            chosen=False,
            reason=candidate.reason,
        )
    coded = lowered.coded
    return chosen.Format(
        format=name,
        lossless=None if coded is None else coded.lossless,
        width="float" if coded is None else f"{coded.width}_t",
        flash_tables_bytes=lowered.program.table_bytes,
        operations=lowered.measured.operations,
        speedup_ops=candidate.speedup,
        instructions_estimated=estimate.mean,
        worst_estimated=estimate.worst,
        flash_estimated=estimate.flash_bytes,
        certified_share=lowered.measured.certified_share,
        queries=lowered.measured.inputs,
        chosen=candidate.chosen,
        reason=candidate.reason,
    )

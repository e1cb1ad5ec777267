"""The section of the report on the compared number formats."""

from __future__ import annotations

from collections.abc import Sequence

from kmcompile.choice.formats import FormatCandidate
from kmcompile.report.missing import Content, Missing, known

_NOT_COMPARED = Missing("the format was given, or fewer vectors were counted in it")
_NO_PROGRAM = Missing("no such program")
_OF_PROGRAM = (
    *("lossless", "width", "flash_tables_bytes", "operations", "speedup_ops"),
    *("instructions_estimated", "worst_estimated", "flash_estimated", "certified_share", "queries"),
)


def formats_section(compared: Sequence[FormatCandidate]) -> list[Content] | Missing:
    """Return the section on the number formats that `--format auto` compared.

    Tables, operations and the certified share are of the exact sum alone. Estimated instructions
    are of one query with the early exits, replays included; the worst case is without a replay.
    """
    return [_format(candidate) for candidate in compared] or _NOT_COMPARED


def _format(candidate: FormatCandidate) -> Content:
    lowered, estimate = candidate.lowered, candidate.estimate
    found: Content = dict.fromkeys(_OF_PROGRAM, _NO_PROGRAM)
    if lowered is not None and estimate is not None:
        coded, measured = lowered.coded, lowered.measured
        found = dict(
            lossless=known(coded and coded.lossless, "float32 has no codes"),
            width="float" if coded is None else f"{coded.width}_t",
            flash_tables_bytes=lowered.program.table_bytes,
            operations=measured.operations,
            speedup_ops=known(candidate.speedup, "no early exits were made in this format"),
            instructions_estimated=estimate.mean,
            worst_estimated=estimate.worst,
            flash_estimated=estimate.flash_bytes,
            certified_share=measured.certified_share,
            queries=measured.inputs,
        )
    return dict(
        format=candidate.number_format,
        **found,
        chosen=candidate.chosen,
        reason=candidate.reason,
    )

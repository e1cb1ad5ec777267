"""The section of the report on the choice of certified exits."""

from __future__ import annotations

from collections.abc import Iterable

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.certified.certify import Choice
from kmcompile.report.missing import Content

_MOST_CANDIDATES = 20


def choice_section(choice: Choice) -> Content:
    """Return the section on the choice of certified exits, with the cheapest and the taken."""
    compared = [
        candidate
        for place, candidate in enumerate(choice.candidates)
        if place < _MOST_CANDIDATES or candidate.chosen or len(candidate.stages) == 1
    ]
    return dict(
        queries_source=choice.source,
        queries=choice.n_samples,
        candidates=candidates(compared),
        notes=choice.notes,
    )


def candidates(compared: Iterable[Candidate]) -> list[Content]:
    """Return the sequences of stages that were compared, in the order of cost."""
    return [
        dict(
            stages=candidate.stages,
            mean_ops=candidate.mean_operations,
            instructions_estimated=candidate.instructions,
            chosen=candidate.chosen,
        )
        for candidate in compared
    ]

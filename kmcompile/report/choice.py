"""The section of the report on the choice of certified exits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.certified.certify import Choice
from kmcompile.report import chosen

_MOST_CANDIDATES = 20


def choice_section(choice: Choice) -> chosen.Choice:
    """Return the section on the choice of certified exits, with the cheapest and the taken."""
    compared = [
        candidate
        for place, candidate in enumerate(choice.candidates)
        if place < _MOST_CANDIDATES or candidate.chosen or len(candidate.stages) == 1
    ]
    return chosen.Choice(
        queries_source=cast("Literal['data', 'generated']", choice.source),
        queries=choice.n_samples,
        candidates=candidates(compared),
        notes=choice.notes,
    )


def candidates(compared: Iterable[Candidate]) -> list[chosen.Candidate]:
    """Return the sequences of stages that were compared."""
    return [
        chosen.Candidate(
            stages=candidate.stages,
            mean_ops=candidate.mean_operations,
            instructions_estimated=candidate.instructions,
            chosen=candidate.chosen,
        )
        for candidate in compared
    ]

"""What no vector can cover, one entry each, with its reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from kmcompile.evidence.coverage.outcomes import Outcome

FILE = Path(__file__).with_name("justified.toml")


@dataclass(frozen=True, slots=True)
class Justified:
    """An outcome or a condition that the vectors of some models do not cover.

    Attributes
    ----------
    template : str
        The template of the C, under templates/.
    function : str
        Its name without the model's prefix; `*` stands for anything.
    condition : str
        As the emitted C has it, without the prefix; `*` stands for anything.
    value : str
        "true", "false" or "any".
    reason : str
    """

    template: str
    function: str
    condition: str
    value: str
    reason: str

    def explains(self, outcome: Outcome) -> bool:
        """Return whether an outcome of a branch, or a condition (MC/DC), is meant."""
        return (
            fnmatchcase(outcome.function, self.function)
            and fnmatchcase(_plain(outcome.text), _plain(self.condition))
            and (outcome.kind == "condition" or self.value in (outcome.value, "any"))
        )


@cache
def justified() -> tuple[Justified, ...]:
    """Return all entries of the file."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["justified"]
    return tuple(Justified(**entry) for entry in entries)


def reason_of(outcome: Outcome) -> Justified | None:
    """Return the entry that says why an outcome or a condition is not covered, or None."""
    return next((one for one in justified() if one.explains(outcome)), None)


def _plain(text: str) -> str:
    """Return a condition without the brackets around it, which fnmatch would not take as such."""
    return text.removeprefix("(").removesuffix(")").replace("[", "<").replace("]", ">")

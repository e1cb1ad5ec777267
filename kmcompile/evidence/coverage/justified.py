"""What no vector can cover, one entry each, with its reason."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from kmcompile.evidence.coverage.count import Outcome
from kmcompile.evidence.vectors.inner import static_functions

FILE = Path(__file__).with_name("justified.toml")
_DEFINE = re.compile(r"^#define (\w+) (\d+)UL?\b", re.M)
_COMPARED = re.compile(r"(\w+) (==|<=|>=) (\w+(?: \+ \w+)*)")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reason may rest on: the constants of a C file and the text of its functions.

    Attributes
    ----------
    constants : dict of str to int
        Without the model's prefix.
    bodies : dict of str to str
        With single blanks, and without the model's prefix.
    """

    constants: dict[str, int]
    bodies: dict[str, str]

    @classmethod
    def of(cls, source: str, header: str, prefix: str) -> Facts:
        """Return the facts of a C file and its header."""
        upper = f"{prefix.upper()}_"
        constants = {
            name.removeprefix(upper): int(value) for name, value in _DEFINE.findall(header + source)
        }
        bodies = {
            own: " ".join(one.body.replace(f"{prefix}_", "").replace(upper, "").split())
            for own, one in static_functions(source, prefix).items()
        }
        return cls(constants, bodies)

    def hold(self, fact: str) -> bool:
        """Return whether a fact holds: `A == B + C` of constants, or `function: text`."""
        if (found := _COMPARED.fullmatch(fact)) is not None:
            first, sign, second = found.groups()
            a, terms = self._number(first), [self._number(one) for one in second.split(" + ")]
            if a is None or None in terms:
                return False
            b = sum(one for one in terms if one is not None)
            return {"==": a == b, "<=": a <= b, ">=": a >= b}[sign]
        function, _, text = fact.partition(": ")
        return any(text in body for own, body in self.bodies.items() if fnmatchcase(own, function))

    def _number(self, text: str) -> int | None:
        return int(text) if text.isdigit() else self.constants.get(text)


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
    where : tuple of str
        What must hold in the C of a model, so that the reason is one there; see `Facts.hold`.
    place : int
        Which of the same conditions of the function is meant, from 1; 0 stands for all.
    """

    template: str
    function: str
    condition: str
    value: str
    reason: str
    where: tuple[str, ...] = ()
    place: int = 0

    def explains(self, outcome: Outcome, facts: Facts, place: int) -> bool:
        """Return whether an outcome of a branch, or a condition (MC/DC), is meant.

        `place` is its number among the same outcomes of the function, from 1.
        """
        return (
            fnmatchcase(outcome.function, self.function)
            and fnmatchcase(_plain(outcome.text), _plain(self.condition))
            and (outcome.kind == "condition" or self.value in (outcome.value, "any"))
            and self.place in (0, place)
            and all(facts.hold(one) for one in self.where)
        )


@cache
def justified() -> tuple[Justified, ...]:
    """Return all entries of the file."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8"))["justified"]
    return tuple(
        Justified(**{**entry, "where": tuple(entry.get("where", ()))}) for entry in entries
    )


def reason_of(outcome: Outcome, facts: Facts, place: int) -> Justified | None:
    """Return the entry that says why an outcome or a condition is not covered, or None."""
    return next((one for one in justified() if one.explains(outcome, facts, place)), None)


def _plain(text: str) -> str:
    """Return a condition without the brackets around it, which fnmatch would not take as such."""
    return text.removeprefix("(").removesuffix(")").replace("[", "<").replace("]", ">")

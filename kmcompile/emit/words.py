"""The words of the emitted C that differ between a classifier and a regression."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmcompile.program.program import Program


@dataclass(frozen=True, slots=True)
class Words:
    """Names and phrases that differ between a classifier and a regression.

    Parameters
    ----------
    call : str
        The function that answers, without prefix; it is also in the names of others.
    answer : str
        Its last argument; with `_t` the type.
    does : str
        Verb phrase of what the function does with an input.
    settled : str
        The C condition, after the label stage, under which no replay is needed.
    left_open : str
        Noun of the part that the exact sums leave open in a query that they do not settle.
    decides : str
        Phrase of when an early exit answers.
    record, flags : str
        The fields of an answer in a record of the harness.
    known : str
        The condition that the self-test checks on a known answer.
    precise : str
        The arithmetic of the replay's sums.
    """

    call: str
    answer: str
    does: str
    settled: str
    left_open: str
    decides: str
    record: str
    flags: str
    known: str
    precise: str = "double"

    @property
    def in_integers(self) -> bool:
        """Whether the replay's sums are in integers."""
        return self.precise == "integers"


_LABEL = Words(
    call="classify",
    answer="result",
    does="Classifies",
    settled="result->certified",
    left_open="the label open",
    decides="give the label",
    record="the label",
    flags="certified + 2 in_range",
    known="the label is exact, the decisions lie within their intervals",
)

_VALUE = Words(
    call="predict",
    answer="prediction",
    does="Predicts the value of",
    settled="settled",
    left_open="a wide interval",
    decides="are narrow enough",
    record="the bits of the value",
    flags="2 in_range",
    known="the value lies within its interval",
)


def words_of(program: Program) -> Words:
    """Return the words of a program."""
    words = _VALUE if program.is_regression else _LABEL
    in_integers = program.replay is not None and program.replay.in_integers
    return replace(words, precise="integers") if in_integers else words

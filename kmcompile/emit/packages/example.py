"""The query that the example of a package asks, with the answer that the C gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kmcompile.emit.literals import comment_text
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program

MOST_LOOKED_AT = 20
"""Samples of a file among which one is looked for that the C does not refuse."""
_PER_LINE = 4
_NAME = 60  # letters of a feature's name that are shown


@dataclass(frozen=True, slots=True)
class Example:
    """A query with the answer that the C gives.

    Attributes
    ----------
    source : str
        What the query is, as the subject of a sentence.
    features : tuple of str
        Their shortest decimals.
    names : tuple of str
        Their names in the training data, or empty.
    label : str or None
        The name of the class; None in a regression.
    value : str or None
        The value of a regression, with 9 digits; None otherwise.
    certified : bool
    has_probability : bool
        Whether the C has `<name>_probability`.
    """

    source: str
    features: tuple[str, ...]
    names: tuple[str, ...]
    label: str | None
    value: str | None
    certified: bool
    has_probability: bool

    @property
    def told(self) -> str:
        """The answer, as a comment has it."""
        return self.value or f"{self.label}{self.proved}"

    @property
    def proved(self) -> str:
        """What the example prints behind the label."""
        return ", certified" if self.certified else ""

    @classmethod
    def of(
        cls,
        program: Program,
        samples: Sequence[tuple[str, Float32Array]],
        names: Sequence[str],
    ) -> Example:
        """Return the first given sample that the C accepts; without one, a known query or zeros.

        Parameters
        ----------
        program : Program
        samples : sequence of (source, ndarray of shape (n, n_features))
        names : sequence of str
            Names of the features in the training data; may be empty.
        """
        known = program.known_answers.inputs[:1]
        scale = program.scale
        told = [
            *samples,
            ("An input of the self-test", known if scale is None else scale.values(known)),
        ]
        for source, X in told:
            rows = np.ascontiguousarray(X[:MOST_LOOKED_AT], dtype=np.float32)
            accepted = interpret(program, rows).results["status"] == Status.OK if len(rows) else []
            if np.any(accepted):
                return cls._answered(program, source, rows[np.argmax(accepted)], names)
        zeros = np.zeros(program.n_features, dtype=np.float32)
        return cls._answered(program, "All zeros: fill your own features in. It", zeros, names)

    @classmethod
    def _answered(
        cls, program: Program, source: str, x: Float32Array, names: Sequence[str]
    ) -> Example:
        answer = interpret(program, x[None]).results[0]
        refused = answer["status"] != Status.OK
        of_value = program.is_regression
        return cls(
            source=source,
            features=tuple(repr(float(str(value))) for value in x),
            names=tuple(names),
            label=None
            if of_value
            else "refused"
            if refused
            else str(program.classes[answer["label"]]),
            value=f"{float(answer['value']):.9g}" if of_value else None,
            certified=not of_value and bool(answer["certified"]),
            has_probability=program.probability is not None,
        )

    def lines(self, suffix: str, comment: str) -> list[str]:
        """Return the lines of an initializer, one a feature where features have names.

        Parameters
        ----------
        suffix : str
            What follows each number: "f" in C.
        comment : str
            A comment of the language, with {} for the name.

        Examples
        --------
        >>> example = Example("It", ("5.1", "3.5"), ("length", "width"), None, "1", False, False)
        >>> example.lines("f", "/* {} */")
        ['5.1f,  /* length */', '3.5f,  /* width */']
        """
        numbers = [f"{text}{suffix}," for text in self.features]
        if self.names:
            pairs = zip(numbers, self.names, strict=True)
            return [f"{one}  {comment.format(comment_text(name)[:_NAME])}" for one, name in pairs]
        rows = range(0, len(numbers), _PER_LINE)
        return [" ".join(numbers[start : start + _PER_LINE]) for start in rows]

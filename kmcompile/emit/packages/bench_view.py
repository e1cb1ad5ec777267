"""The queries that `<name>_bench` asks, and the line in which it tells what they took."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.target import Target

MARK = "kmcompile-bench 1"
"""What the line begins with, and the version of its form."""
DIGEST_LETTERS = 12
"""Of the SHA-256 of the C, by which a line is told to belong to a program."""
NUMBERS = ("hz", "queries", "wrong", "lost", "overhead", "min", "median", "max")
"""The fields with numbers of 32 bits, in the order of the line."""

MOST_QUERIES, _LEAST = 16, 3
_TABLE_BYTES = 16384
_CANDIDATES = 200
_NUMBER_LETTERS = len(str(2**32 - 1))
_COUNTER_LETTERS = len(" counter= unit=cycles bits=32") + 16  # with the name of a counter
_SUM_LETTERS = len(" sum=65535")


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """A query with what the C answers.

    Attributes
    ----------
    x : ndarray of shape (n_features,), float32
    label : int or None
        The index of its label; None in a regression.
    lower, upper : float
        The bounds of the answer.
    """

    x: Float32Array
    label: int | None
    lower: np.float32
    upper: np.float32


@dataclass(frozen=True, slots=True)
class Bench:
    """What the templates of `<name>_bench` know.

    Attributes
    ----------
    queries : tuple of BenchQuery
    source : str
        What they are, as the subject of a sentence.
    head : tuple of str
        The beginning of the line, in pieces that fit a line of C.
    text_bytes : int
        The longest line, with the zero at its end.
    """

    queries: tuple[BenchQuery, ...]
    source: str
    head: tuple[str, ...]
    text_bytes: int

    @classmethod
    def of(
        cls,
        program: Program,
        target: Target,
        samples: Sequence[tuple[str, Float32Array]],
        source_text: str,
    ) -> Bench:
        """Return the bench of a program.

        Parameters
        ----------
        program : Program
        target : Target
        samples : sequence of (source, ndarray of shape (n, n_features))
            The first one of which the C accepts a row is asked; without one, the inputs of the
            self-test.
        source_text : str
            The text of `<name>.c`.
        """
        known, scale = program.known_answers.inputs, program.scale
        of_test = np.asarray(known if scale is None else scale.values(known), dtype=np.float32)
        given = [*samples, ("Inputs of the self-test", of_test)]
        found = ((source, _accepted(program, X)) for source, X in given)
        nothing = "All zeros", (_refused(program),)
        source, queries = next((one for one in found if one[1]), nothing)
        head = (
            f"{MARK} name={program.name}",
            f" target={target.name}",
            f" program={digest(source_text.encode('ascii'))}",
        )
        numbers = sum(len(f" {name}=") + _NUMBER_LETTERS for name in NUMBERS)
        letters = sum(map(len, head)) + _COUNTER_LETTERS + numbers + _SUM_LETTERS
        return cls(queries, source, head, letters + 1)


def digest(source: bytes) -> str:
    """Return the letters that stand for a program in the line.

    Examples
    --------
    >>> digest(b"")
    'e3b0c44298fc'
    """
    return hashlib.sha256(source).hexdigest()[:DIGEST_LETTERS]


def _accepted(program: Program, X: Float32Array) -> tuple[BenchQuery, ...]:
    """Return rows that the C accepts, from all parts of the array, with their answers."""
    rows = np.ascontiguousarray(_spread(X, _CANDIDATES), dtype=np.float32)
    if not len(rows):
        return ()
    results = interpret(program, rows).results
    fit = max(_LEAST, min(MOST_QUERIES, _TABLE_BYTES // rows[0].nbytes))
    taken = _spread(np.flatnonzero(results["status"] == Status.OK), fit)
    return tuple(
        BenchQuery(
            rows[i],
            None if program.is_regression else int(results[i]["label"]),
            results[i]["lower"],
            results[i]["upper"],
        )
        for i in taken
    )


def _spread(rows: NDArray[Any], most: int) -> NDArray[Any]:
    """Return at most so many rows, at equal distances."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).astype(int))] if len(rows) else rows


def _refused(program: Program) -> BenchQuery:
    """Return a query where the C accepts none that is known: its answer counts as wrong."""
    zeros, none = np.zeros(program.n_features, dtype=np.float32), np.float32(0.0)
    return BenchQuery(zeros, None if program.is_regression else -1, none, none)

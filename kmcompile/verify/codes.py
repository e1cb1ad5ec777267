"""Codes beside float queries: the inputs of the code entry of an integer format."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.samples import accepted_rows
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, check
from kmcompile.program.program import Program
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.steps.digitize import LARGEST_LOG2, PARTS, Digitize

_SEED = 20030704
_PARTS_OFF = (0, 1 / 2, 1, 3 / 2, 2, 126.5, 127, 127.5, 128, 128.5, 129, 254.5, 255, 255.5) * 2
"""By how many parts of a step a feature is off a code: at the codes, and half way between two."""


def codes_beside(program: Program, X: Float32Array) -> NDArray[np.int64]:
    """Return one input of codes for every float input, of a program in an integer format.

    An input that the float entry accepts gets its codes. The other inputs get codes at the edges:
    all least, all largest, both in turn, random codes, and one feature below the least or above the
    largest code if the type holds such a number.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n_queries, n_features), float32
    """
    table, quantize = program.codes, program.prepare.quantize
    assert table is not None and quantize is not None
    checked = np.flatnonzero(check(X, program.prepare.limit) == Status.OK)
    batch = program.prepare.run(Batch.of(np.ascontiguousarray(X[checked]), program.n_decisions))
    kept = ~program.prepare.beyond(batch)
    codes = np.zeros(X.shape, dtype=np.int64)
    refused = np.ones(len(X), dtype=bool)
    refused[checked[kept]] = False
    codes[~refused] = (batch.x[kept] * quantize.per_unit).astype(np.int64)
    codes[refused] = edge_codes(table, int(refused.sum()))
    return codes


def edge_codes(table: CodeTable | CodeRange, n: int) -> NDArray[np.int64]:
    """Return inputs at the edges of what the code entry accepts, and beyond them.

    Returns
    -------
    ndarray of shape (n, n_features), int64
        The codes, within the range of the C type.
    """
    rng = np.random.default_rng(_SEED)
    limits = np.iinfo(table.width)
    d = table.n_features
    random = rng.integers(table.low, table.high + 1, size=(n, d))
    below, above = random.copy(), random.copy()
    rows = np.arange(n)
    below[rows, rows // 6 % d] = max(table.low - 1, limits.min)
    above[rows, rows // 6 % d] = min(table.high + 1, limits.max)
    in_turn = np.where(np.arange(d) % 2, table.low, table.high) * np.ones((n, 1), dtype=np.int64)
    kinds = np.stack(
        [np.full((n, d), table.low), np.full((n, d), table.high), in_turn, random, below, above]
    )
    edges: NDArray[np.int64] = kinds[rows % len(kinds), rows]
    return edges


def within_scale(program: Program, X: Float32Array) -> Float32Array:
    """Return inputs of which half of those that are refused lie within scale and limit instead.

    In an integer format inputs beyond the scale are refused, which takes few of them to test. Some
    are moved to its ends, others lie anywhere in it. Those of a float32 program stay.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n, n_features), float32, finite
    """
    if program.codes is None or program.scale is None:
        return X
    ends = program.codes.low, program.codes.high
    least, largest = (program.scale.values(np.array([code])) for code in ends)
    reach = np.full(X.shape[1], float(program.prepare.limit))
    step = program.prepare.quantize
    if isinstance(step, Digitize):
        of_steps = np.ldexp(float((1 << LARGEST_LOG2) - 1), -step.exponents.astype(np.int64))
        reach = np.minimum(reach, of_steps)
    least, largest = np.maximum(least, -reach), np.minimum(largest, reach)
    refused = np.flatnonzero(~accepted_rows(program.prepare, X))
    at_ends, anywhere = refused[::4], refused[1::4]
    rng = np.random.default_rng(_SEED)
    made = X.copy()
    made[at_ends] = np.clip(X[at_ends], least, largest)
    made[anywhere] = rng.uniform(least, largest, (len(anywhere), X.shape[1]))
    return made


def inputs_beside_codes(program: Program, X: Float32Array) -> Float32Array:
    """Return inputs on the numbers of codes but for one feature, which is a little off its own.

    Only of a program that measures how far inputs are from their codes in parts of a step: by how
    many parts that feature is off decides the bounds. They are made of accepted inputs; of other
    programs, or if none of X is accepted, there are none.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n, n_features), float32

    Returns
    -------
    ndarray of shape (n_inputs, n_features), float32
    """
    step = program.prepare.quantize
    if not isinstance(step, Digitize) or not step.measures:
        return X[:0]
    found = X[accepted_rows(program.prepare, X)][: len(_PARTS_OFF)].astype(np.float64)
    exponents = step.exponents.astype(np.int64)
    numbers = np.rint(np.ldexp(found, exponents))
    rows = []
    for n, parts in enumerate(_PARTS_OFF if len(found) else ()):
        row = numbers[n % len(found)].copy()
        feature = int(np.argmax(np.abs(row))) if n % 2 else n % len(row)
        code = row[feature] - step.origins[feature]
        inward = 1 if 2 * code < step.low + step.high else -1
        row[feature] += inward * parts / PARTS
        rows.append(np.ldexp(row, -exponents))
    return np.array(rows, dtype=np.float32).reshape(-1, X.shape[1])


def query_words(X: Float32Array, codes: NDArray[np.int64] | None) -> NDArray[np.uint32]:
    """Return the words of the harness's queries: floats and, in an integer format, codes."""
    words = np.ascontiguousarray(X).view(np.uint32)
    if codes is None:
        return words
    return np.hstack([words, codes.astype(np.int32).view(np.uint32)])

"""The words that a compiled model is asked, and those that the interpreter gives for them."""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.audit import Audit, audited
from kmcompile.program.interpreter import Inputs, Status, classify, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import Nonzeros
from kmcompile.verify.codes import codes_beside, query_words
from kmcompile.verify.records import records_of

Words = NDArray[np.uint32]

N_SPREAD = 32
"""Number of queries, evenly spread, that the calls beside those of the harness are asked."""

_FULL = 0xFFFFFFFF
_SETTINGS = (
    Audit(),
    Audit(period=3, state=7),
    Audit(period=1, unlike_period=2),
    Audit(unlike_period=1, state=1),
    Audit(unlike_period=40),
    Audit(period=5, unlike_period=16, state=_FULL),
    Audit(unlike_period=_FULL, state=3),
    Audit(period=1, queries=_FULL - 1, checked=_FULL - 2, differences=_FULL),
    Audit(unlike_period=1, unlike_checked=_FULL - 2, unlike_differences=_FULL),
)
AUDITS = tuple(
    (
        one.period,
        one.state,
        one.queries,
        one.checked,
        one.differences,
        one.unlike_period,
        one.unlike_checked,
        one.unlike_differences,
    )
    for one in _SETTINGS
)
"""What an audit begins with, in the order of the words in templates/evidence."""


def asked_words(program: Program, X: Float32Array) -> Words:
    """Return the words of the queries as the harness takes them."""
    codes = None if program.codes is None else codes_beside(program, X)
    return query_words(X, codes)


def budgets(program: Program) -> tuple[int, ...]:
    """Return the most kernel evaluations that calls with a limit are given, in turn."""
    whole = program.ends.exact.kernel_evaluations()
    near = {0, 1, 2, 3, whole // 2, whole - 1, whole, whole + 1, 2 * whole - 1, 2 * whole, _FULL}
    return tuple(sorted(one for one in near if one >= 0))


def asked_rows(results: NDArray[np.void]) -> tuple[list[int], list[int]]:
    """Return the queries that are asked more, and those that are asked with damaged tables.

    Parameters
    ----------
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE

    Returns
    -------
    rows : list of int
        Evenly spread ones, and one of each path: of each status, stage and flag.
    damaged_rows : list of int
        Of each path an answered one.
    """
    n = len(results)
    spread = [k * n // N_SPREAD for k in range(min(N_SPREAD, n))]
    paths = np.column_stack(
        [results[name].astype(np.int64) for name in ("status", "stage", "certified", "in_range")]
    )
    _, first = np.unique(paths, axis=0, return_index=True)
    answered = [int(row) for row in first if results["status"][row] == Status.OK]
    return sorted({*spread, *first.tolist()}), sorted(answered)


def expected_words(
    program: Program,
    X: Float32Array,
    rows: list[int],
    within: list[bool],
    audits: list[bool],
) -> Words:
    """Return the words that the interpreter gives, in the order in which the C is asked.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n_queries, n_features), float32
    rows : list of int
        The queries that are asked more.
    within, audits : list of bool
        For each function with a limit of kernel evaluations and each audit that the header
        declares: whether it takes codes.
    """
    codes = None if program.codes is None else codes_beside(program, X)
    records = [records_of(interpret(program, X))]
    if codes is not None:
        records.append(records_of(interpret(program, codes)))
    parts = [np.hstack(records).ravel()]
    forms: dict[bool, Inputs] = {False: X[rows]}
    if codes is not None:
        forms[True] = codes[rows]
    parts += [_within(program, forms[of_codes]) for of_codes in within]
    parts += [_audits(program, forms[of_codes]) for of_codes in audits]
    return np.concatenate(parts).astype(np.uint32)


def _within(program: Program, X: Inputs) -> Words:
    """Return the words of the calls with each limit of kernel evaluations."""
    return np.concatenate([_answers(program, classify(program, X, b)[0]) for b in budgets(program)])


def _audits(program: Program, X: Inputs) -> Words:
    """Return the words of audits that begin with each of the settings."""
    early, _ = classify(program, X)
    lists = tuple(stage for stage in program.exits if isinstance(stage, Nonzeros))
    sums, _ = classify(replace(program, mode="exact", exits=lists), X)
    # Without exits the only stage is the last one.
    sums["stage"] += len(program.early_exits)
    parts = []
    for setting in _SETTINGS:
        found = audited(program, X, setting)
        checked = found.by_period | found.by_dissimilarity
        slower = checked & (early["stage"] < len(program.early_exits))
        answers = np.where(slower, sums, early)
        answers["in_range"] = early["in_range"]
        answers["kernel_evals"] = np.where(checked, 0, answers["kernel_evals"])
        parts.append(_answers(program, answers))
        parts.append(np.array(_after(found.audit), dtype=np.uint32))
    return np.concatenate(parts)


def _after(audit: Audit) -> tuple[int, ...]:
    _, state, queries, checked, differences, _, *unlike = astuple(audit)
    return (state, queries, checked, differences, *unlike)


def _answers(program: Program, results: NDArray[np.void]) -> Words:
    """Return the status of each answer, and its words where it is OK."""
    ok = results["status"] == Status.OK
    first = results["value"] if program.is_regression else results["label"]
    flags = results["in_range"] * 2
    if not program.is_regression:
        flags = flags + results["certified"]
    columns = [
        results["status"].view(np.uint32),
        np.ascontiguousarray(first).view(np.uint32),
        np.ascontiguousarray(results["lower"]).view(np.uint32),
        np.ascontiguousarray(results["upper"]).view(np.uint32),
        results["kernel_evals"],
        results["stage"],
        flags,
    ]
    words = np.column_stack([np.asarray(column, dtype=np.uint32) for column in columns])
    kept = np.repeat(ok[:, None], words.shape[1], axis=1)
    kept[:, 0] = True
    return np.asarray(words[kept])

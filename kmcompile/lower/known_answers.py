"""Known answers: inputs and intervals of labels that the self-test of a program checks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Answers, Inputs, Status, interpret
from kmcompile.program.known_answers import KnownAnswers
from kmcompile.program.program import Program

_KNOWN_BYTES = 1024
"""Largest flash of the known answers, from the third one on."""

_TWICE = np.float32(2.0 * (1 + 2.0**-8))


def _certified_twice_over(program: Program, answers: Answers) -> NDArray[np.bool_]:
    """Return which labels stay certified if every bound is doubled."""
    batch = Batch.of(np.zeros((len(answers.decisions), 1), np.float32), program.n_decisions)
    wide = replace(batch, decision=answers.decisions, bound=_TWICE * answers.bounds)
    certified = program.ends.label.run(wide).settled
    both: NDArray[np.bool_] = certified & answers.results["certified"]
    return both


def no_known_answers(n_features: int, n_decisions: int) -> KnownAnswers:
    """Return an empty set of known answers."""
    inputs, empty = (np.zeros((0, n), dtype=np.float32) for n in (n_features, n_decisions))
    return KnownAnswers(inputs, np.zeros(0, np.uint16), empty, empty)


def most_known_answers(program: Program) -> int:
    """Return the most known answers of a program, by the bytes of their inputs."""
    input_bytes = 4 if program.codes is None else np.dtype(program.codes.width).itemsize
    size = input_bytes * program.n_features + 8 * program.n_decisions + 2
    return max(2, _KNOWN_BYTES // size)


def known_answers(program: Program, candidates: Inputs) -> KnownAnswers:
    """Return certified answers, first one of each label, as many as their flash allows.

    A regression has no labels: the answers of the first candidates are taken.

    Each interval is twice as wide as the bounds, because a compiler may contract to fused
    multiply-adds. The bounds hold for any rounding of the operations, so that such a compiler's
    decision differs by at most the sum of its bound and this bound, which differ by less than the
    slack in `_TWICE`. A label becomes a known answer only if every decision in the interval gives
    this label.

    Parameters
    ----------
    program : Program
    candidates : ndarray of shape (n, n_features), float32, or int64 codes in an integer format
    """
    if not len(candidates):
        return no_known_answers(program.n_features, program.n_decisions)
    answers = interpret(program, candidates)
    codes = program.codes
    inputs = candidates if codes is None else candidates.astype(codes.width)
    most = most_known_answers(program)
    sure = _certified_twice_over(program, answers)
    usable = np.flatnonzero((answers.results["status"] == Status.OK) & sure)
    labels = answers.results["label"][usable]
    # One answer of each label first, then further answers in the order of the candidates.
    _, firsts = np.unique(labels, return_index=True)
    rest = np.setdiff1d(np.arange(len(usable)), firsts)
    chosen = usable[np.concatenate([np.sort(firsts), rest])[:most]]
    decisions, reach = answers.decisions[chosen], _TWICE * answers.bounds[chosen]
    return KnownAnswers(
        inputs[chosen],
        np.zeros(0, np.uint16) if program.is_regression else answers.results["label"][chosen],
        np.nextafter(decisions - reach, np.float32(-np.inf)),
        np.nextafter(decisions + reach, np.float32(np.inf)),
    )

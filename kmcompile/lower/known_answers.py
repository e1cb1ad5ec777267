"""Known answers: what the self-test of a program asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Answers, Inputs, Status, interpret
from kmcompile.program.program import KnownAnswers, Program

_KNOWN_BYTES = 1024
"""Flash that the self-test's known answers may take, once there are two of them."""

_TWICE = np.float32(2.0 * (1 + 2.0**-8))


def _certified_twice_over(program: Program, answers: Answers) -> NDArray[np.bool_]:
    """Return which labels stay certified if every bound is twice as wide."""
    batch = Batch.of(np.zeros((len(answers.decisions), 1), np.float32), program.n_decisions)
    wide = replace(batch, decision=answers.decisions, bound=_TWICE * answers.bounds)
    certified = program.ends.label.run(wide).certified
    both: NDArray[np.bool_] = certified & answers.results["certified"]
    return both


def no_known_answers(n_features: int, n_decisions: int) -> KnownAnswers:
    """Return an empty set."""
    empty = np.zeros((0, n_decisions), dtype=np.float32)
    return KnownAnswers(np.zeros((0, n_features), dtype=np.float32), np.zeros(0), empty, empty)


def known_answers(program: Program, candidates: Inputs) -> KnownAnswers:
    """Return certified answers, one of each label as far as the flash for them goes.

    Of a regression, which has no labels, those of the first candidates.

    The intervals are twice as wide as the bounds: the bounds hold for any rounding of the same
    operations, so a compiler that contracts moves a decision by at most its own bound and this
    one, which differ by less than the slack in `_TWICE`. A label is only asked for if it is the
    same anywhere within such intervals.

    Parameters
    ----------
    program : Program
    candidates : ndarray of shape (n, n_features), float32 or, of an integer format, int64 codes
    """
    if not len(candidates):
        return no_known_answers(program.n_features, program.n_decisions)
    answers = interpret(program, candidates)
    codes = program.codes
    inputs = candidates if codes is None else candidates.astype(codes.width)
    size = inputs.dtype.itemsize * program.n_features + 8 * program.n_decisions + 2
    most = max(2, _KNOWN_BYTES // size)
    sure = _certified_twice_over(program, answers)
    usable = np.flatnonzero((answers.results["status"] == Status.OK) & sure)
    labels = answers.results["label"][usable]
    # One of each label first, then more of them in the order of the candidates.
    _, firsts = np.unique(labels, return_index=True)
    rest = np.setdiff1d(np.arange(len(usable)), firsts)
    chosen = usable[np.concatenate([np.sort(firsts), rest])[:most]]
    decisions, reach = answers.decisions[chosen], _TWICE * answers.bounds[chosen]
    return KnownAnswers(
        inputs[chosen],
        np.zeros(0) if program.is_regression else answers.results["label"][chosen],
        np.nextafter(decisions - reach, np.float32(-np.inf)),
        np.nextafter(decisions + reach, np.float32(np.inf)),
    )

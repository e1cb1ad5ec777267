"""Sums in integers lie within their bounds of the trained machine in real numbers, 60 digits."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fixed_sums import GRIDS, Case, bisected, codes_of, in_format, queries, random_machine
from mpmath import mpf

from kmcompile.errors import InputError
from kmcompile.lowering.integer_program import Layout

KINDS = [*GRIDS, "scaled int16", "scaled int8"]
SEEDS = range(8)
QUERIES = 3


@cache
def _case(kind: str, seed: int) -> Case | None:
    """Return a program, or None where gamma is refused."""
    grid = kind if kind in GRIDS else None
    layout = Layout(sparse=seed % 2 == 0, wide_coefficients=seed % 3 == 0)
    try:
        number_format = "lossless" if grid else kind.removeprefix("scaled ")
        return in_format(random_machine(seed, grid), number_format, layout)
    except InputError:
        return None


def check(case: Case, X: np.ndarray) -> float:
    """Check every decision, interval and certified label; return the largest |error| / bound."""
    X, answers = case.answers(X)
    largest = 0.0
    rows = zip(X, answers.decisions, answers.bounds, answers.results, strict=True)
    for x, decisions, bounds, result in rows:
        exact = case.decisions(x)
        for f, decision, bound in zip(exact, decisions, bounds, strict=True):
            share = abs(f - mpf(float(decision))) / mpf(float(bound))
            assert share <= 1, (x.tolist(), decision, bound, float(f))
            largest = max(largest, float(share))
        if result["certified"]:
            assert case.label(exact) == result["label"], x.tolist()
        if len(exact) == 1:
            assert mpf(float(result["lower"])) <= exact[0] <= mpf(float(result["upper"]))
    return largest


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_decisions_lie_within_their_bounds_of_the_real_numbers(kind, seed):
    case = _case(kind, seed)
    if case is None:
        return
    X = queries(case, QUERIES, seed)
    X = np.concatenate([X, bisected(case, X)])
    assert check(case, X) > 0
    assert check(case, codes_of(case, X)) > 0


def test_few_machines_are_refused():
    made = [_case(kind, seed) for kind in KINDS for seed in SEEDS]
    assert sum(case is None for case in made) <= len(made) // 10

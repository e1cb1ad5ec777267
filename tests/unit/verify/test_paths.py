"""Every path of a cascade is found on real data, or named as not found."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kit.covering import every_nth
from kit.hand_made_cascade import digits, digits_cascade, satimage_cascade
from kit.lowered import Lowered
from kit.plans import plan_for
from kmcompile.model.likely_inputs import generate
from kmcompile.program.interpreter import Status, classify, interpret
from kmcompile.program.stages import LinearFilter, NearestVectors, RangeGate
from kmcompile.verify.checks import check_bounded
from kmcompile.verify.path_search import Goal, PathSearch
from kmcompile.verify.paths import path_inputs
from kmcompile.verify.verifier import collect_queries

CASES = {
    "rbf-2": lambda: digits_cascade("rbf", (3, 8)),
    "poly-2": lambda: digits_cascade("poly", (3, 8)),
    "rbf-10": lambda: digits_cascade("rbf"),
    "poly-10": lambda: digits_cascade("poly"),
    "satimage": satimage_cascade,
}


@cache
def made(case: str) -> tuple[Lowered, np.ndarray, np.ndarray, tuple[str, ...]]:
    low = CASES[case]()
    pool = generate(low.machine, 500)
    return (low, pool, *path_inputs(low.program, pool))


def named(notes: tuple[str, ...], what: str) -> list[str]:
    """Return what a note says was not found."""
    start = f"paths: no input found {what}"
    (rest,) = [note.removeprefix(start) for note in notes if note.startswith(start)] or [""]
    return rest.removesuffix(" kernels").split(", ") if rest else []


@pytest.fixture(params=every_nth(list(CASES), 3))
def case(request):
    return request.param


@pytest.mark.exhaustive
def test_every_exit_gives_every_label_or_is_named(case):
    low, _, X, notes = made(case)
    results, _ = classify(low.program, X)
    for number, stage in enumerate(low.program.exit_stages):
        for label, name in enumerate(low.program.classes):
            there = (results["stage"] == number) & (results["label"] == label)
            there &= results["in_range"] & (results["status"] == Status.OK)
            assert there.any() != (str(name) in named(notes, f"to which {stage.name} gives "))


@pytest.mark.exhaustive
def test_nearly_all_exits_are_found(case):
    low, _, _, notes = made(case)
    names = [stage.name for stage in low.program.exit_stages]
    missed = sum(len(named(notes, f"to which {name} gives ")) for name in names)
    assert missed <= 1


@pytest.mark.exhaustive
def test_every_test_of_the_nearest_vectors_decides_or_is_named(case):
    low, _, X, notes = made(case)
    results, _ = classify(low.program, X)
    (number,) = (
        n for n, stage in enumerate(low.program.early_exits) if isinstance(stage, NearestVectors)
    )
    steps = np.unique(low.program.exit_stages[number].steps)
    here = set(results["kernel_evals"][results["stage"] == number].tolist())
    missed = named(notes, "that nearest_vectors decides after ")
    assert {str(k) for k in here} == {str(k) for k in steps} - set(missed)
    assert {int(steps[-1])} <= here


@pytest.mark.exhaustive
def test_inputs_out_of_range_are_found_by_the_gate_and_by_a_projection(case):
    low, _, X, _ = made(case)
    program = low.program
    gate = next(n for n, stage in enumerate(program.exits) if isinstance(stage, RangeGate))
    first = replace(program, exits=program.exits[: gate + 1])
    outside = ~classify(program, X)[0]["in_range"]
    at_the_gate = ~classify(first, X)[0]["in_range"]
    assert at_the_gate.any()
    assert (outside & ~at_the_gate).any()
    assert not outside.all()


def test_the_same_program_gives_the_same_inputs():
    low, pool, X, notes = made("rbf-2")
    again, told = path_inputs(low.program, pool)
    assert again.tobytes() == X.tobytes()
    assert told == notes


def test_an_exit_that_cannot_decide_is_named():
    low, pool, _, _ = made("poly-2")
    exits = tuple(
        replace(stage, half_width=np.full(1, np.inf)) if isinstance(stage, LinearFilter) else stage
        for stage in low.program.exits
    )
    _, notes = path_inputs(replace(low.program, exits=exits), pool)
    assert named(notes, "to which linear_filter gives ") == ["3", "8"]


@pytest.mark.parametrize("most", [100, 101, 500])
def test_a_search_asks_no_more_than_it_may(most):
    low, pool, _, _ = made("rbf-2")
    search = PathSearch(low.program, most, np.random.default_rng(0))
    search.ask(pool[:50])
    goals = [Goal.decided(stage, label) for stage in range(4) for label in range(2)]
    for _ in range(5):
        search.extrapolate(goals)
        search.seek(goals, most)
        label = search.paths.label
        search.straddle(np.flatnonzero(label == 0)[:9], np.flatnonzero(label == 1)[:9])
    assert len(search.X) <= most
    assert len(search.X) == len(search.paths.place) == len(search.paths.label)


@pytest.mark.exhaustive
def test_neighbours_take_different_paths(case):
    low, pool, _, _ = made(case)
    search = PathSearch(low.program, 4000, np.random.default_rng(0))
    paths = search.ask(pool[:300])
    a = np.flatnonzero(search.in_range)[:40]
    b = a[::-1].copy()
    apart = paths.chosen(a).differ(paths.chosen(b))
    a, b = a[apart], b[apart]
    X = search.straddle(a, b)
    assert search.n_left > 0, "it was not stopped"
    left, right = X[: len(a)], X[len(a) :]
    middle = (left.astype(np.float64) / 2 + right.astype(np.float64) / 2).astype(np.float32)
    near = ((middle == left).all(axis=1) | (middle == right).all(axis=1)).mean()
    # Where a feature is 0 on one side, halving it takes more steps than are made.
    assert near >= 0.9
    ways = search.ask(X)
    left_ways, right_ways = ways.chosen(np.arange(len(a))), ways.chosen(np.arange(len(a), len(X)))
    assert left_ways.differ(right_ways).all()
    assert not left_ways.differ(paths.chosen(a)).any()


@pytest.mark.exhaustive
@pytest.mark.parametrize("classes", [(3, 8), tuple(range(10))])
def test_collected_queries_hold_them_behind_the_ordinary_ones(classes):
    low = made("rbf-2" if len(classes) == 2 else "rbf-10")[0]
    X, _ = digits(classes)
    plan = plan_for(low.machine, test_samples=X[1::2].astype(np.float32))
    queries = collect_queries(low.machine, low.program, plan)
    exact = replace(low.program, exits=())
    without = collect_queries(low.machine, exact, plan)
    assert (queries.source, queries.n_given) == ("test-data", len(X[1::2]))
    assert queries.n_ordinary == without.n_ordinary
    assert queries.X[: len(without.X)].tobytes() == without.X.tobytes()
    assert len(queries.X) > len(without.X)
    # All of it passes: exact decisions within their bounds, certified labels right.
    answers = interpret(low.program, queries.X)
    check = check_bounded(low.machine, queries, answers, low.program.early_exits)
    assert check.certified.wrong == check.bounded.sign_disagreements == 0
    decided = sum(stage.decided for stage in check.early_exits)
    given = answers.results[: queries.n_given]
    assert decided == (given["stage"] < len(low.program.early_exits)).sum()

"""Inputs that take every path through a program with early exits, as far as a search finds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.program import Program
from kmcompile.verify.path_search import Goal, PathSearch
from kmcompile.verify.range_inputs import range_inputs

_SEED = 20030702
_WORK = 3_000_000_000
"""Largest number of multiply-adds of the search, if every input reaches the exact sum."""

_FEWEST_CALLS, _MOST_CALLS = 3_000, 20_000
_OF_EACH = 3
"""Number of inputs to find for each path."""

_MOST_ROUNDS = 8
"""Largest number of rounds of search for missing paths, each from other inputs."""

_CALLS_A_PAIR = 40
"""Approximate number of classifications in one bisection."""


def path_inputs(program: Program, pool: Float32Array) -> tuple[Float32Array, tuple[str, ...]]:
    """Return inputs that leave at every stage with every label, and notes on missing ones.

    For each exit stage and label, and each number of kernels after which a stage tests, these are a
    few inputs that leave there, and pairs of neighbours in float32 of which one leaves there.
    Inputs out of the calibrated range follow, with neighbours at its limits.

    Parameters
    ----------
    program : Program
        A program with early exits.
    pool : ndarray of shape (n, n_features), float32
        Inputs to begin with: samples and generated ones, in any order.

    Returns
    -------
    inputs : ndarray of shape (n_inputs, n_features), float32
    notes : tuple of str
        The number of tried inputs, and the paths for which none was found.
    """
    rng = np.random.default_rng(_SEED)
    per_call = program.ends.exact.operations()
    search = PathSearch(program, int(np.clip(_WORK // per_call, _FEWEST_CALLS, _MOST_CALLS)), rng)
    search.ask(pool[rng.permutation(len(pool))[: search.n_left // 4]])
    goals = _goals(program)
    n_calls = search.n_left // 8
    enough = search.n_left - 2 * n_calls
    for _ in range(_MOST_ROUNDS):
        if search.n_left > enough and search.missing(goals):
            search.extrapolate(goals)
            search.seek(goals, n_calls)
    outside, notes = range_inputs(program, search, rng)
    found = [np.flatnonzero(goal.hit(search.paths)) for goal in goals]
    few = np.unique(np.concatenate([rows[:_OF_EACH] for rows in found]))
    pairs = _pairs(search, found, rng)[: search.n_left // _CALLS_A_PAIR]
    neighbours = search.straddle(pairs[:, 0], pairs[:, 1])
    inputs = np.concatenate([search.X[few], outside, neighbours])
    missing = search.missing(goals)
    told = (
        f"paths: {len(search.X)} inputs tried, {len(goals) - len(missing)} of {len(goals)} "
        f"exits found, {len(pairs)} pairs of neighbours that part there",
        *_not_found(program, missing),
        *notes,
    )
    return np.ascontiguousarray(inputs), told


def _goals(program: Program) -> list[Goal]:
    """Return the goals: each exit with each label, and each test of each exit."""
    labels = [None] if program.is_regression else range(len(program.classes))
    goals = [
        Goal.decided(stage, label) for stage in range(len(program.exit_stages)) for label in labels
    ]
    before = 0
    for number, stage in enumerate(program.early_exits):
        goals += [Goal.tested(number, before + k) for k in stage.kernels_at_tests()]
        before += stage.kernel_evaluations()
    return goals


def _pairs(
    search: PathSearch, found: list[NDArray[np.intp]], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return pairs of classified inputs that took different paths, shape (n_pairs, 2).

    An input of each exit is paired with one that leaves elsewhere with the same label, and with one
    that leaves there with another label.
    """
    paths = search.paths
    pairs = []
    for rows in found:
        for a in rows[:1]:
            same_label = paths.label == paths.label[a]
            same_place = paths.place == paths.place[a]
            for others in (same_label & ~same_place, ~same_label & same_place):
                b = np.flatnonzero(others & search.in_range)
                if len(b):
                    pairs.append((int(a), int(rng.choice(b))))
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _not_found(program: Program, missing: list[Goal]) -> list[str]:
    """Return a note for each stage that has missing goals of a kind."""
    notes = []
    for number, stage in enumerate(program.exit_stages):
        own = [goal for goal in missing if goal.stage == number]
        labels = [str(program.classes[t.label]) for t in own if t.label is not None]
        steps = [str(t.kernel_evals) for t in own if t.label is None and not t.is_whole_stage]
        if any(t.label is None and t.is_whole_stage for t in own):
            notes.append(f"paths: no input found that {stage.name} answers")
        if labels:
            notes.append(f"paths: no input found to which {stage.name} gives {', '.join(labels)}")
        if steps:
            notes.append(
                f"paths: no input found that {stage.name} decides after {', '.join(steps)} kernels"
            )
    return notes

"""Samples that repeat others: what is set aside, and that limits hold in both readings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from kmcompile.exits.statistical.readings import Evidence, set_aside
from kmcompile.exits.statistical.risk import Tally
from kmcompile.exits.statistical.samples import split_repeated
from kmcompile.request.counted import Counted

SURE = 1e-6
"""Probability with which a right implementation may fail one of the simulations."""


def groups_of_sizes(rng: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
    """Return the first sample of each sample's group, for groups of some sizes in any order."""
    number = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    return first[inverse]


@pytest.mark.parametrize("share", [0.5, 0.45, 0.2])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 50])
def test_a_group_is_unseen_with_the_same_probability_whatever_its_size(
    size: int, share: float
) -> None:
    rng = np.random.default_rng([size, round(100 * share)])
    group = groups_of_sizes(rng, np.full(20_000, size))
    aside = set_aside(group, share, rng)
    unseen = int(aside.once.sum())
    low, high = binom.ppf([SURE / 2, 1 - SURE / 2], 20_000, share)
    assert low <= unseen <= high
    assert not np.isin(group[aside.seen], group[aside.once]).any()
    assert aside.every.sum() == np.ceil(share * len(group))
    assert not (aside.seen & aside.every).any()


def test_single_samples_are_lost_to_nothing() -> None:
    rng = np.random.default_rng(3)
    aside = set_aside(np.arange(501), 0.5, rng)
    assert np.array_equal(aside.every, aside.once)
    assert np.array_equal(aside.every, ~aside.seen)


def test_a_frequent_input_is_in_the_control_part_whatever_the_fit_sees() -> None:
    group = np.where(np.arange(1000) % 5 == 0, 0, np.arange(1000))
    seen = []
    for seed in range(40):
        aside = set_aside(group, 0.5, np.random.default_rng(seed))
        assert 60 < aside.every[group == 0].sum() < 140
        seen.append(bool(aside.seen[group == 0].any()))
    assert 5 < sum(seen) < 35


def test_parts_of_repeated_samples_keep_what_counts_once_from_the_fit() -> None:
    rng = np.random.default_rng(5)
    group = groups_of_sizes(rng, rng.integers(1, 9, size=400))
    parts = split_repeated(group, Counted.whole(len(group)))
    taught, control = np.concatenate([parts.shape, parts.choice]), parts.control
    assert len(np.unique(group[taught])) == len(taught)
    once = group[control.rows[control.once]]
    assert len(np.unique(once)) == len(once)
    assert not np.isin(once, group[taught]).any()
    assert len(once) + len(taught) == 400
    assert control.every.sum() == np.ceil(len(group) / 2)
    again = split_repeated(group, Counted.whole(len(group)))
    assert np.array_equal(again.control.rows, control.rows)


def test_samples_that_do_not_count_are_no_evidence() -> None:
    rng = np.random.default_rng(6)
    group = groups_of_sizes(rng, rng.integers(1, 4, size=300))
    every = np.arange(len(group)) % 7 != 0
    once = group % 3 != 0
    control = split_repeated(group, Counted(every, once)).control
    assert every[control.rows[control.every]].all()
    assert once[control.rows[control.once]].all()


def test_the_worse_reading_counts() -> None:
    every, once = np.ones(100, dtype=bool), np.arange(100) < 50
    evidence = Evidence(np.arange(100), every, once)
    assert evidence.n == 50
    assert evidence.worst(np.zeros(100, dtype=bool)) == Tally(50, 0)
    heavy = np.arange(100) >= 60
    assert evidence.worst(heavy) == Tally(100, 40)
    assert evidence.worst(~heavy) == Tally(50, 50)


def limits_hold(draw, times: int, seed: int, share_wrong_seen: float = 0.0) -> float:
    """Return in which share of trials the limit is below the true probability.

    A fit is wrong on the inputs that it has not seen, on those of a fixed set, and is right on what
    it has seen: what a fit sees must not count.
    """
    rng, broken = np.random.default_rng(seed), 0
    for _ in range(times):
        atoms, mass, rows, group = draw(rng)
        parts = split_repeated(group, Counted.whole(len(group)))
        seen = np.unique(rows[np.concatenate([parts.shape, parts.choice])])
        hard = atoms < 0.1
        hard[seen] &= atoms[seen] < share_wrong_seen
        wrong = hard[rows[parts.control.rows]]
        limit = parts.control.worst(wrong).limit(confidence=0.9)
        broken += limit < mass[hard].sum()
    return broken / times


def draws_of(rng: np.random.Generator):
    """Return draws of a law of some frequent and many rare inputs."""
    n_atoms, n = 3000, 600
    mass = 1.0 / np.arange(1, n_atoms + 1) ** 1.1
    mass /= mass.sum()
    rows = rng.choice(n_atoms, size=n, p=mass)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return rng.random(n_atoms), mass, rows, first[inverse]


def copies_of(rng: np.random.Generator):
    """Return draws of a law without frequent inputs, of which the hard ones were copied most."""
    n_atoms, n = 100_000, 400
    hardness = rng.random(n_atoms)
    rows = rng.choice(n_atoms, size=n, replace=False)
    rows = rng.permutation(np.repeat(rows, np.where(hardness[rows] < 0.3, 6, 1)))
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return hardness, np.full(n_atoms, 1 / n_atoms), rows, first[inverse]


@pytest.mark.exhaustive
@pytest.mark.parametrize("draw", [draws_of, copies_of])
@pytest.mark.parametrize("share_wrong_seen", [0.0, 0.05, 0.1])
def test_the_limit_holds_for_a_fit_that_knows_what_it_has_seen(draw, share_wrong_seen) -> None:
    times = 1000
    broken = limits_hold(draw, times, 11, share_wrong_seen)
    assert broken * times <= binom.isf(SURE, times, 0.1)

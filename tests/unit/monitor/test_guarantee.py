"""A monitor finds no larger share of fresh usual inputs strange than it promises, and is exact."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.svm import SVC, LinearSVC

from kmcompile import readers
from kmcompile.errors import InputError
from kmcompile.lower.formats import lower_in_format
from kmcompile.monitor.held_out import hold_out
from kmcompile.monitor.monitored import with_monitor
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.program import Program
from kmcompile.request.counted import Counted
from kmcompile.request.options import Options
from kmcompile.target import load_target

SHARE = 0.1
TRIALS, FRESH = 40, 4000
MOST_FAILURES = int(binom.ppf(0.999, TRIALS, 0.01))


@dataclass(frozen=True)
class Asked:
    """The fields of a plan that a monitor needs."""

    samples: np.ndarray
    share: float | None = SHARE
    test_samples: tuple = ()
    counted: Counted | None = None

    @property
    def options(self):
        return Options(monitor=self.share)

    def with_samples(self, rows, counted=None):
        return replace(self, samples=self.samples[rows], counted=counted)


@dataclass(frozen=True)
class OnlyProgram:
    """The field of a chosen program that a monitor needs."""

    program: Program


def tell(_: str) -> None:
    """Say nothing."""


def monitored(program: Program, X: np.ndarray):
    """Return the program with a monitor for samples, and how it was made."""
    held, left = hold_out(Asked(X), tell)
    chosen, made = with_monitor(OnlyProgram(program), held, left, tell)
    return chosen.program, made


def lowered(model, number_format: str = "float32") -> Program:
    machine = readers.load_model(model)
    return lower_in_format(machine, load_target("host"), "iris", number_format).program


@pytest.fixture(scope="module")
def linear() -> Program:
    rng = np.random.default_rng(0)
    X = continuous(rng, 200)
    return lowered(LinearSVC(random_state=0).fit(X, X[:, 0] + X[:, 1] > 0))


def continuous(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return samples with heavy tails, of which no two are near."""
    return (rng.standard_t(3, size=(n, 3)) @ [[1, 0.9, 0], [0, 0.3, 0], [0, 0, 2]]).astype("f4")


def doubled(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return samples each of which is there twice, as in a file joined with itself."""
    X = continuous(rng, n // 2)
    return rng.permutation(np.concatenate([X, X]))


ATOMS = np.random.default_rng(3).normal(size=(4000, 3)).astype(np.float32)
WEIGHTS = 1.0 / np.arange(1, len(ATOMS) + 1) ** 1.1


def discrete(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return inputs of a distribution in which some are frequent."""
    return ATOMS[rng.choice(len(ATOMS), size=n, p=WEIGHTS / WEIGHTS.sum())]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("draw", "fresh"), [(continuous, continuous), (doubled, continuous), (discrete, discrete)]
)
def test_no_larger_share_of_fresh_inputs_is_found_strange(linear, draw, fresh):
    failed = 0
    for trial in range(TRIALS):
        rng = np.random.default_rng([20, trial])
        program, _ = monitored(linear, draw(rng, 400))
        results, _ = classify(program, fresh(rng, FRESH))
        strange = ~results["in_range"][results["status"] == Status.OK]
        failed += int(strange.mean() > SHARE)
    assert failed <= MOST_FAILURES


@pytest.mark.exhaustive
@pytest.mark.parametrize("number_format", ["float32", "int16", "int8"])
def test_at_most_the_place_less_one_of_the_samples_that_set_the_limit_are_beyond(number_format):
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    program = lowered(SVC(gamma=0.001).fit(X[:300], y[:300]), number_format)
    asked = Asked(X[300:], 0.05)
    held, left = hold_out(asked, tell)
    chosen, made = with_monitor(OnlyProgram(program), held, left, tell)
    results, _ = classify(chosen.program, held.limit[held.counted.every])
    beyond = int((~results["in_range"]).sum())
    assert 0 < beyond <= made.place - 1
    assert made.monitor.in_integers == (number_format != "float32")
    assert made.more <= 0.05
    found = {kind: shown.found / shown.queries for kind, shown in made.strange.items()}
    assert min(found["noise"], found["inverted"]) > 0.9


def test_no_sample_is_in_two_parts_and_no_copy_that_counts_once_is_either():
    X = load_breast_cancer().data.astype(np.float32)
    X = np.concatenate([X, X[:100]])
    held, left = hold_out(Asked(X), tell)

    def rows(part):
        return [row.tobytes() for row in part]

    every, once = rows(held.limit[held.counted.every]), rows(held.limit[held.counted.once])
    counts = Counter(rows(X))
    counts.subtract(every + rows(held.shown) + rows(left.samples))
    assert min(counts.values()) >= 0
    assert len(set(once)) == len(once)
    assert not set(once) & set(rows(left.samples[left.counted.once]))


def test_no_more_samples_are_shown_where_they_repeat():
    X = np.tile(continuous(np.random.default_rng(1), 1000), (10, 1))
    assert len(hold_out(Asked(X), tell)[0].shown) <= 500


def test_too_few_samples_name_the_smallest_share_and_how_many_it_needs(linear):
    X = continuous(np.random.default_rng(1), 300)
    with pytest.raises(InputError, match=r"support --monitor 0.031 at least, not 0.01") as raised:
        hold_out(Asked(X, 0.01), tell)
    assert raised.value.exit_code == 3
    assert "ask for --monitor 0.031, or give at least 918 samples" in str(raised.value)
    hold_out(Asked(X, 0.031), tell)
    hold_out(Asked(continuous(np.random.default_rng(1), 930), 0.01), tell)


def test_hardly_any_samples_support_no_monitor():
    with pytest.raises(InputError, match="support no --monitor"):
        hold_out(Asked(continuous(np.random.default_rng(1), 40)), tell)


def test_without_the_option_nothing_is_set_aside(linear):
    asked = Asked(continuous(np.random.default_rng(1), 40), None)
    held, left = hold_out(asked, tell)
    assert held is None
    assert left is asked
    chosen = OnlyProgram(linear)
    assert with_monitor(chosen, held, left, tell) == (chosen, None)


def test_a_fixed_seed_gives_the_same_monitor(linear):
    X = continuous(np.random.default_rng(1), 400)
    first, second = (monitored(linear, X)[0].monitor for _ in range(2))
    assert first.limit == second.limit
    np.testing.assert_array_equal(first.weight, second.weight)

"""--reduce of routed machines: numbers of vectors, methods, `auto` and errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kit.reduced_leaves import sizes_of
from kit.routed import Routed, samples
from kmcompile.choice.asked_vectors import as_asked
from kmcompile.errors import InputError
from kmcompile.exits.statistical.binomial import clopper_pearson_upper
from kmcompile.kernels import Laplacian
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.request.options import Options
from kmcompile.request.plan import Request
from kmcompile.training import FaLKSVC


def leaf_counts(machine) -> np.ndarray:
    return np.diff(machine.routing.leaf_ends, prepend=0)


def board(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a board of 2 x 2 fields, of whose labels a tenth are flipped."""
    rng = np.random.default_rng(seed)
    X = np.float32(rng.random((n, 2))).astype(np.float64)
    y = np.floor(2 * X).sum(axis=1) % 2
    return X, np.where(rng.random(n) < 0.1, 1 - y, y).astype(int)


def noisy():
    X, y = board(300, 0)
    cells = FaLKSVC(k=80, C=1.0, gamma=8.0, selection="nearest_centre", random_state=0)
    return load_model(cells.fit(X, y))


def reduced(machine, data=None, most_of_leaf=None, **options):
    path = None
    if data is not None:
        path = Path("samples.npz")
        np.savez(path, X=np.float32(data))
    request = Request.of(machine, Options(**{"data": path, "mode": "exact"} | options))
    return as_asked(machine, request.plan(machine), lambda _: None, most_of_leaf)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_the_leaves_have_so_many_vectors_together(n):
    machine = Routed("wine", 5, "chain", extra="widths").machine()
    made = sizes_of(machine).at(n).machine
    assert made.n_support_vectors == n
    sizes = leaf_counts(made)
    assert (sizes <= leaf_counts(machine)).all()
    for leaf in np.flatnonzero(sizes):
        before = machine.routing.relative_gamma[machine.routing.members(leaf)]
        after = made.routing.relative_gamma[made.routing.members(leaf)]
        assert (after == before[0]).all()


def test_more_vectors_are_nearer():
    machine = noisy()
    sizes = sizes_of(machine)
    distances = [sizes.distance(sizes.at(n).machine) for n in (4, 12, 36)]
    assert distances == sorted(distances, reverse=True) and distances[-1] < distances[0] / 3


def test_the_vectors_of_a_kernel_without_derivative_stay_in_place():
    machine = replace(Routed("iris", 5).machine(), kernel=Laplacian(0.2))
    made = sizes_of(machine).at(9)
    assert made.method == "orthogonal_least_squares"
    before = {row.tobytes() for row in machine.support_vectors}
    assert {row.tobytes() for row in made.machine.support_vectors} <= before


def test_a_leaf_of_too_many_vectors_is_reduced_and_the_others_stay():
    machine = Routed("wine", 4).machine()
    made = reduced(machine, most_of_leaf=24)
    before, after = leaf_counts(machine), leaf_counts(made.machine)
    assert before.max() > 24 and after.max() <= 24
    small = np.flatnonzero(before <= 24)
    assert len(small) and (after[small] == before[small]).all()
    assert "a leaf has at most 24 vectors for --max-instructions" in made.reduction.notes
    for leaf in small:
        np.testing.assert_array_equal(
            made.machine.support_vectors[made.machine.routing.members(leaf)],
            machine.support_vectors[machine.routing.members(leaf)],
        )


def test_no_leaf_of_a_number_of_vectors_is_too_large():
    machine = Routed("wine", 4).machine()
    made = reduced(machine, most_of_leaf=6, reduce="20")
    assert made.machine.n_support_vectors == 20
    assert leaf_counts(made.machine).max() <= 6
    assert leaf_counts(reduced(machine, reduce="20").machine).max() > 6


def test_samples_say_how_often_a_smaller_machine_differs():
    machine = noisy()
    X = board(2000, 1)[0]
    made = reduced(machine, X, reduce="12")
    chosen = made.reduction.chosen
    hold = made.plan.samples
    unlike = evaluate(made.machine, hold).labels != evaluate(machine, hold).labels
    assert chosen.n_samples == len(hold) and chosen.disagreements == unlike.sum()


def test_imitation_does_not_make_more_errors_on_the_samples_that_choose():
    machine = noisy()
    X = board(3000, 1)[0]
    with_samples = sizes_of(machine, X)
    alone = sizes_of(machine).at(6)
    made = with_samples.at(6)
    pick = with_samples.pick
    assert pick.disagreements(made.machine) <= pick.disagreements(alone.machine)
    assert made.method in ("construction", "imitation")


@pytest.mark.exhaustive
def test_auto_keeps_the_risk_on_samples_that_nothing_else_saw():
    machine = noisy()
    made = reduced(machine, board(2500, 1)[0], reduce="auto", risk=0.03)
    chosen = made.reduction.chosen
    assert chosen.n_vectors == made.machine.n_support_vectors < machine.n_support_vectors / 4
    assert chosen.limit <= 0.03
    assert chosen.limit == clopper_pearson_upper(chosen.disagreements, chosen.n_samples)


def test_a_regression_disagrees_beyond_the_tolerance():
    machine = Routed("diabetes", 9).machine()
    X = samples("diabetes")[0]
    rng = np.random.default_rng(0)
    data = np.vstack([X + rng.normal(size=X.shape) / 2 for _ in range(3)])
    made = reduced(machine, data, reduce="20", tolerance=0.2, mode="certified")
    hold = made.plan.samples
    apart = evaluate(machine, hold).decisions - evaluate(made.machine, hold).decisions
    assert (np.abs(apart) > 0.2).sum() == made.reduction.chosen.disagreements


def test_the_same_input_gives_the_same_machine():
    first, second = (reduced(noisy(), board(800, 1)[0], reduce="15") for _ in range(2))
    assert first.machine.canonical_bytes() == second.machine.canonical_bytes()


def test_as_many_vectors_as_there_are_is_the_machine_itself():
    machine = Routed("iris", 5).machine()
    assert reduced(machine, reduce="24").machine is machine


def test_more_vectors_than_have_a_part_are_refused():
    machine = Routed("iris", 5).machine()
    twice = replace(
        machine,
        support_vectors=np.repeat(machine.support_vectors, 2, axis=0),
        dual_coef=np.repeat(machine.dual_coef, 2, axis=1) / 2,
        routing=replace(
            machine.routing,
            leaf_ends=2 * machine.routing.leaf_ends,
            relative_gamma=np.repeat(machine.routing.relative_gamma, 2),
        ),
    )
    with pytest.raises(InputError, match="only 24 of the leaves' 48 vectors are no combinations"):
        reduced(twice, reduce="30")


def test_leaves_that_cannot_be_reduced_are_refused_by_name():
    poly = Routed("wine", 5, "chain", "poly").machine()
    with pytest.raises(
        InputError, match="leaves are reduced for the kernels rbf, laplacian, chi2, matern, "
    ):
        reduced(poly, reduce="9")
    machine = Routed("iris", 5).machine()
    gammas = np.linspace(0.5, 1.0, machine.n_support_vectors)
    several = replace(machine, routing=replace(machine.routing, relative_gamma=gammas))
    with pytest.raises(InputError, match="different gammas: they are not reduced"):
        reduced(several, reduce="9")

"""Building sign maps: boxes are proved, sizes are kept, what has no map gets none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC

from kit.covering import every_nth
from kit.lowered import program_of
from kit.real_model import RealModel
from kit.sign_maps import CASES, Mapped
from kmcompile import readers
from kmcompile.exits.certified.density import density, spread_points
from kmcompile.exits.certified.pruning import Forest, kinds
from kmcompile.exits.certified.sign_map import build_sign_map, proof_of, usual_bytes
from kmcompile.exits.certified.subdivision import subdivide
from kmcompile.passes import run_passes
from kmcompile.program.stages.early_exits.sign_map import HALVED, map_bytes, step_operations

N_BOXES = 25


def subdivided(case: Mapped, most_halved: int):
    """Return a proof with boxes of the fourth level and some below it."""
    proof = proof_of(run_passes(case.machine), spread_points(case.samples[0]))
    assert proof is not None
    likely = density(proof.lattice, spread_points(case.samples[0]))
    keys = likely.occupied(4)
    expanded = proof.expand(keys, 4)
    return proof, likely, subdivide(proof.expansions.basis, likely, 4, keys, expanded, most_halved)


@pytest.mark.parametrize("case", every_nth(CASES, 5))
def test_boxes_have_their_sign_with_all_that_is_added_to_them(case):
    """Corners and inner points of proved boxes, in real numbers."""
    rng = np.random.default_rng(0)
    proof, _, found = subdivided(case, 300)
    boxes = proof.lattice
    real = RealModel(case.estimator)
    for depth, level in enumerate(found.levels):
        number = found.first_level + depth
        proved = np.flatnonzero(level.signs != 0)
        for box in rng.permutation(proved)[: N_BOXES // len(found.levels) + 2]:
            centre = boxes.centres(level.keys[[box]], number)[0]
            half = boxes.half_widths(number) * (1 + boxes.inflation(number))
            y = rng.uniform(-1, 1, size=(6, len(half)))
            y[:3] = np.sign(y[:3])
            for x in centre + y * half:
                f = real.decisions(x)[0]
                assert mp.sign(f) == level.signs[box]
                assert found.least <= abs(f) <= found.largest


@pytest.mark.exhaustive
def test_more_bytes_decide_more_and_none_is_exceeded():
    case = CASES[4]
    machine, samples = run_passes(case.machine), case.samples[0]
    decided = []
    for size in (20, 100, 400, 1000, 2000):
        stage = build_sign_map(machine, case.plain, samples, size)
        assert stage is not None
        assert sum(table.n_bytes for table in stage.tables()) <= size
        decided.append((stage.kinds(case.samples[2])[0] < HALVED).mean())
    assert decided == sorted(decided)
    assert decided[-1] > 0.95 > decided[0] > 0


def test_by_default_a_map_is_no_larger_than_the_tables_of_the_sum():
    case = CASES[4]
    size = usual_bytes(case.plain)
    stage = build_sign_map(run_passes(case.machine), case.plain, case.samples[0], size)
    assert stage is not None
    exact_bytes = sum(table.n_bytes for table in case.plain.ends.exact.tables())
    assert sum(table.n_bytes for table in stage.tables()) <= min(exact_bytes, 20_000)


def test_the_same_samples_give_the_same_map():
    case = CASES[4]
    both = [
        build_sign_map(run_passes(case.machine), case.plain, case.samples[0], 500) for _ in range(2)
    ]
    assert both[0] is not None and both[1] is not None
    for one, other in zip(both[0].tables(), both[1].tables(), strict=True):
        np.testing.assert_array_equal(one.values, other.values)


def test_a_forest_says_of_every_input_what_the_subdivision_says():
    case = CASES[4]
    proof, likely, found = subdivided(case, 200)
    boxes, n_features = proof.lattice, 2
    for root_level in (2, 4, 5):
        pruned = Forest(found, likely, root_level, 0.0, 32).pruned(root_level, 0.0)
        roots = np.unique(likely.keys >> (n_features * (boxes.last_level - root_level)))
        by_level = kinds(pruned, roots, n_features)
        open_share = likely.of(roots, root_level).sum()
        node_keys = roots
        for depth, level in enumerate(by_level):
            share = likely.of(node_keys, root_level + depth)
            open_share -= share[level < HALVED].sum()
            parts = (node_keys[level == HALVED, None] << n_features) + np.arange(4)
            node_keys = parts.reshape(-1)
        assert open_share == pytest.approx(1.0 - pruned.gain, abs=1e-9)


def test_a_dearer_halving_gives_fewer_of_them():
    _, likely, found = subdivided(CASES[4], 200)
    forest = Forest(found, likely, 4, step_operations(2) / 1000, 32)
    pruned = [forest.pruned(3, price) for price in (0.0, 1e-4, 1e-3, 1e-2, 1.0)]
    n_halved = [item.n_halved for item in pruned]
    assert n_halved == sorted(n_halved, reverse=True)
    assert n_halved[0] > n_halved[-1] == 0
    assert forest.fitted(3, 30).n_halved <= 30


def fitted(n_features: int, steps=(), n_classes: int = 2, **parameters):
    X, y = make_moons(200, noise=0.2, random_state=0)
    X = np.column_stack([X, X[:, ::-1]])[:, :n_features]
    y = np.where((y == 1) & (X[:, 0] > 1), n_classes - 1, y)
    estimator = make_pipeline(*steps, SVC(**parameters)).fit(X, y)
    return readers.load_model(estimator), X.astype(np.float32)


@pytest.mark.parametrize(
    "case",
    [
        {"n_features": 4},
        {"n_features": 2, "n_classes": 3},
        {"n_features": 2, "steps": [Normalizer()]},
        {"n_features": 2, "steps": [MinMaxScaler(clip=True)]},
        {"n_features": 2, "kernel": "poly", "degree": 7},
        {"n_features": 2, "kernel": "sigmoid"},
    ],
    ids=str,
)
def test_what_cannot_be_mapped_gets_no_map(case):
    machine, X = fitted(**case)
    assert build_sign_map(run_passes(machine), program_of(machine), X, 2000) is None


def test_no_bytes_or_no_samples_give_no_map():
    machine, X = fitted(2, [StandardScaler()])
    program = program_of(machine)
    assert build_sign_map(run_passes(machine), program, X, 0) is None
    assert build_sign_map(run_passes(machine), program, X[:0], 1000) is None


def test_a_map_of_an_intercept_far_from_0_has_one_sign():
    machine, X = fitted(2, [StandardScaler()])
    machine = replace(machine, intercept=np.array([-1e3]))
    stage = build_sign_map(run_passes(machine), program_of(machine), X, 500)
    assert stage is not None
    assert (stage.kinds(X)[0] == 0).all()


@pytest.mark.parametrize("n_nodes", [1, 31, 32, 33, 64, 65, 1000])
def test_bytes_of_a_map(n_nodes):
    n_words = -(-n_nodes // 32)
    assert map_bytes(n_nodes) == 2 * 4 * n_words + 2 * -(-n_nodes // 64)

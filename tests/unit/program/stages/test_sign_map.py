"""The sign map: no sign is ever another than the model's, and the C finds the same boxes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kit.covering import every_nth
from kit.emitted import Emitted
from kit.host_program import BATCH_MAIN, STRICT, build_program, run_batch
from kit.real_model import RealModel
from kit.sign_maps import CASES, Mapped
from kmcompile.model.likely_inputs import edge_inputs, generate
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.program.cost import worst_operations
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages.early_exits.sign_map import HALVED, OPEN, SignMap, map_bytes
from kmcompile.program.storage import load, save
from kmcompile.target import load_target

N_EDGES = 1500
N_NEAREST = 30


def inputs_at_edges(stage: SignMap) -> np.ndarray:
    """Return float32 inputs on edges and corners of boxes of the last level, and on both sides."""
    rng = np.random.default_rng(5)
    n = stage.across.astype(np.int64) << stage.depth
    places = rng.integers(0, n + 1, size=(N_EDGES, stage.n_features))
    corners = stage.low.astype(np.float64) + places / stage.scale.astype(np.float64)
    corners = corners.astype(np.float32)
    away = rng.choice(np.array([-np.inf, 0.0, np.inf], dtype=np.float32), size=corners.shape)
    inside = rng.uniform(0.0, 1.0, size=corners.shape) / stage.scale
    on_edges = np.where(rng.random(corners.shape) < 0.5, corners, corners + inside)
    beside = np.where(away == 0, corners, np.nextafter(corners, away))
    return np.concatenate([corners, beside, on_edges.astype(np.float32)])


def inputs_everywhere(stage: SignMap) -> np.ndarray:
    """Return float32 inputs in the grid, around it, huge, tiny, subnormal and zeros."""
    rng = np.random.default_rng(6)
    low, width = stage.low.astype(np.float64), stage.width.astype(np.float64)
    anywhere = low + rng.uniform(-0.3, 1.3, size=(1500, stage.n_features)) * width
    special = np.array([0.0, -0.0, 1e-45, -1e-45, 1e-39, -1e-39, 1e-30, 1e5, -1e5, 1e9])
    mixed = rng.choice(special, size=(200, stage.n_features))
    one = np.where(rng.random(mixed.shape) < 0.5, anywhere[:200], mixed)
    return np.concatenate([anywhere, mixed, one]).astype(np.float32)


def boundary_neighbours(case: Mapped) -> np.ndarray:
    """Return pairs of neighbouring float32 inputs between which the label changes."""
    rng = np.random.default_rng(7)
    X = case.samples[2]
    labels = evaluate(case.machine, X).labels
    first = X[rng.permutation(np.flatnonzero(labels == 0))[:150]]
    second = X[rng.permutation(np.flatnonzero(labels == 1))[: len(first)]]
    a, b = first[: len(second)], second
    for _ in range(60):
        middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
        same = evaluate(case.machine, middle).labels[:, None] == 0
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.concatenate([a, b])


@cache
def queries_of(case: Mapped) -> np.ndarray:
    """Return inputs of every kind, as far as the program accepts them."""
    stage = case.stage
    X = np.concatenate(
        [
            case.samples[2],
            inputs_at_edges(stage),
            inputs_everywhere(stage),
            boundary_neighbours(case),
            generate(case.machine, 600),
            edge_inputs(case.machine, case.plain.prepare.limit),
        ]
    )
    return X[interpret(case.plain, X).results["status"] == Status.OK]


@pytest.mark.parametrize("case", every_nth(CASES, 5))
def test_every_interval_holds_the_decision_and_every_label_is_the_model_s(case):
    X = queries_of(case)
    reference = evaluate(case.machine, X)
    batch = case.plain.prepare.run(Batch.of(X, 1))
    after, decided = case.stage.decide(batch, case.plain.ends)
    assert decided[: len(case.samples[2])].mean() > 0.5
    assert set(after.label[decided]) == {0, 1}
    f, error = reference.decisions[decided], reference.error[decided]
    assert (after.least[decided] <= f + error).all()
    assert (after.most[decided] >= f - error).all()
    clear = np.abs(f[:, 0]) > error[:, 0]
    assert (after.label[decided][clear] == reference.labels[decided][clear]).all()
    assert clear.mean() > 0.99


@pytest.mark.parametrize("case", every_nth(CASES, 5))
def test_the_decided_inputs_nearest_to_the_boundary_have_the_label_in_real_numbers(case):
    X = queries_of(case)
    decided = case.stage.kinds(X)[0] < HALVED
    X, kind = X[decided], case.stage.kinds(X)[0][decided]
    nearest = np.argsort(np.abs(evaluate(case.machine, X).decisions[:, 0]))[:N_NEAREST]
    real = RealModel(case.estimator)
    for x, sign in zip(X[nearest], kind[nearest], strict=True):
        f = real.decisions(x)[0]
        assert (f > 0) == (sign == 1)
        assert case.stage.least <= abs(f) <= case.stage.largest


@pytest.mark.parametrize("case", every_nth(CASES, 5))
def test_the_c_gives_the_interpreter_s_answers_bit_for_bit(case, tmp_path):
    program = replace(case.program, name="iris")
    emitted = Emitted(case.machine, program, load_target("host"), queries_of(case))
    sources = ("iris.c", "iris_harness.c")
    built = build_program(emitted, tmp_path, BATCH_MAIN, (*STRICT, "-O2"), sources=sources)
    records, self_test = run_batch(built, emitted, emitted.inputs)
    np.testing.assert_array_equal(records, emitted.records)
    assert self_test == Status.OK
    assert len(set(emitted.answers.results["stage"])) == 2


def test_an_input_outside_the_grid_is_open():
    stage = CASES[4].stage
    corner = stage.low
    last = np.nextafter(stage.low + stage.width, np.float32(-np.inf))
    outside = [np.nextafter(corner, np.float32(-np.inf)), stage.low + stage.width, last * 1e9]
    assert (stage.kinds(np.array(outside, dtype=np.float32))[0] == OPEN).all()
    assert stage.places(np.array([corner]))[1].all()


def test_kinds_are_read_back_as_they_were_written():
    rng = np.random.default_rng(8)
    kinds = rng.choice([0, 1, 3], size=500).astype(np.uint8)
    halved = np.sort(rng.permutation(64)[:40])
    kinds[:64][halved] = HALVED
    kinds = kinds[: 64 + 4 * len(halved)]
    one = np.float32(1.0)
    stage = SignMap.of(kinds, [0.0, -4.0], [1.0, 0.5], [4, 16], 1, (one, one))
    places = np.stack(np.meshgrid(np.arange(8), np.arange(32), indexing="ij"), -1).reshape(-1, 2)
    X = (np.array([0.0, -4.0]) + (places + 0.5) * [0.5, 0.25]).astype(np.float32)
    root = (places[:, 0] // 2) * 16 + places[:, 1] // 2
    part = places[:, 0] % 2 + 2 * (places[:, 1] % 2)
    below = 64 + 4 * np.searchsorted(halved, root) + part
    expected = np.where(
        kinds[root] == HALVED, kinds[np.minimum(below, len(kinds) - 1)], kinds[root]
    )
    np.testing.assert_array_equal(stage.kinds(X)[0], expected)
    assert sum(table.n_bytes for table in stage.tables()) == map_bytes(len(kinds))


@pytest.mark.parametrize("case", [CASES[4], CASES[5], CASES[6]], ids=str)
def test_a_map_is_stored_and_read_back(case):
    again = load(save(case.program), "program.npz")
    X = queries_of(case)
    np.testing.assert_array_equal(interpret(again, X).results, interpret(case.program, X).results)


@pytest.mark.parametrize("case", [CASES[4], CASES[5]], ids=str)
def test_no_query_takes_more_operations_than_the_worst_case(case):
    answers = interpret(case.program, queries_of(case))
    assert answers.operations.max() <= worst_operations(case.program)


def test_a_map_with_ranks_of_other_boxes_is_refused():
    case = CASES[5]
    ranks = replace(case.stage, ranks=np.roll(case.stage.ranks, 1))
    more = replace(case.stage, n_nodes=case.stage.n_nodes - 1)
    words = replace(case.stage, outer=np.append(case.stage.outer, np.uint32(0)))
    refused = {
        "the map's ranks are not": ranks,
        "the map's halved boxes": more,
        "the map has other words": words,
    }
    for reason, stage in refused.items():
        with pytest.raises(ValueError, match=reason):
            replace(case.program, exits=(*case.plain.exits, stage))


@pytest.mark.parametrize("case", [CASES[4], CASES[5]], ids=str)
def test_damaged_tables_read_no_place_outside(case, tmp_path):
    """The sanitizers stop a program that reads outside an array."""
    rng = np.random.default_rng(9)
    stage = case.stage
    damaged = replace(
        stage,
        outer=rng.integers(0, 1 << 32, size=len(stage.outer), dtype=np.uint32),
        inner=rng.integers(0, 1 << 32, size=len(stage.inner), dtype=np.uint32),
        ranks=rng.integers(0, 1 << 16, size=len(stage.ranks), dtype=np.uint16),
    )
    program = replace(case.program, name="iris")
    # As radiation does: a program of these tables cannot be made.
    object.__setattr__(program, "exits", (*case.plain.exits, damaged))
    X = queries_of(case)
    emitted = Emitted(case.machine, program, load_target("host"), X)
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    sources = ("iris.c", "iris_harness.c")
    built = build_program(emitted, tmp_path, BATCH_MAIN, flags, sources=sources)
    run_batch(built, emitted, np.ascontiguousarray(X).view(np.uint32))

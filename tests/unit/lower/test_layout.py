"""Tables of the sums: they hold exactly the machine's coefficients, and padding adds nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from kit.lowered import lowered
from kmcompile.kernels import Rbf
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.sums import lower_sum, sign_groups
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.program.stages import ExactSum, LinearSum

LANES = (1, 2, 4, 8, 16)


def fitted(n_classes: int, classifier=None):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 3))
    y = np.argmax(X @ rng.normal(size=(3, n_classes)), axis=1)
    y[:n_classes] = np.arange(n_classes)
    return (classifier or SVC(C=2.0)).fit(X, y)


def spread_out(stage: ExactSum) -> dict[tuple[int, bytes], float]:
    """Return the coefficient of every decision and vector, out of groups, blocks and lanes."""
    found: dict[tuple[int, bytes], float] = {}
    first = 0
    for end, decisions in zip(stage.group_ends, stage.group_decisions, strict=True):
        for block in range(first, end):
            for lane in range(stage.lanes):
                vector = stage.vectors[block, :, lane].tobytes()
                for row, p in enumerate(decisions):
                    key = (int(p), vector)
                    found[key] = found.get(key, 0.0) + float(stage.coefficients[block, row, lane])
        first = end
    return found


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_groups_and_blocks_hold_the_machines_coefficients(n_classes, lanes):
    machine = lowered(fitted(n_classes)).machine
    stage = lower_sum(machine, lanes, SumContext())
    expected = {}
    for p, row in enumerate(decision_coefficients(machine)):
        for beta, vector in zip(row, machine.support_vectors, strict=True):
            key = (p, vector.astype(np.float32).tobytes())
            expected[key] = expected.get(key, 0.0) + float(np.float32(beta))
    found = spread_out(stage)
    for key, beta in expected.items():
        assert found.get(key, 0.0) == beta
    assert all(expected.get(key, 0.0) == beta for key, beta in found.items())
    assert stage.n_vectors == machine.n_support_vectors


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_within_a_group_each_row_of_coefficients_has_one_sign(n_classes, lanes):
    stage = lower_sum(lowered(fitted(n_classes)).machine, lanes, SumContext())
    first = 0
    for end in stage.group_ends:
        rows = stage.coefficients[first:end].transpose(1, 0, 2).reshape(stage.n_rows, -1)
        assert ((rows >= 0).all(axis=1) | (rows <= 0).all(axis=1)).all()
        first = end


def of_ones(n: int) -> KernelMachine:
    return KernelMachine(
        kind="OneClassSVM",
        task=Task.ONE_CLASS,
        kernel=Rbf(0.5),
        support_vectors=np.linspace(0.0, 1.0, n)[:, None],
        dual_coef=np.ones((1, n)),
        intercept=np.zeros(1),
        classes=(-1, 1),
        n_features=1,
    )


@pytest.mark.parametrize("n", [3, 128, 129, 5_000, 17_001])
def test_a_group_of_many_blocks_is_parted_so_that_few_roundings_act_on_a_product(n):
    machine = of_ones(n)
    stage = lower_sum(machine, 4, SumContext())
    n_blocks = -(-n // 4)
    ends = stage.group_ends.astype(int)
    most = 4 if n_blocks > 32 else 32
    assert ends[-1] == stage.n_blocks == n_blocks
    assert np.diff(ends, prepend=0).max() <= most
    assert len(ends) == stage.most_totals == -(-n_blocks // most)
    assert stage.compensates == (n_blocks > 32)
    assert (stage.group_decisions == 0).all()
    slots = stage.vectors[:, 0].ravel()[:n]
    assert (slots == machine.support_vectors[:, 0].astype(np.float32)).all()


@pytest.mark.parametrize("lanes", LANES)
def test_padding_is_a_copy_of_a_vector_with_coefficient_zero(lanes):
    machine = lowered(fitted(3)).machine
    stage = lower_sum(machine, lanes, SumContext())
    stored = {v.tobytes() for v in machine.support_vectors.astype(np.float32)}
    padding = 0
    for block in range(stage.n_blocks):
        for lane in range(lanes):
            assert stage.vectors[block, :, lane].tobytes() in stored
            padding += not stage.coefficients[block, :, lane].any()
    assert stage.n_blocks * lanes - padding == machine.n_support_vectors


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_padded_lanes_change_no_bit_of_an_answer(n_classes, lanes):
    """Moving the padding's vectors and the order of nothing else gives the same bits."""
    low = lowered(fitted(n_classes), lanes)
    X = low.queries
    answers = low.answers(X)
    stage = low.program.sum
    assert isinstance(stage, ExactSum)
    moved = np.array(stage.vectors)
    moved[np.repeat(~stage.coefficients.any(axis=1)[:, None, :], stage.n_features, axis=1)] = 0.25
    prepared = low.prepared(X)
    result = ExactSum(
        **{f: getattr(stage, f) for f in stage.__slots__ if f != "vectors"}, vectors=moved
    ).run(prepared)
    np.testing.assert_array_equal(
        result.decision.view(np.uint32), answers.decisions.view(np.uint32)
    )
    np.testing.assert_array_equal(result.bound.view(np.uint32), answers.bounds.view(np.uint32))


def test_other_lanes_give_answers_within_both_bounds():
    """The order of the sum changes, the real number does not."""
    model = fitted(3)
    one = lowered(model, 1)
    X = one.queries
    base = one.answers(X)
    for lanes in LANES[1:]:
        other = lowered(model, lanes).answers(X)
        apart = np.abs(other.decisions.astype(np.float64) - base.decisions)
        assert (apart <= base.bounds.astype(np.float64) + other.bounds).all()
        both = base.results["certified"] & other.results["certified"]
        assert (base.results["label"] == other.results["label"])[both].all()


@pytest.mark.parametrize("lanes", LANES)
def test_a_linear_machine_becomes_one_weight_vector_a_decision(lanes):
    model = fitted(5, LinearSVC(random_state=0))
    stage = lowered(model, lanes).program.sum
    assert isinstance(stage, LinearSum)
    rows = stage.weights.transpose(0, 2, 1).reshape(-1, 3)
    np.testing.assert_array_equal(rows[:5], model.coef_.astype(np.float32))
    assert not rows[5:].any()
    np.testing.assert_array_equal(stage.intercept, model.intercept_.astype(np.float32))


@pytest.mark.parametrize(("classes", "mixed"), [(2, False), (8, True)])
def test_vectors_of_many_classes_are_one_group_where_groups_by_signs_leave_blocks_empty(
    classes, mixed
):
    rng = np.random.default_rng(4)
    machine = KernelMachine(
        kind="LinearSVC",
        task=Task.ONE_VS_REST,
        kernel=Rbf(0.5),
        support_vectors=rng.normal(size=(40, 3)),
        dual_coef=rng.normal(size=(classes, 40)),
        intercept=np.zeros(classes),
        classes=tuple(range(classes)),
        n_features=3,
    )
    stage = lower_sum(machine, 4, SumContext())
    assert stage.mixed_signs is mixed
    signed = [group.rows for group in sign_groups(machine)]
    assert all((np.ptp(np.sign(rows), axis=1) < 2).all() for rows in signed)
    blocks = 10 if mixed else sum(-(-rows.shape[1] // 4) for rows in signed)
    assert stage.n_blocks == blocks

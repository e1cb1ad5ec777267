"""Local expansions: their intervals hold f, and each term of the bound is needed."""

from __future__ import annotations

from dataclasses import fields, replace

import mpmath
import numpy as np
import pytest

from kit import catalogue, expansions
from kit.emitted import Emitted
from kit.lowered import program_of
from kmcompile.exits.certified.expansion import Vectors, expand
from kmcompile.exits.certified.expansion_constants import linear_rows
from kmcompile.exits.certified.expansion_tree import Centre
from kmcompile.exits.certified.likely_labels import likely_labels
from kmcompile.exits.certified.lower_expansion import curvature, lower_local_expansion
from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import UNKNOWN, Batch
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import LocalExpansion
from kmcompile.program.stages.early_exits.nearest_centre import nearest


def stage_of(emitted: Emitted) -> LocalExpansion:
    return next(s for s in emitted.program.stages if isinstance(s, LocalExpansion))


def batch_of(emitted: Emitted) -> tuple[np.ndarray, Batch]:
    """Return the queries that are accepted and their prepared batch."""
    program = emitted.program
    X = emitted.queries[emitted.answers.results["status"] == Status.OK]
    return X, program.prepare.run(Batch.of(X, program.n_decisions))


@pytest.mark.parametrize("case", expansions.CORE, ids=str)
def test_every_interval_holds_the_decisions(case):
    emitted = catalogue.emitted(case, "host")
    X, batch = batch_of(emitted)
    reference = evaluate(emitted.machine, X)
    after, decided = stage_of(emitted).decide(batch, emitted.program.ends)
    assert (after.least <= reference.decisions + reference.error).all()
    assert (after.most >= reference.decisions - reference.error).all()
    assert (after.label[decided] == reference.labels[decided]).all()
    assert decided.mean() > 0.25


@pytest.mark.parametrize("case", expansions.CORE, ids=str)
def test_no_query_costs_more_than_the_worst_and_those_decided_early_cost_less(case):
    emitted = catalogue.emitted(case, "host")
    _, batch = batch_of(emitted)
    stage = stage_of(emitted)
    after, decided = stage.decide(batch, emitted.program.ends)
    spent = after.operations - batch.operations
    assert spent.max() <= stage.worst_operations(emitted.program.ends)
    if stage.n_levels > 1 or stage.n_basis:
        assert spent[decided].min() < spent.max()


@pytest.mark.parametrize("case", expansions.CORE, ids=str)
def test_the_answers_do_not_depend_on_the_other_queries(case):
    emitted = catalogue.emitted(case, "host")
    _, batch = batch_of(emitted)
    stage, ends = stage_of(emitted), emitted.program.ends
    together, _ = stage.decide(batch, ends)
    for rows in (slice(0, 1), slice(5, 20)):
        alone, _ = stage.decide(batch.chosen(rows), ends)
        for field in fields(Batch):
            np.testing.assert_array_equal(
                getattr(alone, field.name), getattr(together, field.name)[rows]
            )


def test_the_curved_test_decides_more():
    emitted = catalogue.emitted(expansions.CORE[0], "host")
    stage, ends = stage_of(emitted), emitted.program.ends
    _, batch = batch_of(emitted)
    linear = replace(stage, basis=stage.basis[:0], forms=stage.forms[:0], curved=stage.curved[:0])
    assert stage.decide(batch, ends)[1].sum() > linear.decide(batch, ends)[1].sum() > 0


def test_pairs_with_proved_signs_are_left_out_of_the_curved_test(monkeypatch):
    emitted = catalogue.emitted(expansions.CORE[2], "host")
    stage, ends = stage_of(emitted), emitted.program.ends
    _, batch = batch_of(emitted)
    fewer, decided = stage.decide(batch, ends)
    monkeypatch.setattr(type(stage), "skips_proved", lambda *_: False)
    every, also = stage.decide(batch, ends)
    np.testing.assert_array_equal(decided, also)
    assert (fewer.operations <= every.operations).all()
    assert (fewer.operations < every.operations).any()


@pytest.mark.parametrize("field", ["x", "deviation"])
def test_inputs_that_are_far_away_or_far_off_prove_nothing(field):
    emitted = catalogue.emitted(expansions.CORE[0], "host")
    _, batch = batch_of(emitted)
    far = replace(batch, **{field: np.full_like(getattr(batch, field), 1e6)})
    after, decided = stage_of(emitted).decide(far, emitted.program.ends)
    assert not decided.any()
    assert (after.least == -UNKNOWN).all()
    assert (after.most == UNKNOWN).all()


def test_the_nearest_centre_of_each_level_is_taken():
    emitted = catalogue.emitted(expansions.Expanded("moons", 2.0, (4, 4, 4), 0), "host")
    stage = stage_of(emitted)
    _, batch = batch_of(emitted)
    node = np.zeros(len(batch), dtype=np.intp)
    node, square = nearest(stage.centres, batch.x, node, 4)
    exact = ((batch.x[:, None].astype(float) - stage.centres[:4]) ** 2).sum(axis=2)
    assert (exact[np.arange(len(exact)), node] <= exact.min(axis=1) * (1 + 1e-6)).all()
    np.testing.assert_allclose(square, exact.min(axis=1), rtol=1e-6)
    assert stage.first_leaf == stage.n_centres


# Built machines, in which the error is about that of one term.

GAMMA = 0.5


def machine(vectors: list[float], beta: list[float], gamma: float = GAMMA) -> KernelMachine:
    """Return a machine of one feature."""
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(gamma),
        support_vectors=np.array(vectors)[:, None],
        dual_coef=np.array([beta]),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=1,
    )


def built(of: KernelMachine, radius: float, centre: float = 0.0, curved: bool = False):
    """Return the stage of one centre and its program's ends."""
    program = program_of(of)
    assert isinstance(of.kernel, Rbf)
    e = expand(
        Vectors(of.kernel.gamma, of.support_vectors, of.dual_coef),
        np.array([0]),
        np.array([centre]),
        radius,
    )
    storage = np.zeros(1)
    rows = linear_rows(e, radius, storage)
    at = Centre(
        e, likely_labels(of, np.zeros(1, int)), radius, 1, storage, *rows, np.array([[radius**2]])
    )
    return lower_local_expansion(of, (1,), [[at]], curvature([at], int(curved))), program.ends


def shares(of: KernelMachine, stage: LocalExpansion, ends, x, exact=None) -> np.ndarray:
    """Return |f - estimate| / bound at x, or at `exact` where that is off x by the deviation."""
    x = np.asarray(x, dtype=np.float32)[:, None]
    exact = x.astype(np.float64) if exact is None else np.asarray(exact)[:, None]
    batch = Batch.of(x, 1)
    off = np.nextafter(np.abs(exact - x)[:, 0].astype(np.float32), np.float32(np.inf))
    after, _ = stage.decide(
        replace(batch, deviation=np.where(exact[:, 0] == x[:, 0], 0, off)), ends
    )
    assert (after.least > -UNKNOWN).all()
    least, most = after.least[:, 0].astype(float), after.most[:, 0].astype(float)
    return np.abs(2 * truth(of, exact[:, 0]) - (least + most)) / (most - least)


def truth(of: KernelMachine, x: np.ndarray) -> np.ndarray:
    """Return f to about 30 digits, rounded."""
    with mpmath.workdps(40):
        return np.array(
            [
                float(
                    sum(
                        mpmath.mpf(float(b))
                        * mpmath.exp(
                            -mpmath.mpf(of.kernel.gamma) * (mpmath.mpf(s) - mpmath.mpf(v)) ** 2
                        )
                        for b, s in zip(
                            of.dual_coef[0], of.support_vectors[:, 0].tolist(), strict=True
                        )
                    )
                )
                for v in x.tolist()
            ]
        )


def without(stage: LocalExpansion, column: int, factor: float) -> LocalExpansion:
    """Return the stage with one of the constants of its rows scaled."""
    constants = stage.constants.copy()
    constants[:, :, column] *= np.float32(factor)
    return replace(stage, constants=constants)


SYMMETRIC = ([-1.0, 1.0], [1.0, 1.0])
ODD = ([-1.0, 1.0], [-1.0, 1.0])
"""h has the even orders, or the odd ones, only."""


def paired(sign: float, second: float, power: int) -> KernelMachine:
    """Return a machine with vectors at -1, 1, -second and second and sum c t^power = 0.

    c_(-t) = sign c_t: h has even orders only, or odd ones.
    """
    share = -(second**-power)
    near, far = np.exp(GAMMA * second**2), np.exp(GAMMA)
    return machine(
        [-1.0, 1.0, -second, second],
        [sign * far, far, sign * share * near, share * near],
    )


@pytest.mark.parametrize(
    ("of", "column", "v"),
    [
        (machine(*ODD), 4, 0.3),
        (machine(*SYMMETRIC), 5, 0.3),
        (paired(-1.0, 0.5, 3), 6, 0.5),
        (paired(1.0, 0.5, 4), 7, 1.0),
    ],
)
def test_the_orders_from_the_third_to_the_sixth_are_reached(of, column, v):
    """Columns r3 .. r6: of one feature the second order is all in m."""
    stage, ends = built(of, v * 1.05)
    share = shares(of, stage, ends, [v, -v])
    assert (share <= 1).all()
    assert share.max() > 0.5
    assert shares(of, without(stage, column, 0.5), ends, [v, -v]).max() > 1


def test_the_range_of_the_second_order_is_reached():
    """Of two features: along the eigenvectors with the least and the largest eigenvalue."""
    of = replace(
        machine([0.0], [0.0]),
        support_vectors=np.array([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]]),
        dual_coef=np.array([[1.0, 1.0, -1.0, -1.0]]),
        n_features=2,
    )
    program = program_of(of)
    e = expand(Vectors(GAMMA, of.support_vectors, of.dual_coef), np.array([0]), np.zeros(2), 0.2)
    likely = likely_labels(of, np.zeros(1, int))
    at = Centre(e, likely, 0.2, 1, np.zeros(1), *linear_rows(e, 0.2, np.zeros(1)), np.eye(2))
    stage = lower_local_expansion(of, (1,), [[at]], curvature([at], 0))
    X = np.array([[0.05, 0.0], [0.0, 0.05]], dtype=np.float32)
    reference = evaluate(of, X).decisions
    for factor, holds in ((1.0, True), (0.5, False)):
        after, _ = without(stage, 3, factor).decide(Batch.of(X, 1), program.ends)
        inside = (after.least <= reference) & (reference <= after.most)
        assert inside.all() == holds


def test_the_rounding_of_the_linear_form_is_reached():
    """h = <w, v> with a large w that float32 cannot hold, f = 0 besides."""
    of = machine([-1e-3, 1e-3], [-1e7 / 3, 1e7 / 3])
    stage, ends = built(of, 0.9)
    x = np.random.default_rng(0).uniform(-0.9, 0.9, 2000)
    share = shares(of, stage, ends, x)
    assert (share <= 1).all()
    assert shares(of, without(stage, 2, 0.0), ends, x).max() > 0.2 * share.max()


@pytest.mark.parametrize(
    ("name", "of", "radius", "x", "off"),
    [
        # <w, delta>: of an odd machine at its centre.
        ("per_deviation", machine(*ODD), 0.01, 0.0, 1e-3),
        # exp(-gamma |v|^2): of one vector, which is the centre.
        ("relative_per_reach", machine([0.0], [1.0]), 1.0, 0.9, 1e-4),
    ],
)
def test_an_input_that_is_off_is_in_the_bound(name, of, radius, x, off):
    stage, ends = built(of, radius)
    exact = [x + off, x - off]
    share = shares(of, stage, ends, [x, x], exact)
    assert (share <= 1).all()
    assert share.max() > 0.5
    if name == "per_deviation":
        halved = without(stage, 8, 0.5)
    else:
        halved = replace(stage, relative_per_reach=stage.relative_per_reach * np.float32(0.5))
    assert shares(of, halved, ends, [x, x], exact).max() > 1


def test_an_input_that_is_off_moves_the_second_order():
    """h = m |v|^2 but for the fourth order: C = 0 by a third vector, v at R."""
    t = 0.05
    folded = np.exp(GAMMA * t**2)
    of = machine([-t, t, 0.0], [folded, folded, -2.0])
    stage, ends = built(of, 0.1)
    x, exact = [0.09, 0.09], [0.099, 0.081]
    share = shares(of, stage, ends, x, exact)
    assert (share <= 1).all()
    assert share.max() > 0.5
    assert shares(of, without(stage, 8, 0.5), ends, x, exact).max() > 1


def test_what_is_left_out_is_in_the_minimum():
    """A distant vector with a large coefficient, seen from the end of R that is nearest to it."""
    radius = 1.0
    beta = 1e17 * np.exp(2.0)
    of = machine([radius + np.sqrt(42 / GAMMA), 0.0], [beta, 1e-3])
    stage, ends = built(of, radius)
    x = [radius * 0.9999]
    share = shares(of, stage, ends, x)
    assert share[0] <= 1
    assert share[0] > 0.5
    assert shares(of, without(stage, 9, 0.5), ends, x)[0] > 1


@pytest.mark.parametrize("kind", [ODD, SYMMETRIC])
def test_the_curved_test_reaches_its_higher_orders(kind):
    of = machine(*kind)
    stage, ends = built(of, 0.5, curved=True)
    x = np.linspace(-0.45, 0.45, 10)
    curved_only = replace(stage, constants=_no_linear(stage))
    share = shares(of, curved_only, ends, x)
    assert (share <= 1).all()
    assert share.max() > 0.5
    halved = stage.forms.copy()
    halved[:, :, 2] = 0
    curved = stage.curved.copy()
    curved[:, :, 6] *= np.float32(0.25)
    weaker = replace(curved_only, forms=halved, curved=curved)
    assert shares(of, weaker, ends, x).max() > 1


def _no_linear(stage: LocalExpansion) -> np.ndarray:
    """Return constants with which the linear test proves hardly anything, and its form stays."""
    constants = stage.constants.copy()
    constants[:, :, 9] = np.float32(2.0**100)
    return constants

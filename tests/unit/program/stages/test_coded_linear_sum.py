"""The sum of a linear machine in integers: its codes, its bound and its certificates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR

from kmcompile.choice.formats import choose_format
from kmcompile.errors import InputError
from kmcompile.kernels import Linear
from kmcompile.lower.formats import Lowered, lower_in_format
from kmcompile.lower.linear_codes import why_floats
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Answers, Status, interpret
from kmcompile.program.stages import CodedLinearSum
from kmcompile.readers import load_model
from kmcompile.steps import Affine, Digitize
from kmcompile.steps.quantize import REFUSED
from kmcompile.target import load_target

KINDS = ("usual", "sparse", "many_classes", "huge", "tiny", "one_dominates", "far", "one_vs_one")


def random_machine(kind: str, seed: int) -> tuple[KernelMachine, np.ndarray]:
    """Return a machine behind a scaler, and inputs as large as the scaler says."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    classes = {"many_classes": 30, "one_vs_one": 4}.get(kind, int(rng.integers(3, 6)))
    rows = classes * (classes - 1) // 2 if kind == "one_vs_one" else classes
    weights = rng.normal(size=(rows, n))
    if kind == "sparse":
        weights *= rng.random(weights.shape) < 0.1
    if kind == "one_dominates":
        weights[:, 0] *= 1e6
    scale = {"huge": 1e12, "tiny": 1e-12}.get(kind, 1.0)
    weights *= scale
    intercept = rng.normal(size=rows) * scale * 10.0 ** rng.uniform(-3, 3)
    spread = 10.0 ** rng.uniform(-5, 5, size=n)
    offset = rng.normal(size=n) * spread * (1e5 if kind == "far" else 2)
    dual_coef, counts, vectors = np.eye(rows), (), weights
    if kind == "one_vs_one":
        counts = (3, 2, 4, 3)
        vectors = rng.normal(size=(12, n))
        dual_coef = rng.normal(size=(3, 12))
        intercept = rng.normal(size=rows)
    machine = KernelMachine(
        kind="SVC" if counts else "LinearSVC",
        task=Task.ONE_VS_ONE if counts else Task.ONE_VS_REST,
        kernel=Linear(),
        support_vectors=vectors,
        dual_coef=dual_coef,
        intercept=intercept,
        classes=tuple(range(classes)),
        class_counts=counts,
        n_features=n,
        preprocessing=(Affine(offset, 1 / spread),),
        zero_is_positive=bool(counts),
    )
    z = rng.normal(size=(12, n)) * 10.0 ** rng.uniform(-2, 0.3, size=(12, 1))
    return machine, (z * spread + offset).astype(np.float32)


def decisions(machine: KernelMachine, x: Any) -> list[Fraction]:
    """Return the decisions of the trained machine in rational numbers."""
    values = [Fraction(v) for v in x]
    for step in machine.preprocessing:
        assert isinstance(step, Affine)
        pairs = zip(values, step.offset.tolist(), step.factor.tolist(), strict=True)
        values = [(v - Fraction(o)) * Fraction(f) for v, o, f in pairs]
    vectors = [[Fraction(v) for v in s] for s in machine.support_vectors.tolist()]
    kernels = [sum((a * b for a, b in zip(s, values, strict=True)), Fraction(0)) for s in vectors]
    return [
        Fraction(b) + sum((Fraction(c) * k for c, k in zip(row, kernels, strict=True)), Fraction(0))
        for row, b in zip(
            decision_coefficients(machine).tolist(), machine.intercept.tolist(), strict=True
        )
    ]


def check(machine: KernelMachine, X: list[list[Fraction]], answers: Answers) -> int:
    """Check bounds and certificates of accepted inputs against rational numbers; count them."""
    accepted = np.flatnonzero(answers.results["status"] == Status.OK)
    for row in accepted:
        exact = decisions(machine, X[row])
        found = zip(exact, answers.decisions[row], answers.bounds[row], strict=True)
        for f, decision, bound in found:
            assert abs(f - Fraction(float(decision))) <= Fraction(float(bound))
        if answers.results["certified"][row] and machine.task is Task.ONE_VS_REST:
            assert exact.index(max(exact)) == answers.results["label"][row]
    return len(accepted)


def lowered(machine: KernelMachine, number_format: str, samples: Any = None) -> Lowered:
    made = lower_in_format(machine, load_target("avr"), "iris", number_format, samples)
    assert isinstance(made.program.sum, CodedLinearSum)
    return made


@pytest.mark.few
@pytest.mark.parametrize("number_format", ["int16", "int8"])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_and_labels_hold_of_floats_and_of_codes(kind, number_format):
    n_accepted = 0
    for seed in range(4):
        machine, X = random_machine(kind, seed)
        program = lowered(machine, number_format).program
        exact = [[Fraction(v) for v in x] for x in X.tolist()]
        n_accepted += check(machine, exact, interpret(program, X))
        rng, scale = np.random.default_rng(seed), program.scale
        assert scale is not None
        ends = [program.codes.low, program.codes.high]
        codes = rng.choice(ends, size=(4, machine.n_features))
        codes = np.vstack([codes, rng.integers(*ends, size=(4, machine.n_features))])
        pairs = list(zip(scale.offset.tolist(), scale.step.tolist(), strict=True))
        exact = [
            [Fraction(o) + Fraction(s) * c for c, (o, s) in zip(row, pairs, strict=True)]
            for row in codes.tolist()
        ]
        n_accepted += check(machine, exact, interpret(program, codes))
    assert n_accepted >= 60


def test_sums_of_all_codes_at_their_ends_fit_31_bits():
    for kind in KINDS:
        machine, _ = random_machine(kind, 1)
        stage = lowered(machine, "int16").program.sum
        signs = np.sign(stage.weights.astype(np.int64) - (1 << 15))
        ends = np.where(signs >= 0, stage.codes.high, stage.codes.low)
        exact = np.einsum("pj,pj->p", ends, stage.weights.astype(np.int64) - (1 << 15))
        found = np.diag(stage.sums(ends))
        start = stage.sums(np.zeros((1, stage.n_features), np.int64))[0]
        off = np.abs(found - (exact >> stage.shift) - start)
        assert (off <= stage.n_features + 1).all()


def digitized(x: float, origin: int = 0, measures: bool = True, high: int = 100) -> Batch:
    own = (np.array([0], np.int16), np.array([origin], np.int32), np.float32(1.0), measures)
    step = Digitize(np.float32(-high), np.float32(high), *own)
    return step.apply(Batch.of(np.array([[x]], np.float32), 1))


@pytest.mark.parametrize(
    ("x", "code", "parts"),
    [
        (2.5, 3, 128),
        (-2.5, -3, 128),
        (2.0, 2, 0),
        (2.25, 2, 65),
        (2.75, 3, 64),
        (1e-30, 0, 1),
        (1e-45, 0, 1),
        (-0.0, 0, 0),
        (float(np.nextafter(np.float32(3), np.float32(4))), 3, 1),
    ],
)
def test_numbers_are_rounded_away_from_0_and_their_distance_up(x, code, parts):
    batch = digitized(x)
    assert batch.x.tolist() == [[code]]
    assert batch.deviation.tolist() == [parts / 256]


@pytest.mark.parametrize("x", [100.5, -100.5, 2.0**22, 2.0**60])
def test_numbers_without_a_code_are_refused(x):
    assert digitized(x).deviation.tolist() == [REFUSED]


def test_an_origin_is_taken_off_after_the_rounding():
    assert digitized(1000.5, origin=1000).x.tolist() == [[1]]
    assert digitized(3.25, measures=False).deviation.tolist() == [0.5]


@pytest.mark.parametrize(("origin", "shifts_up"), [(0, False), (32667, False), (-32668, True)])
def test_significands_are_shifted_up_only_for_codes_that_far_from_0(origin, shifts_up):
    of_step = (np.array([0], np.int16), np.array([origin], np.int32), np.float32(1.0), False)
    step = Digitize(np.float32(-100), np.float32(100), *of_step)
    assert step.shifts_up == shifts_up


def test_whole_samples_have_codes_of_their_own_without_loss():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 200, size=(80, 6)).astype(np.float32)
    machine = load_model(LinearSVC(random_state=0).fit(X, X[:, 0] > X[:, 1]))
    made = lowered(machine, "int8", X)
    assert made.coded.lossless
    assert (made.coded.width, made.coded.scale.step.tolist()) == ("uint8", [1.0] * 6)
    assert made.measured.certified_share > 0.99


def test_without_a_scaler_or_samples_nothing_tells_how_large_inputs_are():
    X = np.random.default_rng(0).normal(size=(50, 4))
    machine = load_model(LinearSVC(random_state=0).fit(X, X[:, 0] > 0))
    with pytest.raises(InputError, match=r"nothing tells how large .*\ngive samples in --data"):
        lower_in_format(machine, load_target("avr"), "iris", "int16")
    assert lowered(machine, "int16", X.astype(np.float32)).measured.accepted_share == 1.0


def test_support_vectors_tell_how_large_inputs_are():
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1, 10, 100, 1000]
    machine = load_model(SVC(kernel="linear").fit(X, X[:, 1] > 0))
    assert lowered(machine, "int16").measured.accepted_share == 1.0


def test_auto_takes_codes_where_floats_are_routines_and_the_machine_has_classes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 20))
    scaled = make_pipeline(StandardScaler(), LinearSVC(random_state=0))
    machine = load_model(scaled.fit(X, np.argmax(X[:, :4], axis=1)))

    def chosen(machine: KernelMachine, name: str, replays: bool = False) -> str:
        target = load_target(name)
        unfit = why_floats(machine, target, replays)
        return choose_format(machine, target, "iris", None, unfit=unfit)[0].program.number_format

    assert chosen(machine, "avr") == chosen(machine, "cortex-m0") == "int16"
    assert chosen(machine, "cortex-m7") == "float32"
    assert chosen(machine, "cortex-m0", replays=True) == "float32"
    line = make_pipeline(StandardScaler(), LinearSVR(random_state=0, max_iter=10_000))
    assert chosen(load_model(line.fit(X, X[:, 0])), "avr") == "float32"


def test_too_many_features_are_refused():
    n = (1 << 15) + 1
    machine, _ = random_machine("usual", 0)
    machine = replace(
        machine,
        support_vectors=np.ones((len(machine.intercept), n)),
        n_features=n,
        preprocessing=(Affine(np.zeros(n), np.ones(n)),),
    )
    with pytest.raises(InputError, match="more than sums of 32 bits take"):
        lower_in_format(machine, load_target("avr"), "iris", "int16")


def test_a_regression_has_an_interval_around_the_value():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    model = make_pipeline(StandardScaler(), LinearSVR(random_state=0, max_iter=10_000))
    machine = load_model(model.fit(X, X[:, 0] * 3 + 1))
    program = lowered(machine, "int16").program
    exact = [[Fraction(v) for v in x] for x in X.astype(np.float32).tolist()]
    assert check(machine, exact, interpret(program, X.astype(np.float32))) == 60

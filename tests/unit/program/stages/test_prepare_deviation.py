"""What `prepare` says of its own rounding: deviation and length are upper bounds, and needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from kmcompile.kernels import Linear
from kmcompile.lower.prepare import lower_steps
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, Precision, precision_of
from kmcompile.passes.fold_scalers import fold_scalers
from kmcompile.program.stages import Prepare
from kmcompile.steps import (
    Affine,
    Clip,
    Extension,
    Normalization,
    Projection,
    Selection,
    Step,
)

DIGITS = 60
NEARLY_ZERO = 10 * np.finfo(np.float64).eps
RNG = np.random.default_rng(17)


def exactly(steps: tuple[Step, ...], row: np.ndarray) -> list[Any]:
    """Return the row after the steps, in real numbers."""
    x = [mpf(float(v)) for v in row]
    for step in steps:
        if isinstance(step, Affine):
            numbers = zip(x, step.offset, step.factor, strict=True)
            x = [(v - mpf(float(a))) * mpf(float(f)) for v, a, f in numbers]
        elif isinstance(step, Projection):
            x = [mp.fdot([mpf(float(w)) for w in weights], x) for weights in step.matrix]
        elif isinstance(step, Clip):
            x = [min(max(v, mpf(step.low)), mpf(step.high)) for v in x]
        elif isinstance(step, Selection):
            x = [x[c] for c in step.columns]
        elif isinstance(step, Extension):
            x = [*x, mpf(step.value)]
        else:
            magnitudes = [abs(v) for v in x]
            size = {
                "l1": lambda m=magnitudes: mp.fsum(m),
                "l2": lambda m=magnitudes: mp.sqrt(mp.fdot(m, m)),
                "max": lambda m=magnitudes: max(m),
            }[step.norm]()
            x = x if size < NEARLY_ZERO else [v / size for v in x]
    return x


def prepare_of(
    steps: tuple[Step, ...], n: int, lanes: int = 4, precision: Precision = FLOAT32
) -> Prepare:
    input_length, lowered = lower_steps(steps, n, lanes, True, precision)
    return Prepare(n, np.float32(2.0**60), None, input_length, lowered)


def excess(prepare: Prepare, steps: tuple[Step, ...], X: np.ndarray) -> float:
    """Return the largest true deviation in units of the bound; 0 if both are 0."""
    X = np.asarray(X, dtype=np.float32)
    measured = [prepare.input_length, *(step.length for step in prepare.steps)]
    dtype = next(precision_of(length.factor).dtype for length in measured if length is not None)
    start = Batch.of(X, 1)
    deviation = start.deviation.astype(dtype)
    batch = prepare.run(replace(start, x=X.astype(dtype), deviation=deviation, length=deviation))
    worst = 0.0
    with mp.workdps(DIGITS):
        for row, x, deviation, length in zip(
            X, batch.x, batch.deviation, batch.length, strict=True
        ):
            stored = [mpf(float(v)) for v in x]
            exact = exactly(steps, row)
            off = mp.sqrt(mp.fsum((a - b) ** 2 for a, b in zip(stored, exact, strict=True)))
            assert mp.sqrt(mp.fdot(stored, stored)) <= mpf(float(length))
            if off > 0:
                worst = max(worst, float(off / mpf(float(deviation))) if deviation else mp.inf)
    return worst


def affine(n: int) -> Affine:
    return Affine(RNG.normal(size=n), np.exp(RNG.normal(size=n)))


@dataclass(frozen=True)
class Mutation:
    """A constant of a step, with steps and inputs for which the bound needs it."""

    name: str
    steps: tuple[Step, ...]
    X: np.ndarray
    number: int
    field: str

    def __str__(self) -> str:
        return self.name


def rows(n: int, scale: float = 1.0) -> np.ndarray:
    return (RNG.normal(size=(60, n)) * scale).astype(np.float32)


def _mutations() -> list[Mutation]:
    projection = Projection(RNG.normal(size=(2, 3)))
    clip = Clip(-0.1, 0.1, 3)
    # Their deviation is that of 1e4, their result about 1.
    away, back = (
        Affine([offset] * 3, [factor] * 3, np.zeros(3))
        for offset, factor in ((-1e4, 1.1), (1.1e4, 1.0))
    )
    cancelling = fold_scalers(
        _machine((Affine([1e6] * 3, [0.3] * 3), Affine([-3e5] * 3, [9.0] * 3)))
    )
    found = [
        Mutation("scale-relative", (affine(3),), rows(3), 0, "relative"),
        Mutation("scale-gain", (away, back), rows(3), 1, "gain"),
        Mutation("scale-minimum", cancelling.preprocessing, np.zeros((1, 3)), 0, "minimum"),
        Mutation("project-relative", (projection,), rows(3), 0, "relative"),
        Mutation("project-gain", (away, back, projection), rows(3), 2, "gain"),
        Mutation("bound-minimum", (clip,), rows(3), 0, "minimum"),
    ]
    repeated = Selection((2, 2, 2, 0), 3)
    found.append(Mutation("select-gain", (affine(3), repeated), rows(3), 1, "gain"))
    found.append(Mutation("extend-minimum", (Extension(0.1, 4),), rows(3), 0, "minimum"))
    for norm in ("l1", "l2", "max"):
        step = Normalization(norm, 3)
        found.append(Mutation(f"{norm}-relative", (step,), rows(3), 0, "relative"))
        found.append(Mutation(f"{norm}-gain", (away, back, step), rows(3), 2, "gain"))
        found.append(Mutation(f"{norm}-smallest", (step,), rows(3, 1e-25), 0, "smallest"))
        found.append(Mutation(f"{norm}-unknown", (step,), rows(3, 1e-14), 0, "unknown"))
    return found


def _machine(steps: tuple[Step, ...]) -> KernelMachine:
    return KernelMachine(
        kind="LinearSVC",
        task=Task.BINARY,
        kernel=Linear(),
        support_vectors=np.ones((1, 3)),
        dual_coef=np.ones((1, 1)),
        intercept=np.zeros(1),
        classes=(0, 1),
        n_features=3,
        preprocessing=steps,
    )


MUTATIONS = _mutations()


@pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=["float32", "float64"])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_the_deviation_of_a_step_bounds_what_it_rounds(mutation, precision):
    steps = exact_steps(mutation)
    prepare = prepare_of(mutation.steps, 3, precision=precision)
    assert excess(prepare, steps, mutation.X) <= 1.0


# float64 stores limits and values as they are: a minimum holds nothing there.
KILLED = [(mutation, FLOAT32) for mutation in MUTATIONS]
STORED_EXACTLY = ("bound-minimum", "extend-minimum")
KILLED += [(mutation, FLOAT64) for mutation in MUTATIONS if mutation.name not in STORED_EXACTLY]


@pytest.mark.parametrize(
    ("mutation", "precision"), KILLED, ids=[f"{m}-{p.dtype.__name__}" for m, p in KILLED]
)
def test_without_a_constant_the_deviation_is_no_bound(mutation, precision):
    prepare = prepare_of(mutation.steps, 3, precision=precision)
    changed = list(prepare.steps)
    changed[mutation.number] = replace(
        changed[mutation.number], **{mutation.field: precision.dtype(0)}
    )
    mutant = replace(prepare, steps=tuple(changed))
    with np.errstate(divide="ignore", invalid="ignore"):
        assert excess(mutant, exact_steps(mutation), mutation.X) > 1.0


def exact_steps(mutation: Mutation) -> tuple[Step, ...]:
    """Return the steps as they were trained: not folded."""
    if mutation.name != "scale-minimum":
        return mutation.steps
    return (Affine([1e6] * 3, [0.3] * 3), Affine([-3e5] * 3, [9.0] * 3))


numbers = st.floats(-1e6, 1e6, width=32)
positive = st.floats(2.0**-20, 2.0**20)


@settings(max_examples=300)
@given(
    offset=st.floats(-1e6, 1e6),
    factor=positive,
    steps=st.integers(-64, 64),
    far=numbers,
)
def test_a_scaler_keeps_what_two_float32_can_hold(offset, factor, steps, far):
    """Inputs next to the offset, a few units in the last place away, and anywhere."""
    near = np.float32(offset)
    for _ in range(abs(steps)):
        near = np.nextafter(near, np.float32(np.inf if steps > 0 else -np.inf))
    scaler = (Affine([offset], [factor]),)
    assert excess(prepare_of(scaler, 1), scaler, np.array([[near], [far]])) <= 1.0


@settings(max_examples=150)
@given(
    row=st.lists(st.floats(-(2.0**50), 2.0**50, width=32), min_size=2, max_size=7),
    norm=st.sampled_from(["l1", "l2", "max"]),
    scale=st.sampled_from([1.0, 1e-13, 1e-16, 1e-25, 1e-40]),
    scaled=st.booleans(),
)
def test_a_normalizer_is_bounded_at_every_size(row, norm, scale, scaled):
    """Down to the rows that scikit-learn leaves as they are."""
    n = len(row)
    steps: tuple[Step, ...] = (Normalization(norm, n),)
    if scaled:
        steps = (Affine(np.linspace(-1, 1, n), np.linspace(0.1, 3, n)), *steps)
    X = np.array([row], dtype=np.float64) * scale
    assert excess(prepare_of(steps, n), steps, X) <= 1.0


@pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=["float32", "float64"])
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("n", [1, 7])
def test_a_normalizer_is_bounded_around_the_size_at_which_a_row_stays(n, norm, precision):
    """Rows of 2^-52 .. 2^-45, exact, and others that a scaler before leaves as uncertain."""
    sizes = 2.0 ** np.linspace(-52, -45, 60)
    X = (RNG.normal(size=(60, n)) + 0.1) * sizes[:, None]
    step = Normalization(norm, n)
    assert excess(prepare_of((step,), n, precision=precision), (step,), X) <= 1.0
    for uncertain in 2.0 ** np.arange(-54.0, -44.0):
        scaler = Affine(np.zeros(n), np.ones(n), offset_error=np.full(n, uncertain / np.sqrt(n)))
        steps = (scaler, step)
        trained = (Affine(RNG.normal(size=n) * uncertain / np.sqrt(n) / 4, np.ones(n)), step)
        assert excess(prepare_of(steps, n, precision=precision), trained, X) <= 1.0


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("size", [1e-45, 1e-39, 1e-30, 1e-20, 1e-16, 1e-14, 1e-13, 1e-5])
def test_a_tiny_row_is_known_as_well_as_any_other(norm, size):
    """Either it stays or it is divided: only at the limit between them nothing is known."""
    step = Normalization(norm, 4)
    X = np.array([[1, -2, 0.5, 0.25]], dtype=np.float32) * np.float32(size)
    batch = prepare_of((step,), 4).run(Batch.of(X, 1))
    largest = prepare_of((step,), 4).run(Batch.of(np.ones((1, 4), dtype=np.float32), 1))
    assert batch.deviation[0] <= largest.deviation[0]


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_padding_of_a_projection_changes_nothing(lanes):
    matrix = Projection(RNG.normal(size=(5, 3)))
    X = rows(3)
    one = prepare_of((matrix,), 3, lanes=1).run(Batch.of(X, 1))
    other = prepare_of((matrix,), 3, lanes=lanes).run(Batch.of(X, 1))
    np.testing.assert_array_equal(other.x.view(np.uint32), one.x.view(np.uint32))
    np.testing.assert_array_equal(other.deviation, one.deviation)


def test_a_row_of_zeros_is_exactly_itself_after_a_normalizer():
    step = (Normalization("l2", 3),)
    batch = prepare_of(step, 3).run(Batch.of(np.zeros((1, 3), dtype=np.float32), 1))
    assert not batch.x.any()
    assert batch.deviation[0] == 0


def test_a_constant_shift_that_folds_to_nothing_keeps_its_rounding():
    """The offsets cancel, but what float64 rounded in them does not."""
    trained = (Affine([0.1], [3.0]), Affine([-0.1 * 3.0], [1e9]))
    folded = fold_scalers(
        replace(_machine(()), support_vectors=np.ones((1, 1)), n_features=1, preprocessing=trained)
    ).preprocessing
    assert len(folded) == 1
    X = np.zeros((1, 1), dtype=np.float32)
    assert excess(prepare_of(folded, 1), trained, X) <= 1.0

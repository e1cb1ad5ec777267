"""Random rbf machines in integer formats, with their decision values in real numbers.

For tests of sums in integers: their bounds, their kernels and the answers of the C.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from mpmath import mp, mpf

from kmcompile.kernels import Rbf
from kmcompile.lower.codes import Coded, lossless_codes, scaled_codes
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Answers, Status, interpret
from kmcompile.program.program import Program
from kmcompile.steps import Affine
from kmcompile.target import load_target

DIGITS = 60

GRIDS = {
    "uint8": (0, 255, 1.0, 0.0),
    "int8": (-128, 127, 1.0, 0.0),
    "pixels": (0, 255, 255.0, 0.0),
    "decimals": (-3000, 3000, 100.0, 0.0),
    "quarters": (-400, 400, 4.0, 0.0),
    "int16": (-32767, 32767, 1.0, 0.0),
    "offset": (-2000, 2000, 8.0, 100_000.0),
}
"""Grid -> least and largest integer, factor and offset from the integers to the values."""


@dataclass(frozen=True, eq=False)
class Case:
    """A machine, its codes and its program.

    Parameters
    ----------
    machine : KernelMachine
        As trained.
    """

    machine: KernelMachine
    coded: Coded
    program: Program

    @property
    def table(self) -> Any:
        """The codes of the sum."""
        return self.program.codes

    @property
    def beta(self) -> np.ndarray:
        """The trained coefficients of every decision, shape (n_decisions, n_sv)."""
        return decision_coefficients(self.machine)

    @property
    def factor(self) -> float:
        """Factor from distances in the space of the vectors to distances in the stage's input."""
        return float(np.sqrt(self.machine.kernel.gamma / self.coded.machine.kernel.gamma))

    def answers(self, X: np.ndarray) -> tuple[np.ndarray, Answers]:
        """Return the accepted inputs, float32 or int64 codes, and the answers to them."""
        accepted = X[interpret(self.program, X).results["status"] == Status.OK]
        return accepted, interpret(self.program, accepted)

    @cached_property
    def _real(self) -> tuple[Any, ...]:
        """Vectors with their squares, coefficients, intercepts and gamma."""
        machine = self.machine
        with mp.workdps(DIGITS):
            vectors = [_row(s) for s in machine.support_vectors]
            squares = [mp.fdot(s, s) for s in vectors]
            beta = [_row(row) for row in self.beta]
            return vectors, squares, beta, _row(machine.intercept), mpf(machine.kernel.gamma)

    def decisions(self, row: np.ndarray) -> list[Any]:
        """Return the real decision values of raw features or, of integers, of codes."""
        vectors, squares, beta, intercept, gamma = self._real
        with mp.workdps(DIGITS):
            z = self.prepared(row)
            size = mp.fdot(z, z)
            pairs = zip(squares, vectors, strict=True)
            values = [mp.exp(-gamma * (square + size - 2 * mp.fdot(s, z))) for square, s in pairs]
            return [mp.fdot(row, values) + b for row, b in zip(beta, intercept, strict=True)]

    def prepared(self, row: np.ndarray) -> list[Any]:
        """Return the exactly prepared input; codes stand for offset + step code."""
        with mp.workdps(DIGITS):
            z = _row(row)
            if row.dtype != np.float32:
                scale = self.program.scale
                each = zip(_row(scale.offset), _row(scale.step), z, strict=True)
                z = [offset + step * code for offset, step, code in each]
            for step in self.machine.preprocessing:
                each = zip(z, _row(step.offset), _row(step.factor), strict=True)
                z = [(v - offset) * factor for v, offset, factor in each]
            return z

    def label(self, decisions: list[Any]) -> int:
        """Return the index of the label: the sign, or the votes with ties to the lower class."""
        k = self.machine.n_classes
        if self.machine.task is Task.BINARY:
            return int(decisions[0] >= 0)
        votes = [0] * k
        pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
        for (i, j), f in zip(pairs, decisions, strict=True):
            votes[i if f > 0 else j] += 1
        return votes.index(max(votes))


def in_format(machine: KernelMachine, number_format: str, layout: IntegerTableForm) -> Case:
    """Return the program of a machine: lossless codes or, for "int16" and "int8", scaled ones."""
    moved = run_passes(machine, centers=False)
    if number_format == "lossless":
        coded = lossless_codes(moved)
        assert coded is not None
    else:
        coded = scaled_codes(moved, number_format)
    kind = "int16" if coded.width == "int16" else "int8"
    known = ordinary_inputs(moved, 8)
    program = lower_integers(coded, load_target("cortex-m7"), "model", known, layout, kind)
    return Case(machine, coded, program)


def random_machine(seed: int, grid: str | None) -> KernelMachine:
    """Return a machine on a grid of `GRIDS`, or of real-valued data.

    Of 2 to 60 features; gamma times the squared spread of the data from 1e-6 to 1e4; coefficients
    over six decades, or bounded by C; intercepts of the size of the sum, 0 or far larger.
    """
    rng = np.random.default_rng(seed)
    n, k = int(rng.choice([2, 3, 7, 16, 60])), int(rng.choice([2, 2, 3, 4, 5]))
    counts = [int(rng.choice([1, 2, 6]))] * k if rng.random() < 0.5 else [3] * k
    raw = _values(rng, sum(counts), n, grid)
    steps: tuple[Affine, ...] = ()
    if rng.random() < 0.4:
        size = float(np.ptp(raw)) or 1.0
        factor = np.full(n, 2 / size) if grid else np.exp(rng.normal(size=n)) / size
        steps = (Affine(rng.normal(size=n) * size + raw.mean(), factor),)
    vectors = steps[0].apply(raw) if steps else raw
    gamma = 10.0 ** rng.uniform(-6, 4) / max(float(np.ptp(vectors, axis=0).max()) ** 2, 1e-30)
    beta = 10.0 ** rng.uniform(-6, 0, size=(max(1, k - 1), sum(counts)))
    if rng.random() < 0.4:
        beta = np.minimum(beta * 1e3, 1.0)
    beta *= rng.choice([-1, 1], size=beta.shape) * 10.0 ** rng.uniform(-8, 8)
    sizes = np.abs(beta).sum() * np.array([0.0, 0.1, 1.0, 1e4])
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY if k == 2 else Task.ONE_VS_ONE,
        kernel=Rbf(gamma),
        support_vectors=vectors,
        dual_coef=beta[:1] if k == 2 else beta,
        intercept=rng.normal(size=k * (k - 1) // 2) * rng.choice(sizes, p=[0.3, 0.3, 0.3, 0.1]),
        classes=tuple(range(k)),
        class_counts=() if k == 2 else tuple(counts),
        n_features=n,
        preprocessing=steps,
    )


def _values(rng: np.random.Generator, m: int, n: int, grid: str | None) -> np.ndarray:
    if grid is None:
        size = 10.0 ** rng.uniform(-6, 6)
        return size * (rng.normal(size=(m, n)) + rng.choice([0.0, 1.0, 1000.0]))
    low, high, factor, added = GRIDS[grid]
    spread = rng.choice([0.05, 1.0])
    values = np.rint(rng.integers(low, high + 1, size=(m, n)) * spread)
    values[0, : n // 2] = low
    values[-1, n // 2 :] = high
    return np.clip(values, low, high) / factor + added


def queries(case: Case, n: int, seed: int) -> np.ndarray:
    """Return raw inputs, float32: vectors, near ones, far ones, corners and some on a boundary."""
    rng = np.random.default_rng(seed)
    low, high = case.table.low, case.table.high
    scale = case.coded.scale
    vectors = case.coded.codes
    picked = vectors[rng.integers(len(vectors), size=(4, n))]
    near = picked[0] + rng.normal(size=picked[0].shape) * 10.0 ** rng.uniform(-3, 1, size=(n, 1))
    mixed = picked[1] + (picked[2] - picked[1]) * rng.random((n, 1))
    far = picked[3] + (high - low) * rng.normal(size=picked[3].shape) * rng.random((n, 1)) / 4
    corners = rng.choice([low - 0.4, low, high, high + 0.4], size=mixed.shape)
    codes = np.clip(np.concatenate([near, mixed, far, corners]), low - 0.5, high + 0.5)
    return scale.values(codes).astype(np.float32)


def bisected(case: Case, X: np.ndarray) -> np.ndarray:
    """Return neighbours in float32 between which the first decision changes its sign."""
    X, answers = case.answers(X)
    sign = answers.decisions[:, 0] >= 0
    n = min(int(sign.sum()), int((~sign).sum()), 4)
    positive, negative = X[sign][:n].copy(), X[~sign][:n].copy()
    for _ in range(40 if n else 0):
        middle = ((positive.astype(np.float64) + negative) / 2).astype(np.float32)
        up = interpret(case.program, middle).decisions[:, 0] >= 0
        positive[up], negative[~up] = middle[up], middle[~up]
    return np.concatenate([positive, negative])


def codes_of(case: Case, X: np.ndarray) -> np.ndarray:
    """Return codes near raw inputs, int64."""
    table = case.table
    codes = (X.astype(np.float64) - case.coded.scale.offset) / case.coded.scale.step
    return np.clip(np.rint(codes), table.low, table.high).astype(np.int64)


def _row(values: np.ndarray) -> list[Any]:
    return [mpf(float(value)) for value in values]

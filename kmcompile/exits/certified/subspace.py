"""Fit subspace certificates: choose directions, weights, and numbers of dimensions and kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.hadamard import POWER_STEPS
from kmcompile.exits.certified.lower_subspace import Subspace, lower_subspace
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.factors import leading_axes
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate

_DELTA_POWER = 0.4
"""delta_i = (mean of |beta_i h'(u_i)| over the samples)^0.4. Of the powers from 0 to 1, this one
certified most on digits; the result is flat from 0.3 to 0.5."""

_LEAST_DELTA = 1e-3
_UNITS = (0.6, 0.7, 0.8, 1.0)
"""Values of U to try, as shares of the root mean square of |u|, weighted by the terms' share of the
bound. Values below 1 suit the terms that are left when the largest have been computed."""

_COARSE = (4, 8, 16, 32, 64, 128, 256)
_FINE = (0.7, 0.85, 1.2, 1.45)
_N_CANDIDATES = 3
_SAMPLES = 400
_LEAST_SCALE = 2.0**-60
"""Smallest U^d and smallest U^-d: with their factors they stay well within float32's range."""

_MOST_VECTORS = 6000
_LARGEST_DEGREE = 20
_LARGEST_EXTRA = 0.24
"""Most operations that the stage may add to a query that it does not decide, as a share of the
exact sum's; both counted without zero features."""


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have a certificate; "" if it can.

    It must be binary, polynomial and not too large.
    """
    exact, kernel = program.ends.exact, machine.kernel
    if not kernel.is_polynomial:
        return f"its bounds are of polynomials, and the kernel is {kernel.name}"
    degree = kernel.polynomial.degree
    if not 2 <= degree <= _LARGEST_DEGREE:
        return f"the degree must be 2 to {_LARGEST_DEGREE}, is {degree}"
    if program.codes is not None or not isinstance(exact, ExactSum):
        return f"it computes kernels of the exact sum in float32, not in {program.number_format}"
    if exact.n_decisions != 1 or exact.n_rows != 1:
        return f"it is for one decision, the model has {exact.n_decisions}"
    if exact.n_slots > _MOST_VECTORS:
        return f"it is for at most {_MOST_VECTORS:,} vectors, the model has {exact.n_slots:,}"
    if not machine.support_vectors.any():
        return "all vectors are 0"
    return ""


def supports(machine: KernelMachine, program: Program) -> bool:
    """Return whether a machine can have a certificate: binary, polynomial and not too large."""
    return not why_not(machine, program)


def fit_subspace(
    machine: KernelMachine,
    program: Program,
    samples: Float32Array,
    budget: SearchBudget | None = None,
) -> list[SubspaceCertificate]:
    """Return candidate stages, in order of their mean cost on the samples.

    The fit tries some numbers of dimensions, then numbers around the best one. For each it computes
    how many kernels every sample needs, and from these the number of kernels that is worth trying.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    samples : ndarray of shape (n, n_features), float32
        Inputs like those to come that the C accepts.
    budget : SearchBudget, optional
    """
    if not supports(machine, program) or len(samples) == 0:
        return []
    budget = budget or SearchBudget("subspace_certificate")
    assert isinstance(program.ends.exact, ExactSum)
    n_bytes, operations = _bytes(machine, program.ends.exact), _operations(machine)
    if not budget.allows(n_bytes, operations):
        budget.left_out()
        return []
    # Evenly from all samples: they may be sorted by class.
    rows = np.unique(np.linspace(0, len(samples) - 1, _SAMPLES).astype(np.int64))
    batch = program.prepare.run(Batch.of(np.ascontiguousarray(samples[rows]), 1))
    trial = Trial.of(machine, program, batch)
    if not _LEAST_SCALE < trial.unit**machine.kernel.polynomial.degree < 1 / _LEAST_SCALE:
        return []
    found: dict[int, tuple[float, SubspaceCertificate]] = {}
    most = min(trial.vectors.shape) // 2
    for p in _COARSE:
        if p > most or trial.least_cost(p) > _least(found):
            break
        if not budget.allows(n_bytes, operations):
            budget.ended(f"{max(found)} dimensions")
            break
        budget.spend(operations)
        budget.tell(f"{p} dimensions")
        found[p] = trial.best(p)
    if not found:
        return []
    centre = min(found, key=lambda p: found[p][0])
    for p in sorted({round(centre * factor) for factor in _FINE}):
        if p <= most and trial.least_cost(p) < _least(found):
            if not budget.allows(n_bytes, operations):
                budget.ended(f"{len(found)} numbers of dimensions")
                break
            budget.spend(operations)
            budget.tell(f"{p} dimensions")
            found[p] = trial.best(p)
    cheapest = sorted(found.values(), key=lambda pair: pair[0])[:_N_CANDIDATES]
    return [stage for cost, stage in cheapest if cost < 1.0]


def _bytes(machine: KernelMachine, exact: ExactSum) -> float:
    """Return the most bytes of a trial at any time.

    The largest of three is counted: the magnitudes of all vectors' products with one power; about
    twelve arrays with a number for each sample and vector; or copies of the vectors, some of them
    in the subspace.
    """
    m, n = exact.n_slots, machine.support_vectors.shape[1]
    return 8.0 * float(max(2 * m * m, 12 * _SAMPLES * m) + 6 * m * n + 6 * n * n + 2 * _SAMPLES * m)


def _operations(machine: KernelMachine) -> float:
    """Return the multiply-adds of trying one number of dimensions, weighted by their time.

    The powers go through memory one number at a time, which takes ten times as long.
    """
    m, n = machine.support_vectors.shape
    degree = machine.kernel.polynomial.degree
    return float(m * m * (n + 10 * degree * POWER_STEPS) + 4 * m * n * min(m, n))


def _least(found: dict[int, tuple[float, SubspaceCertificate]]) -> float:
    """Return the least cost found so far; the exact sum alone counts as 1."""
    return min([1.0, *(cost for cost, _ in found.values())])


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A machine and samples, prepared in float64 for trying subspaces.

    Parameters
    ----------
    vectors : ndarray of shape (n_slots, n_features), float64
    beta, delta : ndarray of shape (n_slots,), float64
    directions : ndarray of shape (n, n_features), float64
        Right singular vectors of delta S, S being the matrix of support vectors.
    terms : ndarray of shape (n_samples, n_slots), float64
        The terms beta K of the sum.
    """

    machine: KernelMachine
    program: Program
    batch: Batch
    vectors: Float64Array
    beta: Float64Array
    delta: Float64Array
    directions: Float64Array
    terms: Float64Array
    unit: float

    @classmethod
    def of(cls, machine: KernelMachine, program: Program, batch: Batch) -> Trial:
        """Return a trial of prepared samples."""
        exact, kernel = program.ends.exact, machine.kernel.polynomial
        assert isinstance(exact, ExactSum)
        vectors = exact.columns().T.astype(np.float64)
        beta = exact.slot_decisions()[:, 0].astype(np.float64)
        inner = kernel.gamma * (batch.x.astype(np.float64) @ vectors.T) + kernel.coef0
        slopes = np.abs(beta) * np.abs(inner) ** (kernel.degree - 1)
        typical = slopes.mean(axis=0)
        delta = np.maximum(typical, _LEAST_DELTA * typical.max()) ** _DELTA_POWER
        used = beta != 0
        gram = (vectors[used] * delta[used, None] ** 2).T @ vectors[used]
        weight = (slopes / delta) ** 2
        unit = np.sqrt((weight * inner**2).sum() / weight.sum())
        return cls(
            machine,
            program,
            batch,
            vectors,
            beta,
            delta,
            leading_axes(gram).T,
            beta * inner**kernel.degree,
            float(unit),
        )

    def least_cost(self, p: int) -> float:
        """Return the cost of p dimensions before any decision, relative to the exact sum."""
        exact = self.program.ends.exact
        assert isinstance(exact, ExactSum)
        features = (self.batch.x != 0).sum(axis=1).mean() if exact.skip_zeros else exact.n_features
        return float(p * (exact.n_slots + features) / exact.operations_of(self.batch).mean())

    def best(self, p: int) -> tuple[float, SubspaceCertificate]:
        """Return the best stage in p dimensions and its mean cost, relative to the exact sum."""
        degree = self.machine.kernel.polynomial.degree
        subspace = Subspace.of(self.program, self.directions[:p], self.delta, degree)
        tried = []
        for share in _UNITS:
            stage = lower_subspace(self.machine, self.program, subspace, share * self.unit, 0)
            tried.append((*self._cost(stage), share * self.unit))
        cost, touched, unit = min(tried)
        return cost, lower_subspace(self.machine, self.program, subspace, unit, touched)

    def _cost(self, stage: SubspaceCertificate) -> tuple[float, int]:
        """Return the mean cost with the best limit on kernels, and this limit."""
        ends, batch = self.program.ends, self.batch
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        whole = exact.operations_of(batch) + ends.label.operations()
        level = stage.level_operations(batch, ends)
        touch = stage.touch_operations(ends) - exact.skipped_features(batch.x)
        needed = self._needed(stage)
        heap = stage.built_heap_operations
        allowed = exact.operations() * _LARGEST_EXTRA - stage.worst_operations(ends) - heap
        choices = [
            cap
            for cap in np.unique(np.append(needed[needed <= exact.n_slots], 0)).tolist()
            if cap * stage.touch_operations(ends) - exact.least_spared(cap) <= allowed
        ]
        costs = [
            np.mean(
                level
                + np.where(needed > 0, heap, 0) * (cap > 0)
                + np.where(
                    needed <= cap, needed * touch, whole + cap * touch - exact.least_spared(cap)
                )
            )
            for cap in choices or [0]
        ]
        first = int(np.argmin(costs))
        return float(costs[first] / np.mean(whole)), (choices or [0])[first]

    def _needed(self, stage: SubspaceCertificate) -> NDArray[np.int64]:
        """Return how many kernels each sample needs; if all do not suffice, more than there are."""
        batch, exact = self.batch, self.program.ends.exact
        assert isinstance(exact, ExactSum)
        z = stage.products.of(batch.x)
        rho = stage.outside(z, batch.length)
        total, a, b, c = stage.remainder.shares(rho, batch.length, batch.deviation)
        inner = z.astype(np.float64) @ stage.vectors.transpose(1, 0, 2).reshape(stage.n_out, -1)
        value, share = stage.remainder.values(inner.astype(np.float32), a, b, c)
        weight = (stage.weights * share).astype(np.float64)
        order = np.argsort(-weight, axis=1, kind="stable")
        change = np.take_along_axis(self.terms - self.beta * value, order, axis=1)
        start = (self.beta * value).sum(axis=1) + self.machine.intercept[0]
        running = start[:, None] + np.cumsum(np.pad(change, ((0, 0), (1, 0))), axis=1)
        taken = np.cumsum(np.pad(np.take_along_axis(weight, order, 1), ((0, 0), (1, 0))), axis=1)
        whole = taken[:, -1:]
        left = np.maximum(whole - taken, 0.0) + float(stage.lost) * whole
        radius = float(stage.remainder_factor) * np.sqrt(total[:, None] * left)
        sure = np.abs(running) > radius
        needed: NDArray[np.int64] = np.where(
            sure.any(axis=1), sure.argmax(axis=1), sure.shape[1] + 1
        )
        return needed


def offer_subspaces(asked: Asked) -> list[Offer]:
    """Return the subspace certificates that a machine can have."""
    budget = asked.budgets.of("subspace_certificate")
    stages = fit_subspace(asked.machine, asked.program, asked.X, budget)
    return [(stage, str(stage)) for stage in stages]

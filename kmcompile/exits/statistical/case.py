"""What calibration knows: the exact program, and the samples with the model's decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.calibration import Of
from kmcompile.exits.statistical.cascade_exit import Seen
from kmcompile.exits.statistical.judge import ChoiceSamples
from kmcompile.exits.statistical.loss import losses_of
from kmcompile.exits.statistical.risk import Control
from kmcompile.exits.statistical.samples import CalibrationSamples, Parts
from kmcompile.lower.sparsity import sum_skips_zeros
from kmcompile.model.coefficients import relevant_decisions
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, RangeGate, SumOfLeaves
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.input.range_gate import sum_of_squares, usual_squares
from kmcompile.request.options import DEFAULT_GENERATED
from kmcompile.steps import Normalize


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """The requested risk or loss of the early exits, and the samples that must support it.

    Parameters
    ----------
    risk : float
        The largest probability of another label, or the largest loss.
    control : {"guaranteed", "expected"}
    parts : Parts
        The samples for the shapes of the stages, for their choice and for the promise.
    n_generated : int
        Most points that are made to mislead early exits and set the least widths of bands.
    truth : ndarray of shape (n_samples,), int64, or None
        The right labels of all samples, if a loss is requested.
    confidence : float
        Confidence of a guaranteed promise.
    """

    risk: float
    control: Control
    parts: Parts
    n_generated: int = DEFAULT_GENERATED
    truth: NDArray[np.int64] | None = None
    confidence: float = CONFIDENCE

    @property
    def of(self) -> Of:
        """What is requested."""
        return "risk" if self.truth is None else "loss"

    def truth_of(self, rows: NDArray[np.intp]) -> NDArray[np.int64] | None:
        """Return the right labels of some samples, or None."""
        return None if self.truth is None else self.truth[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A machine, its exact program and the prepared calibration samples.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    samples : CalibrationSamples
    wish : Wish
    batch : Batch
        The samples after the preprocessing; the C must accept all of them.
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    """

    machine: KernelMachine
    program: Program
    samples: CalibrationSamples
    wish: Wish
    batch: Batch
    relevant: NDArray[np.bool_]

    @classmethod
    def of(
        cls, machine: KernelMachine, program: Program, samples: CalibrationSamples, wish: Wish
    ) -> Case:
        """Return the case of a machine, its exact program and its samples."""
        batch = prepared_batch(program, samples.X)
        relevant = relevant_decisions(machine, samples.labels)
        return cls(machine, program, samples, wish, batch, relevant)

    @property
    def x(self) -> Float32Array:
        """The prepared samples, shape (n_samples, n_prepared)."""
        return self.batch.x

    @property
    def parts(self) -> Parts:
        """The parts of the samples."""
        return self.wish.parts

    @property
    def taught(self) -> NDArray[np.intp]:
        """The samples that shape and choose the exits: all but the control part."""
        return np.concatenate([self.parts.shape, self.parts.choice])

    @property
    def gate(self) -> RangeGate:
        """The range gate of the samples that shape and choose the exits."""
        return gate_of(self.program, self.x[self.taught])

    @property
    def ends(self) -> Ends:
        """The last two stages of the exact program."""
        return self.program.ends

    @property
    def n_always(self) -> float:
        """Multiply-adds of a query before the first exit, which statistical exits require.

        These are the range gate's and, in an integer format, those that convert the codes to
        float32.
        """
        program, ends = self.program, self.ends
        floats = program.n_features * program.float_weight if ends.in_integers else 0
        return ends.float_weight * self.gate.operations() + floats

    def seen(self, rows: NDArray[np.intp]) -> Seen:
        """Return some samples as the trials of early exits see them."""
        return Seen(self.batch.chosen(rows), self.samples.labels[rows].astype(np.int32))

    def choice_samples(self) -> ChoiceSamples:
        """Return the samples on which sequences of exits are compared."""
        choice, exact = self.parts.choice, self.ends.exact
        seen = self.seen(choice)
        unprepared = Batch.of(seen.batch.x, self.program.n_decisions)
        n_known = np.zeros(len(choice), dtype=np.int64)
        if isinstance(exact, ExactSum) and exact.least_spared(1):
            # An integer sum reuses no kernel, and a sum that does not spare each reuses few.
            n_known = exact.total_operations - exact.skipped_features(seen.batch.x)
        elif isinstance(exact, SumOfLeaves):
            n_known = np.ones_like(n_known)  # of the walk, whose multiply-adds are counted
        return ChoiceSamples(
            seen,
            self.samples.decisions[choice],
            self.relevant[choice],
            exact.operations_of(unprepared) + self.ends.label.operations(),
            n_known,
            self.wish.truth_of(choice),
            self._spent_by_the_sum(choice),
        )

    def _spent_by_the_sum(self, rows: NDArray[np.intp]) -> float:
        """Return how many of some samples a reduced machine loses, and one that is not seen yet."""
        if self.machine.reduced_from is None:
            return 0.0
        own, trained = self.samples.labels[rows], self.samples.trained_labels[rows]
        return 1.0 + max(0, int(losses_of(own, trained, self.wish.truth_of(rows)).sum()))


def prepared_batch(program: Program, X: Float32Array) -> Batch:
    """Return inputs of shape (n, n_features), float32, after the preprocessing."""
    return program.prepare.run(Batch.of(np.ascontiguousarray(X), program.n_decisions))


def prepared(program: Program, X: Float32Array) -> Float32Array:
    """Return the prepared inputs, shape (n, n_prepared), float32; the C must accept all rows."""
    return prepared_batch(program, X).x


def gate_of(program: Program, x: Float32Array) -> RangeGate:
    """Return the range gate of a program whose early exits are calibrated on prepared samples.

    Parameters
    ----------
    program : Program
    x : ndarray of shape (n_samples, n_features), float32
    """
    last = program.prepare.steps[-1] if program.prepare.steps else None
    skips = sum_skips_zeros(program)
    if isinstance(last, Normalize) and last.is_l2 and last.is_whole and not skips:
        largest = np.nextafter(np.float32(last.unknown), np.float32(0.0))
        return RangeGate(x.shape[1], np.float32(last.relative), largest, skips, divided=True)
    return range_gate(x, skips)


def range_gate(x: Float32Array, skip_zeros: bool) -> RangeGate:
    """Return the range gate, which every query passes before the first early exit.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples: the range of their squared norms is the calibrated range.
    skip_zeros : bool
    """
    square = sum_of_squares(x)
    return RangeGate(
        x.shape[1], square.min(), square.max(), skip_zeros, usual=usual_squares(square)
    )

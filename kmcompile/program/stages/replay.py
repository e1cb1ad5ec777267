"""The replay: a second exact sum, in float64, for queries whose label float32 leaves open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import RealArray, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.shared import Place
from kmcompile.program.stages.input.prepare import Prepare
from kmcompile.program.stages.labels.label import Label
from kmcompile.program.stages.stage import Always
from kmcompile.program.stages.sums.sum import PARTED, READ_BY_BOTH, Sum


@dataclass(frozen=True, slots=True, eq=False)
class Replay(Always):
    """Preprocessing and sum in float64, of the received input, in the operation order of float32.

    This is the second stage of an adaptive predicate [1]_: the same certificate with u = 2^-53.
    It reads the float32 tables of the exact sum and, where there are some, tables of low parts
    (`kmcompile.lower.stored`). Distances are summed from differences. Where the exact sum skips
    zeros, <s, x> leaves them out, which changes no bit: +-0 is added to a sum that began with +0.

    In an integer format, the replay reads the tables of `FixedSum`. Low parts, vectors and inputs
    are integers (`FineSum`): the C sums int64, and uses float64 only for operations once a vector.
    On targets without doubles, sums of rbf machines are integers throughout (`LongSum`, of float32
    tables, and `FineSum` with a `LongKernel`).

    The label is made in float64, too; only the ends of its interval become float32, outward.

    Parameters
    ----------
    prepare : Prepare
        The preprocessing in float64. The first stage has checked the input.
    input_error : float64
        At least sqrt(n_features) 2^-126: the error of an input whose subnormal features are read
        as 0.
    sum : Sum
        The sum in float64, low parts included.
    skip_zeros : bool
    label : Label
        The label stage with the constants of float64.
    low_vectors : ndarray of shape (n_blocks, n_features, lanes), float32
        Low parts of the vectors, or of a linear machine's weights; empty if all are 0. In an
        integer format int8 or int16, in the shape of the table of codes. Of a `LongSum` int16.
    low_coefficients : ndarray of shape (n_blocks, n_rows, lanes), float32
        Low parts of the coefficients. In an integer format int16 or int32, of a `LongSum` int16.
    at_once : bool
        Whether it takes the place of the exact sum for queries that no early exit decides.

    References
    ----------
    .. [1] J. R. Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric
       predicates, Discrete & Computational Geometry 18, 1997, section 3.
    """

    prepare: Prepare
    input_error: np.float64
    sum: Sum
    skip_zeros: bool
    label: Label
    low_vectors: RealArray
    low_coefficients: RealArray
    at_once: bool = False

    template: ClassVar[str] = "replay"
    place: ClassVar[Place] = Place.REPLAY
    exit: ClassVar[str | None] = "exact"

    def __post_init__(self) -> None:
        for name in ("low_vectors", "low_coefficients"):
            values = getattr(self, name)
            object.__setattr__(self, name, frozen(values, values.dtype))

    @property
    def in_integers(self) -> bool:
        """Whether kernels and their sums are in integers, too."""
        return self.sum.in_integers

    @property
    def has_low_vectors(self) -> bool:
        """Whether any vector has low parts."""
        return self.low_vectors.size > 0

    @property
    def has_low_coefficients(self) -> bool:
        """Whether any coefficient has low parts."""
        return self.low_coefficients.size > 0

    def run(self, batch: Batch) -> Batch:
        """Return the batch with label, interval and certificate of the received input."""
        spent = batch.kernel_evals + np.uint32(self.kernel_evaluations())
        answer = self.label.run(self.summed(batch))
        return replace(
            batch,
            label=answer.label,
            value=answer.value,
            lower=answer.lower,
            upper=answer.upper,
            settled=answer.settled,
            kernel_evals=spent,
        )

    def summed(self, batch: Batch) -> Batch:
        """Return a batch in float64 with the decisions and bounds of the received input."""
        wide = batch.raw.astype(np.float64)
        start = replace(
            Batch.of(batch.raw, self.sum.n_decisions),
            x=wide,
            deviation=np.full(len(wide), self.input_error),
            length=np.zeros(len(wide)),
        )
        return self.sum.run(self.sum.of_codes(batch, self.prepare.run(start)))

    def operations(self) -> int:
        """Return the multiply-adds of one query before the label, of an input without zeros.

        Conversions are not counted.
        """
        return self.prepare.operations() + self.sum.operations()

    def kernel_evaluations(self) -> int:
        """Return the kernel evaluations of the sum."""
        return self.sum.kernel_evaluations()

    def tables(self) -> tuple[Table, ...]:
        """Return the tables that the replay has besides those of the exact sum."""
        shared = {*PARTED, *READ_BY_BOTH}
        own = tuple(t for t in self.prepare.tables() + self.sum.tables() if t.name not in shared)
        low = (
            Table(
                "vectors_low",
                self.low_vectors,
                "Low parts of the vectors, in the order of their table: [element]",
                "N_BLOCKS",
            ),
            Table(
                "coefficients_low",
                self.low_coefficients,
                "Low parts of the coefficients, in the order of their table: [element]",
                "N_BLOCKS",
            ),
        )
        return tuple(
            replace(table, name=f"replay_{table.name}")
            for table in (*own, *low)
            if table.values.size > 0
        )

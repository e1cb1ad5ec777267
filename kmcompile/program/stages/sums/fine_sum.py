"""The replay's sum of an rbf machine in an integer format, over finer codes than the format's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array, RealArray, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE
from kmcompile.program.laid import Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.piece import Piece, replay_in_blocks
from kmcompile.program.shared import LEFT_OUT
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.program.stages.sums.fixed_sum import FixedSum
from kmcompile.program.stages.sums.long_kernel import LongKernel
from kmcompile.program.stages.sums.rows import Intercept, Minimum
from kmcompile.program.stages.sums.sum import Sum

_CHUNK_VALUES = 1 << 20

_EXPONENTIAL = EXP_NEGATIVE[np.float64]

FUNCTION_OPERATIONS = 20
"""Multiply-adds of a kernel value from its distance: a polynomial of degree 13."""


@dataclass(frozen=True, slots=True, eq=False)
class FineSum(Sum):
    """f_p = sum_i c_pi exp(-gamma |S_i - X|^2) + b_p in float64, of integers S and X.

    S and X are fine codes: 2^low_bits units of a fine code make one code of the format. A stored
    vector S is its codes times 2^low_bits, plus low parts if there is a table of low parts. A raw
    input is rounded to fine codes; an input of codes is multiplied by 2^low_bits. All |S - X|^2 are
    below 2^53, so that int64 in the C and float64 here give equal numbers.

    A coefficient is +-(c 2^coefficient_bits + low part) * step, c of the format's table, with the
    sign of its group's row. Groups and the order of the vectors are those of `FixedSum`. A row's
    products are added one after the other, and at a group's end to the decision.

    With a kernel in integers (`LongKernel`), only the sums of all products become float64.

    The error of the decision is at most

        per_deviation_p * deviation + result_error |f_p| + minimum_p,

    where minimum_p covers the distance of the stored machine from the trained one in the kernel's
    feature space, and the roundings in float64 (`kmcompile.lower.integer_replay`).

    Parameters
    ----------
    gamma : float64
        In units of S and X.
    n_vectors : int
    group_ends : ndarray of shape (n_groups,), int64
        The slot after the last one of each group.
    result_error : float64
    low_bits, coefficient_bits : int
    step : float64
        A power of two.
    code_deviation : float64
        The deviation of an input that came as codes: the float64 rounding errors of the codes'
        offset and step, which come from the model's scaler.
    n_stored : int
        Number of stored codes, which is the number of multiply-adds of all distances.
    long : LongKernel or None
        The kernel in integers, on targets whose program form asks for it.
    """

    gamma: np.float64
    n_vectors: int
    vectors: Annotated[NDArray[np.int32], Layout("", ("N_SLOTS", "N_FEATURES"))]
    coefficients: Annotated[Float64Array, Layout("", ("N_SLOTS", "N_ROWS"))]
    group_ends: Annotated[NDArray[np.int64], Layout("", ("N_GROUPS",))]
    group_decisions: Annotated[NDArray[np.int64], Layout("", ("N_GROUPS", "N_ROWS"))]
    intercept: Intercept
    per_deviation: Annotated[
        Float64Array,
        Layout("Error of the decisions per |x - prepared x|: [decision]", ("N_DECISIONS",)),
    ]
    minimum: Minimum
    result_error: np.float64
    low_bits: int
    coefficient_bits: int
    step: np.float64
    code_deviation: np.float64
    n_stored: int
    long: LongKernel | None = field(default=None, metadata=LEFT_OUT)

    template: ClassVar[str] = "fine_sum"
    lanes: ClassVar[int] = 1
    dtype_of_reals: ClassVar[Any] = np.float64
    takes_fine_codes: ClassVar[bool] = True
    bound_needs_input: ClassVar[bool] = True
    bound_formula: ClassVar[str] = ""

    @property
    def in_integers(self) -> bool:
        """Whether kernels and their sums are in integers, too."""
        return self.long is not None

    @property
    def n_features(self) -> int:
        """Features of a vector."""
        return int(self.vectors.shape[1])

    @property
    def n_slots(self) -> int:
        """Number of slots of vectors, padding included."""
        return len(self.vectors)

    @property
    def n_rows(self) -> int:
        """Number of decisions in which a vector takes part."""
        return int(self.coefficients.shape[1])

    def of_codes(self, batch: Batch, prepared: Batch) -> Batch:
        """Return `prepared`, the batch of the float entry, with the inputs that came as codes."""
        codes = np.ldexp(batch.raw.astype(np.float64), self.low_bits)
        return replace(
            prepared,
            x=np.where(batch.coded[:, None], codes, prepared.x),
            deviation=np.where(batch.coded, self.code_deviation, prepared.deviation),
        )

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds; x holds integers."""
        decision = np.empty((len(batch.x), self.n_decisions))
        rows = max(1, _CHUNK_VALUES // self.n_slots)
        for start in range(0, len(batch.x), rows):
            part = slice(start, start + rows)
            decision[part] = self._sums(self.distances(batch.x[part]))
        decision += self.intercept
        of_input = self.per_deviation * batch.deviation[:, None]
        bound = (of_input + magnitude(decision) * self.result_error) + self.minimum
        return replace(
            batch,
            decision=decision,
            bound=bound,
            kernel_evals=batch.kernel_evals - batch.known + np.uint32(self.n_vectors),
        )

    def _sums(self, distances: Float64Array) -> Float64Array:
        """Return the sums of products, shape (n_queries, n_decisions)."""
        if self.long is None:
            return self._weighted(_EXPONENTIAL.of(self.gamma * distances))
        values = self.long.values(distances.astype(np.uint64))
        return self.step * self.long.weighted(values, self.units())

    def units(self) -> NDArray[np.int64]:
        """Return the coefficients in steps, shape (n_slots, n_decisions)."""
        units = np.zeros((self.n_slots, self.n_decisions), dtype=np.int64)
        first = 0
        for end, decisions in zip(self.group_ends, self.group_decisions, strict=True):
            for row, p in enumerate(decisions):
                own = self.coefficients[first:end, row] / self.step
                units[first:end, p] += own.astype(np.int64)
            first = end
        return units

    def distances(self, x: Float64Array) -> Float64Array:
        """Return |S - X|^2, shape (n_queries, n_slots): |S|^2 + |X|^2 - 2 <S, X>, all exact."""
        vectors = self.vectors.astype(np.float64)
        squares = (vectors**2).sum(axis=1) + (x**2).sum(axis=1)[:, None]
        distances: Float64Array = squares - 2 * (x @ vectors.T)
        return distances

    def _weighted(self, values: Float64Array) -> Float64Array:
        """Return the sums of products in the order of the C, shape (n_queries, n_decisions)."""
        decision = np.zeros((len(values), self.n_decisions))
        first = 0
        for end, decisions in zip(self.group_ends, self.group_decisions, strict=True):
            for row, p in enumerate(decisions):
                products = values[:, first:end] * self.coefficients[first:end, row]
                # add.accumulate adds strictly from left to right.
                decision[:, p] += np.add.accumulate(products, axis=1)[:, -1]
            first = end
        return decision

    def constants(self) -> tuple[Constant, ...]:
        """Return none: the sum stands in a replay only."""
        return ()

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the sums of a group, and those of halves of kernels in integers."""
        if self.long is None:
            return (Member(real, "row_sum", self.n_rows, "sums of one group of vectors"),)
        halves = (("high", "upper"), ("low", "lower"))
        return (
            *(Member("uint64_t", n, self.n_decisions, f"sums of {h} halves") for n, h in halves),
            *(Member("uint64_t", f"row_{n}", self.n_rows, "those of a group") for n, _ in halves),
        )

    def last_members(self, exact: Sum) -> tuple[Member, ...]:
        """Return the fine codes of the input, and the distances of listed vectors."""
        assert isinstance(exact, FixedSum)
        codes = exact.codes
        total = Member("uint64_t", "total", codes.n_totals, "|s - x|^2 of all vectors")
        text = "the fine codes in the order of the vectors"
        return (
            *((total,) if codes.sparse else ()),
            Member("int32_t", "rounded", codes.n_features, "the input in fine codes"),
            Member("int32_t", "fine", codes.n_padded, text),
        )

    def replay_pieces(self, exact: Sum) -> tuple[Piece, ...]:
        """Return the begin, with the distances of listed vectors, the blocks and the end."""
        assert isinstance(exact, FixedSum)
        return self.in_blocks(exact.lanes, self.n_stored if exact.codes.sparse else 0)

    def in_blocks(self, lanes: int, listed: int) -> tuple[Piece, ...]:
        """Return the pieces; `listed` operations of distances are those of lists, at the begin."""
        total = -(-(self.n_stored - listed) // self.n_slots)
        block = lanes * (total + self.slot_operations)
        begin = self.input_operations + listed
        return replay_in_blocks(begin, block, self.n_slots // lanes, "block", self.end_operations)

    def check_reads(
        self, exact: Stage, low_vectors: RealArray, low_coefficients: RealArray
    ) -> None:
        """Check that the integers are those of the tables of the program's exact sum."""
        for name, (own, other) in self.read(exact, low_vectors, low_coefficients).items():
            if not np.array_equal(own, other):
                raise ValueError(f"the replay has other {name} than the tables of {exact.name}")
        if self.long is not None:
            most = np.abs(self.units()).sum(axis=0).max()
            if most >= 1 << self.long.sum_bits:
                raise ValueError(f"units of a decision add up to 2^{self.long.sum_bits} or more")

    def read(
        self, exact: Stage, low_vectors: RealArray, low_coefficients: RealArray
    ) -> dict[str, tuple[Any, Any]]:
        """Return what the sum adds up by name, and what the C reads in its place."""
        assert isinstance(exact, FixedSum)
        used = self.coefficients.any(axis=1)  # slots that blocks are filled up with may differ
        negative = exact.group_rows.astype(np.int64) % 2
        ends = exact.group_ends.astype(np.int64) * exact.lanes
        sign = 1 - 2 * np.repeat(negative, np.diff(ends, prepend=0), axis=0)
        units = by_slot(exact.coefficients.astype(np.int64)) << self.coefficient_bits
        if low_coefficients.shape == exact.coefficients.shape:
            units = units + by_slot(low_coefficients)
        bits = exp2_fixed.RESULT_BITS - exact.result_shift - self.coefficient_bits
        return {
            "low vectors": sizes_of(low_vectors, exact.codes.arranged(exact.codes.codes)),
            "low coefficients": sizes_of(low_coefficients, exact.coefficients),
            "step": (self.step, np.ldexp(np.float64(exact.result_scale), bits)),
            "vectors": (self.vectors[used], self._stored(exact.codes, low_vectors)[used]),
            "coefficients": (self.coefficients, sign * (self.step * units)),
            "group_ends": (self.group_ends, ends),
            "group_decisions": (self.group_decisions, exact.group_rows // 2),
        }

    def _stored(self, table: CodeTable, low_vectors: RealArray) -> NDArray[np.int64]:
        """Return the fine codes of the slots, made of the stored codes and their low parts."""
        numbers = np.arange(table.codes.size).reshape(table.codes.shape) + 1  # 0: none is stored
        low = np.zeros(table.codes.size + 1, dtype=np.int64)
        places = table.arranged(numbers)
        low[places] = low_vectors if low_vectors.shape == places.shape else 0
        fine = np.zeros((self.n_slots, self.n_features), dtype=np.int64)
        fine[:, table.columns] = (table.codes << self.low_bits) + low[numbers]
        return fine

    def operations(self) -> int:
        """Return the multiply-adds: distances, kernel functions, sums, final steps."""
        slots = self.n_stored + self.n_slots * self.slot_operations
        return self.input_operations + slots + self.end_operations

    @property
    def input_operations(self) -> int:
        """Multiply-adds of making integers of the prepared input."""
        return int(self.vectors.shape[1])

    @property
    def slot_operations(self) -> int:
        """Multiply-adds of a slot besides its distance: kernel function and sums."""
        return FUNCTION_OPERATIONS + self.n_rows

    @property
    def end_operations(self) -> int:
        """Multiply-adds of the final steps."""
        return 4 * self.n_decisions

    def kernel_evaluations(self) -> int:
        """Return the number of support vectors."""
        return self.n_vectors


def sizes_of(low: RealArray, whole: RealArray) -> tuple[Any, Any]:
    """Return the shape of a table of low parts, and that which it may have: there may be none."""
    return low.shape, whole.shape if low.size else low.shape


def by_slot(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a table of blocks by slot, shape (n_slots, n); a list of entries as it is."""
    return table if table.ndim == 1 else table.transpose(0, 2, 1).reshape(-1, table.shape[1])

"""The exact sum of an rbf machine in fixed-point integers, with a bound on its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.numeric.arrays import Bound, Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import Below, Table
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Member
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.program.stages.sums.coded_vectors import CodedVectors
from kmcompile.program.stages.sums.fixed_kernel import EXP2_TABLE, FixedKernel, FixedResult, Whole
from kmcompile.program.stages.sums.grouped_sum import GroupedSum
from kmcompile.program.stages.sums.rows import Minimum, PerCode
from kmcompile.text.figures import factor_text

FUNCTION_OPERATIONS = 8
"""Multiply-adds of a kernel value from its distance."""

_CHUNK_VALUES = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class FixedSum(FixedKernel, FixedResult, CodedVectors, GroupedSum):
    """f_p = sum_i beta_pi exp(-gamma |s_i - x|^2) + b_p, in integers up to the last step.

    x is unit X, X integers, the codes of the input (`kmcompile.steps.Quantize`). With
    D^2 = |S - X|^2 of the stored codes, which is exact:

    - t = gamma unit^2 D^2 / ln 2 as a uint32 with 26 fractional bits:
      (D^2 >> distance_shift) * multiplier >> product_shift. From `cutoff` on, where t is 32, the
      kernel is 0.
    - k = 2^-t with 31 fractional bits (`kmcompile.numeric.scalar.exp2_fixed`).
    - The vectors stand in groups, and in a group the coefficients of a row have one sign. The
      sums of the products k * c, c = |coefficient| / step, are uint64. No sum can overflow:
      sum_i c_pi < 2^32 for every decision, its intercept included.
    - f_p = +-(|positive - negative| >> result_shift) * result_scale in float32.

    The bound. K = 2^-t for the exact t of the stored codes:

    - The sum of the stored vectors' K at the codes is within apart_p + length_p |x - X| sqrt(2
      gamma) of f_p - b_p for the exactly prepared x (`kmcompile.lower.feature_space`).
    - k is within K rho + 2^-31 of K: rho holds the multiplier, the shifts and 2^-t. From the
      cutoff on, k is 0 and K at most 2^-32 (1 + rho).
    - So K <= (k + 2^-31) / (1 - rho), and with M_p = sum_i c_pi k_i the sum of the k is within
      rho / (1 - rho) M_p + 2^-31 / (1 - rho) sum_i c_pi of the sum of the K.

    With M_p from its integer, rounded up, the decision is off by at most

        value_error M_p + per_deviation_p * deviation + result_error |f_p| + minimum_p,

    where minimum_p contains apart_p, 2^-31 sum_i c_pi and the roundings of intercept and result.
    All constants are rounded up by 2^-18, relatively, which covers the roundings in the evaluation
    of this bound. No result is below 2^-93, so that the rounding of minimum_p also covers flushed
    operations, of 2^-126 each.

    Parameters
    ----------
    codes : CodeTable
        Codes of the vectors; the padding vectors of a group's last block are 0.
    per_unit : float32
        1 / unit, a power of two.
    kernel : RbfFloat32
        The kernel in float32, for early exits.
    n_vectors, lanes : int
        Number of support vectors, and of vectors in a block.
    distance_shift, multiplier, product_shift, cutoff : int
    coefficients : ndarray of shape (n_blocks, n_rows, lanes), uint16 or uint32
        The integers c; 0 for padding vectors.
    group_ends : ndarray of shape (n_groups,), uint16
        The block after the last one of each group.
    group_rows : ndarray of shape (n_groups, n_rows), uint16
        2 p of the decision that a row of a group adds to, + 1 where its coefficients are < 0.
    start : ndarray of shape (n_decisions, 2), uint64
        The intercept's positive and negative part in units of a product.
    result_shift : int
    result_scale : float32
        A power of two: step * 2^(result_shift - 31).
    value_error, result_error : float32
    per_deviation, minimum : ndarray of shape (n_decisions,), float32
    """

    codes: CodeTable = field()
    per_unit: Bound
    kernel: RbfFloat32 = field()
    n_vectors: int
    lanes: int = field()
    distance_shift: int
    multiplier: int
    product_shift: int
    cutoff: int
    coefficients: Annotated[
        NDArray[np.uint32],
        Layout(
            "Dual coefficients |beta_pi|, 0 where a block is filled up: [block][row][lane]",
            ("N_BLOCKS", "N_ROWS", "LANES"),
            narrow=np.uint16,
        ),
    ]
    group_ends: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number of the block after the last one of a group: [group]",
            ("N_GROUPS",),
            below=Below("N_BLOCKS", rises=True),
        ),
    ]
    group_rows: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number 2 p of the decision that a row adds to, + 1 if beta < 0: [group][row]",
            ("N_GROUPS", "N_ROWS"),
            below=Below("N_DECISIONS", times=2),
        ),
    ]
    start: Annotated[
        Whole,
        Layout(
            "Intercepts b_p, their positive and negative parts: [decision][part]",
            ("N_DECISIONS", 2),
        ),
    ]
    result_shift: int
    result_scale: Bound
    value_error: Bound
    result_error: Bound
    per_deviation: PerCode
    minimum: Minimum

    template: ClassVar[str] = "fixed_sum"
    bound_meaning: ClassVar[str] = "x being the codes"
    bound_needs_input: ClassVar[bool] = True
    needs_magnitude: ClassVar[bool] = False
    others_in_floats: ClassVar[bool] = False

    @property
    def bound_formula(self) -> str:
        """The terms of a bound that do not depend on |f_p|."""
        factor = factor_text(self.value_error)
        return f"{factor} sum_i |beta_pi| K(s_i, x) + per_deviation_p d + minimum_bound_p"

    @property
    def square_type(self) -> str:
        """The C type of |x|^2 of the codes."""
        return "uint64_t" if self.codes.wide else "uint32_t"

    @property
    def wide_coefficients(self) -> bool:
        """Whether coefficients have 32 bits instead of 16."""
        return self.coefficients.dtype.itemsize > 2

    @property
    def n_slots(self) -> int:
        """Number of slots of vectors in the blocks, padding included."""
        return self.n_blocks * self.lanes

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.start)

    @property
    def intercept(self) -> Float32Array:  # type: ignore[override]  # a property for the attribute
        """The intercepts in float32, for early exits."""
        step = np.ldexp(float(self.result_scale), -self.result_shift)
        exact: Float64Array = (self.start[:, 0] * step) - (self.start[:, 1] * step)
        return exact.astype(np.float32)

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the groups, the constants of the kernel, and that no sum overflows."""
        GroupedSum.check_tables(self, known)
        self.check_scale(self.codes.largest_distance())
        sizes = np.zeros(self.n_decisions, dtype=np.uint64)
        for own, rows in zip(self.blocks_of_groups(), self.group_rows // 2, strict=True):
            np.add.at(sizes, rows, self.coefficients[own].sum(axis=(0, 2), dtype=np.uint64))
        self.check_sums(sizes.astype(object) * (1 << exp2_fixed.RESULT_BITS), self.start)

    def slot_decisions(self) -> Float32Array:
        """Return the coefficient of every slot in every decision, (n_slots, n_decisions)."""
        step = np.ldexp(float(self.result_scale), exp2_fixed.RESULT_BITS - self.result_shift)
        table = np.zeros((self.n_blocks, self.lanes, self.n_decisions))
        for own, coded in zip(self.blocks_of_groups(), self.group_rows, strict=True):
            for row, (p, negative) in enumerate(zip(coded // 2, coded % 2, strict=True)):
                sign = -step if negative else step
                table[own, :, p] = sign * self.coefficients[own, row]
        return table.reshape(-1, self.n_decisions).astype(np.float32)

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds; x holds multiples of the unit."""
        return self.in_parts(batch, max(1, _CHUNK_VALUES // self.n_slots), self._sum)

    def sums(self, x: NDArray[np.int64]) -> Whole:
        """Return the sums of products of codes of shape (n_queries, n_features).

        Returns
        -------
        ndarray of shape (n_queries, n_decisions, 2), uint64
            The sum of the positive and the sum of the negative products, with the intercept.
        """
        k = self.kernels(self.codes.distances(x))
        sums = np.repeat(self.start[None], len(x), axis=0)
        by_slot = self.coefficients.transpose(0, 2, 1).reshape(self.n_slots, self.n_rows)
        first = 0
        for block, coded in zip(self.group_ends, self.group_rows, strict=True):
            own = slice(first, int(block) * self.lanes)
            products = exact_product(k[:, own], by_slot[own])
            for row, (p, negative) in enumerate(zip(coded // 2, coded % 2, strict=True)):
                sums[:, p, negative] += products[:, row]
            first = own.stop
        return sums

    def _sum(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        sums = self.sums((batch.x * self.per_unit).astype(np.int64))
        of_input = self.per_deviation * batch.deviation[:, None]
        return self.result((sums[:, :, 0], sums[:, :, 1]), self.start, of_input, self.minimum)

    def operations(self) -> int:
        """Return the multiply-adds: distances, kernel functions, sums, final steps."""
        own = self.codes.operations() + self.n_blocks * self.block_operations(0)
        return own + self.n_features + self.n_groups * self.n_rows + self.float_operations

    def block_operations(self, total: int) -> int:
        """Return the multiply-adds of a block of vectors, each with those of its total."""
        return self.lanes * (total + FUNCTION_OPERATIONS + self.n_rows)

    @property
    def float_operations(self) -> int:
        """Multiply-adds in float32: the final steps."""
        return 12 * self.n_decisions

    def piece_operations(self) -> tuple[int, int, int]:
        """Return the multiply-adds before the blocks, of one with its group's end, and after."""
        listed = self.codes.operations() if self.codes.sparse else 0
        total = 0 if self.codes.sparse else self.codes.n_padded
        block = self.block_operations(total) + self.n_rows
        return self.n_features + listed, block, self.float_operations

    def integer_members(self) -> tuple[Member, ...]:
        """Return the sums of products, and those of a group."""
        text = "kernels times coefficients, > 0 and < 0"
        return (
            Member("uint64_t", "products", 2 * self.n_decisions, text),
            Member("uint64_t", "row_sum", self.n_rows, "products of one group of vectors"),
        )

    def shared(self) -> Shared:
        """Return the numbers of features, slots, groups and decisions."""
        own = (("codes in one unit", float(self.per_unit)), ("N_SLOTS", self.n_slots))
        return (*own, ("LANES", self.lanes), *Laid.shared(self))

    def tables(self) -> tuple[Table, ...]:
        """Return vectors, coefficients, groups, intercepts, 2^(-i / 64) and constant bounds."""
        own = Laid.tables(self)
        return (*own[:-2], EXP2_TABLE, *own[-2:])


def exact_product(left: Whole, right: NDArray[np.uint32]) -> Whole:
    """Return left @ right of integers below 2^32, for sums below 2^64.

    The integers are split into 16-bit halves, whose partial sums are below 2^53 and thus exact in
    float64 in any order.
    """
    low = np.uint64(0xFFFF)
    total = np.zeros((len(left), right.shape[1]), dtype=np.uint64)
    for left_shift in (0, 16):
        of_left = ((left >> np.uint64(left_shift)) & low).astype(np.float64)
        for right_shift in (0, 16):
            shifted = right.astype(np.uint64) >> np.uint64(right_shift)
            part = (of_left @ (shifted & low).astype(np.float64)).astype(np.uint64)
            total += part << np.uint64(left_shift + right_shift)
    return total

"""The exact sum of a poly or sigmoid machine with integer codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, RealArray
from kmcompile.numeric.table import Table
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.code_table import CodeTable
from kmcompile.program.stages.sums.coded_vectors import CodedVectors
from kmcompile.program.stages.sums.exact_sum import ExactSum


@dataclass(frozen=True, slots=True, eq=False)
class CodedSum(CodedVectors, ExactSum):
    """An exact sum with integer inner products, for kernels of <s, x>.

    x is unit X with integers X. <s, x> is float32(<S, X>) * unit^2: the sum of integers is exact,
    its conversion rounds once, and unit is a power of two. The kernel's functions and the weighted
    sum are in float32 as in `ExactSum`.

    Parameters
    ----------
    codes : CodeTable
        The vectors; `vectors` is empty.
    per_unit, unit_square : float32
        1 / unit and unit^2.
    """

    codes: CodeTable = field()
    per_unit: Bound
    unit_square: Bound

    template: ClassVar[str] = "exact_sum"
    has_single_kernels: ClassVar[bool] = False
    in_floats: ClassVar[bool] = False
    order_in_c: ClassVar[tuple[str, ...]] = ("codes",)

    @property
    def lanes(self) -> int:
        """Vectors of a block."""
        return int(self.coefficients.shape[2])

    @property
    def total_operations(self) -> int:
        """Multiply-adds of one vector's inner product: its stored codes, rounded up."""
        return -(-self.codes.operations() // self.n_slots)

    def piece_operations(self) -> tuple[int, int, int]:
        """Return the multiply-adds before the blocks, of one with its group's end, and after."""
        if not self.codes.sparse:
            return ExactSum.piece_operations(self)
        block = self.block_operations(0) + self.group_operations
        return self.codes.operations(), block, self.end_operations

    def operations(self) -> int:
        """Return the multiply-adds: inner products, kernel functions, both sums, final steps."""
        others = ExactSum.operations(self) - self.n_slots * self.total_operations
        return self.codes.operations() + others

    def totals(
        self, x: RealArray, columns: RealArray, slots: NDArray[np.intp] | None = None
    ) -> RealArray:
        """Return <s, x> as the C computes it; parameters as in `ExactSum`."""
        products = self.codes.products((x * self.per_unit).astype(np.int64))
        if slots is not None:
            products = np.take_along_axis(products, slots, axis=1)
        total: RealArray = products.astype(np.float32) * self.unit_square
        return total

    def shared(self) -> Shared:
        """Return the constants of `ExactSum`, and the number of codes in one unit."""
        return (("codes in one unit", float(self.per_unit)), *ExactSum.shared(self))

    def tables(self) -> tuple[Table, ...]:
        """Return the codes instead of the vectors, then the other tables of `ExactSum`."""
        return tuple(table for table in ExactSum.tables(self) if table.name != "squares")

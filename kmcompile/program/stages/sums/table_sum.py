"""The sum of an additive machine whose inputs are codes: a value of each feature at each code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, BoundArray, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.rows import Minimum
from kmcompile.program.stages.sums.sum_of_codes import SumOfCodes


@dataclass(frozen=True, slots=True, eq=False)
class TableSum(SumOfCodes):
    """f_p = sum_j g_pj(x_j) + b_p in integers: one look-up a feature, no search.

    x is unit X, X integers, the codes of the input (`kmcompile.steps.Quantize`). The table holds
    g_pj at the codes from `low` to the largest code of a support vector, beyond which g_pj is
    constant: as an integer times the step, less the least one of the function. So no integer is
    negative. The least ones stand in `start`, with the intercept. A sum of integers is exact, and
    none overflows: what a sum begins with and the largest integers of all functions add up to less
    than 2^32.

    The bound of a decision has three causes. A value in the table is rounded: the largest error
    of each function counts, and all are in minimum_p, with those of the intercept and of support
    vectors and coefficients that float64 rounded before. The input's distance delta from its codes
    moves f_p by at most delta times the norm of the functions' largest slopes. The sum becomes
    float32, which rounds once; the step is a power of two. Hence

        |f_p - f^_p| <= per_deviation_p delta + result_error |f^_p| + minimum_p.

    Parameters
    ----------
    codes : CodeRange
    per_unit : float32
        1 / unit, a power of two.
    values : ndarray of shape (n_values, n_decisions), uint16 or uint32
        The integers of all functions, function after function, in ascending order of the codes.
    function_columns : ndarray of shape (n_functions,), uint16 or uint32
        The feature of each function. A feature that changes no decision has none.
    function_ends : ndarray of shape (n_functions,), uint16 or uint32
        The number of the value after the last one of each function.
    start : ndarray of shape (n_decisions, 2), uint32
        What the sums begin with, and what is taken off them at last; one of them is 0.
    result_scale : float32
        The step, a power of two.
    result_error : float32

    References
    ----------
    S. Maji, A. C. Berg, J. Malik, Classification using intersection kernel support vector machines
    is efficient, CVPR 2008, section 3.
    """

    codes: CodeRange = field()
    per_unit: Bound
    values: Annotated[
        NDArray[np.uint32],
        Layout("Values of the functions: [code][decision]", ("", "N_DECISIONS"), narrow=np.uint16),
    ]
    function_columns: Annotated[
        NDArray[np.uint32],
        Layout(
            "Features of the functions: [function]",
            ("functions",),
            narrow=np.uint16,
            below=Below("N_FEATURES"),
        ),
    ]
    function_ends: Annotated[
        NDArray[np.uint32],
        Layout(
            "Number of the value after the last one of each function: [function]",
            ("functions",),
            narrow=np.uint16,
            below=Below("self.n_values", rises=True),
        ),
    ]
    start: Annotated[
        NDArray[np.uint32],
        Layout(
            "Intercepts b_p and the least values, what is > 0 and what is < 0: [decision][part]",
            ("N_DECISIONS", 2),
        ),
    ]
    result_scale: Bound
    result_error: Bound
    per_deviation: Annotated[
        BoundArray,
        Layout(
            "Error of the decisions per |x - code|: [decision]",
            ("N_DECISIONS",),
            name="bound_per_deviation",
        ),
    ]
    minimum: Minimum

    template: ClassVar[str] = "table_sum"
    unit: ClassVar[str] = "functions of one feature"
    others_in_floats: ClassVar[bool] = False
    product_operations: ClassVar[int] = 0
    bound_formula: ClassVar[str] = "bound_per_deviation_p d + minimum_bound_p"

    @property
    def n_functions(self) -> int:
        """Features that change a decision."""
        return len(self.function_columns)

    @property
    def n_values(self) -> int:
        """Codes of all functions that have a value."""
        return len(self.values)

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, that each function has a value, and that no sum overflows."""
        SumOfCodes.check_tables(self, known)
        most = self.start[:, 0].astype(np.int64)
        for first, end in pairwise([0, *self.function_ends.tolist()]):
            if first == end:
                raise ValueError("a function has no value")
            most += self.values[first:end].max(axis=0)
        if most.max() >= 1 << 32:
            raise ValueError("the values of the functions of a decision add up to 2^32 or more")

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the functions' tables."""
        return (
            Constant("N_FUNCTIONS", self.n_functions, "features that change a decision"),
            Constant("N_VALUES", self.n_values, "codes at which their functions are stored"),
        )

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the sums of integers."""
        return (Member("uint32_t", "units", self.n_decisions, "sums of values of functions"),)

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest decision or term of the bound; nothing else is a float."""
        slack = float(self.per_deviation.max()) * deviation
        return 4 * max(2.0**32 * float(self.result_scale), slack)

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds; x holds multiples of the unit."""
        codes = (batch.x * self.per_unit).astype(np.int64) - self.codes.low
        units = np.repeat(self.start[None, :, 0].astype(np.int64), len(codes), axis=0)
        first = 0
        for column, end in zip(self.function_columns, self.function_ends.astype(int), strict=True):
            units += self.values[first + np.minimum(codes[:, column], end - 1 - first)]
            first = end
        units -= self.start[:, 1]
        size = np.abs(units).astype(np.float32) * self.result_scale
        of_input = self.per_deviation * batch.deviation[:, None]
        bound = (of_input + size * self.result_error) + self.minimum
        return self.answered(batch, np.where(units >= 0, size, -size), bound)

    def operations(self) -> int:
        """Return a comparison and a place a function, its additions, and the final steps."""
        return self.n_functions * (2 + self.n_decisions) + self.float_operations

    @property
    def float_operations(self) -> int:
        """Multiply-adds in float32: the final steps."""
        return 6 * self.n_decisions

    def kernel_evaluations(self) -> int:
        """Return the number of functions."""
        return self.n_functions

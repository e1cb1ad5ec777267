"""The sum of a linear machine in integers: its inputs are codes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float32Array, Float64Array, Positive, Real
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.sum_of_codes import SumOfCodes
from kmcompile.steps.digitize import PART_BITS

WEIGHT_BITS = 16

LARGEST_BASE = 1 << 29
"""What the parts of the bound are at most."""

LEAST_LOG2, MOST_LOG2 = -100, 60
"""Least and largest binary logarithm of a unit: results are normal float32."""

RESULT_BITS = 21
"""Bits by which a decision and its bound are shifted for the bound on their float32 roundings."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedLinearSum(SumOfCodes):
    """f_p = <w_p, X> + b_p in integers of 32 bits; X are codes (`kmcompile.steps.Digitize`).

    With integers W, |W| < 2^15, and a step of each decision that is a power of two,

        T_p = floor(sum_j W_pj X_j / 2^shift) + a constant,        f_p = unit_p T_p,

    unit_p = step_p 2^shift, but each product is rounded down on its own. Both factors are made
    positive, V = W + 2^15 and U = X - low, which costs a CPU without signed products least:
    W X = V U - 2^15 X + low W + 2^15 low. Sums are modulo 2^32, and T_p is within 31 bits and a
    sign, which the lowering proves for all codes.

    The bound of a decision in units has five causes:

    - A weight is rounded by at most step_p / 2: sum_j |X_j| / 2^(shift + 1).
    - A product is rounded down by less than 1, the constant is moved up by half of the n products:
      n / 2. The constant is rounded: 1 / 2. With what float64 rounded before, this is `base`.
    - An input is off from its codes by at most d = deviation / root in each feature (a tolerance
      of `Digitize`, in parts): d sum_j |w_pj|, `per_part` being sum_j |w_pj| / unit_p.
    - T_p becomes float32, and decision and bound are added and rounded outwards: five roundings of
      2^-24 (|T_p| + the bound), which are less than (|T_p| + the bound) / 2^21.
    - The integers of the bound itself are rounded down: 4.

    The bound becomes float32, which may take 2^-24 off it; the fourth term covers this as well.

    Parameters
    ----------
    codes : CodeRange
    weights : ndarray of shape (n_decisions, n_features), uint16
        V.
    shift : int
        From 0 to 15.
    start : ndarray of shape (n_decisions,), uint32
        The constants, modulo 2^32.
    exponents : ndarray of shape (n_decisions,), int16
        Binary logarithms of unit_p, from -100 to 60: results are normal float32.
    base, per_part : ndarray of shape (n_decisions,), uint32
    parts : float32
        Parts in one deviation, a power of two.
    weight : int
        Multiply-adds of codes, as the target's costs have them, in one product.
    tile : int
        Features that one turn of the loop handles.
    """

    codes: CodeRange = field()
    weights: Annotated[
        NDArray[np.uint16],
        Layout(
            "Weights w_p of the decisions plus 2^15: [decision][feature]",
            ("N_DECISIONS", "N_PREPARED"),
        ),
    ]
    shift: int
    start: Annotated[
        NDArray[np.uint32],
        Layout("Constants of the sums, modulo 2^32: [decision]", ("N_DECISIONS",)),
    ]
    exponents: Annotated[
        NDArray[np.int16],
        Layout(
            "Binary logarithms of unit_p, where a float has its exponent: [decision]",
            ("N_DECISIONS",),
            name="unit_fields",
            of="unit_fields",
        ),
    ]
    base: Annotated[
        NDArray[np.uint32],
        Layout(
            "Part of the decisions' bound that no input changes, in units: [decision]",
            ("N_DECISIONS",),
            name="bound_base",
        ),
    ]
    per_part: Annotated[
        NDArray[np.uint32],
        Layout(
            "Units by which decisions move if all features move by a step: [decision]",
            ("N_DECISIONS",),
            name="bound_per_part",
        ),
    ]
    parts: Bound
    weight: Positive
    tile: Positive

    template: ClassVar[str] = "coded_linear_sum"
    unit: ClassVar[str] = "inner products"
    others_in_floats: ClassVar[bool] = False
    bound_formula: ClassVar[str] = (
        "unit_p (bound_base_p + sum_j |code_j| / 2^(shift + 1) + bound_per_part_p d)"
    )
    result_error: ClassVar[Real] = np.float32(2.0**-RESULT_BITS)  # type: ignore[misc]

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check that numbers are within their limits, and that no decision overflows."""
        SumOfCodes.check_tables(self, known)
        if not 0 <= self.shift < WEIGHT_BITS:
            raise ValueError(f"the products are shifted by {self.shift} bits")
        if self.exponents.min() < LEAST_LOG2 or self.exponents.max() > MOST_LOG2:
            raise ValueError(f"a unit is not from 2^{LEAST_LOG2} to 2^{MOST_LOG2}")
        if max(self.base.max(), self.per_part.max()) > LARGEST_BASE:
            raise ValueError(f"a part of the bound is above {LARGEST_BASE}")
        if math.frexp(float(self.parts))[0] != 0.5:
            raise ValueError(f"the parts of a deviation are {self.parts}, no power of two")
        sizes = np.abs(self.weights.astype(np.int64) - (1 << (WEIGHT_BITS - 1))).sum(axis=1)
        most = np.abs(self.sums(np.zeros((1, self.n_features), dtype=np.int64))[0])
        most += (sizes * self.codes.largest >> self.shift) + self.n_features + 1
        if most.max() >= 1 << 31:
            raise ValueError("a decision does not fit 31 bits and a sign")

    @property
    def n_tiled(self) -> int:
        """Features that are summed several at a time."""
        return self.n_features // self.tile * self.tile if self.tile > 1 else 0

    @property
    def has_tail(self) -> bool:
        """Whether features are left that are summed one at a time."""
        return self.n_tiled < self.n_features

    @property
    def rounding_shift(self) -> int:
        """By how much the sum of the codes is shifted for what the weights' rounding adds."""
        return self.shift + 1

    @property
    def code_shift(self) -> int:
        """By how much the sum of the codes is shifted: the 2^15 that weights have too much."""
        return WEIGHT_BITS - 1 - self.shift

    @property
    def parts_field(self) -> int:
        """The binary logarithm of `parts`, where a float has its exponent, modulo 2^32."""
        return (round(math.log2(float(self.parts))) << 23) % (1 << 32)

    @property
    def intercept(self) -> Float32Array:  # type: ignore[override]  # a property for the attribute
        """The decisions of an input whose codes are 0, in float32."""
        zeros = np.zeros((1, self.n_features), dtype=np.int64)
        units = self.sums(zeros)[0].astype(np.float32)
        decisions: Float32Array = np.ldexp(units, self.exponents.astype(np.int32))
        return decisions

    @property
    def minimum(self) -> Float32Array:  # type: ignore[override]  # a property for the attribute
        """The part of the bound that does not depend on the query."""
        units: Float64Array = self.base.astype(np.float64)
        return np.ldexp(units, self.exponents.astype(np.int32)).astype(np.float32)

    def constants(self) -> tuple[Constant, ...]:
        """Return nothing: features and decisions are all that is counted."""
        return ()

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return twice the largest decision or bound; nothing else is a float."""
        return float(np.ldexp(1.0, 33 + int(self.exponents.max())))

    def sums(self, X: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums T of codes of shape (n_queries, n_features), modulo 2^32 from -2^31 on.

        Returns
        -------
        ndarray of shape (n_queries, n_decisions), int64
        """
        U = X - self.codes.low
        total = np.empty((len(X), self.n_decisions), dtype=np.int64)
        for p, row in enumerate(self.weights.astype(np.int64)):
            total[:, p] = ((U * row) >> self.shift).sum(axis=1)
        total += self.start.astype(np.int64)
        total -= (X.sum(axis=1) << self.code_shift)[:, None]
        units: NDArray[np.int64] = (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
        return units.astype(np.int64)

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds; x holds codes."""
        X = batch.x.astype(np.int64)
        units = self.sums(X)
        size = np.abs(units)
        parts = (batch.deviation * self.parts).astype(np.int64)[:, None]
        off = self.base + (np.abs(X).sum(axis=1)[:, None] >> (self.shift + 1))
        off = off + ((parts * self.per_part.astype(np.int64)) >> PART_BITS)
        off = off + ((size + off) >> RESULT_BITS)
        exponents = self.exponents.astype(np.int32)
        decision = np.ldexp(size.astype(np.float32), exponents)
        bound = np.ldexp(off.astype(np.float32), exponents)
        return self.answered(batch, np.where(units >= 0, decision, -decision), bound)

    def operations(self) -> int:
        """Return the products, two sums of the codes, and the final steps."""
        return self.weight * int(self.weights.size) + 2 * self.n_features + 8 * self.n_decisions

    @property
    def unit_fields(self) -> NDArray[np.uint32]:
        """The logarithms of unit_p where a float has its exponent, shape (n_decisions,)."""
        return ((self.exponents.astype(np.int64) << 23) & 0xFFFFFFFF).astype(np.uint32)

    def shared(self) -> Shared:
        """Return the number of features and of decisions."""
        return (("N_PREPARED", self.n_features), *Laid.shared(self))

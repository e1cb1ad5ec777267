"""Round inputs to codes whose steps are powers of two, in integers alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array, Real, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.steps.image import ElementwiseStep, Length
from kmcompile.steps.quantize import REFUSED

PART_BITS = 8
"""Bits of a number behind the step of a code, by which its distance from the code is measured."""

PARTS = 1 << PART_BITS

LARGEST_LOG2 = 22
"""No number is accepted of 2^22 steps or more, so that with its parts it has 30 bits at most."""

MOST_EXPONENT = 100
"""Largest magnitude of the binary logarithm of a step."""

_ZERO_SHIFT = 127 + 23 - PART_BITS
"""By how much the significand of a number with an exponent field of 0 would be shifted down, if
the step were 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Digitize(ElementwiseStep):
    """code_j = (x_j / step_j, rounded to an integer) - origin_j, where each step is a power of two.

    No float is computed with: a number is the significand of x_j, shifted. x_j / step_j is rounded
    to the nearest integer, away from 0 where two are as near. It is exact before, so that the
    number step_j (origin_j + code_j) is within half a step of x_j. How far is measured, if inputs
    may be on the numbers of codes, in parts of 256 to a step, rounded up: 0 if and only if x_j is
    the number of its code. Otherwise it is half a step.

    The deviation is the largest of these distances in steps, times `root`, which is at least
    sqrt(n_in): a bound on the Euclidean distance, and the largest distance itself can be had from
    it. The format has no code below `low` or above `high`. An input with such a code, or of
    2^22 steps or more, is refused: its deviation becomes `REFUSED`.

    Parameters
    ----------
    low, high : float32
        The least and the largest code.
    exponents : ndarray of shape (n_in,), int16
        Binary logarithms of 1 / step_j, of magnitudes up to 100.
    origins : ndarray of shape (n_in,), int32
    root : float32
        A power of two.
    measures : bool
        Whether distances are measured.
    """

    low: Real
    high: Real
    exponents: NDArray[np.int16]
    origins: NDArray[np.int32]
    root: Real
    measures: bool

    name: ClassVar[str] = "digitize"
    refuses: ClassVar[bool] = True  # inputs outside the scale
    unit: ClassVar[np.float32] = np.float32(1.0)
    per_unit: ClassVar[np.float32] = np.float32(1.0)
    code_deviation: ClassVar[np.float32] = np.float32(0.0)
    length: ClassVar[Length | None] = None  # type: ignore[misc]  # no later part needs one
    most_up: ClassVar[int] = LARGEST_LOG2 + PART_BITS - 24
    """By how much a significand may be shifted up, without reaching the largest number."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponents", frozen(self.exponents, np.int16))
        object.__setattr__(self, "origins", frozen(self.origins, np.int32))
        if len(self.origins) != len(self.exponents):
            raise ValueError("a feature has a step and an origin")
        if np.abs(self.exponents.astype(np.int64)).max(initial=0) > MOST_EXPONENT:
            raise ValueError(f"a step is from 2^-{MOST_EXPONENT} to 2^{MOST_EXPONENT}")

    @property
    def n_in(self) -> int:  # type: ignore[override]  # a property stands for the attribute
        """Number of input features."""
        return len(self.exponents)

    @property
    def words(self) -> NDArray[np.uint32]:
        """The scale of each feature in a word, as the C has it.

        The lower 8 bits are the shift: by how much the significand of a number with an exponent
        field of 0 is shifted down. The others are what is added to a number in steps, modulo 2^24,
        so that the least code becomes 0.
        """
        shifts = _ZERO_SHIFT - self.exponents.astype(np.int64)
        added = (-self.origins.astype(np.int64) - int(self.low)) & 0xFFFFFF
        return (shifts | (added << 8)).astype(np.uint32)

    @property
    def one_word(self) -> int | None:
        """The word of all features, or None if they have several."""
        return int(self.words[0]) if np.ptp(self.words) == 0 else None

    @property
    def shifts_up(self) -> bool:
        """Whether a number that is larger than its significand's parts may have a code.

        Such a number is of 2^15 steps or more. If no code is so far from 0, the significand as it
        stands is above every code, too, and need not be shifted up.
        """
        origins = self.origins.astype(np.int64)
        ends = np.abs([origins + int(self.low), origins + int(self.high)])
        return bool(ends.max(initial=0) >= 1 << (23 - PART_BITS))

    @property
    def per_part(self) -> np.float32:
        """The deviation of one part."""
        return np.float32(float(self.root) / PARTS)

    @property
    def half_step(self) -> np.float32:
        """The deviation of half a step."""
        return np.float32(float(self.root) / 2)

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with codes."""
        parts: Float64Array = np.ldexp(
            np.abs(batch.x).astype(np.float64), self.exponents.astype(np.int64) + PART_BITS
        )
        inside = parts < 2.0 ** (LARGEST_LOG2 + PART_BITS)
        parts = np.where(inside, parts, 0.0)
        whole = np.floor(parts).astype(np.int64)
        size = (whole + PARTS // 2) >> PART_BITS
        codes = np.where(np.signbit(batch.x), -size, size) - self.origins
        inside &= (codes >= self.low) & (codes <= self.high)
        rest = whole % PARTS
        below = rest + ((rest > 0) | (parts > whole))
        rests = np.where(rest < PARTS // 2, below, PARTS - rest)
        largest = np.where(inside, rests, 0).max(axis=1, initial=0)
        if not self.measures:
            largest = np.full(len(parts), PARTS // 2)
        deviation = largest.astype(np.float32) * self.per_part
        deviation = np.where(inside.all(axis=1), deviation, REFUSED)
        whole_codes = np.where(inside, codes, 0).astype(np.float32)
        return self.of_codes(replace(batch, deviation=deviation), whole_codes)

    def of_codes(self, batch: Batch, codes: Float32Array) -> Batch:
        """Return the batch of the given codes, as float32."""
        return replace(batch, x=codes.astype(np.float32, copy=False))

    def largest_deviation(self, deviation: float, before: float, after: float) -> float:
        """Return a bound on the deviation after the step: half a step in every feature."""
        return deviation + 0.5 * float(self.root)

    def operations(self) -> int:
        """Return the operations of shifts, rounding and tests."""
        return 2 * self.n_in

    def tables(self, number: int) -> tuple[Table, ...]:
        """Return the scales of the features, if they are not all one."""
        if self.one_word is not None:
            return ()
        meaning = (
            "Shifts of the features' significands, and from bit 8 on what is added to a number in "
            "steps: [feature]"
        )
        return (Table("code_scales", self.words, meaning),)

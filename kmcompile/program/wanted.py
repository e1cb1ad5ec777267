"""What is wanted of a program: by what programs of one machine are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from kmcompile.program.estimate import EQUAL, Estimate
from kmcompile.request.plan import Optimize, Plan

_SHARES = (1.0, 1.0, 1 / 2)
"""What the mean, the worst case and the flash count in "balanced". [measured: with 1/2 and 1/4
optdigits takes 2.7 times the worst case and three times the flash for .6 times the mean; with
limits, such as one and a half times the least mean, what is a little beyond them is given up for as
much]
"""

_ORDERS: Mapping[Optimize, tuple[str, str, str]] = {
    "mean": ("mean", "worst", "flash_bytes"),
    "worst": ("worst", "mean", "flash_bytes"),
    "flash": ("flash_bytes", "mean", "worst"),
}

Key = TypeVar("Key", str, int)


@dataclass(frozen=True, slots=True)
class Wanted:
    """By what programs are compared, and what they may take.

    Parameters
    ----------
    optimize : {"balanced", "mean", "worst", "flash"}
    flash_bytes, instructions : int or None
        Limits of the flash and of the instructions in the worst case. A program beyond one is taken
        only if there is no other.
    """

    optimize: Optimize = "balanced"
    flash_bytes: int | None = None
    instructions: int | None = None

    def fitting(self, found: Mapping[Key, Estimate]) -> dict[Key, Estimate]:
        """Return the estimates within the limits, or all if none is."""
        fitting = {key: one for key, one in found.items() if self._fits(one)}
        return fitting or dict(found)

    def best(self, found: Mapping[Key, Estimate]) -> Key:
        """Return the key of the best estimate; the first of those that are equal.

        "balanced": the smallest product of the mean, the worst case and the square root of the
        flash. Half the mean is worth twice the worst case, or four times the flash. As a product
        says nothing of the other programs, the best of several groups is the best of all. Otherwise
        what `optimize` names is compared first. What differs by less than a tenth counts as equal
        then, and the next value decides. Of "balanced" no other estimate is smaller in all three.

        Examples
        --------
        >>> fast, small = Estimate(100.0, 900.0, 64_000), Estimate(104.0, 400.0, 9_000)
        >>> Wanted("mean").best({"fast": fast, "small": small})
        'small'
        >>> Wanted("mean").best({"slow": Estimate(200.0, 900.0, 9_000), "fast": fast})
        'fast'
        >>> Wanted().best({"fast": fast, "even": Estimate(190.0, 190.0, 9_000)})
        'even'
        >>> Wanted(instructions=600).best({"fast": fast, "slow": Estimate(900.0, 500.0, 64_000)})
        'slow'
        """
        able = self.fitting(found)
        if self.optimize == "balanced":
            return min(able, key=lambda key: _product(able[key]))
        for field in _ORDERS[self.optimize]:
            least = min(getattr(one, field) for one in able.values())
            able = {key: one for key, one in able.items() if getattr(one, field) <= EQUAL * least}
        return next(iter(able))

    def _fits(self, one: Estimate) -> bool:
        limits = ((one.flash_bytes, self.flash_bytes), (one.worst, self.instructions))
        return all(most is None or taken <= most for taken, most in limits)


def wanted_of(plan: Plan) -> Wanted:
    """Return what a plan wants of its program."""
    budgets = plan.budgets
    return Wanted(plan.optimize, budgets.flash_bytes, budgets.instructions)


def _product(one: Estimate) -> float:
    """Return the logarithm of the product by which programs are compared."""
    taken = zip(_SHARES, (one.mean, one.worst, one.flash_bytes), strict=True)
    return sum(share * math.log(max(value, 1.0)) for share, value in taken)

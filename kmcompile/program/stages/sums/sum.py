"""A sum: what the rooms above ask every sum, with the answers of most."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.program.layout import Constant, Member
from kmcompile.program.piece import Piece
from kmcompile.program.shared import Place
from kmcompile.program.stages.stage import Always, Stage
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.code_table import CodeTable

READ_BY_BOTH = (
    "group_ends",
    "group_decisions",
    "entry_vectors",
    "pair_ends",
    "function_columns",
    "function_ends",
)
"""Tables of the exact sum that the C of the replay reads too."""

PARTED = ("vectors", "weights", "coefficients")
"""Tables of the exact sum of which a replay may have low parts."""


class Sum(Always):
    """A stage that makes decisions and bounds: the exact sum of a program, or that of its replay.

    Emission, cost, steps and report ask what a sum is by the members below. A sum that has one of
    them as a field assigns `field()` to it: `dataclass` takes what it inherits for a default.
    """

    intercept: RealArray
    result_error: RealBound
    """Relative error of the last addition and of the outward rounding of the interval."""

    place: ClassVar[Place] = Place.SUM
    exit: ClassVar[str | None] = "exact"

    unit: ClassVar[str] = "full kernel evaluations"
    """What `kernel_evaluations` counts, in the plural, for the header."""
    bound_meaning: ClassVar[str] = "x being the prepared input"
    """What the names in `bound_formula` mean."""
    may_fail: ClassVar[bool] = True
    """Whether the C checks a table while it runs, and refuses to answer where it is damaged."""
    counts_evaluations: ClassVar[bool] = False
    """Whether the C counts the evaluations of a query, in `workspace->n_evaluated`."""
    sums_pairs: ClassVar[bool] = False
    """Whether every pair of classes has a list of its own, and is summed apart."""
    stores_codes: ClassVar[bool] = False
    """Whether vectors are stored as codes: then only early exits sum blocks of floats."""
    needs_magnitude: ClassVar[bool] = True
    """Whether the C of the sum takes magnitudes of floats."""
    takes_terms: ClassVar[bool] = False
    """Whether a block of vectors takes what their kernels share of a query, in floats."""
    takes_fine_codes: ClassVar[bool] = False
    """Whether a replay sums finer codes of the input than the format's, in place of floats."""
    others_in_floats: ClassVar[bool] = True
    """Whether a sum of codes pays the price of floats for all but its products."""

    @property
    def codes(self) -> CodeTable | CodeRange | None:
        """The codes of an integer format, with those of the vectors if any; None: floats."""
        return None

    @property
    def takes_codes(self) -> bool:
        """Whether the sum has codes."""
        return self.codes is not None

    @property
    def kernel(self) -> Float32Kernel | None:
        """The kernel in floats of a sum over vectors, or None."""
        return None

    @property
    def skip_zeros(self) -> bool:
        """Whether the sum takes only the features that are not 0, from the list of these."""
        return False

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Features of the prepared input."""

    @property
    @abstractmethod
    def lanes(self) -> int:
        """Support vectors, or decisions, that are summed side by side."""

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.intercept)

    @property
    @abstractmethod
    def bound_formula(self) -> str:
        """The terms of a bound that do not depend on |f_p|, with the names of the tables.

        d is the deviation of the prepared input x.
        """

    @property
    def bound_needs_input(self) -> bool:
        """Whether the C computes a part of the bounds from the input, once the sums are there."""
        return False

    @property
    def decision_function(self) -> str:
        """The name of the C function that computes all decisions."""
        return self.name

    @property
    def square_type(self) -> str:
        """The C type of |x|^2 that a sum of codes keeps from its begin to its end; "" of others."""
        return ""

    @property
    def float_operations(self) -> int:
        """Multiply-adds in float32 of a sum in integers."""
        return 0

    @property
    def input_operations(self) -> int:
        """Multiply-adds of a replay's sum before the distances, of the prepared input alone."""
        return 0

    @property
    def product_operations(self) -> int:
        """Multiply-adds of distances and inner products for an input without zeros."""
        return self.operations()

    def block_constants(self) -> tuple[Constant, ...]:
        """Return the private #defines of the sizes of blocks of vectors."""
        return ()

    @abstractmethod
    def constants(self) -> tuple[Constant, ...]:
        """Return the private #defines of the stage in order, besides N_PREPARED."""

    def integer_members(self) -> tuple[Member, ...]:
        """Return the sums in integers of the workspace, which come first in it."""
        return ()

    def members(self, real: str) -> tuple[Member, ...]:
        """Return what else it keeps in the workspace; its arithmetic is in `real`, a C type."""
        return ()

    def last_members(self, exact: Sum) -> tuple[Member, ...]:
        """Return what a replay of `exact` keeps of the input, behind the members of its label."""
        return ()

    def pieces(self, last: int, note: str) -> tuple[Piece, ...]:
        """Return the pieces of the sum; the last does `last` more, and `note` ends its name."""
        return (Piece("sum", f"{self.name}{note}", self.operations() + last),)

    def replay_pieces(self, exact: Sum) -> tuple[Piece, ...]:
        """Return the pieces of a replay of `exact`, without preprocessing, label and weights."""
        return (Piece("replay", "replay", self.operations()),)

    def of_codes(self, batch: Batch, prepared: Batch) -> Batch:
        """Return `prepared`, the batch of the float entry, with the inputs that came as codes."""
        return prepared

    def check_reads(
        self, exact: Stage, low_vectors: RealArray, low_coefficients: RealArray
    ) -> None:
        """Check that the sum of a replay reads the tables of the program's exact sum.

        Low parts are empty if all are 0.

        Raises
        ------
        ValueError
            If a table that the C reads in both sums differs between them.
        """
        if type(self) is not type(exact):
            raise ValueError(f"the replay is one of {self.name}, the sum {exact.name}")
        for name in READ_BY_BOTH:
            own, other = getattr(self, name, ()), getattr(exact, name, ())
            if not np.array_equal(own, other):
                raise ValueError(f"the replay has other {name} than {exact.name}")
        low_parts = (low_vectors, low_vectors, low_coefficients)
        for name, low in zip(PARTED, low_parts, strict=True):
            if not hasattr(self, name):
                continue
            wide = getattr(exact, name).astype(np.float64)
            if not np.array_equal(getattr(self, name), wide + low if low.size else wide):
                raise ValueError(f"the replay has other {name} than the tables of {exact.name}")

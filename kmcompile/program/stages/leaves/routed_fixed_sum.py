"""The sum of a routed machine in fixed-point integers: over the vectors of the query's leaf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, BoundArray, Float32Array, Float64Array, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import Table
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared
from kmcompile.program.stages.leaves.fixed_leaf_parts import FixedLinear, FixedPairs
from kmcompile.program.stages.leaves.fixed_route import FixedRoute
from kmcompile.program.stages.leaves.gamma_scales import GammaScales
from kmcompile.program.stages.leaves.own_pairs import OwnPairs
from kmcompile.program.stages.leaves.sum_of_leaves import LeafEnds, Slots, SumOfLeaves
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.fixed_kernel import EXP2_TABLE, FixedResult, Whole
from kmcompile.program.stages.sums.fixed_sum import FUNCTION_OPERATIONS, exact_product

_Row = slice | tuple[int, slice | NDArray[np.uint16]]

_OF_TABLE = 4
"""Multiply-adds that look up the constants of a gamma."""


@dataclass(frozen=True, slots=True, eq=False)
class RoutedFixedSum(FixedResult, SumOfLeaves):
    """A walk to a leaf, then the leaf's sum of rbf kernels in integers up to the last steps.

    A leaf may also have products of its kernels, and a linear part, which are added to its sums.

    Kernels, sums of products and their bounds are those of `FixedSum`: k = 2^-t of the exact
    squared distance of the codes, uint64 sums of positive and of negative products, and

        value_error M_p + per_deviation_p * deviation + result_error |f_p| + minimum_p,

    M_p being all that is added to the intercepts. value_error is the largest of all gammas.
    per_deviation_p and minimum_p are the leaf's, or the largest where leaves are much alike. Where
    every leaf is possible, the bound grows by apart + apart_per_deviation * deviation.

    Parameters
    ----------
    per_unit : float32
        1 / unit, a power of two.
    vectors : ndarray of shape (n_vectors, n_features), of the type of a code
        Support vectors, all different.
    wide : bool
        Whether |s - x|^2 needs 64 bits; otherwise it fits a uint32.
    coefficients : ndarray of shape (n_slots, n_decisions), int16 or int32
        With own pairs: of shape (n_terms,).
    start : ndarray of shape (n_leaves, n_decisions, 2), uint64
        The intercepts' positive and negative parts in units of a product. With own pairs: of shape
        (n_own_pairs, 2).
    per_deviation, minimum : ndarray of shape (n_leaves or 1, n_decisions), float32
        With own pairs: of shape (n_own_pairs,) or (1, n_decisions).
    own_pairs : OwnPairs, optional
        Only in leaves that have neither products nor linear parts.
    """

    route: FixedRoute
    codes: CodeRange = field()
    per_unit: Bound
    vectors: Annotated[
        NDArray[np.int64],
        Layout("Support vectors s_i as codes: [vector][feature]", ("N_VECTORS", "N_PREPARED")),
    ]
    wide: bool
    scales: GammaScales
    slots: Slots
    coefficients: Annotated[
        NDArray[np.int32],
        Layout(
            "Dual coefficients beta_pi of a slot in steps: {self.of_slots}",
            "slot_axes",
            narrow=np.int16,
        ),
    ]
    leaf_ends: LeafEnds
    start: Annotated[
        Whole,
        Layout(
            "Intercepts of a leaf in products, what is > 0 and < 0: {self.of_leaves}[part]",
            "start_axes",
        ),
    ]
    result_shift: int
    result_scale: Bound
    value_error: Bound
    result_error: Bound
    per_deviation: Annotated[
        BoundArray,
        Layout("Error of the decisions per |x - code|: {self.of_bounds}", "bound_axes"),
    ]
    minimum: Annotated[
        BoundArray,
        Layout(
            "Part of the decisions' bound that no input changes: {self.of_bounds}",
            "bound_axes",
            name="minimum_bound",
        ),
    ]
    mean_factor: Bound
    apart: Bound
    apart_per_deviation: Bound
    linear: FixedLinear | None = None
    pairs: FixedPairs | None = None
    own_pairs: OwnPairs | None = None

    template: ClassVar[str] = "routed_fixed_sum"
    lanes: ClassVar[int] = 1
    others_in_floats: ClassVar[bool] = False
    order_in_c: ClassVar[tuple[str, ...]] = ("route", "leaf_ends", "slots")
    bound_formula: ClassVar[str] = (
        "value_error sum_i |beta_pi| k_i + per_deviation_p d + minimum_bound_p"
    )
    bound_meaning: ClassVar[str] = (
        "k_i being the kernels of the leaf as they are computed; where two leaves are possible, "
        "it holds for both"
    )

    @property
    def kernel_pairs(self) -> FixedPairs | None:
        """The coefficients of pairs of kernels, if the leaves have some."""
        return self.pairs

    @property
    def n_features(self) -> int:
        """Features of an input."""
        return self.codes.n_features

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return self.own_pairs.n_pairs if self.own_pairs else int(self.start.shape[1])

    @property
    def has_leaf_bounds(self) -> bool:
        """Whether each leaf, or each own pair of a leaf, has its own constants of the bound."""
        return self.minimum.ndim == 1 or len(self.minimum) > 1

    @property
    def wide_coefficients(self) -> bool:
        """Whether coefficients have 32 bits, those of single kernels or of products."""
        tables = [self.coefficients, *([self.pairs.coefficients] if self.pairs else [])]
        return max(table.dtype.itemsize for table in tables) > 2

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the vectors, of the tree and of the leaves."""
        return (
            Constant("N_VECTORS", len(self.vectors), "different support vectors"),
            *self.tree_constants(),
            *self.scales.constants(),
            *(self.pairs.constants() if self.pairs else ()),
            *(self.own_pairs.constants() if self.own_pairs else ()),
        )

    def integer_members(self) -> tuple[Member, ...]:
        """Return the sums of products."""
        text = "kernels times coefficients, > 0 and < 0"
        n = int(self.own_pairs.counts.max()) if self.own_pairs else self.n_decisions
        return (Member("uint64_t", "products", 2 * n, text),)

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the decisions of the first of two leaves, and the count of kernels."""
        kernels: tuple[Member, ...] = ()
        if self.pairs:
            text = "kernels of the leaf so far"
            kernels = (Member("uint32_t", "kernel", self.largest_leaf, text),)
        return (*kernels, *self.leaf_members(real))

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest decision, term of the bound or margin."""
        slack = float(self.apart_per_deviation) * deviation + float(self.apart)
        margin = self.route.largest_intermediate(magnitude, length, deviation)
        return 4 * max(2.0**32 * float(self.result_scale), slack, margin)

    def _of_leaf(self, batch: Batch, leaf: int) -> tuple[Float32Array, Float32Array]:
        x = (batch.x * self.per_unit).astype(np.int64)
        own = self._members(leaf)
        vectors = self.vectors[self.slots[own]].astype(np.int64)
        k = np.empty((len(x), len(vectors)), dtype=np.uint64)
        for place, vector in enumerate(vectors):
            k[:, place] = self.scales.kernels(((x - vector) ** 2).sum(axis=1), own.start + place)
        coefficients, start, row = self._leaf_tables(leaf)
        positive, negative = (
            total + start[:, n] for n, total in enumerate(self._products(k, coefficients, leaf))
        )
        if self.linear:
            more = self.linear.parts(x, leaf)
            positive, negative = positive + more[0], negative + more[1]
        of_input = self.per_deviation[row] * batch.deviation[:, None]
        sums = positive, negative
        decision, bound = self.result(sums, start, of_input, self.minimum[row])
        if self.own_pairs:
            return self.own_pairs.spread(leaf, decision, bound)
        return decision, bound

    def _leaf_tables(self, leaf: int) -> tuple[NDArray[np.int64], Whole, _Row]:
        """Return a leaf's coefficients and start, and where its constants of the bound are."""
        own = self._members(leaf)
        if self.own_pairs is None:
            row = (leaf if self.has_leaf_bounds else 0, slice(None))
            return self.coefficients[own].astype(np.int64), self.start[leaf], row
        pairs = self.own_pairs.own(leaf)
        rows = self.own_pairs.rows(self.coefficients, leaf, own).astype(np.int64)
        place = pairs if self.has_leaf_bounds else (0, self.own_pairs.pairs[pairs])
        return rows, self.start[pairs], place

    def _farthest(self, batch: Batch) -> Float32Array | np.float32:
        far: Float32Array = self.apart_per_deviation * batch.deviation[:, None] + self.apart
        return far

    def _products(
        self, kernels: Whole, coefficients: NDArray[np.int64], leaf: int
    ) -> tuple[Whole, Whole]:
        """Return the sums of what is positive and of what is negative, (n_queries, n_decisions)."""
        if self.pairs:
            both = self.pairs.products(kernels, coefficients, leaf)
            return both[:, :, 0], both[:, :, 1]
        positive, negative = (
            exact_product(kernels, np.maximum(sign * coefficients, 0).astype(np.uint32))
            for sign in (1, -1)
        )
        return positive, negative

    @property
    def _leaf_operations(self) -> NDArray[np.int64]:
        """Multiply-adds of each leaf: distances, kernels, and a product for each decision.

        The last steps of a decision take 6.
        """
        of_vector = self.n_features + FUNCTION_OPERATIONS
        of_vector += _OF_TABLE if self.scales.several else 0
        counts: NDArray[np.int64] = self._leaf_sizes * of_vector
        if self.own_pairs:
            return counts + self.own_pairs.operations(self.leaf_ends, 2)
        counts = counts + (2 * self._leaf_sizes + 6) * self.n_decisions
        if self.pairs:
            counts = counts + self.pairs.operations(self._leaf_sizes)
        return counts + (self.linear.operations if self.linear else 0)

    @property
    def start_axes(self) -> tuple[str | int, ...]:
        """The axes of `start`: its last one is the part."""
        return (*self.leaf_axes, 2)

    @property
    def bound_axes(self) -> tuple[str, ...]:
        """The axes of the constants of the bounds."""
        return self.leaf_axes if self.has_leaf_bounds else ("ROWS_OF_BOUNDS", "N_DECISIONS")

    @property
    def of_bounds(self) -> str:
        """The indices of the constants of the bounds."""
        return self.of_leaves if self.has_leaf_bounds else "[decision]"

    def __post_init__(self) -> None:
        Laid.__post_init__(self)
        object.__setattr__(self, "vectors", frozen(self.vectors, self.codes.width))

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the leaves, the constants of the kernels, and that no sum overflows."""
        SumOfLeaves.check_tables(self, known)
        largest = self.codes.largest_distance(self.vectors.astype(np.int64))
        if self.wide != (largest + 1 >= 1 << 32):
            raise ValueError("whether a distance of codes needs 64 bits is said wrongly")
        for number in range(len(self.scales.multipliers)):
            self.scales.scale(number).check_scale(largest)
        for leaf, size in enumerate(self._leaf_sizes.tolist()):
            coefficients, start, _ = self._leaf_tables(leaf)
            sizes = np.abs(coefficients).sum(axis=0)
            if self.pairs:
                sizes = sizes + self.pairs.sizes(leaf, size)
            products = sizes.astype(object) << exp2_fixed.RESULT_BITS
            if self.linear:
                products = products + self.linear.most(leaf, self.codes.largest)
            self.check_sums(products, start)

    def shared(self) -> Shared:
        """Return the numbers of features, vectors, slots, leaves and decisions."""
        units = (("codes in one unit", float(one.per_unit)) for one in (self, self.route))
        return (*units, *Laid.shared(self))

    def tables(self) -> tuple[Table, ...]:
        """Return the route, the leaves, their vectors and the constant bounds."""
        own = Laid.tables(self)
        at = [table.name for table in own].index("per_deviation")
        return (*own[:at], *self.scales.in_c(self.wide), EXP2_TABLE, *own[at:])

"""The sum of a routed machine: over the support vectors of the query's leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel, Magnitudes, QueryTerms
from kmcompile.numeric.arrays import Bound, Float32Array, Float64Array, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared
from kmcompile.program.stages.leaves.leaf_parts import KernelProducts, LinearPart
from kmcompile.program.stages.leaves.own_pairs import OwnPairs
from kmcompile.program.stages.leaves.route import Route
from kmcompile.program.stages.leaves.sum_of_leaves import LeafEnds, Slots, SumOfLeaves
from kmcompile.program.stages.sums.rows import Minimum

_BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class RoutedSum(SumOfLeaves):
    """A walk to a leaf, then the sum over the leaf's support vectors, one after another.

    A leaf may also have products of its kernels, and a linear part.

    A vector that several leaves share is stored once; a leaf has the numbers of its vectors. The
    bound of a leaf's decision is that of `ExactSum`, with the magnitudes of the coefficients:

        final_factor * sum |beta_pi| error_i + result_error * |f_p| + minimum_p,

    with other weights than |beta_pi| where there are products, and with the linear part's share.

    Parameters
    ----------
    widths : ndarray of shape (n_slots,), float32
        The factor of a slot's squared distance, its gamma in units of the kernel's; empty if all
        are 1.
    coefficients : ndarray of shape (n_slots, n_decisions), float32
        With own pairs: of shape (n_terms,).
    intercepts : ndarray of shape (n_leaves, n_decisions), float32
        With own pairs: of shape (n_own_pairs,).
    own_pairs : OwnPairs, optional
        Only in leaves that have neither products nor linear parts.
    """

    route: Route
    kernel: Float32Kernel = field()
    vectors: Annotated[
        Float32Array,
        Layout(
            "Support vectors s_i, in prepared features: [vector][feature]",
            ("N_VECTORS", "N_PREPARED"),
        ),
    ]
    slots: Slots
    widths: Annotated[
        Float32Array,
        Layout("gamma of a slot / the largest: [slot]", ("N_SLOTS",), where="has_widths"),
    ]
    coefficients: Annotated[
        Float32Array, Layout("Dual coefficients beta_pi of a slot: {self.of_slots}", "slot_axes")
    ]
    leaf_ends: LeafEnds
    intercepts: Annotated[
        Float32Array, Layout("Intercepts b_p of a leaf: {self.of_leaves}", "leaf_axes")
    ]
    minimum: Minimum
    final_factor: Bound
    result_error: Bound
    trivial_bound: Bound
    mean_factor: Bound
    apart: Bound
    products: KernelProducts | None = None
    linear: LinearPart | None = None
    own_pairs: OwnPairs | None = None

    template: ClassVar[str] = "routed_sum"
    lanes: ClassVar[int] = 1
    order_in_c: ClassVar[tuple[str, ...]] = ("route", "leaf_ends", "slots")
    takes_exits: ClassVar[bool] = True
    bound_meaning: ClassVar[str] = (
        "e_i being the bound of the error of the kernel K(s_i, x), which grows with d, and the sum "
        "going over the vectors of the leaf; where two leaves are possible, it holds for both"
    )

    @property
    def bound_formula(self) -> str:
        """The terms of a bound that do not depend on |f_p|."""
        weight = "error_weights_pi" if self.products else "|beta_pi|"
        formula = f"final_factor sum_i {weight} e_i + minimum_bound_p"
        if self.linear:
            formula += " + linear_per_length_p |x| + linear_per_deviation_p d"
        return formula

    @property
    def kernel_pairs(self) -> KernelProducts | None:
        """The coefficients of pairs of kernels, if the leaves have some."""
        return self.products

    @property
    def n_features(self) -> int:
        """Features of the prepared input."""
        return int(self.vectors.shape[1])

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.minimum)

    @property
    def has_widths(self) -> bool:
        """Whether kernels have different gammas."""
        return len(self.widths) > 0

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the tree and of the leaves."""
        return (
            Constant("LANES", 1, "support vectors that are summed side by side"),
            Constant("BLOCK_WORDS", self.n_features, "words of a support vector"),
            Constant("N_VECTORS", len(self.vectors), "different support vectors"),
            *self.tree_constants(),
            *(self.products.constants() if self.products else ()),
            *(self.own_pairs.constants() if self.own_pairs else ()),
        )

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the sums of a leaf, and the decisions of the first of two leaves."""
        n = self.n_decisions
        own: tuple[Member, ...] = ()
        if self.products:
            own = (Member(real, "kernel", self.largest_leaf, "kernels of the leaf so far"),)
        if self.own_pairs:
            n = int(self.own_pairs.counts.max())
            own = (Member(real, "own_sum", n, "decisions of the leaf's own pairs"),)
        return (
            *own,
            Member(real, "row_error", n, "sums of the kernels' errors"),
            *self.leaf_members(real),
        )

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest score, part of a kernel, sum of magnitudes or |x|^2."""
        vectors = np.abs(self.vectors.astype(np.float64))
        longest = float(np.sqrt((vectors**2).sum(axis=1)).max())
        if magnitude is None:
            reach = longest + length
            feature_sum = float(np.sqrt(self.n_features)) * reach
            of = Magnitudes(longest * length, reach**2, length, deviation, feature_sum)
        else:
            widest = vectors.max(axis=0) + magnitude
            inner = float((vectors @ magnitude).max())
            squared = float((widest**2).sum())
            of = Magnitudes(inner, squared, length, deviation, float(widest.sum()))
        value = max(1.0, self.kernel.largest_value(of))
        weight = max(self._weight(leaf) for leaf in range(self.n_leaves))
        weight = weight * (1 + 1e-9) + float(np.abs(self.intercepts).max())
        linear = self.linear.largest_value(magnitude, length) if self.linear else 0.0
        scores = self.route.largest_intermediate(magnitude, length, deviation)
        of_kernel = self.kernel.largest_intermediate(of)
        return 4 * max(value * max(1.0, weight) + linear, of_kernel, scores, length**2)

    def _weight(self, leaf: int) -> float:
        """Return the largest sum of the magnitudes of a decision's coefficients in a leaf."""
        own = self._members(leaf)
        weights = np.abs(self._leaf_tables(leaf)[0].astype(np.float64))
        if self.products:
            weights = weights + self.products.error_weights[own]
        return float(weights.sum(axis=0).max(initial=0.0))

    def _leaf_tables(self, leaf: int) -> tuple[Float32Array, Float32Array, Float32Array]:
        """Return coefficients, intercepts and minimum of the decisions that a leaf sums."""
        own = self._members(leaf)
        if self.own_pairs is None:
            return self.coefficients[own], self.intercepts[leaf], self.minimum
        pairs = self.own_pairs.own(leaf)
        rows = self.own_pairs.rows(self.coefficients, leaf, own)
        return rows, self.intercepts[pairs], self.minimum[self.own_pairs.pairs[pairs]]

    def _of_leaf(self, batch: Batch, leaf: int) -> tuple[Float32Array, Float32Array]:
        own = self._members(leaf)
        coefficients, intercepts, minimum = self._leaf_tables(leaf)
        terms = self.kernel.query_terms(batch)
        pair = int(self.products.starts[leaf]) if self.products else 0
        values = list[Float32Array]()
        decision = np.zeros((len(batch), len(intercepts)), dtype=np.float32)
        error = np.zeros_like(decision)
        kernels = self._kernels(batch, own, terms)
        for slot, (factor, kernel) in enumerate(zip(coefficients, kernels, strict=True), own.start):
            value, value_error = kernel
            error_weight = magnitude(factor)
            if self.products:
                values.append(value)
                factor = self.products.factor(pair, factor, values)
                error_weight = self.products.error_weights[slot]
                pair += len(values)
            decision += value * factor
            error += value_error * error_weight
        decision += intercepts
        if self.linear:
            decision += self.linear.values(batch, leaf)
        rounding = magnitude(decision) * self.result_error
        bound = error * self.final_factor + rounding + minimum
        bound = np.where(terms.usable[:, None], bound, rounding + self.trivial_bound)
        if self.linear:
            bound += self.linear.bound(batch)
        if self.own_pairs:
            return self.own_pairs.spread(leaf, decision, bound)
        return decision, bound

    def _kernels(
        self, batch: Batch, own: slice, terms: QueryTerms
    ) -> Iterator[tuple[Float32Array, Float32Array]]:
        """Yield each slot's kernel values and their errors, shape (n_queries, 1)."""
        block = max(1, _BLOCK_VALUES // max(1, len(batch)))
        for start in range(own.start, own.stop, block):
            slots = slice(start, min(start + block, own.stop))
            total = np.zeros((len(batch), slots.stop - start), dtype=np.float32)
            for x, s in zip(batch.x.T, self.vectors[self.slots[slots]].T, strict=True):
                self.kernel.accumulate(total, x[:, None], s)
            if self.has_widths:
                total *= self.widths[slots]
            values, errors = self.kernel.finish(total, terms)
            for column in range(values.shape[1]):
                yield values[:, column, None], errors[:, column, None]

    @property
    def _vector_operations(self) -> int:
        """Multiply-adds of a vector without its shares of decisions: its total, and its kernel."""
        of_total = self.n_features * self.kernel.term_operations
        return of_total + self.kernel.finish_operations + self.has_widths

    @property
    def _leaf_operations(self) -> NDArray[np.int64]:
        """Multiply-adds of each leaf: its vectors, products of kernels and linear part.

        Each coefficient takes 3, and the last steps of a decision 6.
        """
        operations = self._leaf_sizes * self._vector_operations
        if self.own_pairs:
            return operations + self.own_pairs.operations(self.leaf_ends, 3)
        operations += 3 * self._leaf_sizes * self.n_decisions + 6 * self.n_decisions
        if self.products:
            operations += self.products.operations(self._leaf_sizes)
        if self.linear:
            operations += self.linear.operations
        return operations

    def shared(self) -> Shared:
        """Return the numbers of features, vectors, slots, leaves and decisions."""
        return (("LANES", 1), *Laid.shared(self))

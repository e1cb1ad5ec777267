"""A sequence of bounds on f (DeCoste 2001, section 5), in its tightest form, the full span."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import Bound, BoundArray, Float32Array, magnitude
from kmcompile.numeric.batch import Batch, in_order
from kmcompile.numeric.scalar import root_bound
from kmcompile.numeric.scalar.root_bound import root_bound as bound_of_root
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.early_exits.sequence_state import LARGEST, SequenceState
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS, narrowed, proved
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.fixed_sum import FixedSum
from kmcompile.program.stages.sums.pair_sum import PairSum
from kmcompile.program.stages.sums.vector_totals import VectorTotals, squared_distances
from kmcompile.program.stages.vector_blocks import VectorBlocks

_REACH_OPERATIONS, _EXPANSION_OPERATIONS = 24, 6
"""Of the reach, and of its further error where distances are expanded."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundSequence(VectorBlocks, EarlyExit):
    """Bounds on f from the kernels of a few vectors z, tested after each block of them.

    Let W_p = sum_i beta_pi phi(s_i), u_j = sum_(l <= j) A_jl phi(z_l) for the stored lower triangle
    A, which orthonormalises the z up to rounding: e = |A G A^T - I|_2, G the Gram matrix of
    the z. With k the z of the blocks so far, q_j = <u_j, phi(x)> = sum_l A_jl K(z_l, x) and
    r = W - sum_j w_j u_j for the stored w,

        f - b = sum_j w_j q_j + <r, phi(x)>.

    <r, phi(x)> splits into the component in the span of the z and the component across it. By
    Cauchy-Schwarz it is at most eta sqrt(K(x, x)) + |r| |phi(x) across|, where eta is the norm of
    r's component in the span. |phi(x) across|^2 <= K(x, x) - |q|^2 / (1 + e), since |q|^2 / (1 + e)
    is at most the squared norm of phi(x)'s component in the span.

    Rounding. Let S >= K(x, x), R >= sqrt(S), E >= |K^ - K| for every kernel value of the query
    (`Reach`), a_j = sum_l |A_jl|, a'_j = sum_l |A_jl| sqrt(K(z_l, z_l)). A value that is computed
    is at most R sqrt(K(z, z)) + E; a row of n terms rounds by gamma_n (Higham, eq. 3.5), so

        |q^_j - q_j| <= d_j = (1 + gamma_n) a_j E + gamma_n a'_j R.

    - So q_j^2 >= max(0, |q^_j| - d_j)^2, whose computed sum is Q. It rounds by gamma_(k + 2):
      |q|^2 / (1 + e) >= shrink Q. A row that is mostly rounding contributes 0 to Q.
    - The error E in sum_j w_j q_j is one of sum_l c_l K_l, c = A^T w: |c|_1 E. The rows' and the
      sum's own rounding add sum_j |w_j| gamma_n (a_j E + a'_j R) and
      gamma_(k + 2) (|b| + |w| |q^|), |q^| <= sqrt(1 + e) R + |d|.

    With rounding of S - shrink Q as part of `slack`,

        |f - b - sum_j w_j q^_j| <= residual sqrt(S - shrink Q + slack S)
                                    + per_error E + per_reach R + minimum

    for each block's constants. `result_error` |f^| is the last addition and the ends.

    With `skip_zeros` the inner products of a block run over the list of nonzero features, which the
    stage `nonzeros` has made, as in `VectorTotals`: the z themselves may have any features. A
    squared distance then becomes max(0, (|z|^2 + |x|^2) - 2 <z, x>), and E is the error of these.

    Parameters
    ----------
    triangle : ndarray of shape (lanes^2 n_blocks (n_blocks + 1) / 2,), float32
        A: [block][l][lane], l up to the block's last vector.
    row_error : ndarray of shape (n_blocks, 2, lanes), float32
        The factors of E and of R in d_j.
    """

    reach: Reach
    vectors: Annotated[
        Float32Array,
        Layout(
            "Vectors z of the sequence, in prepared features: [block][feature][lane]",
            ("blocks of z", "N_PREPARED", "lanes of z"),
        ),
    ]
    triangle: Annotated[
        Float32Array,
        Layout(
            "Triangle A that makes q of kernels: [block][earlier vector][lane]", ("words of A",)
        ),
    ]
    weights: Annotated[
        Float32Array,
        Layout(
            "Weights w of q in the decisions: [block][decision][lane]",
            ("blocks of z", "N_DECISIONS", "lanes of z"),
        ),
    ]
    row_error: Annotated[
        BoundArray,
        Layout(
            "Error of q per kernel error and per |phi(x)|: [block][2][lane]",
            ("blocks of z", "errors of a row", "lanes of z"),
        ),
    ]
    residual: Annotated[
        BoundArray,
        Layout(
            "Norm |W - W^| of what a block leaves of the normal: [block][decision]",
            ("blocks of z", "N_DECISIONS"),
        ),
    ]
    per_error: Annotated[
        BoundArray,
        Layout(
            "Error of the decisions per kernel error: [block][decision]",
            ("blocks of z", "N_DECISIONS"),
        ),
    ]
    per_reach: Annotated[
        BoundArray,
        Layout(
            "Error of the decisions per |phi(x)|: [block][decision]", ("blocks of z", "N_DECISIONS")
        ),
    ]
    intercept: Annotated[
        Float32Array, Layout("Intercepts b_p of the decisions: [decision]", ("N_DECISIONS",))
    ]
    minimum: Annotated[
        BoundArray,
        Layout("Part of the decisions' bound that no input changes: [decision]", ("N_DECISIONS",)),
    ]
    shrink: Bound
    slack: Bound
    result_error: Bound
    skip_zeros: bool
    squares: Annotated[
        BoundArray,
        Layout("Squares |z|^2: [block][lane]", ("blocks of z", "lanes of z"), where="expands"),
    ]

    template: ClassVar[str] = "bound_sequence"
    exit: ClassVar[str | None] = "certified"
    prefix: ClassVar[str] = "sequence"
    order_in_c: ClassVar[tuple[str, ...]] = ("vectors", "squares")
    needs_root_bound: ClassVar[bool] = True
    calls_kernel: ClassVar[bool] = True

    @property
    def n_features(self) -> int:
        """Features of a vector."""
        return int(self.vectors.shape[1])

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.intercept)

    @property
    def expands(self) -> bool:
        """Whether distances come from inner products."""
        return self.squares.size > 0

    @property
    def _reach_operations(self) -> int:
        return _REACH_OPERATIONS + (_EXPANSION_OPERATIONS if self.expands else 0)

    def first(self, n_blocks: int) -> BoundSequence:
        """Return the sequence of the first n_blocks blocks."""
        words = self.lanes**2 * n_blocks * (n_blocks + 1) // 2
        part = slice(n_blocks)
        return replace(
            self,
            vectors=self.vectors[part],
            squares=self.squares[part],
            triangle=self.triangle[:words],
            weights=self.weights[part],
            row_error=self.row_error[part],
            residual=self.residual[part],
            per_error=self.per_error[part],
            per_reach=self.per_reach[part],
        )

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with narrower intervals, and which queries these intervals decide."""
        exact = ends.exact
        assert isinstance(exact, ExactSum | PairSum | FixedSum)
        places = np.arange(len(batch))
        batch = replace(batch, operations=batch.operations + self._reach_operations)
        state = SequenceState.of(
            batch, *self.reach.of(batch), self.n_decisions, self.expands, self.skip_zeros
        )
        decided = np.zeros(len(batch), dtype=bool)
        left: list[tuple[NDArray[np.intp], Batch]] = []
        for block in range(self.n_blocks + 1):
            stays = self._goes_on(block, batch, state) & ~decided[places]
            left.append((places[~stays], batch.chosen(~stays)))
            places, batch, state = places[stays], batch.chosen(stays), state.chosen(stays)
            if block < self.n_blocks:
                batch, state = self._after(block, batch, state, exact.kernel, ends)
                decided[places] = batch.settled
        return in_order(left), decided

    def _goes_on(self, block: int, batch: Batch, state: SequenceState) -> NDArray[np.bool_]:
        """Return which queries go on to a block unless decided: evaluations left, bounds usable."""
        affordable = batch.allowed - batch.kernel_evals >= self.lanes
        usable = (state.reach <= LARGEST) & (state.error <= LARGEST)
        goes_on: NDArray[np.bool_] = affordable & usable & (block < self.n_blocks)
        return goes_on

    def _after(
        self, block: int, batch: Batch, state: SequenceState, kernel: Float32Kernel, ends: Ends
    ) -> tuple[Batch, SequenceState]:
        """Return the batch and the state after one block and its test."""
        total = self._totals(block, batch.x, state.x_square, kernel)
        value = np.concatenate([state.value, kernel.value(total)], axis=1)
        q = np.zeros_like(total)
        for known, row in zip(value.T, self._rows(block), strict=True):
            q += known[:, None] * row
        per_error, per_reach = self.row_error[block]
        deviation = per_error * state.error[:, None] + per_reach * state.root[:, None]
        sure = np.maximum(magnitude(q) - deviation, np.float32(0.0))
        square, estimate = state.square.copy(), state.estimate.copy()
        for lane in range(self.lanes):
            square += sure[:, lane] * sure[:, lane]
            estimate += q[:, lane, None] * self.weights[block, :, lane]
        state = replace(state, value=value, square=square, estimate=estimate)
        low, high = self._interval(block, state)
        batch = replace(
            narrowed(batch, low, high),
            kernel_evals=batch.kernel_evals + np.uint32(self.lanes),
            operations=batch.operations
            + self.block_operations(block, kernel)
            - self.lanes * state.n_skipped
            + ends.label.operations(),
        )
        return proved(batch, ends.label), state

    def _totals(
        self, block: int, x: Float32Array, x_square: Float32Array, kernel: Float32Kernel
    ) -> Float32Array:
        """Return <z, x> or |z - x|^2 of the z of one block, shape (n_queries, lanes)."""
        total = np.zeros((len(x), self.lanes), dtype=np.float32)
        for feature, z in enumerate(self.vectors[block]):
            if self.expands:
                total += x[:, feature, None] * z
            else:
                kernel.accumulate(total, x[:, feature, None], z)
        if not self.expands:
            return total
        return squared_distances(self.squares[block], x_square[:, None], total)

    def _interval(self, block: int, state: SequenceState) -> tuple[Float32Array, Float32Array]:
        rest = (state.reach - self.shrink * state.square) + self.slack * state.reach
        across = bound_of_root(np.maximum(rest, np.float32(0.0)))
        f = state.estimate + self.intercept
        radius = (
            self.residual[block] * across[:, None]
            + self.per_error[block] * state.error[:, None]
            + self.per_reach[block] * state.root[:, None]
        )
        radius = (radius + self.minimum) + magnitude(f) * self.result_error
        return f - radius, f + radius

    def _rows(self, block: int) -> Float32Array:
        """Return A of one block, shape ((block + 1) lanes, lanes)."""
        first = self.lanes**2 * block * (block + 1) // 2
        n_rows = (block + 1) * self.lanes
        return self.triangle[first : first + n_rows * self.lanes].reshape(n_rows, self.lanes)

    def block_operations(self, block: int, kernel: Float32Kernel) -> int:
        """Return the multiply-adds of a block with its test, without the label."""
        n_known = (block + 1) * self.lanes
        total = self.n_features * kernel.term_operations + (2 if self.expands else 0)
        per_vector = total + kernel.value_operations + n_known + 6 + self.n_decisions
        test = 4 + root_bound.OPERATIONS + self.n_decisions * (7 + NARROW_OPERATIONS)
        return self.lanes * per_vector + test

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum, whose kernel must be the bounded one."""
        if not isinstance(other, ExactSum | PairSum | FixedSum):
            return False
        expands = isinstance(other, VectorTotals) and other.expands
        return other.kernel.reach_class is type(self.reach) and self.expands == expands

    def needs(self) -> frozenset[str]:
        """Return "nonzeros" and "square" if the C runs over the list of nonzero features."""
        return frozenset({"nonzeros", "square"} if self.skip_zeros else ())

    def operations(self) -> int:
        """Return the multiply-adds without the kernel function and the label tests."""
        n = self.n_blocks * self.lanes
        rows = self.lanes**2 * self.n_blocks * (self.n_blocks + 1) // 2
        total = self.n_features + (2 if self.expands else 0)
        return n * (total + 1 + self.n_decisions) + rows

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that no test decides, labels included."""
        return self.worst_of_blocks(self.n_blocks, ends)

    def worst_of_blocks(self, n_blocks: int, ends: Ends) -> int:
        """Return `worst_operations` of a sequence of n_blocks blocks that are as wide as these."""
        exact = ends.exact
        assert isinstance(exact, ExactSum | PairSum | FixedSum)
        blocks = sum(self.block_operations(block, exact.kernel) for block in range(n_blocks))
        return self._reach_operations + blocks + n_blocks * ends.label.operations()

    def kernel_evaluations(self) -> int:
        """Return the number of z."""
        return self.n_blocks * self.lanes

    def kernels_at_tests(self) -> tuple[int, ...]:
        """Return the number of z after each block."""
        return tuple(self.lanes * block for block in range(1, self.n_blocks + 1))

    def defines(self) -> tuple[Constant, ...]:
        """Return the number of blocks."""
        return (Constant("SEQUENCE_BLOCKS", self.n_blocks, "blocks of the bound sequence"),)

    def members(self) -> tuple[Member, ...]:
        """Return the members for kernel values and the estimates from them."""
        n = self.kernel_evaluations()
        return (
            Member("float", "sequence_kernels", n, "kernels of the bound sequence"),
            Member("float", "sequence_estimate", self.n_decisions, "what they give of f"),
        )

    def shared(self) -> Shared:
        """Return the numbers of features and decisions; lanes and blocks are the stage's own."""
        words = self.lanes**2 * self.n_blocks * (self.n_blocks + 1) // 2
        return (("words of A", words), ("errors of a row", 2), *Laid.shared(self))

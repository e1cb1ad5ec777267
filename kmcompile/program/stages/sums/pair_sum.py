"""One-vs-one sums that are evaluated pair by pair, until no other class can win."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import Float32Array, RealArray, RealBound, RealBoundArray, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.piece import Piece
from kmcompile.program.shared import Shared
from kmcompile.program.stages.labels.label import Label
from kmcompile.program.stages.labels.proved import middles
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.pair_lists import ENTRY_MEMBERS, PairLists
from kmcompile.program.stages.sums.pair_votes import votes_of
from kmcompile.program.stages.sums.vector_totals import VectorTotals

_CHUNK_VALUES = 1 << 22  # number of float32 values in a work array

SECTION = 16
"""Number of entries in a section, best about the square root of a list's length."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSum(PairLists, VectorTotals):
    """f_p = sum of coef K(s_i, x) + b_p over the vectors that are part of pair p only.

    A pair is a list of entries, each a vector's number and its coefficient. Entries with positive
    coefficients come first. Every vector stands in one table; its kernel is computed
    when the first pair of a query needs it, and kept. A pair's products of one sign are added in
    sections of `SECTION` left to right, the sections left to right, then the two sums and the
    intercept. So no bit of a pair depends on which pairs were evaluated before, and |sum of coef *
    error| of either sign is the sum of the magnitudes: the bound is that of `ExactSum`. A product
    passes fewer additions than in one long sum (Higham, section 4.2).

    `vote` evaluates only the pairs that settle the label. It orders the classes by their scores,
    highest first. A score is a linear form of x for each class; all scores together cost n_classes
    n_features multiply-adds. They settle nothing, but tell which class is likely to win and which
    classes may beat it (`PairVotes`). A pair whose sign certified exits have proved is not
    evaluated: its decision is the middle of its interval.

    In the replay everything is float64, all pairs are evaluated and there are no scores.

    Parameters
    ----------
    kernel : Float32Kernel
    n_classes : int
    entry_vectors, pair_ends
        As in `PairLists`.
    intercept, final_factor, result_error, minimum, trivial_bound, skip_zeros, squares
        As in `ExactSum`.
    """

    kernel: Float32Kernel = field()
    n_classes: int
    vectors: Annotated[
        RealArray,
        Layout(
            "Support vectors s_i, in prepared features: [vector][feature]",
            ("N_BLOCKS", "N_PREPARED", "LANES"),
        ),
    ]
    entry_vectors: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number of the vector of an entry: [entry]", ("N_ENTRIES",), below=Below("N_BLOCKS")
        ),
    ]
    coefficients: Annotated[
        RealArray,
        Layout("Dual coefficient beta_pi of an entry in its pair: [entry]", ("N_ENTRIES",)),
    ]
    pair_ends: Annotated[
        NDArray[np.uint32],
        Layout(
            "Entry after the positive ones of a pair, and after all of them: [pair][2]",
            ("N_DECISIONS", 2),
            below=Below("N_ENTRIES", rises=True),
        ),
    ]
    intercept: Annotated[RealArray, Layout("Intercepts b_p of the pairs: [pair]", ("N_DECISIONS",))]
    final_factor: RealBound
    result_error: RealBound
    minimum: Annotated[
        RealBoundArray,
        Layout(
            "Part of the decisions' bound that no input changes: [pair]",
            ("N_DECISIONS",),
            name="minimum_bound",
        ),
    ]
    trivial_bound: RealBound
    skip_zeros: bool = field()
    squares: Annotated[
        RealBoundArray,
        Layout(
            "Squares |s_i|^2 of the support vectors: [vector]",
            ("N_BLOCKS", "LANES"),
            where="expands",
        ),
    ]
    score_weights: Annotated[
        Float32Array,
        Layout(
            "Weights of the score that orders the classes: [class][feature]",
            ("N_CLASSES", "N_PREPARED"),
            where="has_scores",
        ),
    ]
    score_offset: Annotated[
        Float32Array, Layout("Constant of that score: [class]", ("N_CLASSES",), where="has_scores")
    ]

    template: ClassVar[str] = "pair_sum"
    takes_exits: ClassVar[bool] = True
    decision_function: ClassVar[str] = "all_pairs"

    entry_operations: ClassVar[int] = 4
    """Multiply-adds of an entry: two, and those of finding the vector with its kernel."""
    pair_operations: ClassVar[int] = 24
    """Multiply-adds of a pair besides its entries: ends of both sums, the bound, the votes."""

    @property
    def n_vectors(self) -> int:
        """Support vectors."""
        return self.n_blocks

    @property
    def most_sections(self) -> int:
        """Largest number of sections of all pairs: two sums each, whose last ones may be short."""
        return (self.n_entries + 2 * (SECTION - 1) * self.n_decisions) // SECTION

    def run(self, batch: Batch) -> Batch:
        """Return the batch with the decisions and bounds of all pairs."""
        n = len(batch.x)
        decision = np.empty((n, self.n_decisions), dtype=self.kernel.precision.dtype)
        bound = np.empty_like(decision)
        columns = self.columns()
        rows = max(1, _CHUNK_VALUES // columns.shape[1])
        for start in range(0, n, rows):
            part = slice(start, start + rows)
            decision[part], bound[part] = self._sum(batch.chosen(part), columns)
        spent = batch.kernel_evals + np.uint32(self.n_vectors)
        return replace(batch, decision=decision, bound=bound, kernel_evals=spent)

    def _sum(self, batch: Batch, columns: RealArray) -> tuple[RealArray, RealArray]:
        terms = self.kernel.query_terms(batch)
        value, error = self.kernel.finish(self.totals(batch.x, columns), terms)
        value, error = np.ascontiguousarray(value.T), np.ascontiguousarray(error.T)
        decision = np.empty((len(batch), self.n_decisions), dtype=value.dtype)
        bound = np.empty_like(decision)
        for p, (positive, negative) in enumerate(self.lists()):
            decision[:, p] = self._added(value, positive) + self._added(value, negative)
            bound[:, p] = magnitude(self._added(error, positive)) + magnitude(
                self._added(error, negative)
            )
        decision += self.intercept
        rounding = magnitude(decision) * self.result_error
        bound = bound * self.final_factor + rounding + self.minimum
        return decision, np.where(terms.usable[:, None], bound, rounding + self.trivial_bound)

    def _added(self, values: RealArray, entries: slice) -> RealArray:
        """Return the sum of coef * value of some entries, section by section."""
        products = values[self.entry_vectors[entries]] * self.coefficients[entries, None]
        sections = products[::SECTION].copy()
        for place in range(1, SECTION):  # all sections at once, each from first to last
            next_ones = products[place::SECTION]
            sections[: len(next_ones)] += next_ones
        total = np.zeros(values.shape[1], dtype=values.dtype)
        for section in sections:
            total += section
        return total

    def scores(self, x: RealArray) -> Float32Array:
        """Return the score of each class, shape (n_queries, n_classes)."""
        score = np.repeat(self.score_offset[None, :], len(x), axis=0)
        for column, weights in zip(x.T, self.score_weights.T, strict=True):
            score += column[:, None] * weights
        return score

    def vote(
        self, batch: Batch, summed: Batch
    ) -> tuple[Batch, NDArray[np.int64], NDArray[np.int32]]:
        """Return the batch with label, interval and certificate, its multiply-adds and its turns.

        The turns, of shape (n_queries, n_decisions), are the places of the summed pairs in the
        order of evaluation, increasing; 0 of pairs that are not summed.

        Parameters
        ----------
        batch : Batch
            The batch before the stage.
        summed : Batch
            The batch after `run`, with the decisions of all pairs.
        """
        middle, bound = middles(batch)
        known = (middle - bound > 0) | (middle + bound < 0)
        votes = votes_of(
            np.where(known, middle, summed.decision),
            np.where(known, bound, summed.bound),
            self.scores(batch.x),
            known,
        )
        summed_pairs = votes.evaluated & ~known
        touched = self.touched(summed_pairs)
        answer = replace(
            summed,
            label=votes.label,
            lower=votes.lower,
            upper=votes.upper,
            settled=votes.settled,
            kernel_evals=batch.kernel_evals + touched.astype(np.uint32),
        )
        sizes = np.array([after.stop - before.start for before, after in self.lists()])
        each = self.entry_operations * sizes + self.pair_operations
        pairs = summed_pairs.astype(np.int64) @ each
        kernels = touched * (self.kernel_operations - self.skipped_features(batch.x))
        recalled = np.where(known.any(axis=1), self.n_decisions, 0)
        operations = kernels + pairs + recalled + self._order_operations(votes.settling)
        return answer, operations, np.where(summed_pairs, votes.turn, 0)

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a label: votes, ties to the lower index."""
        return isinstance(other, Label) and other.counts_signs

    def operations(self) -> int:
        """Return the multiply-adds of a query whose pairs are all evaluated one by one.

        A replay evaluates all pairs at once, without an order.
        """
        if not self.has_scores:
            return self.all_pairs_operations
        order = int(self._order_operations(self.n_decisions)) + self.n_decisions  # proved pairs
        return order + self.all_pairs_operations

    def operations_of(self, batch: Batch) -> NDArray[np.int64]:
        """Return the multiply-adds of all pairs of each query at once, without votes."""
        return self.all_pairs_operations - self.n_vectors * self.skipped_features(batch.x)

    @property
    def begin_operations(self) -> int:
        """Multiply-adds before the first pair: scores, their order, marks, and proved pairs."""
        return int(self._order_operations(0)) + self.n_decisions

    @property
    def choice_operations(self) -> int:
        """Multiply-adds of finding a pair that could still change the label."""
        return 12 * self.n_classes

    @property
    def kernel_operations(self) -> int:
        """Multiply-adds of a kernel that is computed and kept."""
        return self.total_operations + self.kernel.finish_operations + 2

    @property
    def label_operations(self) -> int:
        """Multiply-adds of finding the leader, testing whether it is settled, and its interval."""
        return 10 * self.n_classes

    def _order_operations(self, settling: int | NDArray[np.int64]) -> int | NDArray[np.int64]:
        """Return the multiply-adds of scores, their order, marks and the search for pairs."""
        n = self.n_classes
        scores = n * (self.n_features + 1) + n * (n - 1) // 2
        marks = _n_words(self.n_vectors) + _n_words(self.n_decisions) + 4 * n
        return scores + marks + 4 * n + self.choice_operations * settling

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the table of vectors, of the entries and of the marks."""
        marks = _n_words(self.n_vectors), _n_words(self.n_decisions)
        return (
            *self.block_constants(),
            Constant("N_ENTRIES", self.n_entries, "coefficients that are not 0, of all pairs"),
            Constant("N_MARKS", marks[0], "words with a bit for each vector"),
            Constant("N_PAIR_MARKS", marks[1], "words with a bit for each pair"),
        )

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the kernels, their marks and, with scores, the order of the pairs."""
        n, n_pairs, n_classes = self.n_vectors, self.n_decisions, self.n_classes
        kernels = (
            Member(real, "kernel", n, "those that have been computed"),
            Member(real, "kernel_error", n, ">= their errors"),
        )
        marks = (
            Member("uint32_t", "computed", _n_words(n), "a bit a vector: its kernel is"),
            Member("uint32_t", "n_computed", None, "such bits"),
            *ENTRY_MEMBERS,
        )
        if not self.has_scores:
            return (*kernels, *marks)
        text = "a bit a pair: it has its decision"
        return (
            *kernels,
            Member(real, "score", n_classes, "of each class"),
            *marks,
            Member("uint32_t", "evaluated", _n_words(n_pairs), text),
            Member("uint32_t", "met", n_classes, "such pairs of each class"),
            Member("uint32_t", "rank", n_classes, "classes by score, highest first"),
        )

    def pieces(self, last: int, note: str) -> tuple[Piece, ...]:
        """Return the pieces: each step computes some kernels, and at most one pair."""
        choice, check = self.choice_operations, self.n_classes
        # A look at an entry whose kernel is known takes one more.
        longest = self.longest_pair + self.longest_pair_operations + choice + check
        kernel, n = self.kernel_operations, self.n_decisions
        return (
            Piece("begin_pairs", "begin of pairs", self.begin_operations + choice),
            Piece("pair", "longest pair", longest + kernel, n, "pair", per_kernel=kernel),
            Piece("end_pairs", "end of pairs", check + max(last, self.label_operations)),
        )

    def kernel_evaluations(self) -> int:
        """Return the number of support vectors."""
        return self.n_vectors

    @property
    def has_scores(self) -> bool:
        """Whether classes are ordered by a score: not in a replay."""
        return len(self.score_offset) > 0

    def shared(self) -> Shared:
        """Return the numbers of features, slots, classes and pairs."""
        return (("N_CLASSES", self.n_classes), *Laid.shared(self))


def _n_words(n: int) -> int:
    """Return the words that hold n bits."""
    return -(-n // 32)

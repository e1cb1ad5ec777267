"""Leaves that vote among their own classes: the decisions of few pairs of classes a leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.class_pairs import settled_decisions
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.shared import Shared

_WORD = 32


@dataclass(frozen=True, slots=True, eq=False)
class OwnPairs(Laid):
    """Which pairs of classes a leaf decides by its vectors, and which of them a vector is part of.

    A pair of which a leaf has one class only is won by this class, with the decision 1 or -1,
    which has no error (Segata & Blanzieri 2009, section 3.3). A coefficient of a slot is a term of
    one of its leaf's pairs.

    Parameters
    ----------
    classes : ndarray of shape (n_leaves, n_words), uint32
        Bit c % 32 of word c / 32 tells whether a leaf has class c.
    """

    classes: Annotated[
        NDArray[np.uint32],
        Layout(
            "Classes of a leaf, a bit a class: [leaf][word]",
            ("N_LEAVES", "CLASS_WORDS"),
            name="leaf_classes",
        ),
    ]
    pair_ends: Annotated[
        NDArray[np.uint32],
        Layout(
            "Own pair after the last one of a leaf: [leaf]",
            ("N_LEAVES",),
            below=Below("N_OWN_PAIRS", rises=True),
        ),
    ]
    pairs: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number of an own pair among all pairs: [own pair]",
            ("N_OWN_PAIRS",),
            below=Below("N_DECISIONS"),
        ),
    ]
    term_ends: Annotated[
        NDArray[np.uint32],
        Layout(
            "Term after the last one of a slot: [slot]",
            ("N_SLOTS",),
            below=Below("N_TERMS", rises=True),
        ),
    ]
    terms: Annotated[
        NDArray[np.uint16],
        Layout(
            "Own pair of a term, counted within its leaf: [term]", ("N_TERMS",), narrow=np.uint8
        ),
    ]
    n_classes: int

    @property
    def n_pairs(self) -> int:
        """All pairs of classes."""
        return self.n_classes * (self.n_classes - 1) // 2

    @property
    def counts(self) -> NDArray[np.int64]:
        """Own pairs of each leaf, shape (n_leaves,)."""
        return _lengths(self.pair_ends)

    @property
    def term_counts(self) -> NDArray[np.int64]:
        """Terms of each slot, shape (n_slots,)."""
        return _lengths(self.term_ends)

    def own(self, leaf: int) -> slice:
        """Return the own pairs of a leaf."""
        return slice(int(self.pair_ends[leaf - 1]) if leaf else 0, int(self.pair_ends[leaf]))

    def check_pairs(self) -> None:
        """Check that own pairs are of classes of their leaf, each once and in order.

        Raises
        ------
        ValueError
        """
        first, second = np.triu_indices(self.n_classes, 1)
        for leaf in range(len(self.pair_ends)):
            pairs = self.pairs[self.own(leaf)].astype(np.int64)
            there = self.present(leaf)
            if (np.diff(pairs) < 1).any() or not there[[*first[pairs], *second[pairs]]].all():
                raise ValueError(f"the own pairs of leaf {leaf} are not those of its classes")

    def present(self, leaf: int) -> NDArray[np.bool_]:
        """Return which classes a leaf has, shape (n_classes,)."""
        bits = np.arange(self.n_classes)
        found = (self.classes[leaf, bits // _WORD] >> (bits % _WORD).astype(np.uint32)) & 1
        there: NDArray[np.bool_] = found.astype(bool)
        return there

    def rows(self, coefficients: np.ndarray, leaf: int, slots: slice) -> np.ndarray:
        """Return a leaf's coefficients of its own pairs, shape (n_own_slots, n_own_pairs).

        Where a slot has no term they are 0. The C leaves these out, which changes no sum: it begins
        with 0, and a product of 0 is 0 with either sign.
        """
        first = int(self.term_ends[slots.start - 1]) if slots.start else 0
        ends = self.term_ends[slots].astype(np.int64)
        counts = ends - np.concatenate([[first], ends[:-1]])
        terms = slice(first, first + int(counts.sum()))
        pairs = self.own(leaf)
        table = np.zeros((len(counts), pairs.stop - pairs.start), dtype=coefficients.dtype)
        table[np.repeat(np.arange(len(counts)), counts), self.terms[terms]] = coefficients[terms]
        return table

    def spread(
        self, leaf: int, decision: Float32Array, bound: Float32Array
    ) -> tuple[Float32Array, Float32Array]:
        """Return decisions and bounds of all pairs, shape (n_queries, n_pairs)."""
        settled = settled_decisions(self.present(leaf)).astype(np.float32)
        all_decisions = np.tile(settled, (len(decision), 1))
        all_bounds = np.zeros_like(all_decisions)
        own = self.pairs[self.own(leaf)]
        all_decisions[:, own], all_bounds[:, own] = decision, bound
        return all_decisions, all_bounds

    def operations(self, leaf_ends: NDArray[np.uint32], of_term: int) -> NDArray[np.int64]:
        """Return the multiply-adds of leaves' decisions: 6 an own pair, 2 any pair, and terms."""
        terms = np.append(0, self.term_ends)[leaf_ends]
        of_all = self.n_classes * (self.n_classes - 1)
        counts: NDArray[np.int64] = of_term * _lengths(terms) + 6 * self.counts + of_all
        return counts

    def constants(self) -> tuple[Constant, ...]:
        """Return the numbers of classes, of own pairs and of terms."""
        return (
            Constant("CLASS_WORDS", self.classes.shape[1], "words of the classes of a leaf"),
            Constant("N_OWN_PAIRS", len(self.pairs), "own pairs of all leaves together"),
            Constant("MOST_OWN_PAIRS", int(self.counts.max()), "own pairs of a leaf"),
            Constant("N_TERMS", len(self.terms), "coefficients of all slots together"),
            Constant("MOST_TERMS", int(self.term_counts.max()), "coefficients of a slot"),
        )

    def shared(self) -> Shared:
        """Return the numbers of leaves, slots, own pairs, terms and classes."""
        return (("N_CLASSES", self.n_classes), *Laid.shared(self))


def _lengths(ends: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the lengths of parts with these ends."""
    wide = ends.astype(np.int64)
    lengths: NDArray[np.int64] = wide - np.concatenate([[0], wide[:-1]])
    return lengths

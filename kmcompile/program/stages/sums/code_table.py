"""Support vectors as integer codes, with their exact inner products and distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.table import C_TYPES, Below, Table
from kmcompile.numeric.width import WIDTHS
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.sparse_list import TURN, sparse_list

GROUP = 4
"""Number of features whose codes are stored together, a group of four."""

_LAYOUTS = ("rows", "bytes", "columns", "fours", "chunks", "sparse")
ROWS, BYTES, COLUMNS, FOURS, CHUNKS, SPARSE = _LAYOUTS

_CHUNK_BYTES = 16
_ROW_MULTIPLE = 16

PAIRED_BYTES = (0, 2, 1, 3)
"""Order of the four bytes of a group: one instruction widens bytes 0 and 2, another 1 and 3."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeTable(Laid):
    """Integer support vectors s with exact <s, x> and |s - x|^2 for integer inputs x.

    A sum of integers does not depend on the order of its terms. So neither an order nor the layout
    of the stored codes is part of the semantics. The layouts are:

    - "rows": vector after vector.
    - "bytes": likewise, for a core of 8 bits: codes of 8 bits stay so in the packed input.
    - "columns": blocks of `lanes` vectors, in a block feature after feature of all vectors.
    - "fours": the same with four features of each vector, then the next four. Of bytes, a four is
      stored in the order 0, 2, 1, 3.
    - "chunks": like "fours", with 16 bytes of each vector in the order of the features.
    - "sparse": for every four features a list of the vectors that are not 0 there, each with its
      four codes as in "fours" and with the step from the vector before. Padding entries with codes
      0 split steps above 255 and fill the end of a list. An input that is 0 in these features
      skips the list.

    Parameters
    ----------
    codes : ndarray of shape (n_slots, n_used), int64
        Codes of the vectors at the used features, which are not 0 in all vectors.
    columns : ndarray of shape (n_used,), uint16 or uint32
        The used features in the order of storage.
    n_features : int
    width : str
        The type of a stored code: "uint8", "int8" or "int16".
    low, high : int
        Least and largest code of an accepted input.
    wide : bool
        Whether sums need 64 bits; otherwise <s, x> fits an int32 and |s - x|^2 a uint32.
    layout : str
    lanes : int
        Vectors of a block; a divisor of n_slots.
    """

    codes: NDArray[np.int64]
    columns: Annotated[
        NDArray[np.uint32],
        Layout("", ("features of codes",), narrow=np.uint16, below=Below("N_FEATURES")),
    ]
    n_features: int
    width: str
    low: int
    high: int
    wide: bool
    layout: str
    lanes: int

    def __post_init__(self) -> None:
        Laid.__post_init__(self)
        self.of_inputs.check(self.codes)
        if self.layout not in _LAYOUTS:
            raise ValueError(f"the layout is {self.layout!r}, none of {', '.join(_LAYOUTS)}")
        if self.wide and self.any_fits_words():
            raise ValueError("the sums of any codes fit 32 bits, and are said to need 64")
        if not self.wide and not self.of_inputs.fits_words(self.codes):
            raise ValueError("a sum of codes needs 64 bits, and is said to fit 32")

    @property
    def of_inputs(self) -> CodeRange:
        """The codes of an input."""
        return CodeRange(self.n_features, self.width, self.low, self.high)

    @property
    def n_slots(self) -> int:
        """Number of slots: vectors, and padding slots of blocks."""
        return int(self.codes.shape[0])

    @property
    def n_used(self) -> int:
        """Number of features that are stored."""
        return int(self.codes.shape[1])

    @property
    def sparse(self) -> bool:
        """Whether groups of four codes that are all 0 are left out."""
        return self.layout == SPARSE

    @property
    def in_fours(self) -> bool:
        """Whether inner products take four codes at a time, as words where the core can."""
        return self.layout == FOURS or self.sparse

    @property
    def x_type(self) -> str:
        """The C type of a code in the packed input.

        Vector registers and cores of 8 bits take bytes as they are; the smallest cores of 32 bits
        load words with one instruction.
        """
        own, short = C_TYPES[self.width], "int16_t"
        of = {ROWS: short, BYTES: own, COLUMNS: "int32_t", FOURS: short, CHUNKS: own, SPARSE: short}
        return of[self.layout]

    @property
    def multiplies_bytes(self) -> bool:
        """Whether a product is one of two bytes."""
        return self.layout == BYTES and WIDTHS[self.width].is_byte

    @property
    def n_totals(self) -> int:
        """Totals of a sparse table, a power of two so that no step overruns them."""
        return 1 << (self.n_slots - 1).bit_length()

    @property
    def picks_columns(self) -> bool:
        """Whether features are left out or reordered."""
        return not np.array_equal(self.columns, np.arange(self.n_features))

    @property
    def run(self) -> int:
        """Number of codes of one vector that are adjacent in a block."""
        chunk, n = _CHUNK_BYTES // np.dtype(self.width).itemsize, self.n_padded
        of = {ROWS: n, BYTES: n, COLUMNS: 1, FOURS: GROUP, CHUNKS: chunk, SPARSE: GROUP}
        return of[self.layout]

    @property
    def pairs_bytes(self) -> bool:
        """Whether a group of four bytes is stored in the order 0, 2, 1, 3."""
        return WIDTHS[self.width].is_byte and self.layout in (FOURS, SPARSE)

    @property
    def n_padded(self) -> int:
        """Number of codes of a stored vector, padded to whole iterations of the inner loop."""
        chunk, row = _CHUNK_BYTES // np.dtype(self.width).itemsize, _ROW_MULTIPLE
        of = {ROWS: row, BYTES: 1, COLUMNS: GROUP, FOURS: GROUP, CHUNKS: chunk, SPARSE: GROUP}
        return -(-self.n_used // of[self.layout]) * of[self.layout]

    @property
    def n_fours(self) -> int:
        """Number of groups of four features."""
        return self.n_padded // GROUP

    @property
    def squares(self) -> NDArray[np.int64]:
        """|s|^2 of every vector."""
        squares: NDArray[np.int64] = (self.codes**2).sum(axis=1)
        return squares

    def products(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return <s, x> for inputs of shape (n_queries, n_features), (n_queries, n_slots)."""
        # Below 2^53 every partial sum of the matrix product is exact, in any order.
        used = x[:, self.columns].astype(np.float64)
        exact: NDArray[np.float64] = used @ self.codes.T.astype(np.float64)
        return exact.astype(np.int64)

    def distances(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return |s - x|^2 = |s|^2 + |x|^2 - 2 <s, x>; unused features count in |x|^2."""
        own: NDArray[np.int64] = (x**2).sum(axis=1)[:, None]
        return self.squares + own - 2 * self.products(x)

    def largest_product(self) -> int:
        """Return a bound on |<s, x>| and on each of its partial sums."""
        return self.of_inputs.largest_product(self.codes)

    def largest_term(self) -> int:
        """Return a bound on the magnitude of every product of a stored code and an input's code."""
        return int(np.abs(self.codes).max(initial=0)) * self.of_inputs.largest

    def largest_distance(self) -> int:
        """Return a bound on |s - x|^2 and on |s|^2."""
        return self.of_inputs.largest_distance(self.codes)

    def any_fits_words(self) -> bool:
        """Return whether 32 bits hold all sums with any vectors of the type of codes.

        Those are <s, x> with a sign, and |s - x|^2 of all places, padding included.
        """
        return self.of_inputs.any_fits_words(max(self.n_padded, self.n_features))

    def operations(self) -> int:
        """Return the multiply-adds of all inner products: one for each stored code."""
        if not self.sparse:
            return self.n_slots * self.n_padded
        return GROUP * TURN * self.n_turns

    def operations_of(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the multiply-adds of inputs, (n_queries, n_features), without skipped lists.

        Returns
        -------
        ndarray of shape (n_queries,), int64
        """
        if not self.sparse:
            return np.full(len(x), self.operations(), dtype=np.int64)
        used = np.pad(x[:, self.columns], ((0, 0), (0, self.n_padded - self.n_used)))
        visited = (used.reshape(len(x), self.n_fours, GROUP) != 0).any(axis=2)
        operations: NDArray[np.int64] = GROUP * TURN * (visited @ self._turns())
        return operations

    @property
    def n_turns(self) -> int:
        """Number of loop iterations of all sparse lists."""
        return int(self._turns().sum())

    def stored(self) -> NDArray[np.bool_]:
        """Return which codes are stored, shape (n_slots, n_used)."""
        if not self.sparse:
            return np.ones(self.codes.shape, dtype=np.bool_)
        return np.repeat(self._filled(), GROUP, axis=1)[:, : self.n_used]

    def arranged(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return values of codes, shape (n_slots, n_used), in the order of the stored codes.

        The layout's padding gets 0. Values of codes that are not stored are left out.
        """
        padded = np.pad(values, ((0, 0), (0, self.n_padded - self.n_used)))
        if self.sparse:
            lists = self._lists()
            slots = np.concatenate([own for own, _ in lists])
            fours = np.repeat(np.arange(self.n_fours), [len(own) for own, _ in lists])
            by_four = padded.reshape(self.n_slots, -1, GROUP)[slots, fours]
            runs = np.where(slots[:, None] < 0, 0, by_four)
        else:
            blocks = padded.reshape(-1, self.lanes, self.n_padded // self.run, self.run)
            runs = blocks.transpose(0, 2, 1, 3)
        if self.pairs_bytes:
            runs = runs[..., PAIRED_BYTES]
        return runs.reshape(-1)

    def _filled(self) -> NDArray[np.bool_]:
        """Return which groups of four codes are stored, shape (n_slots, n_fours), at least one."""
        padded = np.pad(self.codes, ((0, 0), (0, self.n_padded - self.n_used)))
        filled: NDArray[np.bool_] = (padded.reshape(self.n_slots, -1, GROUP) != 0).any(axis=2)
        filled[0, 0] |= not filled.any()
        return filled

    def _lists(self) -> list[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        """Return the sparse list of each group: the vectors, -1 for padding, and the steps."""
        return [sparse_list(np.flatnonzero(filled)) for filled in self._filled().T]

    def _turns(self) -> NDArray[np.int64]:
        """Return the number of loop iterations of each sparse list."""
        return np.array([len(steps) // TURN for _, steps in self._lists()])

    def tables(self) -> tuple[Table, ...]:
        """Return the vectors, |s|^2 and, if features are left out or reordered, their indices."""
        squares = self.squares.astype(np.uint64 if self.wide else np.uint32)
        vectors = self.arranged(self.codes).astype(self.width)
        tables = [
            Table("vectors", vectors, _layout_text(self), "N_BLOCKS"),
            Table("squares", squares, "Squares |s_i|^2 of the codes: [vector]", "N_BLOCKS"),
        ]
        if self.picks_columns:
            tables.append(
                Table(
                    "columns",
                    self.columns,
                    "Numbers of the features in the order of the codes: [code]",
                )
            )
        if self.sparse:
            steps = np.concatenate([own for _, own in self._lists()])
            ends = np.cumsum(self._turns()).astype(np.uint32)
            tables += [
                Table("steps", steps, "Steps to the next vector that is not 0: [entry]"),
                Table(
                    "list_ends", ends, f"Entries up to the end of a list, divided by {TURN}: [four]"
                ),
            ]
        return tuple(tables)

    def constants(self) -> tuple[Constant, ...]:
        """Return the private #defines of the sizes of the codes in their layout."""
        constants = [
            Constant("LANES", self.lanes, "support vectors of a block"),
            Constant("N_BLOCKS", self.n_slots // self.lanes, "the last ones of a group filled up"),
            Constant("N_USED", self.n_used, "features that are not 0 in some vector"),
        ]
        if not self.in_fours or self.n_padded > self.n_used:
            constants.append(Constant("N_PADDED", self.n_padded, "N_USED, filled up to whole runs"))
        if self.in_fours:
            constants.append(Constant("N_FOURS", self.n_fours, "fours of features"))
        if self.layout == CHUNKS:
            n = self.n_padded // self.run
            constants.append(Constant("N_CHUNKS", n, "chunks of 16 bytes of a vector"))
        if self.sparse:
            constants += [
                Constant("N_TURNS", self.n_turns, f"{TURN} entries each of all lists"),
                Constant("N_TOTALS", self.n_totals, "a power of two: N_BLOCKS * LANES or more"),
            ]
        return tuple(constants)

    def members(self, name: str) -> tuple[Member, ...]:
        """Return what inner products need in the workspace; `name` is the program's prefix."""
        text, members = "what inner products take of the input", []
        if self.sparse:
            total = f"uint{64 if self.wide else 32}_t"
            members = [Member(total, "total", self.n_totals, "inner products with all vectors")]
        if self.in_fours:
            four = Member(f"{name}_four_t", "codes", self.n_fours, text, element_bytes=8)
            return (*members, four)
        return (*members, Member(self.x_type, "codes", self.n_padded, text))

    def shared(self) -> Shared:
        """Return the numbers of features, slots and lanes."""
        own = (("N_PREPARED", self.n_features), ("N_SLOTS", self.n_slots))
        used = ("features of codes", self.codes.shape[1])
        return (*own, ("LANES", self.lanes), used, *Laid.shared(self))


def _layout_text(table: CodeTable) -> str:
    order = ", a four as 0, 2, 1, 3" if table.pairs_bytes else ""
    texts = {
        ROWS: ": [vector][feature]",
        BYTES: ": [vector][feature]",
        COLUMNS: ": [block][feature][lane]",
        FOURS: f"{order}: [block][four][lane][feature]",
        CHUNKS: f": [block][chunk][lane][{table.run} features]",
        SPARSE: f", those of a four that are not 0{order}: [entry][feature]",
    }
    return f"Support vectors s_i as codes{texts[table.layout]}"

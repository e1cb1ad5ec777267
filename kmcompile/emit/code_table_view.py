"""The view of integer support vectors: how the C computes inner products with them on a target."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kmcompile.emit.literals import unsigned_literal
from kmcompile.numeric.table import C_TYPES
from kmcompile.numeric.width import WIDTHS
from kmcompile.program.stages.sums.code_table import (
    BYTES,
    CHUNKS,
    COLUMNS,
    GROUP,
    PAIRED_BYTES,
    ROWS,
    CodeTable,
)
from kmcompile.program.stages.sums.sparse_list import TURN

TABLE = "vectors"
"""The table that inner loops may read as words."""

_SHORT_BITS = {4: 29, 2: 30}
"""Log2 of 2^31 divided by n, for each number n of products that are added in 32 bits."""


@dataclass(frozen=True, slots=True)
class Place:
    """One of four consecutive features: its number, and the position of its code among the four."""

    number: int
    stored: int


@dataclass(frozen=True, slots=True)
class WordLane:
    """A vector of a block, and its codes 0 and 1 and its codes 2 and 3 of a four as pairs, in C."""

    number: int
    even: str
    odd: str


@dataclass(frozen=True, slots=True)
class Four:
    """One of the fours of features that are added in turn, and how far it stands in the C."""

    number: int
    lanes: tuple[WordLane, ...]
    indent: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A vector of a block, and the offset at which its chunk begins."""

    number: int
    first: int


@dataclass(frozen=True, slots=True)
class Code:
    """The code of one of four features of a vector in a block, and its offset in the block."""

    lane: int
    feature: int
    index: int


@dataclass(frozen=True, slots=True)
class WholeProduct:
    """The C type that holds every product of two codes, in words, and whether they are bytes."""

    c_type: str
    bits: str
    of_bytes: bool


@dataclass(frozen=True, slots=True)
class CodeTableView:
    """Values for the templates of templates/code_table/.

    Parameters
    ----------
    code_type, x_type, sum_type, signed_type : str
        The C types of a stored code, one of the packed input, sums, and sums with a sign.
    sum_bits, product_bits : int
    sum_in_halves : bool
        Whether a sum of 64 bits is below 2^48, so that two floats hold it.
    half_scale : float
    sign_bit : int
        The sign bit of a sum.
    has_signs : bool
        Whether sums may be negative.
    whole : WholeProduct
    product_type : str
        The C type of a single product as it is added.
    adds_short : bool
        Whether a sum of 64 bits takes several products at once, added in 32 bits.
    short_terms, short_bits : int
        Number of products added in 32 bits, and log2 of 2^31 divided by this number.
    short_sums : tuple of tuple of Code
        The codes of the products added in 32 bits, one tuple for each of four features.
    templates : tuple of str
        Templates of the inner products' functions, each after the functions that it calls.
    code_j : str
        The packed input's code j in C.
    x_is_zero : str
        A C condition: the four codes x are 0.
    widened_even, widened_odd : str
        Bytes of a word s as pairs, in C.
    add_pairs : str
        The intrinsic that adds two products.
    load, add_vectors, vector_type, vector_sum_type : str
        Intrinsics and types of vector registers.
    run, block_run : int
        Number of codes in a chunk, and in the chunks of all lanes.
    words_of_four : int
        Words of the four codes of a vector.
    turns_of_two, words_of_turn : int
        Turns over two fours each, and the words of all lanes in one.
    turn_fours, last_four : tuple of Four
        The fours of such a turn, and the four behind the last turn if their number is odd.
    """

    code_type: str
    x_type: str
    sum_type: str
    signed_type: str
    sum_bits: int
    sum_in_halves: bool
    half_scale: float
    product_bits: int
    whole: WholeProduct
    sign_bit: int
    has_signs: bool
    product_type: str
    adds_short: bool
    short_terms: int
    short_bits: int
    short_sums: tuple[tuple[Code, ...], ...]
    templates: tuple[str, ...]
    picks_columns: bool
    pads: bool
    sparse: bool
    is_bytes: bool
    in_fours: bool
    in_chunks: bool
    code_j: str
    x_is_zero: str
    lanes: tuple[int, ...]
    chunk_lanes: tuple[Lane, ...]
    places: tuple[Place, ...]
    column_codes: tuple[Code, ...]
    turn: int
    entries: tuple[int, ...]
    widened_even: str
    widened_odd: str
    add_pairs: str
    load: str
    add_vectors: str
    vector_type: str
    vector_sum_type: str
    run: int
    block_run: int
    words_of_four: int
    turns_of_two: int
    words_of_turn: int
    turn_fours: tuple[Four, ...]
    last_four: tuple[Four, ...]


def code_table_view(table: CodeTable, of_any: bool = False) -> CodeTableView:
    """Return the view of a table; `of_any`: for any vectors of its type of codes."""
    bits, width = 64 if table.wide else 32, WIDTHS[table.width]
    largest = (1 << width.value_bits) * max(-table.low, table.high)
    short_terms = _short_terms(table, largest if of_any else table.largest_term())
    short = short_terms > 1
    places = PAIRED_BYTES if width.is_byte else tuple(range(GROUP))
    suffix = f"{width.letter}{width.bits}"
    lanes = range(table.lanes)
    codes = tuple(
        Code(lane, feature, table.lanes * feature + lane)
        for feature in range(GROUP)
        for lane in lanes
    )
    of_lane = codes[:: table.lanes]
    return CodeTableView(
        code_type=C_TYPES[table.width],
        x_type=table.x_type,
        sum_type=f"uint{bits}_t",
        signed_type=f"int{bits}_t",
        sum_bits=bits,
        # A product of 16-bit codes is at most 2^30.
        sum_in_halves=table.wide and table.n_features < 1 << 18,
        half_scale=2.0**24,
        product_bits=32 if short else bits,
        whole=_whole_product(table),
        sign_bit=bits - 1,
        has_signs=table.low < 0 or bool((table.codes < 0).any()),
        product_type="uint32_t" if short else f"uint{bits}_t",
        adds_short=short,
        short_terms=short_terms,
        short_bits=_SHORT_BITS[short_terms] if short else 0,
        short_sums=tuple(
            of_lane[first : first + short_terms] for first in range(0, GROUP, short_terms)
        ),
        templates=_templates(table, of_any),
        picks_columns=table.picks_columns,
        pads=table.n_padded > table.n_used,
        sparse=table.sparse,
        is_bytes=width.is_byte,
        in_fours=table.in_fours,
        in_chunks=table.layout == CHUNKS,
        code_j="workspace->codes[j / 4U].code[j % 4U]" if table.in_fours else "workspace->codes[j]",
        x_is_zero=" && ".join(f"(x.code[{k}] == 0)" for k in range(GROUP)),
        lanes=tuple(lanes),
        chunk_lanes=tuple(Lane(lane, lane * table.run) for lane in lanes),
        places=tuple(Place(number, places.index(number)) for number in range(GROUP)),
        column_codes=codes,
        turn=TURN,
        entries=tuple(range(TURN)),
        widened_even=width.pairs[0],
        widened_odd=width.pairs[1],
        add_pairs="__smlald" if table.wide else "__smlad",
        load=f"vld1q_{suffix}",
        add_vectors=f"{'vmlaldavaq' if table.wide else 'vmladavaq'}_{suffix}",
        vector_type=width.vector_type,
        vector_sum_type=f"{'uint' if width.letter == 'u' else 'int'}{bits}_t",
        run=table.run,
        block_run=table.run * table.lanes,
        words_of_four=1 if width.is_byte else 2,
        turns_of_two=table.n_fours // 2,
        words_of_turn=2 * table.lanes * (1 if width.is_byte else 2),
        turn_fours=tuple(_four(table, number, 8 * " ") for number in range(2)),
        last_four=(_four(table, 0, 4 * " "),) if table.n_fours % 2 else (),
    )


def _whole_product(table: CodeTable) -> WholeProduct:
    if not table.multiplies_bytes:
        return WholeProduct("int32_t", "31 bits and a sign", False)
    if WIDTHS[table.width].letter == "u":
        return WholeProduct("uint16_t", "16 bits", True)
    return WholeProduct("int16_t", "15 bits and a sign", True)


def _four(table: CodeTable, number: int, indent: str) -> Four:
    lanes = range(number * table.lanes, (number + 1) * table.lanes)
    return Four(number, tuple(_word_lane(table, lane) for lane in lanes), indent)


def _word_lane(table: CodeTable, lane: int) -> WordLane:
    """Return the pairs of a lane's codes in the words s of a four of all lanes, or of two fours."""
    own = lane % table.lanes
    if not WIDTHS[table.width].is_byte:
        words = (unsigned_literal(2 * lane), unsigned_literal(2 * lane + 1))
        return WordLane(own, *(f"(int32_t)s[{word}]" for word in words))
    word = f"s[{unsigned_literal(lane)}]"
    even, odd = (re.sub(r"\bs\b", word, text) for text in WIDTHS[table.width].pairs)
    return WordLane(own, even, odd)


def _short_terms(table: CodeTable, largest: int) -> int:
    """Return how many products up to `largest` fit a 32-bit sum: together they are below 2^31."""
    if table.wide and table.layout == COLUMNS:
        return next((n for n in _SHORT_BITS if n * largest < 1 << 31), 1)
    return 1


def _templates(table: CodeTable, of_any: bool) -> tuple[str, ...]:
    if table.layout == COLUMNS and table.wide:
        return ("code_table/product", "code_table/columns_long_products")
    if not table.in_fours:
        layout = ROWS if table.layout == BYTES else table.layout
        return ("code_table/product", f"code_table/{layout}_products")
    if of_any:
        return ("code_table/product", "image/fours_products")
    products = "sparse_products" if table.sparse else "fours_products"
    return ("code_table/product", "code_table/add_four", f"code_table/{products}")

"""The parts of an image, in the order in which it holds them: counts, numbers, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from kmcompile.emit.code_table_view import TABLE as VECTORS
from kmcompile.emit.images.codes import CodesPart
from kmcompile.emit.images.model_text import MODEL, Count, Number
from kmcompile.emit.literals import bits_literal, unsigned_literal
from kmcompile.emit.marks import C_TYPES
from kmcompile.errors import InputError
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.numeric.table import BYTES, Below, Table
from kmcompile.program.capacity import Capacity
from kmcompile.program.program import Program
from kmcompile.program.stages import CodedSum, ExactSum, FixedSum, LinearSum, LocalExpansion
from kmcompile.program.stages.sums.fixed_kernel import EXP2_TABLE
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

UNIT: Final = 8
"""Every part begins at a multiple of these bytes, and so does the image itself."""
HEAD_BYTES: Final = 88
"""Magic, byte order, length, checksum, version, alignment and two hashes of 32 bytes."""
VERSION: Final = 1
"""Version of the form of images."""
_MOST_BYTES: Final = 1 << 31

_CHECKED_TOGETHER: Final = ("vectors", "squares", "coefficients", "start", "known_inputs")
"""Tables of integers of which any one is taken: what they must be together is checked behind."""


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table in an image.

    Parameters
    ----------
    name : str
        The member of the model, which points to it.
    c_type : str
    length : str
        C expression of the number of elements.
    most : int
        Largest number of elements.
    taken_by : str
        The function that takes it, without prefix.
    more : str
        Further arguments of that function: what its elements are compared with.
    meaning : str
        The comment of the member.
    as_words : bool
        Whether inner loops may also read its codes as words.
    """

    name: str
    c_type: str
    length: str
    most: int
    taken_by: str
    more: str
    meaning: str
    as_words: bool = False

    @property
    def member(self) -> str:
        """The member that points to the elements."""
        return f"{self.name}.code" if self.as_words else self.name

    @property
    def cast(self) -> str:
        """The C cast of what the function returns; "" where that has the type."""
        return f"(const {self.c_type} *)" if self.taken_by == "take" else ""


@dataclass(frozen=True, slots=True)
class Parts:
    """What an image has, in order.

    Parameters
    ----------
    capacity : Capacity
    counts : tuple of Count
    numbers : tuple of Number
        Unsigned integers, then floats, then doubles.
    tables : tuple of TablePart
    codes : CodesPart or None
        What is checked of a sum in integers.
    """

    capacity: Capacity
    counts: tuple[Count, ...]
    numbers: tuple[Number, ...]
    tables: tuple[TablePart, ...]
    codes: CodesPart | None = None
    version: ClassVar[int] = VERSION
    unit: ClassVar[int] = UNIT
    """The alignment in bytes."""

    def of_kind(self, kind: str) -> tuple[Number, ...]:
        """Return the numbers of one type: "u", "f" or "d"."""
        return tuple(number for number in self.numbers if number.kind == kind)

    @property
    def has_doubles(self) -> bool:
        """Whether there are doubles."""
        doubles = any(table.taken_by == "take_doubles" for table in self.tables)
        return doubles or bool(self.of_kind("d"))

    @property
    def has_words(self) -> bool:
        """Whether a table has words with a limit."""
        return any(table.taken_by == "take_words" for table in self.tables)

    @property
    def has_indices(self) -> bool:
        """Whether a table has indices."""
        return any(table.taken_by == "take_indices" for table in self.tables)

    @property
    def has_ends(self) -> bool:
        """Whether a table has ends of groups."""
        return any(table.taken_by == "take_ends" for table in self.tables)

    def number_kinds(self, name: str) -> list[dict[str, Any]]:
        """Return the numbers of each type, with the call that takes them from the image."""
        calls = {
            "u": "(const uint32_t *){name}_take(reader, {n}, 4U)",
            "f": "{name}_take_floats(reader, {n})",
            "d": "{name}_take_doubles(reader, {n})",
        }
        names = {"u": "words", "f": "floats", "d": "doubles"}
        kinds = []
        for kind, call in calls.items():
            numbers = self.of_kind(kind)
            if numbers:
                taken = call.format(name=name, n=unsigned_literal(len(numbers)))
                kinds.append(
                    {
                        "c_type": C_TYPES[kind],
                        "name": names[kind],
                        "call": taken,
                        "numbers": numbers,
                    }
                )
        return kinds

    @property
    def most_bytes(self) -> int:
        """Bytes of the largest image."""
        sizes = [4 * len(self.counts)]
        sizes += [BYTES[c_type] * len(self.of_kind(kind)) for kind, c_type in C_TYPES.items()]
        sizes += [BYTES[table.c_type] * table.most for table in self.tables]
        return HEAD_BYTES + sum(-(-size // UNIT) * UNIT for size in sizes)

    @property
    def most_elements(self) -> int:
        """Elements of the largest part."""
        lengths = [len(self.counts), *(len(self.of_kind(kind)) for kind in C_TYPES)]
        return max([*lengths, *(table.most for table in self.tables)])


def counts_of(program: Program, capacity: Capacity) -> tuple[Count, ...]:
    """Return the counts that may differ from model to model."""
    summed, counts = program.ends.exact, []
    if isinstance(summed, GroupedSum):
        rows = (
            ("N_BLOCKS", summed.n_blocks, capacity.blocks, "blocks of support vectors"),
            ("N_GROUPS", summed.n_groups, capacity.groups, "groups of blocks"),
            ("SUM_EVALS", summed.n_vectors, capacity.vectors, "support vectors, and evaluations"),
        )
        counts = [_count(*row) for row in rows]
    answers = len(program.known_answers)
    return (*counts, _count("N_ANSWERS", answers, capacity.answers, "known answers"))


def _count(constant: str, value: int, most: int, meaning: str) -> Count:
    most_constant = f"MOST_{constant.removeprefix('N_')}".replace("SUM_EVALS", "VECTORS")
    return Count(constant, constant.lower(), most_constant, value, most, meaning)


def check_supported(program: Program) -> None:
    """Refuse a program that no image can hold.

    Raises
    ------
    InputError
    """
    summed = program.ends.exact
    kinds = ExactSum | LinearSum | FixedSum
    plain = isinstance(summed, kinds) and not isinstance(summed, CodedSum)
    reason = ""
    others = [stage for stage in program.exits if not isinstance(stage, LocalExpansion)]
    if others:
        reason = f"the stage {others[0].name}"
    elif not plain:
        reason = f"the sum {summed.name}"
    elif isinstance(summed, ExactSum) and (summed.skip_zeros or summed.reduced is not None):
        reason = "a reduced machine or one that skips zeros"
    elif program.probability is not None:
        reason = "the probabilities of a calibrated machine"
    if reason:
        raise InputError(f"--tables image: no image holds {reason} yet\nleave out --tables image")
    if not len(program.known_answers):
        raise InputError(
            "--tables image: no ordinary input is certified, so that an image would have no known "
            "answers\nleave out --tables image"
        )


def table_parts(program: Program, capacity: Capacity) -> tuple[TablePart, ...]:
    """Return the tables of an image in their order.

    Raises
    ------
    InputError
        If a table has integers of which it is not known what they must be.
    """
    return tuple(_table_part(table, program, capacity) for table in image_tables(program))


def image_tables(program: Program) -> tuple[Table, ...]:
    """Return the tables of an image: those of the program and, of codes, what they stand for."""
    tables, scale = program.tables(), program.scale
    if scale is None:
        return tables
    return (
        *tables,
        Table("code_offset", scale.offset, "The feature that code 0 stands for: [feature]"),
        Table("code_step", scale.step, "How much more a code of 1 more stands for: [feature]"),
    )


def _table_part(table: Table, program: Program, capacity: Capacity) -> TablePart:
    counts = {one.constant: one for one in counts_of(program, capacity)}
    count, length, most = counts.get(table.counted), "", table.values.size
    if count is None:
        length = unsigned_literal(most)
    else:
        each = table.values.size // count.value
        length = f"{MODEL}->{count.member}" + (f" * {unsigned_literal(each)}" if each > 1 else "")
        most = each * count.most
    if most * table.values.itemsize >= _MOST_BYTES:
        raise InputError(f"--capacity: the table {table.name} would have 2^31 bytes or more")
    taken_by, more = _reader(table, program)
    summed = program.ends.exact
    codes = summed.codes if isinstance(summed, FixedSum) else None
    as_words = codes is not None and codes.in_fours and table.name == VECTORS
    return TablePart(
        table.name, table.c_type, length, most, taken_by, more, _meaning(table), as_words
    )


def _reader(table: Table, program: Program) -> tuple[str, str]:
    """Return the function that takes a table, and what its elements are compared with."""
    kind, upper = table.values.dtype.name, program.name.upper()
    if kind in ("float32", "float64"):
        return ("take_floats" if kind == "float32" else "take_doubles"), ""
    if table.name == EXP2_TABLE.name:
        return "take_words", bits_literal(1 << exp2_fixed.RESULT_BITS)
    if program.codes is not None and table.name in _CHECKED_TOGETHER:
        return "take", unsigned_literal(table.values.itemsize)
    if kind == "uint16" and table.below is not None:
        return _indices(table.below, upper)
    raise InputError(f"--tables image: no image holds the table {table.name} yet")


def _indices(below: Below, upper: str) -> tuple[str, str]:
    """Return the function that takes a table of indices, and the C of what they are below."""
    if isinstance(below.of, int) and below.times == 1 and not below.rises:
        return "take_indices", unsigned_literal(below.of)
    if not isinstance(below.of, str):
        raise InputError("--tables image: no image holds a table with these indices yet")
    if below.rises:
        return "take_ends", f"{MODEL}->{below.of.lower()}"
    times = f"{unsigned_literal(below.times)} * " if below.times > 1 else ""
    return "take_indices", f"{times}{upper}_{below.of}"


def _meaning(table: Table) -> str:
    text = table.layout.partition(":")[0]
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def _pointer(table: TablePart) -> str:
    """Return the declaration of the member that points to a table."""
    if not table.as_words:
        return f"const {table.c_type} *{table.name};"
    return f"struct {{ const {table.c_type} *code; const uint32_t *word; }} {table.name};"


def member_rows(parts: Parts) -> list[tuple[str, str]]:
    """Return the declarations of the model's members with their meanings, the widest first."""
    rows = [(f"double {one.member};", one.meaning) for one in parts.of_kind("d")]
    rows += [(_pointer(table), table.meaning) for table in parts.tables]
    rows += [
        (f"uint32_t {one.member};", f"{one.meaning}: at most {one.most}") for one in parts.counts
    ]
    rows += [(f"uint32_t {one.member};", one.meaning) for one in parts.of_kind("u")]
    rows += [(f"float {one.member};", one.meaning) for one in parts.of_kind("f")]
    return rows

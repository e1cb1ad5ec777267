"""What keeps a model from flying on the code of another: the first difference, in words."""

from __future__ import annotations

from collections.abc import Callable

from kmcompile.kernels.matern import MaternFloat32
from kmcompile.kernels.poly import PolyFloat32
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, FixedSum
from kmcompile.program.stages.sums.grouped_sum import GroupedSum


def difference(program: Program, flies: Program, text: str, flying: str, file: str) -> str:
    """Return what differs between a program and one that flies, whose texts differ.

    Parameters
    ----------
    program, flies : Program
    text, flying : str
        Their emitted files.
    file : str
        The name of the file, for differences that have no name of their own.
    """
    for what, fact in (*_KINDS, *_COUNTS):
        own, other = fact(program), fact(flies)
        if own != other:
            return f"{what} {_text(own)}, in the code {_text(other)}"
    lines = zip(text.splitlines(), flying.splitlines(), strict=False)
    for number, (own_line, other_line) in enumerate(lines, 1):
        if own_line != other_line:
            return (
                f"line {number} of {file} is {own_line.strip()!r} instead of {other_line.strip()!r}"
            )
    return f"{file} has another length"


def are_of_one_kind(program: Program, flies: Program) -> bool:
    """Return whether the code of two programs can differ only by what follows from their size."""
    return all(fact(program) == fact(flies) for _, fact in _KINDS)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _steps(program: Program) -> tuple[str, ...]:
    return tuple(step.name for step in program.prepare.steps) or ("none",)


def _kernel(program: Program) -> str:
    if not isinstance(program.sum, ExactSum):
        return program.sum.name
    kernel = program.sum.kernel
    if isinstance(kernel, MaternFloat32 | PolyFloat32):
        return f"{kernel.name} of degree {kernel.degree}"
    return kernel.name


def _codes(program: Program) -> str:
    if not isinstance(program.sum, FixedSum):
        return "floats"
    bits = 32 if program.sum.wide_coefficients else 16
    codes = program.sum.codes
    return f"{codes.width} from {codes.low} to {codes.high}, with coefficients of {bits} bits"


def _rows(program: Program) -> int:
    return program.sum.n_rows if isinstance(program.sum, GroupedSum) else 0


def _order(program: Program) -> str:
    """Return how the totals of groups are added."""
    if not isinstance(program.sum, ExactSum):
        return "not there"
    signs = "both signs" if program.sum.mixed_signs else "one sign"
    return f"of {signs}, {'' if program.sum.compensates else 'not '}compensated"


_KINDS: tuple[tuple[str, Callable[[Program], object]], ...] = (
    ("its preprocessing is", _steps),
    ("its number format is", lambda one: one.number_format),
    ("its prepared features are", lambda one: one.prepare.n_out),
    ("its stages are", lambda one: tuple(stage.name for stage in one.stages)),
    ("its replay is", lambda one: "none" if one.replay is None else "float64"),
    ("its kernel is", _kernel),
    ("its codes are", _codes),
)
_COUNTS: tuple[tuple[str, Callable[[Program], object]], ...] = (
    ("its vectors take part in so many decisions:", _rows),
    ("its totals of groups are", _order),
    ("its tables are", lambda one: tuple(table.name for table in one.tables())),
)
"""Parts of the structure that have a name; those of `_COUNTS` also depend on how large it is."""

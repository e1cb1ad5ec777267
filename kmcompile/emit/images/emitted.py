"""The C of a program whose model lies in an image, and that image.

The C holds nothing of the model but its structure. Its SHA-256, the layout, is in the C and in each
image: an image is for the code that it names. Programs of two models have the same C if and only if
one of them can fly on the code of the other.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from kmcompile.emit.constants import private_constants, self_test_constants
from kmcompile.emit.environment import render
from kmcompile.emit.header_text import wrapped
from kmcompile.emit.images.codes import codes_part
from kmcompile.emit.images.content import CHECKSUM_WORD, image_bytes
from kmcompile.emit.images.functions import fitted
from kmcompile.emit.images.model_text import ModelText, of_model, with_model_declared
from kmcompile.emit.images.parts import (
    HEAD_BYTES,
    Parts,
    check_supported,
    counts_of,
    image_tables,
    member_rows,
    table_parts,
)
from kmcompile.emit.layout import Layout
from kmcompile.emit.literals import unsigned_literal
from kmcompile.emit.self_test_steps import WORDS_PER_STEP
from kmcompile.emit.workspace_lines import with_meanings
from kmcompile.program.capacity import Capacity
from kmcompile.program.layout import Constant
from kmcompile.program.program import Program
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

if TYPE_CHECKING:
    from kmcompile.emit.view import ModelView

_CONSTANTS: Final = "@constants@"
_NO_LAYOUT: Final = bytes(32)
_BYTES_A_LINE: Final = 12
_SCALE_LINES: Final = ("x_j = model->code_offset[j] + model->code_step[j] * code_j.",)
_MEMBER_COLUMNS: Final = 96


@dataclass(frozen=True, slots=True)
class Emitted:
    """The emitted texts by file name, and the image of the model; None if it is in the code."""

    texts: dict[str, str]
    image: bytes | None


@dataclass(frozen=True, slots=True)
class InImage:
    """The parts of what is emitted for a model in an image.

    Parameters
    ----------
    view : ModelView
        The view with what is known of the image.
    model, header : str
    files : dict
        Further files: the image as C.
    content : bytes
        The image in the byte order of the target.
    """

    view: ModelView
    model: str
    header: str
    files: dict[str, str]
    content: bytes


def without_numbers(view: ModelView, program: Program) -> ModelView:
    """Return the view of a program without what depends on the numbers of its model."""
    name = view.name
    evals = ""
    if isinstance(program.ends.exact, GroupedSum):
        evals = "at most 2 * sum_evals" if view.replays else "the model's sum_evals"
        if program.exits and not view.replays:
            evals = "at most sum_evals"
    coded = view.coded
    if coded is not None:
        coded = replace(coded, scale_lines=_SCALE_LINES)
    return view.changed(
        coded=coded,
        model_lines=wrapped("The model is not here: it lies in an image, which is opened first."),
        figure_lines=wrapped(
            "Sizes, operations and stack depend on the model and on the compiler: report.json and "
            "report.html, which are written beside this file, have those of the first model and of "
            "the capacity."
        ),
        table_lines=wrapped(
            f"Of this file, {name}.c is compiled once. `kmcompile image MODEL --for DIR` makes the "
            "image of another model for it."
        ),
        bound_lines=wrapped(
            "The last sum bounds the error of its decisions against the model of the image in real "
            "arithmetic: the constants of the bound are in the image."
        ),
        constant_lines=(_CONSTANTS,),
        emitted_tables=(),
        # How many kernels an answer takes; "" where the code says it. The members of the model.
        image=SimpleNamespace(evals_text=evals, member_lines=()),
    )


def read_from_image(text: str, layout: Layout, view: ModelView, capacity: Capacity) -> InImage:
    """Return the C that reads the model from an image, and the image.

    Parameters
    ----------
    text : str
        The model file with marks in place of numbers (`kmcompile.emit.marks`).
    layout : Layout
    view : ModelView
        The view of `without_numbers`.
    capacity : Capacity

    Raises
    ------
    InputError
        If no image can hold the program.
    """
    program, name = layout.program, layout.program.name
    check_supported(program)
    counts = counts_of(program, capacity)
    tables = [table.name for table in image_tables(program)]
    read = of_model(text, name, tables, counts)
    of_tables = table_parts(program, capacity)
    parts = Parts(capacity, counts, read.numbers, of_tables, codes_part(program))
    lines = _member_lines([*_own_rows(), *member_rows(parts)])
    own_image = SimpleNamespace(evals_text=view.image.evals_text, member_lines=lines)
    view = view.changed(image=own_image, n_test_steps=_n_test_steps(parts))
    header = with_model_declared(render("model.h.j2", view=view), name)
    model = _completed(read, layout, view, parts)
    sha256 = hashlib.sha256((header + model).encode("ascii")).hexdigest()
    model = model.replace(_bytes_text(_NO_LAYOUT), _bytes_text(bytes.fromhex(sha256)))
    orders = [layout.target.byte_order]
    orders += ["little"] if orders == ["big"] else []
    contents = [image_bytes(program, parts, sha256, order) for order in orders]
    own = render(
        "image/image.c.j2",
        view=view,
        contents=[_bytes_text(content) for content in contents],
        in_both_orders=len(contents) > 1,
        n_bytes=len(contents[0]),
    )
    files = {
        f"{name}_image.c": own,
        f"{name}_patch.h": render("image/patch.h.j2", view=view),
        f"{name}_patch.c": render("image/patch.c.j2", view=view),
    }
    return InImage(view, model, header, files, contents[0])


def _own_rows() -> list[tuple[str, str]]:
    return [
        ("const uint8_t *image;", "NULL: no image is open"),
        ("const uint8_t *model_sha256;", "32 bytes of the image: which model it is"),
        ("uint32_t image_bytes;", "length of the image"),
    ]


def _member_lines(rows: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return declarations with their meanings beside them or, where these are long, before them."""
    lines = []
    for code, meaning in rows:
        beside = f"{code}  /* {meaning} */"
        lines += [beside] if len(beside) <= _MEMBER_COLUMNS else [f"/* {meaning} */", code]
    return tuple(lines)


def _completed(read: ModelText, layout: Layout, view: ModelView, parts: Parts) -> str:
    """Return the model file with its constants and with the functions that open an image."""
    program, upper = layout.program, layout.program.name.upper()
    constants = with_meanings(
        (f"#define {upper}_{one.name} {unsigned_literal(one.value)}", one.meaning)
        for one in (*_constants(program, layout, parts), *_self_test(parts, view))
    )
    opening = render("image/open.c.j2", view=view, parts=parts, layout=_bytes_text(_NO_LAYOUT))
    text = read.text.replace(_CONSTANTS, "\n".join(constants))
    text = text.replace(f"{upper}_INPUT_LIMIT", "the limit of the model")
    return text.rstrip("\n") + "\n\n" + fitted(opening)


def _constants(program: Program, layout: Layout, parts: Parts) -> list[Constant]:
    """Return the private constants; counts of the model have become capacities."""
    counts = {one.constant: one for one in parts.counts}
    own = [
        Constant(counts[one.name].most_constant, counts[one.name].most, f"most {meaning}")
        if (meaning := counts[one.name].meaning if one.name in counts else "")
        else one
        for one in private_constants(program, layout.early)
    ]
    answers = counts["N_ANSWERS"]
    return [*own, Constant(answers.most_constant, answers.most, f"most {answers.meaning}")]


def _n_test_steps(parts: Parts) -> int:
    """Return the steps of the self-test of the largest image: its words, the answers, the end."""
    return -(-parts.most_bytes // 4 // WORDS_PER_STEP) + parts.capacity.answers + 1


def _self_test(parts: Parts, view: ModelView) -> tuple[Constant, ...]:
    """Return the sizes of images and of the self-test."""
    answers = parts.capacity.answers
    tested = self_test_constants(1, answers, view.n_test_steps, WORDS_PER_STEP)
    meanings = {
        "N_TABLES": "the image is one part of the self-test",
        "STEP_WORDS": "words of the image that one step reads",
    }
    return (
        Constant("MOST_BYTES", parts.most_bytes, "bytes of the largest image"),
        Constant("HEAD_BYTES", HEAD_BYTES, "bytes before its counts"),
        Constant("CHECKSUM_WORD", CHECKSUM_WORD, "which word of it is its checksum"),
        Constant("MOST_ELEMENTS", parts.most_elements, "elements of its largest part"),
        *(
            replace(one, meaning=meanings.get(one.name, one.meaning))
            for one in tested
            if one.name != "N_ANSWERS"
        ),
    )


def _bytes_text(content: bytes) -> str:
    """Return bytes as the elements of a C array, in lines."""
    lines = [
        ", ".join(f"0x{byte:02X}" for byte in content[start : start + _BYTES_A_LINE])
        for start in range(0, len(content), _BYTES_A_LINE)
    ]
    return "    " + ",\n    ".join(lines)

"""The start-up code, linker script and main of an image, rendered from `templates/boot/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmcompile.build.recipe import Recipe
from kmcompile.emit.environment import environment
from kmcompile.target import Boot, Region, Target

SUMMARY_MAGIC = 0x4B4D4331
# The kinds of a board's messages on a serial port (`templates/boot/serial.c.j2`, `loaded.c.j2`).
REQUEST_KIND = 0x4B4D5251
ANSWER_KIND = 0x4B4D414E
EXIT_KIND = 0x4B4D4558
# .srodata: gcc for RISC-V puts constants of 4 and 8 bytes there, also without small data.
_CONSTANTS, _VARIABLES = ".rodata .rodata.* .srodata .srodata.*", ".data .data.*"
_PROGRAM_ONLY = ".progmem*"
"""Sections of constants in avr-gcc's named address spaces, which data pointers cannot address."""
_CHUNK_WORDS = 16384  # one semihosting call moves many queries
_CHUNK_SHARE = 4  # this part of the free RAM holds inputs, as much holds records


@dataclass(frozen=True, slots=True)
class RegionView:
    """A memory region with numbers as a linker script takes them, without C's suffixes."""

    origin: str
    length: str

    @classmethod
    def of(cls, region: Region) -> RegionView:
        """Return the view of a region of a target."""
        return cls(f"0x{region.origin:08X}", f"0x{region.bytes:X}")


@dataclass(frozen=True, slots=True)
class HarnessView:
    """A model's harness as main calls it, with some queries at a time."""

    name: str
    input_words: int
    record_words: int
    chunk_queries: int


@dataclass(frozen=True, slots=True)
class BootView:
    """The view of the boot templates."""

    harnesses: tuple[HarnessView, ...]
    all_input_words: int
    all_record_words: int
    magic: int
    request_kind: int
    answer_kind: int
    exit_kind: int
    flash: RegionView
    ram: RegionView
    has_tables: bool
    tables: RegionView | None
    queries: RegionView | None
    stack_length: str
    constants_region: str
    constants: str
    tables_end: int | None
    variables: str
    of_table: str


def render_image(
    recipes: Sequence[Recipe], target: Target, boot: Boot, constants_region: str, folder: Path
) -> None:
    """Write the C files, `board.h` and the linker script `image.ld` of an image into a folder.

    Parameters
    ----------
    recipes : sequence of Recipe
        The recipes of the models, in the order in which the image runs their queries.
    constants_region : str
        The region of constants: "flash", or "tables" where the models are larger than the flash.
    """
    apart = target.tables_apart
    free_words = (boot.ram.bytes - boot.stack_bytes) // 4
    chunk_words = min(_CHUNK_WORDS, free_words // _CHUNK_SHARE)
    harnesses = tuple(_harness_view(recipe, chunk_words) for recipe in recipes)
    view = BootView(
        harnesses=harnesses,
        all_input_words=max(one.chunk_queries * one.input_words for one in harnesses),
        all_record_words=max(one.chunk_queries * one.record_words for one in harnesses),
        magic=SUMMARY_MAGIC,
        request_kind=REQUEST_KIND,
        answer_kind=ANSWER_KIND,
        exit_kind=EXIT_KIND,
        flash=RegionView.of(boot.flash),
        ram=RegionView.of(boot.ram),
        has_tables=boot.tables is not None,
        tables=RegionView.of(boot.tables) if boot.tables else None,
        queries=RegionView.of(boot.queries) if boot.queries else None,
        stack_length=f"0x{boot.stack_bytes:X}",
        constants_region=constants_region,
        constants=_PROGRAM_ONLY if apart else _CONSTANTS,
        tables_end=target.tables_end,
        variables=f"{_CONSTANTS} {_VARIABLES}" if apart else _VARIABLES,
        of_table="__memx " if apart else "",
    )
    templates = {
        "startup.c": boot.startup,
        "exchange.c": f"boot/{boot.exchange}.c.j2",
        "main.c": "boot/main.c.j2",
        "memory_functions.c": "boot/memory_functions.c.j2",
        "board.h": "boot/board.h.j2",
        "image.ld": "boot/image.ld.j2",
    }
    for name, template in templates.items():
        text = environment().get_template(template).render(boot=view)
        (folder / name).write_text(text, encoding="utf-8")


def _harness_view(recipe: Recipe, chunk_words: int) -> HarnessView:
    return HarnessView(
        name=recipe.name,
        input_words=recipe.input_words,
        record_words=recipe.record_words,
        chunk_queries=max(1, chunk_words // max(recipe.input_words, recipe.record_words)),
    )

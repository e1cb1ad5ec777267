"""The model in an image in the report: its size, its hashes, the capacity."""

from __future__ import annotations

from kmcompile.program.program import Program
from kmcompile.program.stages.sums.grouped_sum import GroupedSum
from kmcompile.report.compilation import Compilation
from kmcompile.report.flight.flight_section import FlightSection
from kmcompile.report.missing import Content

_LAYOUT = slice(24, 56)


def _made(made: Compilation) -> Content | None:
    if made.image is None:
        return None
    program = made.chosen.program
    return image_facts(program, made.image, f"{program.name}.bin")


def image_facts(program: Program, image: bytes, file: str) -> Content:
    """Return the facts on the image of a program.

    Parameters
    ----------
    program : Program
        A program with a capacity.
    image : bytes
    file : str
        The name of the image's file.
    """
    capacity, summed = program.capacity, program.ends.exact
    assert capacity is not None
    vectors, groups = 0, 0
    if isinstance(summed, GroupedSum):
        vectors, groups = summed.n_vectors, summed.n_groups
    return dict(
        file=file,
        bytes=len(image),
        layout_sha256=image[_LAYOUT].hex(),
        vectors=vectors,
        most_vectors=capacity.vectors,
        groups=groups,
        most_groups=capacity.groups,
    )


SECTION = FlightSection(
    "image", "the tables are in the code: --tables image puts them into an image", _made
)

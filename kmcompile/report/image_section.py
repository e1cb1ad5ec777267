"""The section of the report on a model in an image: its size, its hashes, the capacity."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, FixedSum
from kmcompile.report.section import Section

_NOT_ASKED = "the tables are in the code: --tables image puts them into an image"
_LAYOUT = slice(24, 56)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A model in an image, and the capacity of the code.

    Attributes
    ----------
    file : str
        The file of the image.
    bytes : int
    layout_sha256 : str
        The hash of the code that reads the image.
    vectors, most_vectors : int
        Support vectors of the model, and of the largest one that the code takes; 0 where the sum
        runs over no vectors.
    groups, most_groups : int
        The same for groups of vectors.
    """

    file: str
    bytes: int
    layout_sha256: str
    vectors: int
    most_vectors: int
    groups: int
    most_groups: int


def image_section(program: Program, image: bytes | None) -> Section[Image | None]:
    """Return the section on `--tables image`; its content is None without it."""
    if image is None:
        return Section(None, {"image": _NOT_ASKED})
    return Section(image_facts(program, image, f"{program.name}.bin"), {})


def image_facts(program: Program, image: bytes, file: str) -> Image:
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
    if isinstance(summed, ExactSum | FixedSum):
        vectors, groups = summed.n_vectors, summed.n_groups
    return Image(
        file=file,
        bytes=len(image),
        layout_sha256=image[_LAYOUT].hex(),
        vectors=vectors,
        most_vectors=capacity.vectors,
        groups=groups,
        most_groups=capacity.groups,
    )

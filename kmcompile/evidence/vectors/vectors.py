"""The shipped vectors of a subject, with the program in C that asks them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmcompile.build.recipe import Recipe
from kmcompile.evidence.subject import Subject
from kmcompile.evidence.vectors.asked import asked_rows, asked_words, expected_words
from kmcompile.evidence.vectors.driver import driver
from kmcompile.evidence.vectors.inner import declared_functions
from kmcompile.evidence.vectors.scalars import scalars
from kmcompile.output import files as folder_files
from kmcompile.program.interpreter import classify
from kmcompile.tools.toolchain import run_process, run_tool

MAIN = "vectors.c"
QUERIES = "queries.bin"
EXPECTED = "expected.bin"
EXACT = ("-std=c99", "-ffp-contract=off", "-w")
_TIMEOUT_S = 600.0
_TEST_WORK, _INDEX_WORK = 40_000_000, 20_000_000
"""Multiply-adds and steps of checksums that damaged tables may cost, roughly."""

_MOST_PLACES, _MOST_INDICES, _MOST_FILLS = 8, 24, 8
_MOST_DAMAGED = 6
_MOST_BYTES = re.compile(r"^#define \w+_MOST_BYTES (\d+)U", re.M)
_BYTES_OF_STRIDE = 32_768
"""An image of twice as many bytes is damaged in half the places."""


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The shipped vectors of a subject.

    Attributes
    ----------
    subject : Subject
    main : str
        The program in C, which includes the model's file.
    sources : tuple of str
        The C files beside it.
    queries, expected : ndarray of uint32
        What the program reads.
    defines : tuple of str
        Options of the compiler that say how much is asked with damaged tables.
    """

    subject: Subject
    main: str
    sources: tuple[str, ...]
    queries: NDArray[np.uint32]
    expected: NDArray[np.uint32]
    defines: tuple[str, ...]

    @classmethod
    def of(cls, subject: Subject) -> Vectors:
        """Return the vectors of a subject that has queries.npz among its files."""
        program = subject.program
        name = program.name
        source = subject.files[f"{name}.c"].decode("ascii")
        header = subject.files[f"{name}.h"].decode("ascii")
        recipe = Recipe.from_json(subject.files["recipe.json"].decode("ascii"))
        X = folder_files.load_queries(subject.files, program, None).X
        declared = declared_functions(header, name)

        def takes_codes(*names: str) -> list[bool]:
            found = [one for one in declared if one.removesuffix("_float") in names]
            return [program.codes is not None and not one.endswith("_float") for one in found]

        within = takes_codes("classify_within", "predict_within")
        rows, damaged = asked_rows(classify(program, X)[0])
        expected = expected_words(program, X, rows, within, takes_codes("audit"))
        units = [one.words for one in scalars(source, program)]
        return cls(
            subject=subject,
            main=driver(program, source, header, rows, damaged[:_MOST_DAMAGED]),
            sources=(*(one for one in recipe.sources if one != f"{name}.c"), recipe.harness),
            queries=asked_words(program, X).ravel(),
            expected=np.concatenate([expected, *units]),
            defines=_defines(subject),
        )

    def write(self, folder: Path) -> None:
        """Write the files of the subject, the program and its words."""
        self.subject.write(folder)
        (folder / MAIN).write_text(self.main, encoding="ascii")
        (folder / QUERIES).write_bytes(self.queries.tobytes())

    def build(
        self, folder: Path, compiler: str, flags: Sequence[str] = (), program: str = "vectors"
    ) -> Path:
        """Build the program in the folder, which `write` has filled."""
        run_tool(self.command(compiler, flags, program), folder, _TIMEOUT_S, f"building {MAIN}")
        return folder / program

    def command(self, compiler: str, flags: Sequence[str], program: str) -> list[str]:
        """Return the command that builds the program."""
        given = [*EXACT, *self.defines, *flags, MAIN, *self.sources]
        return [compiler, *given, "-o", program]

    def builds(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the name and the options of each build that the C file has of its own."""
        name = self.subject.program.name
        in_ram = f"{name.upper()}_TABLES_IN_RAM"
        builds: tuple[tuple[str, tuple[str, ...]], ...] = (("", ()),)
        if f"#ifdef {in_ram}" in self.subject.files[f"{name}.c"].decode("ascii"):
            builds += (("_in_ram", (f"-D{in_ram}",)),)
        return builds

    def record(
        self, folder: Path, compiler: str, build: str = "", defines: Sequence[str] = ()
    ) -> str:
        """Write what a build is to give, with what it gives now with damaged tables.

        Returns
        -------
        str
            The name of the file.
        """
        name = f"expected{build}.bin"
        (folder / name).write_bytes(self.expected.tobytes())
        program = self.build(folder, compiler, ("-O0", *defines))
        run_tool([str(program), QUERIES, name, "record"], folder, _TIMEOUT_S, "recording")
        program.unlink()
        return name

    def run(self, folder: Path, program: Path) -> tuple[int, str]:
        """Return the exit code of the program, and what it says."""
        arguments = [str(program), QUERIES, EXPECTED]
        return run_process(arguments, folder, _TIMEOUT_S, f"running {program.name}")


def _defines(subject: Subject) -> tuple[str, ...]:
    """Return how many places of a table are damaged."""
    program = subject.program
    tables = program.tables()
    indices = [table for table in tables if table.values.dtype.kind in "iu"]
    query = _MOST_DAMAGED * 2 * program.ends.exact.operations()
    test = 80 * sum(table.values.size for table in tables)
    once = (query + test) * len(tables)
    places = _TEST_WORK // once - 3
    n_indices = _INDEX_WORK // (6 * query * max(1, len(indices)))
    # The kinds of damage of whole tables: a model that takes long is asked three.
    n_fills = _MOST_FILLS if once <= 10 * _TEST_WORK else 3
    image = () if program.capacity is None else (f"-DVECTORS_STRIDE={_stride(subject)}U",)
    return (
        *image,
        f"-DVECTORS_PLACES={min(max(places, 2), _MOST_PLACES)}U",
        f"-DVECTORS_INDICES={min(max(n_indices, 4), _MOST_INDICES)}U",
        f"-DVECTORS_FILLS={n_fills}U",
    )


def _stride(subject: Subject) -> int:
    """Return of how many damaged images one is asked: its checksum is computed bit by bit."""
    name = subject.program.name
    found = _MOST_BYTES.search(subject.files[f"{name}.c"].decode("ascii"))
    assert found is not None, "code for images says how large they are"
    return 1 + int(found[1]) // _BYTES_OF_STRIDE

"""A program built in a temporary folder, to see what it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kmcompile.build import Artifact, build
from kmcompile.build.recipe import Recipe
from kmcompile.emit.emitter import emit
from kmcompile.output.files import of_program, write_plain
from kmcompile.program.program import Program
from kmcompile.target import Target


@contextmanager
def trial_build(
    program: Program, target: Target, command: str, description: str
) -> Iterator[tuple[Artifact, Path]]:
    """Emit a program into a temporary folder and build it there; both are removed at the end."""
    files = of_program(program, target, emit(program, target, command, description))
    recipe = Recipe.from_json(files["recipe.json"].decode("ascii"))
    with TemporaryDirectory(prefix="kmcompile-") as scratch:
        write_plain(Path(scratch), files)
        with build(recipe, Path(scratch), target) as artifact:
            yield artifact, Path(scratch)

"""The bill of an output folder: its files, the model, kmcompile and the compiler."""

from __future__ import annotations

import shlex
from typing import Final

from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.build.recipe import Recipe
from kmcompile.evidence.bills.bill import OWNER, OWNER_TEXT, Bill, FileEntry, Part, Role
from kmcompile.evidence.subject import Subject
from kmcompile.version import VERSION

_SHORT: Final = 16


def bill_of(subject: Subject) -> Bill:
    """Return the bill of a compiled model; the same files give the same bill.

    Neither bill says which version of the compiler there is: the folder does not depend on it.
    """
    program, files = subject.program, subject.files
    name = program.name
    recipe = Recipe.from_json(files["recipe.json"].decode("ascii"))
    compiler = recipe.target.compiler
    first = files[f"{name}.c"].decode("ascii").splitlines()[0]
    command = first.removeprefix("/* ").removesuffix(" */")
    flags = shlex.join([*EXACT_FLAGS, *compiler.flags, compiler.optimisation])
    compiled = [f"{compiler.command} {flags} -c {shlex.quote(source)}" for source in recipe.sources]
    model = Part(
        name=f"{name}-model",
        version=None,
        role=Role.MODEL,
        sha256=program.model_sha256,
        comment="The trained model. The digest is that of the numbers read, not of the file.",
    )
    generator = Part("kmcompile", VERSION, Role.GENERATOR, "MIT", comment=command)
    builder = Part(
        name=compiler.command,
        version=None,
        role=Role.COMPILER,
        comment=f"For the target {recipe.target.name}, with {flags}.",
    )
    return Bill(
        main=Part(
            name=f"{name}-c",
            version=program.model_sha256[:_SHORT],
            role=Role.DEPENDENCY,
            licence=OWNER,
            comment="The C of a compiled model. It needs no library but the compiler's own.",
        ),
        parts=(model, generator, builder),
        files=tuple(FileEntry.of(path, content) for path, content in sorted(files.items())),
        steps=(("emit", command), *(("compile", line) for line in compiled)),
        texts={OWNER: OWNER_TEXT},
    )

"""The files of `--package`, before and after the C is built."""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.emit.packages.package import package_files
from kmcompile.emit.packages.stack import Stack


def packaged(
    chosen: ChosenProgram, sources: Mapping[str, str], stack_bytes: int | None = None
) -> dict[str, str]:
    """Return the files of all packages by path; none without `--package`.

    Parameters
    ----------
    chosen : ChosenProgram
    sources : mapping
        The emitted files by name.
    stack_bytes : int or None
        The stack of the target's image; None as long as none is built.
    """
    plan, program = chosen.plan, chosen.program
    stack = Stack.of(chosen.workspace_bytes, program.n_features, stack_bytes)
    files: dict[str, str] = {}
    for kind in plan.options.package or ():
        files |= package_files(kind, program, plan.command, plan.target, sources, stack)
    return files


def packaged_again(
    chosen: ChosenProgram, files: Mapping[str, bytes], stack_bytes: int | None
) -> dict[str, bytes]:
    """Return the files of all packages with the stack of the image, now built."""
    sources = {name: files[name].decode("ascii") for name in files if name.endswith((".c", ".h"))}
    package = packaged(chosen, sources, stack_bytes)
    return {path: text.encode("ascii") for path, text in package.items()}

"""What kmcompile must know of a framework to make packages for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kmcompile.program.program import Program
from kmcompile.target import Target


def _nothing(program: Program, target: Target) -> None:
    """Return what a framework without names of its own knows of a program."""


@dataclass(frozen=True, slots=True)
class Framework:
    """A value of `--package`.

    Attributes
    ----------
    files : mapping
        Path in the package -> template, or the name of an emitted file. `{name}` stands for the
        prefix, `{own.title}` for the attribute `title` of what `own` returns.
    own : callable
        Returns what only this framework knows of a program: its paths and its templates call the
        object `own`.
    """

    files: Mapping[str, str]
    own: Callable[[Program, Target], object] = _nothing

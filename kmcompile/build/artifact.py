"""What a build gives: a library or an image, and the memory that models take in it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from kmcompile.build.recipe import Recipe
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Memory:
    """What the models alone take on the board: no harness, no start-up code.

    Attributes
    ----------
    library_bytes : int
        Of the code: routines of the compiler's library that the model pulls in.
    flash_bytes : int
        Code, constants, initial values and the compiler's helpers that they pull in.
    ram_bytes : int
        What is kept between calls; 0 unless there are mutable globals.
    stack_bytes : int or None
        The worst case of any entry point; None on a host whose C library is called.
    """

    code_bytes: int
    constants_bytes: int
    library_bytes: int
    flash_bytes: int
    ram_bytes: int
    stack_bytes: int | None


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """One model of a library or an image.

    Attributes
    ----------
    stack_bytes : int or None
        The worst case of any of its entry points; None where `Memory.stack_bytes` is, or where
        another compiler than the toolchain's own built it.
    double_helpers : tuple of str
        Software routines for double that it calls.
    query_frame_bytes, self_test_frame_bytes : int
        Stack that its harness takes above its entry points.
    """

    recipe: Recipe
    stack_bytes: int | None
    double_helpers: tuple[str, ...]
    query_frame_bytes: int
    self_test_frame_bytes: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """A built model, or several, that a runner can run; the temporary folder goes with it.

    Attributes
    ----------
    path : Path
        The shared library or the image.
    models : tuple of BuiltModel
        In the order in which they are asked.
    toolchain : Target
        What it was built for: the recipe's target, or the host.
    memory : Memory or None
        Of all models together; None if another compiler than the toolchain's own built it.
    """

    path: Path
    models: tuple[BuiltModel, ...]
    toolchain: Target
    memory: Memory | None
    _folder: tempfile.TemporaryDirectory[str] = field(repr=False, compare=False)

    @property
    def recipe(self) -> Recipe:
        """Return the recipe of the only model."""
        (model,) = self.models
        return model.recipe

    @property
    def double_helpers(self) -> tuple[str, ...]:
        """Return the software routines for double that the models call."""
        return tuple(sorted({name for model in self.models for name in model.double_helpers}))

    @property
    def flash_bytes(self) -> int | None:
        """Return the flash that the models add to an image."""
        return self.memory.flash_bytes if self.memory else None

    @property
    def ram_bytes(self) -> int | None:
        """Return the RAM that the models keep between calls."""
        return self.memory.ram_bytes if self.memory else None

    @property
    def stack_bytes(self) -> int | None:
        """Return the worst-case stack of any entry point."""
        return self.memory.stack_bytes if self.memory else None

    def close(self) -> None:
        """Remove the temporary folder."""
        self._folder.cleanup()

    def __enter__(self) -> Artifact:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

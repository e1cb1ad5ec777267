"""The artifact of a build: a library or an image, and the memory of the models in it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from kmcompile.build.recipe import Recipe
from kmcompile.target import Target


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that the models take on the board, without harness and start-up code.

    Attributes
    ----------
    library_bytes : int
        Size of the routines of the compiler's library that the models call; a part of the code.
    flash_bytes : int
        Code, constants, initial values and the called routines of the compiler's library.
    ram_bytes : int
        Size of the variables that are kept between calls; 0 unless there are mutable globals.
    stack_bytes : int or None
        Worst-case stack of any entry point. None on a host, whose C library takes an unknown part.
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
        Worst-case stack of any entry point of the model. None where `Memory.stack_bytes` is None,
        or if the model was built with another compiler than the toolchain's own.
    query_frame_bytes, self_test_frame_bytes : int
        Stack of the harness functions that call the model's entry points.
    """

    recipe: Recipe
    stack_bytes: int | None
    query_frame_bytes: int
    self_test_frame_bytes: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """One or several built models that a runner can run, in a temporary folder that it owns.

    Attributes
    ----------
    path : Path
        The shared library or the image.
    models : tuple of BuiltModel
        In the order in which the image runs their queries.
    toolchain : Target
        The target of the build: the recipe's target, or the host.
    memory : Memory or None
        Memory of all models together. None if another compiler than the toolchain's own was used.
    """

    path: Path
    models: tuple[BuiltModel, ...]
    toolchain: Target
    memory: Memory | None
    _folder: tempfile.TemporaryDirectory[str] = field(repr=False, compare=False)

    @property
    def recipe(self) -> Recipe:
        """Return the recipe of an artifact's only model."""
        (model,) = self.models
        return model.recipe

    @property
    def flash_bytes(self) -> int | None:
        """Return the flash in bytes that the models add to an image."""
        return self.memory.flash_bytes if self.memory else None

    @property
    def ram_bytes(self) -> int | None:
        """Return the RAM in bytes that the models keep between calls."""
        return self.memory.ram_bytes if self.memory else None

    @property
    def stack_bytes(self) -> int | None:
        """Return the worst-case stack in bytes of any entry point."""
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

"""The interface of runners, which send queries through a built model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from kmcompile.build.artifact import Artifact
from kmcompile.build.recipe import Recipe
from kmcompile.errors import UsageError

Words = npt.NDArray[np.uint32]
Instructions = npt.NDArray[np.int64]
Cycles = npt.NDArray[np.int64]
Counted = Literal["classify", "predict", "decision", "step"]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The queries to one model.

    Parameters
    ----------
    inputs : ndarray of shape (n, input_words), uint32
        Bit patterns of the inputs.
    counted : {"classify", "predict", "decision", "step"}
        The entry point whose instructions are counted.
    """

    inputs: Words
    counted: Counted = "classify"


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """What was counted of the calls of one model.

    Attributes
    ----------
    instructions : ndarray of shape (n,), int64, or None
        Instructions from the entry of the counted function to its return, one number a query; of
        "step", which the harness calls more often, one number a call.
    no_instructions_reason : str or None
        The reason why `instructions` is None; None if there are instructions.
    cycles : ndarray of shape (n, 2), int64, or None
        Fewest and most clock cycles of the same calls, without wait states. They are equal where
        the core's are exact.
    no_cycles_reason : str or None
        The reason why `cycles` is None; None if there are cycles.
    """

    instructions: Instructions | None
    no_instructions_reason: str | None
    cycles: Cycles | None = None
    no_cycles_reason: str | None = "not counted"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RunResult(Counts):
    """The answers of one model, and what was counted.

    Attributes
    ----------
    records : ndarray of shape (n, record_words), uint32
    painted_stack_bytes : int or None
        Largest stack of the model's functions in this run, measured by a painted stack. None on the
        host.
    self_test : int
        The status that `<name>_harness_self_test` returned.
    """

    records: Words
    painted_stack_bytes: int | None
    self_test: int


class Runner(Protocol):
    """Runs the queries of artifacts on one kind of machine: the host or an emulated board."""

    def run(
        self,
        artifact: Artifact,
        inputs: Words,
        count_instructions: bool = False,
        counted: Counted = "classify",
    ) -> RunResult:
        """Answer all queries of an artifact's only model.

        Parameters
        ----------
        inputs : ndarray of shape (n, input_words), uint32
            Bit patterns of the inputs.
        counted : {"classify", "predict", "decision", "step"}
            The entry point whose instructions are counted.

        Raises
        ------
        ToolError
            If the program faults, hangs or cannot be run.
        """
        (result,) = self.run_together(artifact, [Asked(inputs, counted)], count_instructions)
        return result

    def run_together(
        self, artifact: Artifact, asked: Sequence[Asked], count_instructions: bool = False
    ) -> tuple[RunResult, ...]:
        """Answer the queries of all models of an artifact in one run.

        Parameters
        ----------
        asked : sequence of Asked
            The queries to each model, in the order of `artifact.models`.

        Raises
        ------
        ToolError
            If the program faults, hangs or cannot be run.
        """
        ...


def checked(artifact: Artifact, asked: Sequence[Asked]) -> tuple[Asked, ...]:
    """Return the queries as contiguous arrays if they fit the artifact's models.

    Raises
    ------
    UsageError
        If the number of models, the shape or the dtype differs.
    """
    if len(asked) != len(artifact.models):
        raise UsageError(
            f"queries of {len(asked)} models for {len(artifact.models)} that are built"
        )
    pairs = zip(artifact.models, asked, strict=True)
    return tuple(Asked(_checked(model.recipe, one.inputs), one.counted) for model, one in pairs)


def _checked(recipe: Recipe, inputs: Words) -> Words:
    words = recipe.input_words
    if inputs.ndim != 2 or inputs.shape[1] != words or inputs.dtype != np.uint32:
        raise UsageError(
            f"queries are {inputs.dtype} of shape {inputs.shape}, "
            f"must be uint32 of shape (n, {words})"
        )
    return np.ascontiguousarray(inputs)

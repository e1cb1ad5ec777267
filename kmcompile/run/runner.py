"""What every runner offers: any number of queries through a built model."""

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
Counted = Literal["classify", "predict", "decision"]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What one model is asked.

    Parameters
    ----------
    inputs : ndarray of shape (n, input_words), uint32
        Bit patterns of the inputs.
    counted : {"classify", "predict", "decision"}
        The entry point whose instructions are counted.
    """

    inputs: Words
    counted: Counted = "classify"


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """The answers of one model.

    Attributes
    ----------
    records : ndarray of shape (n, record_words), uint32
    instructions : ndarray of shape (n,), int64, or None
        Instructions from the entry of the counted function to its return, one number a query.
    no_instructions_reason : str or None
        Why there are none, although asked for or not.
    painted_stack_bytes : int or None
        The deepest stack that the model's functions were seen to take; None on the host.
    self_test : int
        What `<name>_harness_self_test` returned.
    """

    records: Words
    instructions: Instructions | None
    no_instructions_reason: str | None
    painted_stack_bytes: int | None
    self_test: int


class Runner(Protocol):
    """Runs the queries of an artifact that was built for its machine."""

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
        counted : {"classify", "predict", "decision"}
            The entry point whose instructions are counted.

        Raises
        ------
        ToolError
            If the program faults, hangs or cannot be run.
        """
        ...

    def run_together(
        self, artifact: Artifact, asked: Sequence[Asked], count_instructions: bool = False
    ) -> tuple[RunResult, ...]:
        """Answer the queries of all models of an artifact in one run.

        Parameters
        ----------
        asked : sequence of Asked
            One for each model, in their order.

        Raises
        ------
        ToolError
            If the program faults, hangs or cannot be run.
        """
        ...


def checked(artifact: Artifact, asked: Sequence[Asked]) -> tuple[Asked, ...]:
    """Return what is asked, contiguous, if it is queries of these models.

    Raises
    ------
    UsageError
        If number, shape or type differ.
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

"""What every runner offers: any number of queries through a built model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from kmcompile.build.artifact import Artifact
from kmcompile.errors import UsageError

Words = npt.NDArray[np.uint32]
Counted = Literal["classify", "predict", "decision"]


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """The answers of one run.

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
    instructions: npt.NDArray[np.int64] | None
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
        """Answer all queries.

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


def checked_inputs(artifact: Artifact, inputs: Words) -> Words:
    """Return the inputs, contiguous, if they are queries of this model.

    Raises
    ------
    UsageError
        If shape or type differ.
    """
    words = artifact.recipe.input_words
    if inputs.ndim != 2 or inputs.shape[1] != words or inputs.dtype != np.uint32:
        raise UsageError(
            f"queries are {inputs.dtype} of shape {inputs.shape}, "
            f"must be uint32 of shape (n, {words})"
        )
    return np.ascontiguousarray(inputs)

"""The instructions of single steps (`--step`): their static worst case, and what was counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kmcompile.build.artifact import Artifact
from kmcompile.errors import ToolError
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.program.interpreter import Answers, Status
from kmcompile.run import runner_for
from kmcompile.run.runner import Counted
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken, Finding
from kmcompile.verify.worst_case import static_worst_case

_OF_EACH_STAGE = 16
_ORDINARY = 48
"""The queries whose steps are counted: of each stage that answers, and others in their order."""

_BEFORE, _BEHIND = 1, 1
"""Calls of `step` in the harness before and behind those of two jobs in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Stepping:
    """The instructions of steps.

    Parameters
    ----------
    worst, worst_of_begin : WorstCase
        The static worst case of one call of `step`, and of `begin`.
    most : int or None
        The largest number of instructions of a step that was counted; None if none was.
    of_all_steps, at_once : float or None
        Mean instructions of all steps of a query together, and of the query answered at once.
    queries : int
        Number of the queries that were counted.
    """

    worst: WorstCase
    worst_of_begin: WorstCase
    most: int | None
    of_all_steps: float | None
    at_once: float | None
    queries: int


def chosen_rows(answers: Answers, n_ordinary: int) -> NDArray[np.intp]:
    """Return the accepted queries whose steps are counted: some of each stage, some ordinary."""
    accepted = answers.results["status"] == Status.OK
    found = [np.flatnonzero(accepted[:n_ordinary])[:_ORDINARY]]
    for stage in np.unique(answers.results["stage"][accepted]):
        own = np.flatnonzero(accepted & (answers.results["stage"] == stage))
        found.append(own[:_OF_EACH_STAGE])
    return np.unique(np.concatenate(found))


def measure_steps(
    artifact: Artifact,
    folder: Path,
    inputs: NDArray[np.uint32],
    steps: Sequence[NDArray[np.uint32]],
    at_once: NDArray[np.int64],
) -> Stepping:
    """Return the instructions of the steps of some queries, counted on the emulator.

    Parameters
    ----------
    artifact : Artifact
        An image.
    folder : Path
        The folder of the emitted files.
    inputs : ndarray of shape (n, input_words), uint32
    steps : sequence of ndarrays of shape (n,), uint32
        The steps of each query: of the floats and, in an integer format, of the codes.
    at_once : ndarray of shape (n,), int64
        The instructions of the queries when they are answered at once.

    Raises
    ------
    FailedCheckError
        If a step takes more instructions than its static worst case.
    ToolError
        If the calls are not those of the harness.
    """
    name, target = artifact.recipe.name, artifact.toolchain.name
    worst = static_worst_case(artifact, folder, f"{name}_step")
    begins = [f"{name}_begin", *([f"{name}_begin_float"] if len(steps) > 1 else [])]
    worst_of_begin = max(
        (static_worst_case(artifact, folder, begin) for begin in begins),
        key=lambda case: case.instructions or 0,
    )
    counted: Counted = "step"
    run = runner_for(artifact.toolchain).run(
        artifact, inputs, count_instructions=True, counted=counted
    )
    if run.instructions is None:
        return Stepping(worst, worst_of_begin, None, None, None, 0)
    calls = run.instructions
    most = int(calls.max(initial=0))
    if worst.instructions is not None and most > worst.instructions:
        raise FailedCheckError(
            f"{target}: a step took {most:,} instructions, more than its static worst case of "
            f"{worst.instructions:,}",
            Finding(Broken.WORST_CASE, machine=target),
        )
    of_all = _of_all_steps(calls, steps)
    return Stepping(
        worst, worst_of_begin, most, float(of_all.mean()), float(at_once.mean()), len(inputs)
    )


def _of_all_steps(
    calls: NDArray[np.int64], steps: Sequence[NDArray[np.uint32]]
) -> NDArray[np.int64]:
    """Return the instructions of all steps of each query, those of the last form of it.

    The harness calls `step` once for a job that it gives up, then of two jobs in turn, and once of
    a job that has ended. Of two forms of a query, the codes come last: `classify` is counted for
    them.
    """
    lengths = np.stack([_BEFORE + 2 * own.astype(np.int64) + _BEHIND for own in steps], axis=1)
    if lengths.sum() != len(calls):
        raise ToolError(f"the counter saw {len(calls)} steps, must be {int(lengths.sum())}")
    ends = np.cumsum(lengths.ravel()).reshape(lengths.shape)[:, -1]
    last = lengths[:, -1]
    return np.array(
        [
            calls[end - length + _BEFORE : end - _BEHIND : 2].sum()
            for end, length in zip(ends, last, strict=True)
        ]
    )

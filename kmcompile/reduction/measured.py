"""What held-out samples say of a machine of fewer vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.accuracy import Accuracy
from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.loss import Losses, losses_of
from kmcompile.exits.statistical.readings import Evidence
from kmcompile.lower.formats import Lowered
from kmcompile.model.kernel_machine import Task
from kmcompile.program.cost import worst_operations
from kmcompile.program.interpreter import Status, interpret
from kmcompile.reduction.curve import Point
from kmcompile.reduction.sizes import Answers, Made


def point_of(
    made: Made,
    lowered: Lowered,
    hold: Answers | None,
    held: Evidence,
    distance: float,
    confidence: float = CONFIDENCE,
) -> Point:
    """Return a machine of one size, with what the held-out samples say of its exact program.

    Parameters
    ----------
    made : Made
    lowered : Lowered
        Its exact program.
    hold : Answers or None
        The trained machine's answers to the held-out samples.
    held : Evidence
        Which of these samples count.
    distance : float
        As in `Point`.
    confidence : float
        With which the limit of the disagreements holds.
    """
    counted = hold is not None and len(hold.X) > 0
    if counted and made.machine.task is Task.REGRESSION:
        counted = hold is not None and hold.tolerance is not None
    tally, limit, accuracy = None, None, None
    if hold is not None and counted:
        said, losses = losses_against(lowered, hold)
        tally = held.worst(losses, confidence=confidence)
        limit = tally.limit(confidence=confidence)
        if hold.truth is not None:
            classes = lowered.machine.n_classes
            accuracy = Accuracy.of(said, hold.labels, hold.truth, classes)
    return Point(
        n_vectors=made.machine.n_support_vectors,
        method=made.method,
        disagreements=None if tally is None else tally.disagreements,
        n_samples=0 if tally is None else tally.n,
        limit=limit,
        table_bytes=lowered.program.table_bytes,
        operations=int(worst_operations(lowered.program)),
        distance=distance,
        gained=None if tally is None else tally.gained,
        accuracy=accuracy,
    )


def losses_against(lowered: Lowered, hold: Answers) -> tuple[NDArray[np.int32], Losses]:
    """Return the exact program's labels, and what they cost against the trained machine's.

    What rounding to the codes of an integer format changes counts, too, and so does a refused
    sample: its label is -1.
    """
    answers = interpret(lowered.program, hold.X)
    accepted = answers.results["status"] == Status.OK
    if lowered.machine.task is Task.REGRESSION:
        assert hold.tolerance is not None
        near = np.abs(answers.decisions[:, 0] - hold.values) <= hold.tolerance
        return answers.results["label"], ~(accepted & near)
    said = np.where(accepted, answers.results["label"], -1)
    return said, losses_of(said, hold.labels, hold.truth)

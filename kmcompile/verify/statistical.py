"""The labels of early exits: their counts, and the check of the promised risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.binomial import CONFIDENCE
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.exits.statistical.risk import Tally
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import Reference
from kmcompile.program.stages import Stage
from kmcompile.text.figures import counted
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken, Finding
from kmcompile.verify.intervals import decision_meant


@dataclass(frozen=True, slots=True)
class StageLabels:
    """Counts of the labels that one early exit gave.

    Parameters
    ----------
    name : str
        Name of the stage.
    proved : bool
        Whether the stage is certified. Then a label differs only if float64 leaves its sign open.
    decided, disagreements : int
        Number of the user's samples that the stage decides, and of those with another label than
        the model's.
    generated, generated_disagreements : int
        The corresponding numbers of generated queries.
    intervals, intervals_that_hold : int
        Number of all these results whose interval is of a known decision value, and of those whose
        interval contains the model's value. Unless `proved`, intervals are calibrated, not claimed.
        One-vs-one counts none, because the result does not name the pair of its interval.
    answers : {"labels", "values"}
        The kind of the model's answers.
    """

    name: str
    proved: bool
    decided: int
    disagreements: int
    generated: int
    generated_disagreements: int
    intervals: int
    intervals_that_hold: int
    answers: str = "labels"

    def __str__(self) -> str:
        return self._proved_text() if self.proved else self._calibrated_text()

    def _proved_text(self) -> str:
        text = (
            f"{self.name} proves the {self.answers} of {self.decided} of the given samples and of "
            f"{self.generated} of the generated ones"
        )
        if self.intervals:
            text += "; each of its intervals holds f"
        unlike = self.disagreements + self.generated_disagreements
        if unlike:
            text += f"; of {unlike} of them float64 does not tell the sign"
        return text

    def _calibrated_text(self) -> str:
        text = (
            f"{self.name} decides {self.decided} of the given samples, {self.disagreements} "
            f"unlike the model, and {self.generated} of the generated ones, "
            f"{self.generated_disagreements} unlike"
        )
        if self.intervals:
            text += f"; {self.intervals_that_hold / self.intervals:.1%} of its intervals hold f"
        return text


def count_labels(
    machine: KernelMachine,
    early_exits: Sequence[Stage],
    results: NDArray[np.void],
    reference: Reference,
    given: NDArray[np.bool_],
) -> tuple[StageLabels, ...]:
    """Return the labels of every early exit on accepted queries.

    Parameters
    ----------
    machine : KernelMachine
    early_exits : sequence of Stage
        The early exits of the program.
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE
    reference : Reference
        Reference values of these queries.
    given : ndarray of shape (n_queries,), bool
        Which queries are the user's samples.
    """
    differs = results["label"] != reference.labels
    about, _ = decision_meant(machine, results, reference)
    holds = (results["lower"] <= about) & (about <= results["upper"])
    counted = []
    for number, stage in enumerate(early_exits):
        here = results["stage"] == number
        counted.append(
            StageLabels(
                name=stage.name,
                proved=stage.is_certified,
                decided=int((here & given).sum()),
                disagreements=int((here & given & differs).sum()),
                generated=int((here & ~given).sum()),
                generated_disagreements=int((here & ~given & differs).sum()),
                intervals=int((here & ~np.isnan(about)).sum()),
                intervals_that_hold=int((here & holds).sum()),
                answers="values" if machine.task is Task.REGRESSION else "labels",
            )
        )
    return tuple(counted)


def check_promise(
    promise: Promise, unlike: NDArray[np.intp], samples: int | Tally
) -> tuple[str, ...]:
    """Check whether the labels of test samples refute the promised risk or loss.

    A loss is refuted only by samples whose right labels are known. What is promised in expectation
    is a mean over calibration sets, which one program may exceed.

    Parameters
    ----------
    promise : Promise
    unlike : ndarray of shape (n_disagreements,), intp
        Indices of the test samples with another label than the model's.
    samples : int or Tally
        Number of test samples that the C accepts, or what their labels cost.

    Returns
    -------
    tuple of str
        A note if the risk or loss in expectation is below its lower limit.

    Raises
    ------
    FailedCheckError
        If a guaranteed risk or loss is below that limit.
    """
    tally = Tally(samples, len(unlike)) if isinstance(samples, int) else samples
    if promise.upper_bound is None or (promise.of == "loss" and tally.gained is None):
        return ()
    confidence = promise.confidence or CONFIDENCE
    lower = tally.least(confidence)
    if lower <= promise.upper_bound:
        return ()
    what = "get another label than the model's"
    if tally.gained is not None:
        what = f"lose a right label and {tally.gained:,} gain one"
    found = (
        f"{tally.disagreements:,} of {counted(tally.n, 'test sample', 'test samples')} {what}: "
        f"a {promise.of} of at least {lower:.2g} with {confidence:.0%} confidence"
    )
    if promise.control == "guaranteed":
        raise FailedCheckError(
            f"{found}\n"
            f"the promised one is {promise.upper_bound:.2g}; calibrate with samples like these",
            Finding(Broken.RISK, unlike),
        )
    return (f"{found}; {promise.upper_bound:.2g} is promised on average over calibration sets",)

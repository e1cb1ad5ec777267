"""The two checks, never merged: exact (C against interpreter) and bounded (against the model)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.accuracy import Accuracy
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.exits.statistical.loss import losses_of
from kmcompile.exits.statistical.risk import Tally
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import Reference, evaluate
from kmcompile.program.interpreter import Answers, Status
from kmcompile.program.program import Program
from kmcompile.program.stages import Stage
from kmcompile.run import RunResult
from kmcompile.text.figures import counted
from kmcompile.verify.checked import (
    Bounded,
    Certified,
    ExactRun,
    Probabilities,
    WithinTolerance,
)
from kmcompile.verify.evidence import Evidence
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.finding import Broken, Finding
from kmcompile.verify.intervals import check_intervals
from kmcompile.verify.outcomes import wrong_labels
from kmcompile.verify.probabilities import check_probabilities
from kmcompile.verify.queries import Queries
from kmcompile.verify.records import records_of
from kmcompile.verify.statistical import StageLabels, check_promise, count_labels

_NO_SAMPLES = Tally(0, 0)


def check_exact(
    answers: Answers,
    run: RunResult,
    machine_name: str,
    of_codes: Answers | None = None,
) -> ExactRun:
    """Compare the C with the interpreter bit for bit.

    Parameters
    ----------
    answers : Answers
        The interpreter's answers to float inputs.
    run : RunResult
    machine_name : str
    of_codes : Answers or None
        The interpreter's answers to the codes beside the float inputs, in an integer format.

    Raises
    ------
    FailedCheckError
        If the self-test fails or any bit of any answer differs.
    """
    expected = records_of(answers)
    if of_codes is not None:
        expected = np.hstack([expected, records_of(of_codes)])
    different = np.flatnonzero((expected != run.records).any(axis=1))
    if run.self_test != Status.OK:
        raise FailedCheckError(
            f"{machine_name}: the self-test of the emitted C returned {run.self_test}, must be 0",
            Finding(Broken.SELF_TEST, different, machine_name, run.records),
        )
    if len(different):
        query = int(different[0])
        word = int(np.flatnonzero(expected[query] != run.records[query])[0])
        raise FailedCheckError(
            f"{machine_name}: {len(different)} of {len(expected)} answers differ from the "
            f"interpreter's\nfirst: query {query}, word {word} is "
            f"0x{int(run.records[query, word]):08x}, must be 0x{int(expected[query, word]):08x}",
            Finding(Broken.BITS, different, machine_name, run.records),
        )
    return ExactRun(queries=len(expected), mismatches=0)


@dataclass(frozen=True, slots=True, eq=False)
class ModelCheck:
    """The results of the bounded check, with the values for the plots."""

    bounded: Bounded
    certified: Certified | None
    """The certified labels; None in a regression."""
    evidence: Evidence
    label_disagreements: int
    """Number of the user's samples with another label than the model's."""
    kappa: tuple[float, float]
    """Median and 99th percentile of (sum |beta K| + |b|) / |f|: how hard the queries are."""
    refused: int
    """Number of the user's samples that the C refuses."""
    early_exits: tuple[StageLabels, ...]
    """The labels of every early exit."""
    probabilities: Probabilities | None
    """The check of the probabilities; None unless the machine is calibrated."""
    within_tolerance: WithinTolerance | None = None
    """The check of the boxes of an input tolerance; None without one."""
    tally: Tally = _NO_SAMPLES
    """What the labels of the user's samples cost against the model's."""
    accuracy: Accuracy | None = None
    """Right labels of the user's samples; None where they are not known."""
    remarks: tuple[str, ...] = ()
    """Notes on the promised risk, or on the intervals of a regression."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user on these results."""
        median, high = self.kappa
        notes = [
            f"kappa, (sum |beta K| + |b|) / |f|: median {median:.3g}, 99th percentile {high:.3g}"
        ]
        if self.label_disagreements:
            labels = counted(
                self.label_disagreements,
                "label of the given samples differs from the model's; it is not certified",
                "labels of the given samples differ from the model's; none of them is certified",
            )
            notes.append(labels)
        if self.refused:
            refused = counted(self.refused, "of the given samples is", "of the given samples are")
            notes.append(f"{refused} refused: beyond the input limit")
        return (*notes, *self.remarks, *(str(labels) for labels in self.early_exits))


def check_bounded(
    machine: KernelMachine,
    queries: Queries,
    answers: Answers,
    early_exits: Sequence[Stage] = (),
    promise: Promise | None = None,
) -> ModelCheck:
    """Compare the interpreter with the float64 model on the queries that it accepted.

    Every accepted query is checked. The figures leave out inputs at the edges of what is accepted,
    whose bounds are very large. The certified share is of the user's samples if there are any,
    otherwise of the generated queries.

    Parameters
    ----------
    machine : KernelMachine
    queries : Queries
    answers : Answers
    early_exits : sequence of Stage
        The early exits of the program, whose labels are counted and whose proofs are checked.
    promise : Promise or None
        The promised risk, which the labels of test samples may refute.

    Raises
    ------
    FailedCheckError
        If a decision value lies outside its bound, the interval of a certified exit misses the
        model's decision, a certified label is not the model's, or the labels of test samples
        refute the promised risk.
    """
    accepted = answers.results["status"] == Status.OK
    reference = evaluate(machine, queries.X[accepted])
    _check_answers(machine, answers, accepted, reference, early_exits)
    results, places = answers.results[accepted], np.flatnonzero(accepted)
    given, ordinary = places < queries.n_given, places < queries.n_ordinary
    shared = places < (queries.n_given or queries.n_ordinary)
    differs = results["label"] != reference.labels
    said, trained = results["label"][given], reference.labels[given]
    truth = None if queries.truth is None else queries.truth[accepted[: queries.n_given]]
    tally = Tally.of(losses_of(said, trained, truth if queries.of_loss else None))
    remarks: tuple[str, ...] = ()
    if promise is not None and queries.source == "test-data":
        remarks = check_promise(promise, places[differs & given], tally)
    is_regression = machine.task is Task.REGRESSION
    if is_regression:
        remarks = (_widths(results[shared]),)
    compared = Evidence(
        reference.decisions[ordinary].ravel(),
        answers.decisions[accepted][ordinary].ravel(),
        answers.bounds[accepted][ordinary].ravel(),
    )
    hardness = reference.magnitudes / np.maximum(np.abs(reference.decisions), 1e-300)
    return ModelCheck(
        bounded=_bounded(machine, answers, accepted, reference, ordinary),
        certified=None
        if is_regression
        else _certified(results[shared], queries.n_given or int(shared.sum())),
        evidence=compared,
        label_disagreements=int(differs[given].sum()),
        kappa=(float(np.median(hardness[shared])), float(np.percentile(hardness[shared], 99))),
        refused=int((~accepted[: queries.n_given]).sum()),
        early_exits=count_labels(
            machine, early_exits, results[ordinary], reference.chosen(ordinary), given[ordinary]
        ),
        probabilities=check_probabilities(
            machine, answers, accepted, reference, shared if shared.any() else ordinary
        ),
        tally=tally,
        accuracy=None if truth is None else Accuracy.of(said, trained, truth, machine.n_classes),
        remarks=remarks,
    )


def _bounded(
    machine: KernelMachine,
    answers: Answers,
    accepted: NDArray[np.bool_],
    reference: Reference,
    ordinary: NDArray[np.bool_],
) -> Bounded:
    """Return how far the decisions of accepted queries are off, and the signs that differ."""
    decisions, bounds = answers.decisions[accepted], answers.bounds[accepted]
    clear = np.abs(reference.decisions) > bounds
    signs = clear & (np.sign(decisions) != np.sign(reference.decisions))
    error = np.abs(decisions - reference.decisions)
    return Bounded(
        queries=int(ordinary.sum()),
        sign_disagreements=None if machine.task is Task.REGRESSION else int(signs.sum()),
        max_error=float(error[ordinary].max(initial=0.0)),
        max_bound=float(bounds[ordinary].max(initial=0.0)),
    )


def _certified(results: NDArray[np.void], n: int) -> Certified:
    """Return the certified share of n queries; a refused sample is not certified."""
    share = float(results["certified"].sum()) / max(n, 1)
    return Certified(queries=n, certified_share=share, wrong=0)


def _widths(results: NDArray[np.void]) -> str:
    """Return a note on the widths of the intervals of a regression."""
    width = results["upper"].astype(np.float64) - results["lower"]
    text = f"intervals: median width {np.median(width):.3g}, widest {width.max():.3g}"
    wide = int((~results["certified"]).sum())
    return f"{text}; {wide:,} wider than the tolerance" if wide else text


def check_codes(
    machine: KernelMachine,
    program: Program,
    codes: NDArray[np.int64],
    answers: Answers,
) -> None:
    """Compare the interpreter with the float64 model at the values of accepted codes.

    Raises
    ------
    FailedCheckError
        As in `check_bounded`.
    """
    assert program.scale is not None
    accepted = answers.results["status"] == Status.OK
    reference = evaluate(machine, program.scale.values(codes[accepted]))
    _check_answers(machine, answers, accepted, reference, program.early_exits, of_codes=True)
    check_probabilities(machine, answers, accepted, reference, accepted[accepted], of_codes=True)


def _check_answers(
    machine: KernelMachine,
    answers: Answers,
    accepted: NDArray[np.bool_],
    reference: Reference,
    early_exits: Sequence[Stage],
    of_codes: bool = False,
) -> None:
    """Refuse a decision outside its bound, an interval that misses it or a wrong certificate."""
    places = np.flatnonzero(accepted)
    results, decisions = answers.results[accepted], answers.decisions[accepted]
    bounds = answers.bounds[accepted]
    error = np.abs(decisions - reference.decisions)
    outside = ~(error <= bounds + reference.error)  # NaN is outside
    if outside.any():
        query, p = (int(i) for i in np.argwhere(outside)[0])
        raise FailedCheckError(
            f"{int(outside.sum())} decision values lie outside their bounds\nfirst: query "
            f"{places[query]}, decision {p} is {decisions[query, p]:.9g}, the model says "
            f"{reference.decisions[query, p]:.17g}, the bound is {bounds[query, p]:.3g}",
            Finding(Broken.VALUE, places[outside.any(axis=1)], of_codes=of_codes),
        )
    check_intervals(machine, early_exits, results, reference, places, of_codes)
    wrong = wrong_labels(machine, results, reference)
    if len(wrong):
        labels = counted(len(wrong), "certified label differs", "certified labels differ")
        first = wrong[0]
        said = machine.classes[results["label"][first]]
        model = machine.classes[reference.labels[first]]
        raise FailedCheckError(
            f"{labels} from the model's\nfirst: query {places[first]}, {said!r} is certified, the "
            f"model says {model!r}",
            Finding(Broken.LABEL, places[wrong], of_codes=of_codes),
        )

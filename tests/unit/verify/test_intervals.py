"""What certified exits prove is held against the model: one interval that misses it is found."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kit.certified import Certified
from kit.emitted import Emitted
from kmcompile.errors import VerificationError
from kmcompile.model.likely_inputs import generate
from kmcompile.model.reference import Reference, evaluate
from kmcompile.program.interpreter import Answers, interpret
from kmcompile.verify.checks import ModelCheck, check_bounded
from kmcompile.verify.paths import path_inputs
from kmcompile.verify.queries import Queries

N_GIVEN, N_MADE = 200, 300


@cache
def emitted(data: str) -> Emitted:
    return Certified("rbf", data).emit("host")


@cache
def asked(data: str) -> tuple[Queries, Answers, Reference]:
    """Return samples and generated inputs with what the program and the model say."""
    low = emitted(data)
    X, _ = Certified("rbf", data).samples()
    given = X[-min(N_GIVEN, len(X) // 2) :].astype(np.float32)
    X = np.concatenate([given, generate(low.machine, N_MADE)])
    queries = Queries(X, "test-data", len(given), len(X))
    return queries, interpret(low.program, X), evaluate(low.machine, X)


def check(data: str, answers: Answers | None = None) -> ModelCheck:
    low, (queries, true, _) = emitted(data), asked(data)
    return check_bounded(low.machine, queries, answers or true, low.program.early_exits)


def a_proved_row(data: str) -> int:
    """Return a query that a certified exit decided."""
    _, answers, _ = asked(data)
    exits = emitted(data).program.early_exits
    certified = [number for number, stage in enumerate(exits) if stage.exit == "certified"]
    return int(np.flatnonzero(np.isin(answers.results["stage"], certified))[0])


def changed(answers: Answers, row: int, **values: float) -> Answers:
    results = answers.results.copy()
    for name, value in values.items():
        results[name][row] = value
    return replace(answers, results=results)


def test_what_is_proved_passes():
    found = check("moons")
    assert found.certified.wrong == found.bounded.sign_disagreements == 0


@pytest.mark.parametrize("side", [-1, 1])
def test_an_interval_just_beside_the_models_value_is_found(side):
    _, answers, reference = asked("moons")
    row = a_proved_row("moons")
    f, error = reference.decisions[row, 0], reference.error[row, 0]
    towards = np.float32(side * np.inf)
    beside = np.nextafter(np.nextafter(np.float32(f + side * error), towards), towards)
    end = "lower" if side > 0 else "upper"
    stage = emitted("moons").program.exit_stages[answers.results["stage"][row]].name
    with pytest.raises(VerificationError, match="1 proved interval misses the model's") as told:
        check("moons", changed(answers, row, **{end: beside}))
    assert f"query {row}, {stage} says" in str(told.value)
    check("moons", changed(answers, row, **{end: np.float32(f - side * abs(f) / 4)}))


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_an_end_that_is_no_number_is_found(end):
    _, answers, _ = asked("moons")
    with pytest.raises(VerificationError, match="1 proved interval misses"):
        check("moons", changed(answers, a_proved_row("moons"), **{end: np.nan}))


def test_a_label_that_an_exit_proves_wrongly_is_found():
    _, answers, _ = asked("moons")
    row = a_proved_row("moons")
    with pytest.raises(VerificationError, match="1 certified label differs"):
        check("moons", changed(answers, row, label=1 - answers.results["label"][row]))


def test_only_certified_exits_claim_their_intervals():
    low, (queries, answers, _) = emitted("moons"), asked("moons")
    beside = changed(answers, a_proved_row("moons"), lower=1e9, upper=2e9)
    check_bounded(low.machine, queries, beside, ())


def test_of_many_classes_no_interval_is_known():
    _, answers, _ = asked("wine")
    beside = changed(answers, a_proved_row("wine"), lower=1e9, upper=2e9)
    assert all(labels.intervals == 0 for labels in check("wine", beside).early_exits)


@pytest.mark.parametrize("data", ["moons", "wine"])
def test_notes_say_what_is_proved(data):
    queries, answers, _ = asked(data)
    found = check(data)
    for number, labels in enumerate(found.early_exits):
        here = answers.results["stage"] == number
        (note,) = (text for text in found.notes if text.startswith(labels.name))
        n_given = int(here[: queries.n_given].sum())
        n_made = int(here[queries.n_given :].sum())
        assert labels.proved and labels.disagreements == 0
        assert note.startswith(
            f"{labels.name} proves the labels of {n_given} of the given samples and of {n_made} of "
            "the generated ones"
        )
        assert ("each of its intervals holds f" in note) == (data == "moons" and here.any())


def test_every_test_of_a_bound_sequence_decides_or_is_named():
    low = emitted("moons")
    X, notes = path_inputs(low.program, generate(low.machine, N_MADE))
    results = interpret(low.program, X).results
    for number, stage in enumerate(low.program.early_exits):
        if stage.template != "bound_sequence":
            continue
        before = sum(s.kernel_evaluations() for s in low.program.early_exits[:number])
        tests = {before + stage.lanes * n for n in range(1, stage.n_blocks + 1)}
        here = set(results["kernel_evals"][results["stage"] == number].tolist())
        start = f"paths: no input found that {stage.name} decides after "
        (missed,) = [note.removeprefix(start) for note in notes if note.startswith(start)] or [""]
        named = {int(k) for k in missed.removesuffix(" kernels").split(", ") if k}
        assert here == tests - named
        assert min(tests) in here
        return
    raise AssertionError("there is no bound sequence")

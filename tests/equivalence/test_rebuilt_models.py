"""Decisions that are rebuilt from the description alone, in 50 digits, against both answers.

The float64 reference must be within the bound of its own rounding, and what an answer proves must
hold of the rebuilt machine. `kmcompile.evidence.rebuilding.rebuild` knows nothing of kmcompile.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from kit.calibrated import Calibrated
from kit.catalogue import SPECIAL, every_combination
from kit.covering import by_fields
from kit.emitted import Emitted
from kit.every_target import FEW, GROUPS
from kit.tools import need
from kmcompile.description import names_of
from kmcompile.evidence.finding import Outcome
from kmcompile.evidence.rebuilding import part, rebuild
from kmcompile.evidence.subject import Subject
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status, interpret
from kmcompile.verify.probabilities import probabilities_of

N_QUERIES = 12
SMALL = [model for group, own in GROUPS.items() if group != FEW for model in own]


def rebuilt(emitted: Emitted, folder: Path) -> rebuild.Machine:
    """Return the machine of the description, from which alone it is made."""
    document, tables, _ = names_of(emitted.name)
    for name in (document, tables):
        if name in emitted.files:
            (folder / name).write_bytes(emitted.files[name])
    return rebuild.Machine(folder / document)


@pytest.mark.few
@pytest.mark.parametrize("case", by_fields([*every_combination(), *SPECIAL]))
def test_rebuilt_decisions_are_the_reference_s_and_within_the_answers_bounds(case, tmp_path):
    emitted = case.emit("host")
    X = emitted.queries[:150:13][:N_QUERIES]
    answers = interpret(emitted.program, X)
    accepted = answers.results["status"] == Status.OK
    X, results = X[accepted], answers.results[accepted]
    reference = evaluate(emitted.machine, X)
    found = rebuild.compare(
        rebuilt(emitted, tmp_path),
        {
            "X": X.astype(np.float64).tolist(),
            "decisions": reference.decisions.tolist(),
            "error": reference.error.tolist(),
            "label": results["label"].tolist(),
            "lower": results["lower"].astype(np.float64).tolist(),
            "upper": results["upper"].astype(np.float64).tolist(),
            "certified": results["certified"].tolist(),
            "proved": [True] * len(X),
        },
    )
    assert found["queries"] >= N_QUERIES - 2
    assert found["beyond_rounding"] == found["outside"] == found["other_labels"] == 0


@pytest.mark.parametrize(
    "case",
    [Calibrated("rbf", threshold=0.2), Calibrated("iris"), Calibrated("platt", threshold=1.5)],
    ids=str,
)
def test_rebuilt_probabilities_are_the_model_s(case, tmp_path):
    emitted = case.emit("host")
    machine = rebuilt(emitted, tmp_path)
    X = emitted.queries[:N_QUERIES]
    wanted = probabilities_of(emitted.machine, evaluate(emitted.machine, X).decisions)
    for x, expected in zip(X, wanted, strict=True):
        found = [float(p) for p in machine.probabilities(machine.decisions(x.tolist()))]
        assert np.allclose(found, expected, rtol=0, atol=1e-12)


def subject(model, name="iris"):
    emitted = model.emit("cortex-m7", name)
    return Subject(name, emitted.program, emitted.target, emitted.files, {})


def test_part_of_the_evidence_shows_a_model_and_can_be_repeated(tmp_path):
    need("gcc")
    (found,) = part.run(subject(SMALL[0]), tmp_path / part.NAME)
    assert found.outcome is Outcome.SHOWN, found.figure
    assert "0 of 100 proved intervals without the exact value" in found.figure
    assert "0 other labels of 100 certified ones" in found.figure
    where, program = found.command.split(" && ")
    folder = tmp_path / where.removeprefix("cd ")
    words = [sys.executable, *program.split()[1:]]
    code, text = part.run_process(words, folder, 60, "again")
    assert (code, text[:1]) == (0, "{")


def test_part_refutes_another_intercept(tmp_path):
    need("gcc")
    own = subject(SMALL[0])
    name = names_of("iris")[0]
    text = own.files[name].decode()
    value = text.split('"intercept"')[1].split("[")[2].split("]")[0]
    wrong = text.replace(f"[{value}]", f"[{float(value) + 0.01!r}]")
    changed = Subject("iris", own.program, own.target, {**own.files, name: wrong.encode()}, {})
    (found,) = part.run(changed, tmp_path)
    assert found.outcome is Outcome.REFUTED
    assert "has another SHA-256" in found.figure


def test_part_says_what_is_missing(tmp_path, monkeypatch):
    own = subject(SMALL[0])
    files = {name: content for name, content in own.files.items() if ".mld." not in name}
    (found,) = part.run(Subject("iris", own.program, own.target, files, {}), tmp_path)
    assert (found.outcome, found.figure[:28]) == (Outcome.NOT_RUN, "the folder has no iris.mld.j")
    monkeypatch.setattr(part.importlib.util, "find_spec", lambda name: None)
    (found,) = part.run(own, tmp_path)
    assert (found.outcome, found.figure[-18:]) == (Outcome.NOT_RUN, "pip install mpmath")


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(len(SMALL)))
def test_part_shows_every_small_model(number, tmp_path):
    need("gcc")
    (found,) = part.run(subject(SMALL[number]), tmp_path)
    assert found.outcome is Outcome.SHOWN, found.figure

"""What the header and a repeated verification say of the risk, through the whole pipeline."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cascade_report import EXPECTED, GUARANTEED, NO_PROMISE, calibration
from rich.console import Console
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import kmcompile
from kit.tools import need
from kmcompile.pipeline import verify_folder
from kmcompile.program.stages import RangeGate
from kmcompile.report import terminal
from kmcompile.report.risk_text import risk_text

DIGITS, LABELS = load_digits(return_X_y=True)
X, Y = DIGITS / 16, LABELS % 2  # odd against even
N_TRAINED, N_CALIBRATION = 600, 900


@dataclass(frozen=True)
class Case:
    compiled: Any
    folder: Path
    model: Path
    test_data: Path

    @property
    def header(self) -> str:
        """The header with its comments' lines joined."""
        return " ".join((self.folder / "model.h").read_text().replace("\n *", " ").split())


def compiled(root: Path, **options: Any) -> Case:
    need("gcc")
    model = SVC(gamma=0.05, C=10).fit(X[:N_TRAINED], Y[:N_TRAINED])
    case = Case(None, root / "out", root / "model.pkl", root / "test.npy")
    case.model.write_bytes(pickle.dumps(model))
    np.save(case.test_data, X[N_TRAINED + N_CALIBRATION :])
    data = X[N_TRAINED : N_TRAINED + N_CALIBRATION]
    made = kmcompile.compile_model(
        case.model,
        target="host",
        name="model",
        data=data,
        out=case.folder,
        verify="host",
        **options,
    )
    return Case(made, case.folder, case.model, case.test_data)


@pytest.fixture(scope="module")
def promised(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return compiled(tmp_path_factory.mktemp("risk"), risk=0.2)


@pytest.fixture(scope="module")
def simple(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return compiled(tmp_path_factory.mktemp("simple"), thresholds="simple")


@pytest.mark.exhaustive
def test_the_header_states_the_promised_risk(promised):
    assert promised.compiled.program.early_exits
    n = promised.compiled.report["risk"]["calibration_queries"]
    assert (
        "The label differs from the trained model's with a probability of at most 0.2 "
        f"(99 % confidence, {n} control samples), for inputs that are distributed as those samples "
        "were." in promised.header
    )
    assert "as far as it was looked at" in promised.header


@pytest.mark.exhaustive
def test_without_a_promise_the_header_says_so(simple):
    assert simple.compiled.program.early_exits
    assert "No risk is promised: --thresholds simple has no bound." in simple.header
    assert "distributed as" not in simple.header


@pytest.mark.exhaustive
def test_without_a_range_gate_every_input_is_in_range(simple):
    assert not any(isinstance(stage, RangeGate) for stage in simple.compiled.program.stages)
    assert "always true: this program does not check the range" in simple.header
    assert simple.compiled.classify(X * 1000)["in_range"].all()


def test_each_kind_of_promise_has_its_sentence():
    assert "(99 % confidence, 500 control samples)" in risk_text(calibration(GUARANTEED))
    assert "(in the mean over sets of 500 control samples)" in risk_text(calibration(EXPECTED))
    assert "the model was trained on the samples" in risk_text(calibration(NO_PROMISE))


def printed(facts: dict[str, Any]) -> str:
    console = Console(width=120, record=True, file=io.StringIO())
    terminal.print_verification("model", facts, console)
    return console.export_text()


@pytest.mark.exhaustive
def test_a_repeated_verification_shows_the_risk_that_test_samples_measure(promised):
    facts = verify_folder(promised.folder, promised.model, promised.test_data)
    risk = facts["risk"]
    assert risk["requested"] == 0.2
    n_test = len(np.load(promised.test_data))
    assert risk["measured"]["queries"] == n_test
    text = printed(facts)
    assert "passed   Test samples do not refute the risk's bound" in text
    assert f"{risk['measured']['disagreements']} of {n_test} test samples" in text


@pytest.mark.exhaustive
def test_a_repeated_verification_says_why_it_measures_no_risk(promised):
    facts = verify_folder(promised.folder, promised.model, None)
    assert facts["risk"]["measured"] is None
    assert "there are no test samples: give --test-data" in printed(facts)
    facts = verify_folder(promised.folder, None, promised.test_data)
    assert "the answers were not compared with the model's" in printed(facts)


@pytest.mark.exhaustive
def test_the_terminal_shows_the_exact_sum_s_bound_beside_the_program_s(promised):
    cost = promised.compiled.report["cost"]
    assert cost["exact_ops"] <= cost["exact_worst_ops"]
    console = Console(width=120, record=True, file=io.StringIO())
    terminal.print_report(promised.compiled.report, console)
    shown = " ".join(console.export_text().split())
    own = f"the most that any input can take {cost['worst_ops']:,.0f}"
    assert f"{own} the same of the exact sum alone {cost['exact_worst_ops']:,.0f}" in shown

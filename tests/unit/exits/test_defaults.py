"""The choice without options: few samples, what is made small first, and larger risks that pay."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.plans import plan_for
from kmcompile import readers
from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.program import choose_program
from kmcompile.errors import FewSamplesError
from kmcompile.exits.certified.choice_samples import with_generated
from kmcompile.exits.statistical.pairs import mean_costs
from kmcompile.program.cost import worst_operations
from kmcompile.request.options import DEFAULT_RISK
from kmcompile.target import load_target


@cache
def digits() -> tuple[SVC, np.ndarray]:
    """Return a machine of 64 features, and 1,297 inputs that it has not seen."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    return SVC(C=10, gamma=0.1).fit(X[:500], y[:500] > 4), X[500:]


@cache
def cancer() -> tuple[Any, np.ndarray]:
    """Return a machine of 30 real features, and inputs that it has not seen."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC()).fit(X[:400], y[:400])
    return model, X[400:].astype(np.float32)


def chosen(of: tuple[Any, np.ndarray], n: int, **options: Any) -> ChosenProgram:
    """Return the program with n samples in --data; without the option if n is 0."""
    model, X = of
    machine = readers.load_model(model)
    if n:
        np.save("samples.npy", X[:n])
        options["data"] = Path("samples.npy")
    return choose_program(machine, plan_for(machine, **options), lambda text: None)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.exhaustive
def test_samples_promise_the_risk_that_they_support():
    made = chosen(digits(), 900)
    calibration = made.exits.calibration
    assert made.program.mode == "statistical" and calibration is not None
    assert DEFAULT_RISK < calibration.promise.requested <= 0.01
    told = f"the promised risk is {calibration.promise.requested:g}: 675 control samples of the 900"
    assert any(note.startswith(told) for note in calibration.notes)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "source"), [(400, "data"), (100, "data"), (30, "generated")])
def test_samples_that_are_too_few_choose_proved_exits(n: int, source: str):
    made = chosen(digits(), n)
    choice = made.exits.choice
    assert made.program.mode == made.plan.mode == "certified" and choice is not None
    assert choice.source == source
    assert choice.notes[0].startswith("mode certified: ")


def test_samples_never_make_the_default_dearer_than_the_exits_that_are_proved():
    given = digits()[1][:900]
    made = {
        mode: chosen(digits(), 900, **options).program
        for mode, options in {"default": {}, "certified": {"mode": "certified"}}.items()
    }
    cost = load_target("host").cost
    costs = {mode: mean_costs(program, given, cost)[1] for mode, program in made.items()}
    assert costs["default"] <= costs["certified"]


def test_few_samples_are_filled_up_with_points_made_from_the_vectors():
    machine = readers.load_model(digits()[0])
    program = chosen(digits(), 0, mode="exact").program
    made = with_generated(machine, program, digits()[1][:0])
    filled = with_generated(machine, program, digits()[1][:100])
    assert len(filled) == len(made) == 1500
    assert (filled[:100] == digits()[1][:100]).all()
    assert (filled[100:] == made[:1400]).all()
    many = np.concatenate([digits()[1], digits()[1]])
    assert (with_generated(machine, program, many) == many).all()


@pytest.mark.parametrize("options", [{"mode": "statistical", "risk": 1e-3}, {"risk": 1e-3}])
@pytest.mark.parametrize("n", [100, 400, 900])
def test_a_promise_that_is_asked_for_is_kept_or_refused(n: int, options: dict[str, Any]):
    with pytest.raises(FewSamplesError):
        chosen(digits(), n, **options)


@pytest.mark.exhaustive
def test_what_the_worst_case_or_the_flash_may_grow_by():
    plain = chosen(digits(), 0, mode="exact").program
    fast = chosen(digits(), 0).program
    short = chosen(digits(), 0, optimize="worst").program
    small = chosen(digits(), 0, optimize="flash").program
    most = 1.05 * worst_operations(plain)
    assert worst_operations(short) <= most < worst_operations(fast)
    exits = sum(table.n_bytes for stage in small.early_exits for table in stage.tables())
    assert exits <= 0.05 * plain.table_bytes
    assert fast.early_exits


@pytest.mark.exhaustive
def test_boards_take_integers_where_nothing_is_better_in_all_three():
    made = chosen(cancer(), 0, target="cortex-m0")
    # int8 certifies too little of this machine's inputs to take its place.
    able = [c for c in made.formats if c.number_format != "int8"]
    estimates = {c.number_format: c.estimate for c in able}
    taken = estimates[made.program.number_format]
    assert made.program.number_format == "int16"
    for other in estimates.values():
        assert (
            other.mean >= taken.mean
            or other.worst >= taken.worst
            or other.flash_bytes >= taken.flash_bytes
        )
    assert chosen(cancer(), 0).program.number_format == "float32"

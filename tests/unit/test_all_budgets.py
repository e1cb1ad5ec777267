"""A program that exceeds several budgets is refused once, with all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.plans import plan_for
from kit.tools import need_tools
from kmcompile import readers
from kmcompile.choice.front import Compared
from kmcompile.choice.program import choose_program
from kmcompile.errors import OverBudgetError, ToolError
from kmcompile.program.estimate import Estimate
from kmcompile.remedies import remedied
from kmcompile.target import load_target

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(60, 3)) + np.repeat([[0.0], [1.0]], 30, axis=0)
MODEL = SVC().fit(X, np.repeat([0, 1], 30))


def refused(model: Any = MODEL, **options: Any) -> OverBudgetError:
    """Return the error of the program before it is built, with what the user can do."""
    machine = readers.load_model(model)
    chosen = choose_program(machine, plan_for(machine, **options), lambda _: None)
    with pytest.raises(OverBudgetError) as caught, remedied(machine, chosen):
        chosen.check_fits()
    return caught.value


def test_every_budget_is_named_with_what_is_needed_and_allowed() -> None:
    alone = {
        "flash": refused(mode="exact", max_flash=1000),
        "RAM": refused(mode="exact", max_ram=30, step=900),
        "step": refused(mode="exact", step=1),
    }
    error = refused(mode="exact", max_flash=1000, max_ram=30, step=1)
    assert [one.over for one in error.every] == list(alone)
    first, _, last = str(error).split("\n")
    for over, one in alone.items():
        assert f"{one.needed:,}" in first and f"{one.allowed:,}" in first
        assert f"{over}: " in last


def test_no_advice_repeats_what_is_given_or_does_not_go_with_it() -> None:
    error = refused(mode="exact", format="auto", target="cortex-m4", max_flash=900, max_ram=20)
    assert "--mode exact" not in str(error) and "--format auto" not in str(error)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"stages": "local_expansion"}, "leave it out of --stages"),
        ({"require": "local_expansion"}, "use --exclude local_expansion without --require"),
    ],
)
def test_an_exit_that_is_asked_for_is_not_excluded_too(given: dict[str, Any], advice: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"optimize": "mean", "step": 150, **given}
    error = refused(SVC(gamma=0.02).fit(X[::4], y[::4]), **options)
    assert str(error).endswith(f"or more, or {advice}")


@pytest.mark.exhaustive
@pytest.mark.target
def test_the_worst_case_is_named_with_flash_and_ram(tmp_path: Path) -> None:
    need_tools(load_target("cortex-m4"))
    given = {"target": "cortex-m4", "mode": "exact", "max_instructions": 10}
    for budgets, n in ({"max_flash": "1KB", "max_ram": 20, "step": 1}, 4), ({"max_ram": 100}, 2):
        with pytest.raises(OverBudgetError) as caught:
            kmcompile.compile_model(MODEL, **given, **budgets)
        assert len(caught.value.every) == n and caught.value.every[-1].over == "instructions"
        assert "instructions in the worst case, cortex-m4 may use 10" in str(caught.value)
        assert len(str(caught.value).split("\n")) == 3


@pytest.mark.target
def test_a_deadline_is_kept_by_the_worst_case_in_cycles() -> None:
    need_tools(load_target("cortex-m4"))
    given = {"target": "cortex-m4", "mode": "exact", "clock": "100MHz"}
    made = kmcompile.compile_model(MODEL, **given)
    seconds = made.report["target"]["time"]["worst_seconds"]
    assert kmcompile.compile_model(MODEL, **given, max_time=seconds)
    with pytest.raises(OverBudgetError, match="at 100 MHz in the worst case") as caught:
        kmcompile.compile_model(MODEL, **given, max_time=seconds * 0.99)
    assert caught.value.over == "time"
    assert "instructions was found" in str(caught.value)
    with pytest.raises(OverBudgetError, match="at 100 MHz in the worst case"):
        kmcompile.compile_model(MODEL, **given, max_time=1e-9)


@pytest.mark.exhaustive
@pytest.mark.target
def test_a_deadline_finds_a_quicker_program(tmp_path: Path) -> None:
    """Its command says how: the C does not depend on what the tools measure."""
    need_tools(load_target("cortex-m4"))
    samples, labels = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC()).fit(samples[:400], labels[:400])
    given = {"target": "cortex-m4", "format": "float32", "optimize": "mean", "name": "cancer"}
    made = kmcompile.compile_model(model, **given)
    seconds = 0.9 * made.report["target"]["time"]["worst_seconds"]
    quicker = kmcompile.compile_model(model, **given, max_time=seconds, out=tmp_path / "o")
    assert quicker.report["target"]["time"]["worst_seconds"] <= seconds
    assert len(quicker.program.exit_stages) < len(made.program.exit_stages)
    assert "--max-instructions" in (tmp_path / "o" / "cancer.c").read_text().split("\n")[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["cortex-m4", "host"])
def test_without_a_worst_case_in_cycles_a_deadline_is_an_error(target: str) -> None:
    with pytest.raises(ToolError, match="the worst case in cycles is not known"):
        kmcompile.compile_model(MODEL, target=target, max_time=1.0, verify="none")


def test_the_nearest_of_the_choices_is_named() -> None:
    """It need not fit."""
    machine = readers.load_model(MODEL)
    chosen = choose_program(machine, plan_for(machine, max_flash=1000), lambda _: None)
    rows = [
        Compared("taken", (), Estimate(9.0, 900.0, 3000.0), 1.0, chosen=True),
        Compared("near", ("--reduce auto", "--mode exact"), Estimate(9.0, 99.0, 1200.0), None),
        Compared("far", ("--format int16",), Estimate(9.0, 9.0, 2000.0), 1.0),
    ]
    near = "nearest of the choices is --reduce auto --mode exact, estimated at 99 instructions and"
    for compared, is_named in ((rows, True), (rows[:1], False)):
        with (
            pytest.raises(OverBudgetError) as caught,
            remedied(machine, replace(chosen, compared=tuple(compared))),
        ):
            chosen.check_fits()
        assert (near in str(caught.value)) is is_named

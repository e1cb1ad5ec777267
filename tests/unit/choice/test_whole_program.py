"""Machines of fewer vectors are compared with early exits where --data is given."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kit.plans import plan_for
from kmcompile import compile_model, readers
from kmcompile.choice import whole_program
from kmcompile.choice.whole_program import choose_whole
from kmcompile.errors import BudgetError, InputError
from kmcompile.model.reference import evaluate
from kmcompile.program.estimate import Estimate
from kmcompile.program.interpreter import interpret

RISK, N_TRAINED, N_SAMPLES = 0.05, 300, 1300


@cache
def digits():
    """Return a machine that tells even digits from odd ones, and samples that it has not seen."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order].astype(np.float32), y[order] % 2
    return SVC().fit(X[:N_TRAINED], y[:N_TRAINED]), X[N_TRAINED:N_SAMPLES], X[N_SAMPLES:]


def chosen(folder, samples=None, **options):
    model, usual, _ = digits()
    machine = readers.load_model(model)
    np.savez(folder / "data.npz", X=usual if samples is None else samples)
    asked = {"target": "cortex-m7", "risk": RISK, "optimize": "worst", "format": "int8", **options}
    plan = plan_for(machine, data=folder / "data.npz", **asked)
    return choose_whole(machine, plan, None, lambda text: None)


def test_fewer_vectors_are_taken_and_keep_the_risk():
    model, samples, fresh = digits()
    made = compile_model(
        model, target="cortex-m7", data=samples, risk=RISK, optimize="worst", verify="none"
    )
    reduction = made.report["reduction"]
    assert reduction["vectors_after"] < reduction["vectors_before"] / 4
    assert reduction["limit"] <= RISK
    assert made.report["options"]["mode"] == "exact"
    assert np.mean(made.predict(fresh) != model.predict(fresh)) <= RISK
    assert any("--reduce off" in one["options"] for one in made.choices)


@pytest.mark.parametrize("options", [{"reduce": "off"}, {"mode": "statistical"}], ids=str)
def test_what_the_user_asks_for_is_not_reduced(options, tmp_path):
    reduced, made = chosen(tmp_path, **options)
    assert reduced.reduction is None
    assert made.lowered.machine.reduced_from is None


def test_few_control_samples_leave_all_vectors(tmp_path):
    """One disagreement among them would leave nearly all vectors, and no exit."""
    reduced, _ = chosen(tmp_path, digits()[1][:400], risk=0.03)
    assert reduced.reduction is None


def test_the_comparison_does_not_see_the_control_samples(monkeypatch, tmp_path):
    """The promise holds for the program that is taken: what supports it did not choose it."""
    compared: list[dict[str, Estimate]] = []

    def best(takes, *rest):
        compared.append(takes)
        return whole_program._WHOLE

    monkeypatch.setattr(whole_program, "best", best)
    model, samples, _ = digits()
    machine = readers.load_model(model)
    control = chosen(tmp_path)[1].judged.wish.parts.control.rows
    others = samples.copy()
    others[control] = np.flip(others[control], axis=1)
    assert (evaluate(machine, others).labels != evaluate(machine, samples).labels).any()
    again = chosen(tmp_path, others)[1].judged.wish
    np.testing.assert_array_equal(again.parts.control.rows, control)
    assert compared[0] == compared[1]


def test_where_no_size_is_kept_the_program_takes_no_risk(monkeypatch, tmp_path):
    def none(*args, **kwargs):
        raise BudgetError("no size keeps the risk")

    monkeypatch.setattr("kmcompile.reduction.offered.chosen_size", none)
    reduced, made = chosen(tmp_path)
    assert reduced.reduction is None
    assert not made.program.takes_risk


QUICK = {"reduce": "auto", "exclude": ("reduced_set", "local_expansion"), "optimize": "mean"}
"""Fewer vectors alone or behind early exits, without the exits that take long to fit."""


def test_early_exits_stand_before_fewer_vectors(monkeypatch, tmp_path):
    """One promise counts what the exits and the fewer vectors change."""
    monkeypatch.setattr(whole_program, "best", lambda *_: whole_program._BOTH)
    reduced, made = chosen(tmp_path, format="float32", require=("linear_filter",), **QUICK)
    assert reduced.machine.n_support_vectors < reduced.reduction.n_before / 2
    assert reduced.reduction.chosen.limit is None
    assert made.program.takes_risk
    promise = made.exits.promise
    assert promise.upper_bound <= RISK
    assert made.exits.wish.parts.control.n == promise.n_samples
    model, _, fresh = digits()
    labels = interpret(made.program, fresh).results["label"]
    assert np.mean(np.array(model.classes_)[labels] != model.predict(fresh)) <= RISK


def test_fewer_vectors_that_the_control_samples_refuse_are_an_error(monkeypatch, tmp_path):
    """They may not be asked about another size then."""
    monkeypatch.setattr(whole_program, "best", lambda *_: whole_program._BOTH)
    monkeypatch.setattr("kmcompile.exits.statistical.control.is_kept", lambda promise: False)
    monkeypatch.setattr("kmcompile.choice.program.is_kept", lambda promise: False)
    with pytest.raises(InputError, match="the reduced machine gives"):
        chosen(tmp_path, **QUICK)


def test_both_programs_with_fewer_vectors_are_choices(tmp_path):
    _, made = chosen(tmp_path, **QUICK)
    assert {one.options[0] for one in made.compared} == {"--reduce auto"}
    assert sum(one.chosen for one in made.compared) == 1

"""Machines of fewer vectors are compared with early exits where --data is given."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification
from sklearn.svm import SVC

from kit.plans import plan_for
from kmcompile import compile_model, readers
from kmcompile.choice import whole_program
from kmcompile.choice.whole_program import choose_whole
from kmcompile.errors import BudgetError, InputError
from kmcompile.exits.statistical.binomial import CONFIDENCE, clopper_pearson_upper
from kmcompile.exits.statistical.calibration import Promise
from kmcompile.exits.statistical.control import is_kept
from kmcompile.exits.statistical.risk import tally_of
from kmcompile.model.reference import evaluate
from kmcompile.program.estimate import with_mean
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.exhaustive), 3])
def test_the_choice_that_is_taken_is_the_program_that_is_built(seed, tmp_path):
    """Statistical exits are left for those that are proved, also after control (seed 3)."""
    X, y = make_classification(4000, 8, n_informative=6, flip_y=0.05, random_state=seed)
    X = X.astype(np.float32)
    machine = readers.load_model(SVC(gamma=0.1).fit(X[:200], y[:200]))
    np.savez(tmp_path / "data.npz", X=X[200:])
    asked = {"target": "leon3", "format": "float32", "reduce": "off"}
    plan = plan_for(machine, data=tmp_path / "data.npz", **asked)
    _, made = choose_whole(machine, plan, None, lambda text: None)
    (taken,) = [row for row in made.compared if row.chosen]
    built = with_mean(made.program, taken.takes.mean, 0.0, plan.target.cost)
    assert taken.takes == built


@pytest.mark.exhaustive
@pytest.mark.parametrize("options", [{"reduce": "off"}, {"mode": "statistical"}], ids=str)
def test_what_the_user_asks_for_is_not_reduced(options, tmp_path):
    reduced, made = chosen(tmp_path, **options)
    assert reduced.reduction is None
    assert made.lowered.machine.reduced_from is None


@pytest.fixture
def compared(monkeypatch):
    """Return a list that gets all programs of each comparison."""
    found = []

    def taken(search):
        found.append(search._tried)
        return usual(search)

    usual = whole_program._Search.taken
    monkeypatch.setattr(whole_program._Search, "taken", taken)
    monkeypatch.setattr(whole_program._Search, "_may_be_better", lambda _: True)
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "keys"), [(400, {"whole", "fewer"}), (260, None)])
def test_of_few_control_samples_less_is_asked(n, keys, compared, tmp_path):
    """With all programs, one disagreement would leave nearly all vectors, and no exit."""
    chosen(tmp_path, digits()[1][:n], risk=0.03)
    assert [set(tried) for tried in compared] == [keys][: keys is not None]


@pytest.mark.exhaustive
def test_what_is_compared_does_not_depend_on_the_control_samples(compared, tmp_path):
    """Only how wide thresholds are, and how many vectors are left alone, may."""
    model, samples, _ = digits()
    machine = readers.load_model(model)
    chosen(tmp_path)
    rows = compared[0][whole_program.WHOLE][1].exits.wish.parts.control.rows
    others = samples.copy()
    others[rows] = np.flip(others[rows], axis=1)
    assert (evaluate(machine, others).labels != evaluate(machine, samples).labels).any()
    chosen(tmp_path, others)
    for key in {whole_program.WHOLE, whole_program.BOTH} & compared[0].keys():
        (first, one), (second, other) = (tried[key] for tried in compared)
        np.testing.assert_array_equal(other.exits.wish.parts.control.rows, rows)
        np.testing.assert_array_equal(first.machine.support_vectors, second.machine.support_vectors)
        assert one.before_control == other.before_control


@pytest.mark.exhaustive
def test_all_promises_hold_together(compared, tmp_path):
    """Each is tested with a share of the doubt, so that any of the programs may be taken."""
    chosen(tmp_path, format="float32", optimize="mean")
    each, alone = 1 - (1 - CONFIDENCE) / 6, 1 - (1 - CONFIDENCE) / 2
    (tried,) = compared
    assert len(tried) >= 3
    for _, made in tried.values():
        assert made.keeps_promise
        if made.exits.promise is not None:
            assert tally_of(made.exits.promise).keeps(RISK, confidence=each)
    reduction = tried[whole_program.FEWER][0].reduction
    limit = clopper_pearson_upper(reduction.chosen.disagreements, reduction.chosen.n_samples, alone)
    assert reduction.chosen.limit == limit <= RISK


@pytest.mark.exhaustive
def test_where_no_size_is_kept_there_are_fewer_programs(monkeypatch, compared, tmp_path):
    def none(*args, **kwargs):
        raise BudgetError("no size keeps the risk")

    monkeypatch.setattr("kmcompile.choice.fewer_vectors.counted_size", none)
    _, made = chosen(tmp_path)
    assert whole_program.FEWER not in compared[0]
    assert made.keeps_promise


@pytest.mark.exhaustive
def test_twice_the_fewest_vectors_are_tried_where_all_would_be_taken(
    monkeypatch, compared, tmp_path
):
    monkeypatch.setattr(whole_program._Search, "_best", lambda _: whole_program.WHOLE)
    chosen(tmp_path, format="float32", optimize="mean")
    (tried,) = compared
    few, more = (tried[key][0].machine.n_support_vectors for key in ("both", "twice"))
    assert few < more < tried[whole_program.WHOLE][0].machine.n_support_vectors


QUICK = {"reduce": "auto", "exclude": ("reduced_set", "local_expansion"), "optimize": "mean"}
"""Fewer vectors alone or behind early exits, without the exits that take long to fit."""


def test_early_exits_stand_before_fewer_vectors(tmp_path):
    """One promise counts what the exits and the fewer vectors change.

    An exit that must be there is there, though fewer vectors alone take less.
    """
    reduced, made = chosen(tmp_path, format="float32", require=("linear_filter",), **QUICK)
    assert reduced.machine.n_support_vectors < reduced.reduction.n_before / 2
    assert reduced.reduction.chosen.limit is None
    assert made.program.takes_risk
    assert "linear_filter" in [stage.template for stage in made.program.early_exits]
    promise = made.exits.promise
    assert promise.upper_bound <= RISK
    assert made.exits.wish.parts.control.n == promise.n_samples
    model, _, fresh = digits()
    labels = interpret(made.program, fresh).results["label"]
    assert np.mean(np.array(model.classes_)[labels] != model.predict(fresh)) <= RISK


@pytest.mark.exhaustive
def test_fewer_vectors_that_the_control_samples_refuse_are_an_error(monkeypatch, tmp_path):
    for module in ("exits.statistical.control", "choice.chosen"):
        monkeypatch.setattr(f"kmcompile.{module}.is_kept", lambda promise, wish: False)
    with pytest.raises(InputError, match="the reduced machine gives"):
        chosen(tmp_path, mode="statistical", **QUICK)


@pytest.mark.exhaustive
def test_both_programs_with_fewer_vectors_are_choices(tmp_path):
    _, made = chosen(tmp_path, **QUICK)
    assert {one.options[0] for one in made.compared} == {"--reduce auto"}
    assert sum(one.chosen for one in made.compared) == 1


@pytest.mark.exhaustive
def test_all_vectors_are_not_tried_where_they_cannot_be_better(monkeypatch, tmp_path):
    tried = []
    usual = whole_program.candidate
    monkeypatch.setattr(
        whole_program, "candidate", lambda *args: tried.append(args[0]) or usual(*args)
    )
    chosen(tmp_path, optimize="flash")
    assert tried
    assert all(machine.reduced_from is not None for machine in tried)


def test_a_share_of_the_doubt_holds_where_no_sample_disagrees():
    """750 samples support 0.0062 with the whole doubt, and 0.0071 with a half of it."""
    promise = Promise("guaranteed", 0.0062, 0.0062, CONFIDENCE, 750, 0, np.inf)
    whole, half = (SimpleNamespace(confidence=one) for one in (CONFIDENCE, 0.995))
    assert is_kept(promise, whole)
    assert not is_kept(promise, half)

"""A replay takes the place of an exact sum that leaves nearly every input open, and of no other."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kmcompile

DATA, TARGET = load_diabetes(return_X_y=True)


def compiled(tolerance, **options):
    model = make_pipeline(StandardScaler(), SVR(C=100.0, gamma=0.05, epsilon=5.0))
    model.fit(DATA[:300], TARGET[:300])
    fresh = DATA[300:].astype(np.float32)
    return kmcompile.compile_model(
        model, tolerance=tolerance, name="sugar", test_data=fresh, verify="host", **options
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(("tolerance", "at_once"), [(1e-4, True), (1.0, False)])
def test_a_sum_that_settles_hardly_any_query_is_left_out(tolerance, at_once):
    made = compiled(tolerance)
    assert made.program.sums_at_once is at_once
    cost, stages = made.report["cost"], {s["name"]: s for s in made.report["stages"]}
    assert (stages["exact_sum"]["decided"] == 0.0) is at_once
    assert any("takes the place" in note for note in made.report["notes"]) is at_once
    if at_once:  # its operations are those of the query, not beside them
        assert cost["mean_ops"] >= cost["replay_ops_mean"] > 0
        assert cost["max_ops_with_replay"] == cost["max_ops"] <= cost["worst_ops"]


@pytest.mark.exhaustive
def test_decisions_are_still_those_of_the_exact_sum():
    made = compiled(1e-4)
    fresh = DATA[300:].astype(np.float32)
    answers = made.predict_interval(fresh)
    assert np.all(answers["upper"] - answers["lower"] <= 1e-4)
    error = np.abs(made.decision_function(fresh) - answers["value"])
    assert 1e-6 < error.max() < 1e-2


@pytest.mark.exhaustive
@pytest.mark.parametrize("option", [{"step": 20_000}, {"tables": "image"}], ids=str)
def test_steps_and_images_keep_the_exact_sum(option):
    assert not compiled(1e-4, **option).program.sums_at_once


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("C", "options", "replays"),
    [(1.0, {}, False), (1.0, {"replay": "float64"}, True), (1e6, {}, True)],
    ids=["settled", "asked for", "open"],
)
def test_a_replay_is_left_out_where_the_sum_settles_nearly_all(C, options, replays):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(C=C, gamma=0.03 / C)).fit(X[:400], y[:400])
    made = kmcompile.compile_model(model, target="host", verify="none", **options)
    assert (made.program.replay is not None) is replays
    told = any("--replay float64 asks for one" in note for note in made.report["notes"])
    assert told is not replays


@pytest.mark.exhaustive
def test_a_replay_is_left_out_where_the_sum_meets_the_tolerance():
    assert compiled(10.0).program.replay is None

"""The option --input-tolerance: what it takes, and what it does not go with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

from kmcompile import readers
from kmcompile.errors import InputError, UsageError
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.input_tolerance import with_input_tolerance
from kmcompile.request.option_values import check_options, without_defaults
from kmcompile.request.options import Options
from kmcompile.request.plan import Request
from kmcompile.target import load_target

X, y = load_breast_cancer(return_X_y=True)
MODEL = SVC().fit(X[:100], y[:100])


def plan(**options):
    return Request.of(Path("model.pkl"), Options(**options)).plan(readers.load_model(MODEL))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"input_tolerance": -0.5}, "--input-tolerance -0.5: must be a number of at least 0"),
        ({"input_tolerance": "nan"}, "--input-tolerance nan: must be"),
        (
            {"mode": "statistical", "data": Path("a.npz")},
            "--mode statistical .a risk is",
        ),
        ({"risk": 0.01, "data": Path("a.npz")}, "--risk 0.01 .a risk is about single inputs"),
        ({"replay": "float64"}, "or leave out --replay"),
        ({"reduce": 10}, "or leave out --reduce"),
    ],
    ids=str,
)
def test_options_that_contradict_it_are_refused(options, said):
    with pytest.raises(UsageError, match=said):
        check_options(without_defaults(Options(**{"input_tolerance": 0.1, **options})))


def test_integers_have_to_be_asked_for_and_auto_is_float32():
    assert plan(input_tolerance=0.1, format="int16").number_format == "int16"
    assert plan(input_tolerance=0.1, target="cortex-m7").number_format == "float32"
    assert plan(target="cortex-m7").number_format == "auto"


def test_number_is_for_every_feature_and_a_file_has_one_each(tmp_path):
    np.testing.assert_array_equal(plan(input_tolerance="0.25").input_tolerance, np.full(30, 0.25))
    given = np.linspace(0.0, 0.3, 30)
    np.save(tmp_path / "noise.npy", given[None])
    read = plan(input_tolerance=tmp_path / "noise.npy").input_tolerance
    assert (read >= given).all() and (read <= given * (1 + 3e-7)).all()
    assert plan().input_tolerance is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.ones((2, 30)), "it has 2 rows, must have 1"),
        (np.ones((1, 29)), "the model has 30 features"),
        (-np.eye(30)[3:4], "feature 3 has -1, must be >= 0"),
    ],
    ids=["rows", "columns", "negative"],
)
def test_file_of_another_shape_is_refused(rows, said, tmp_path):
    np.save(tmp_path / "noise.npy", rows)
    with pytest.raises(InputError, match=said):
        plan(input_tolerance=tmp_path / "noise.npy")


def test_mode_is_certified_with_samples_and_there_is_no_replay(tmp_path):
    np.save(tmp_path / "samples.npy", X[100:])
    made = plan(input_tolerance=0.1, data=tmp_path / "samples.npy")
    assert (made.mode, made.replay) == ("certified", "none")
    assert plan(data=tmp_path / "samples.npy").mode == "statistical"
    assert "--input-tolerance 0.1" in made.command


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (SVC(kernel="sigmoid").fit(X[:100] / 1000, y[:100]), "this machine's is sigmoid"),
        (make_pipeline(Normalizer(), SVC()).fit(X[:100], y[:100]), "has no bound over a box"),
    ],
    ids=["sigmoid", "normalizer"],
)
def test_machines_without_bounds_are_refused(model, said):
    lowered = lower_in_format(readers.load_model(model), load_target("host"), "a", "float32")
    with pytest.raises(InputError, match=said):
        with_input_tolerance(lowered.program, lowered.machine, np.full(30, 0.01))

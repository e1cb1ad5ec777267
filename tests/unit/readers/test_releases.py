"""reliability 19: models pickled by nine releases of scikit-learn give the answers they gave there.

numpy 1 wrote those up to 1.4.2, numpy 2 the later ones: tests/fault/stored_models/make_release.py.
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from float64_decisions import U, decisions_and_bounds, labels

from kmcompile.model.kernel_machine import Task
from kmcompile.readers import load_model
from kmcompile.readers.sklearn.classes import NEWEST_TESTED, OLDEST_TESTED

FOLDER = Path(__file__).parents[2] / "fault" / "stored_models" / "releases"
RELEASES = sorted(path.stem for path in FOLDER.glob("*.zip"))


@cache
def _archive(release):
    """Return the stored models by name and data, and the answers."""
    with zipfile.ZipFile(FOLDER / f"{release}.zip") as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    answers = dict(np.load(io.BytesIO(content.pop("answers.npz"))))
    return {tuple(name.split("-")): raw for name, raw in content.items()}, answers


MODELS = sorted(_archive(RELEASES[0])[0])


@pytest.mark.parametrize(("name", "data"), MODELS)
@pytest.mark.parametrize("release", RELEASES)
def test_stored_models_give_the_answers_of_their_release(release, name, data, tmp_path):
    models, answers = _archive(release)
    path = tmp_path / name
    path.write_bytes(models[name, data])
    machine = load_model(path)
    assert not [note for note in machine.notes if "saved by" in note]
    decisions, bounds = decisions_and_bounds(machine, answers[data])
    expected = answers[f"{name}.predict"]
    if machine.task is Task.REGRESSION:
        assert np.all(np.abs(decisions[:, 0] - expected) <= bounds[:, 0])
        return
    assert np.array_equal(labels(machine, decisions), expected)
    assert len(set(expected.tolist())) > 1
    if machine.log_odds:
        probability, bound = _probabilities(decisions, bounds)
        assert np.all(np.abs(probability - answers[f"{name}.predict_proba"]) <= bound)
        return
    expected = answers[f"{name}.decision_function"].reshape(decisions.shape)
    assert np.all(np.abs(decisions - expected) <= bounds)


def _probabilities(decisions, bounds):
    """Return the probabilities and bounds: 1 / (1 + exp(-f)) is nowhere steeper than 1 / 4."""
    p = 1 / (1 + np.exp(-decisions))
    error = bounds / 4 + 8 * U
    total = p.sum(axis=1, keepdims=True)
    share = p / total
    bound = (error + share * error.sum(axis=1, keepdims=True)) / (total - error.sum())
    return share, bound + 8 * U


def test_the_tested_releases_are_those_that_are_stored_and_the_installed_ones():
    minors = [tuple(map(int, release.split(".")[:2])) for release in RELEASES]
    assert (min(minors), max(minors)) == (OLDEST_TESTED, NEWEST_TESTED)
    assert minors == [(1, minor) for minor in range(OLDEST_TESTED[1], NEWEST_TESTED[1] + 1)]

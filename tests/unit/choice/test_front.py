"""The front of the programs that were compared, and the options beside each."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

from kmcompile import cli
from kmcompile.choice.front import Compared, front
from kmcompile.program.estimate import Estimate
from kmcompile.request.options import Options
from kmcompile.unbuilt import choices


def row(mean, worst, flash, proved=None, chosen=False):
    name = f"{mean} {worst} {flash} {proved}"
    return Compared(name, (), Estimate(mean, worst, flash), proved, chosen)


def test_a_program_that_another_one_beats_is_not_shown():
    fast, small, beaten = row(1, 9, 9), row(2, 2, 2), row(3, 2, 2)
    assert front([beaten, small, fast]) == (fast, small)


def test_the_chosen_program_is_shown_even_if_it_is_beaten():
    chosen, other = row(2, 2, 2, chosen=True), row(1, 1, 1)
    assert front([chosen, other]) == (other, chosen)


@pytest.mark.parametrize(
    ("share", "is_shown"), [(None, True), (0.9, True), (0.985, True), (0.992, False)]
)
def test_a_program_that_proves_more_is_not_beaten(share, is_shown):
    """Within a point, shares count as equal."""
    proved = row(2, 2, 2, 1.0)
    assert (proved in front([proved, row(1, 1, 1, share)])) is is_shown


def test_at_most_six_are_shown():
    rows = [row(n, 20 - n, 1) for n in range(10)]
    chosen = row(9.5, 30, 1, chosen=True)
    shown = front([*rows, chosen])
    assert len(shown) == 6
    assert chosen in shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a machine that tells even digits from odd ones, and samples."""
    folder = tmp_path_factory.mktemp("choices")
    X, y = load_digits(return_X_y=True)
    joblib.dump(SVC().fit(X[:200], y[:200] % 2), folder / "even.pkl")
    np.savez(folder / "data.npz", X=X[200:1400])
    X, y = load_iris(return_X_y=True)
    joblib.dump(SVC().fit(X, y), folder / "iris.pkl")
    return folder


def options_of(text: str) -> dict[str, str | None]:
    words = text.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return {
        (value if flag == "without" else flag).removeprefix("--"): None
        if flag == "without"
        else value
        for flag, value in pairs
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("model", "given"),
    [
        ("iris.pkl", {}),
        pytest.param(
            "even.pkl", {"data": "data.npz", "risk": "0.05"}, marks=pytest.mark.exhaustive
        ),
    ],
    ids=str,
)
def test_the_options_beside_a_program_ask_for_it(model, given, folder: Path):
    """Fewer vectors are left out: asked for, they are made of other samples, or off the grid."""
    if "data" in given:
        given = {**given, "data": folder / given["data"]}

    def found(**more):
        options = Options(target="cortex-m7", **{**given, **more})
        return choices(folder / model, options, lambda text: None)

    shown = found()
    assert len(shown) > 1
    for one in shown:
        if "--reduce auto" in one["options"]:
            continue
        (taken,) = (own for own in found(**options_of(one["options"])) if own["chosen"])
        for field in ("mean_estimated", "worst_estimated", "flash_estimated"):
            assert taken[field] == one[field], one["options"]


@pytest.mark.exhaustive
def test_the_command_prints_the_choices(folder: Path, capsys):
    assert cli.run(["choices", str(folder / "iris.pkl"), "--target", "cortex-m7"]) == 0
    shown = capsys.readouterr().out
    assert "taken" in shown
    assert "--mode exact" in shown

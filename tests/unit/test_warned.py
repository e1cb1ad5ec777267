"""A compilation warns of a large stack, and of test samples that are not what was promised for."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kmcompile import large_stack
from kmcompile.compiled import Compiled
from kmcompile.report import html, json_report, terminal

X, y = load_breast_cancer(return_X_y=True)
X = X.astype(np.float32)
MODEL = make_pipeline(StandardScaler(), SVC(C=10)).fit(X[:120], y[:120])
IRIS = SVC(gamma=0.5).fit(load_iris().data[50::2, 2:], load_iris().target[50::2])


def compiled(model: Any = MODEL, **options: Any) -> tuple[Compiled, list[str]]:
    """Return a compiled model for a Cortex-M4, and the warnings."""
    given = {"target": "cortex-m4", "name": "m", "verify": "none"} | options
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = kmcompile.compile_model(model, **given)
    told = [str(one.message) for one in caught if "kmcompile" in one.filename]
    assert set(told) <= set(made.report["notes"])
    return made, told


def printed(report: dict[str, Any], path: Path) -> str:
    with path.open("w", encoding="utf-8") as file:
        terminal.print_report(report, Console(file=file, width=200))
    return path.read_text(encoding="utf-8")


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_stack, "LARGE_BYTES", 100)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("given", [{"format": "float32"}, {"mode": "exact", "replay": "float64"}])
def test_the_option_that_is_named_makes_the_stack_smaller(given: dict[str, Any]) -> None:
    made, told = compiled(IRIS, **given)
    found = re.search(r"of stack; --(\S+) (\S+) makes it (\S+) B$", told[-1])
    assert found is not None
    other, _ = compiled(IRIS, **given | {found[1]: found[2]})
    smaller = other.report["memory"]["stack_bytes"]
    assert smaller == int(found[3].replace(",", "")) < made.report["memory"]["stack_bytes"]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("small_limit")
def test_where_no_option_helps_none_is_named() -> None:
    for given in ({"mode": "exact"}, {"stages": "local_expansion"}):
        _, told = compiled(IRIS, format="float32", **given)
        assert told[-1].endswith("of stack")


def test_a_usual_stack_is_not_told() -> None:
    made, told = compiled(IRIS, mode="exact")
    assert made.report["memory"]["stack_bytes"] <= large_stack.LARGE_BYTES
    assert told == []


def test_test_samples_that_break_what_was_promised_or_are_unlike_the_data_are_told() -> None:
    order = 120 + np.random.default_rng(0).permutation(len(X) - 120)
    data, like = X[order[:320]], X[order[320:]]
    options = {"reduce": "3", "data": data, "mode": "exact", "target": "host", "verify": "host"}
    assert compiled(test_data=like, **options)[1] == []
    told = compiled(test_data=like * np.float32(1.5), **options)[1]
    assert told[0].startswith("the test samples are not like --data: ")
    # Near the boundary machines differ.
    near = data[np.argsort(np.abs(MODEL.decision_function(data)))[:20]]
    made, told = compiled(test_data=near, **options)
    assert (MODEL.predict(near) != made.predict(near)).mean() > made.report["reduction"]["limit"]
    assert "test labels differ from the model's" in told[-1]


def test_of_a_reduced_machine_that_proves_nothing_it_says_how_many_labels_differ(
    tmp_path: Path,
) -> None:
    tests = X[400:]
    options = {"reduce": "3", "data": X[120:400], "test_data": tests, "mode": "exact"}
    made, _ = compiled(**options, target="host", verify="host")
    report = made.report
    json_report.validate(report)
    unlike = int((MODEL.predict(tests) != made.predict(tests)).sum())
    said = f"not applicable, {unlike} of {len(tests)} labels of the samples differ"
    assert report["verification"]["certified"] is None
    assert report["not_available"]["verification.certified"] == said
    page = html.render(report).decode("utf-8")
    assert f"<dt>certified labels</dt><dd>{said}</dd>" in page
    text = printed(report, tmp_path / "report.txt")
    assert said in text and "0 % certified" not in text

"""The monitor in report.json, on the page and on the terminal."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import kmcompile
from kmcompile.errors import InputError, UsageError
from kmcompile.monitor.candidates import LEAST_A_FEATURE
from kmcompile.report import json_report
from kmcompile.report.flight import told_of
from kmcompile.request.option_values import check_options
from kmcompile.request.options import Options


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Return a compiled machine of two digits with a monitor, and other digits."""
    X, y = load_digits(return_X_y=True)
    two = np.isin(y, (3, 8))
    file = tmp_path_factory.mktemp("data") / "samples.npz"
    np.savez(file, X=X[two][60:])
    model = SVC(gamma=0.001).fit(X[two][:60], y[two][:60])
    options = {"mode": "certified", "monitor": 0.05, "verify": "host"}
    return kmcompile.compile_model(model, data=file, **options), X[~two]


def test_the_report_has_the_monitor_and_meets_its_schema(digits):
    report = digits[0].report
    json_report.validate(report)
    section = report["monitor"]
    assert section["share"] == report["options"]["monitor"] == 0.05
    assert section["place"] >= 1
    assert section["quantiles"][-1]["score"] >= 1
    assert section["ops_more"] == section["ops"] / section["ops_without"]
    assert section["ops"] <= max(0.05 * section["ops_without"], LEAST_A_FEATURE * 64)
    assert report["verification"]["exact"]["host"]["mismatches"] == 0
    assert "monitor" in [stage["name"] for stage in report["stages"]]


def test_the_page_and_the_terminal_tell_what_it_finds(digits):
    report = digits[0].report
    told = told_of(report)[0]
    rows, quantiles = (table.rows for table in told.tables)
    facts = {fact.label: fact.value for fact in told.facts}
    assert facts["in_range"].startswith("false for at most 5 % of inputs")
    assert [row[0] for row in rows][:2] == ["samples", "noise"]
    assert len(quantiles) == len(report["monitor"]["quantiles"])
    rare = [i["kind"] for i in report["monitor"]["strange"] if i["found"] < 0.5 * i["queries"]]
    missed = facts["finds less than half of"].split("; ")
    assert [text.partition(" (")[0] for text in missed] == rare
    assert "mixed" in rare and "noise" not in rare


def test_noise_and_inverted_inputs_are_found_and_samples_pass(digits):
    compiled, _ = digits
    section = compiled.report["monitor"]
    found = {item["kind"]: item["found"] / item["queries"] for item in section["strange"]}
    assert found["inverted"] > 0.9
    assert section["usual"][0]["found"] <= 0.2 * section["usual"][0]["queries"]
    far = np.full((1, 64), 16.0, dtype=np.float32)
    assert not compiled.classify(far)["in_range"].any()


def test_a_report_without_a_monitor_says_so_and_tells_nothing(report):
    assert report["monitor"] is None and "--monitor P" in report["not_available"]["monitor"]
    assert told_of(report) == []


def test_a_regression_has_a_monitor_too(tmp_path):
    X = load_iris().data
    np.savez(tmp_path / "samples.npz", X=X)
    model = make_pipeline(StandardScaler(), SVR()).fit(X[:, :3], X[:, 3])
    np.savez(tmp_path / "samples.npz", X=X[:, :3])
    compiled = kmcompile.compile_model(
        model, data=tmp_path / "samples.npz", monitor=0.2, verify="host", mode="exact"
    )
    assert compiled.program.monitor is not None
    assert compiled.report["verification"]["exact"]["host"]["mismatches"] == 0


def test_too_few_samples_end_with_code_3(tmp_path):
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "samples.npz", X=X)
    with pytest.raises(InputError, match="support --monitor") as raised:
        kmcompile.compile_model(SVC().fit(X, y), data=tmp_path / "samples.npz", monitor=0.01)
    assert raised.value.exit_code == 3


@pytest.mark.parametrize("share", [0, 1, -0.1, "few"])
def test_a_share_is_a_number_between_0_and_1(share, tmp_path):
    with pytest.raises(UsageError, match=r"--monitor .*: must be a number between 0 and 1"):
        check_options(Options(monitor=share, data=tmp_path / "samples.npz"))


def test_a_monitor_is_not_in_an_image(tmp_path):
    with pytest.raises(UsageError, match=r"--tables image does not go with --monitor 0\.01"):
        check_options(Options(monitor=0.01, tables="image", mode="certified", data=tmp_path))


def test_a_monitor_needs_samples():
    with pytest.raises(UsageError, match=r"--monitor 0\.01 needs samples"):
        check_options(Options(monitor=0.01))

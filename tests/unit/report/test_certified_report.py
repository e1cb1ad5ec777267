"""What a report says of mode certified, through the whole pipeline."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import kmcompile
from kit.tools import need
from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.certified.certify import Choice
from kmcompile.exits.certified.choice_samples import JUDGED
from kmcompile.pipeline import verify_folder
from kmcompile.program.interpreter import interpret
from kmcompile.report import html, terminal
from kmcompile.report.cascade import cascade_of
from kmcompile.report.choice import choice_section
from kmcompile.verify.queries import Queries

pytestmark = pytest.mark.exhaustive

X, Y = make_moons(900, noise=0.25, random_state=0)
N_TRAINED, N_DATA = 400, 250


@dataclass(frozen=True)
class Case:
    compiled: Any
    folder: Path
    model: Path
    test_data: Path

    @property
    def report(self) -> dict[str, Any]:
        """The report.json."""
        report: dict[str, Any] = self.compiled.report
        return report

    @property
    def exits(self) -> list[dict[str, Any]]:
        """The stages of the report that can decide."""
        return [stage for stage in self.report["stages"] if stage["exit"] is not None]


def compiled(root: Path, **options: Any) -> Case:
    need("gcc")
    folder, model, test_data = root / "out", root / "moons.pkl", root / "test.npy"
    model.write_bytes(pickle.dumps(SVC(gamma=2.0, C=10).fit(X[:N_TRAINED], Y[:N_TRAINED])))
    np.save(test_data, X[N_TRAINED + N_DATA :])
    options = {"test_data": test_data, **options}
    made = kmcompile.compile_model(
        model, target="host", name="moons", out=folder, verify="host", **options
    )
    return Case(made, folder, model, test_data)


@pytest.fixture(scope="module")
def by_default(tmp_path_factory: pytest.TempPathFactory) -> Case:
    root = tmp_path_factory.mktemp("default")
    return compiled(root, optimize="mean", replay="float64")


@pytest.fixture(scope="module")
def with_data(tmp_path_factory: pytest.TempPathFactory) -> Case:
    data = X[N_TRAINED : N_TRAINED + N_DATA]
    root = tmp_path_factory.mktemp("data")
    return compiled(root, mode="certified", data=data, test_data=None, optimize="mean")


def printed(report: dict[str, Any], width: int = 120) -> str:
    stream = io.StringIO()
    terminal.print_report(report, Console(file=stream, width=width))
    return stream.getvalue()


def test_certified_is_the_mode_without_samples(by_default):
    assert by_default.report["options"]["mode"] == by_default.compiled.program.mode == "certified"
    assert {stage["exit"] for stage in by_default.exits[:-2]} == {"certified"}


def test_each_stage_has_its_part_of_the_certified_share(by_default):
    test = np.load(by_default.test_data).astype(np.float32)
    results = by_default.compiled.classify(test)
    for number, stage in enumerate(by_default.exits):
        here = results["stage"] == number
        assert stage["decided"] == here.mean()
        assert stage["certified"] == (here & results["certified"]).mean()
        if stage["exit"] == "certified":
            assert stage["certified"] == stage["decided"]
    whole = sum(stage["certified"] for stage in by_default.exits)
    share = by_default.report["verification"]["certified"]["certified_share"]
    assert whole == pytest.approx(share, abs=1e-12)


def test_kernels_of_the_stages_add_up(by_default):
    cost, n = by_default.report["cost"], by_default.report["cost"]["queries"]
    means = [(s["reached"], s["kernel_evals_mean"]) for s in by_default.report["stages"]]
    own = [round(n * reached * mean) for reached, mean in means[:-1] if mean is not None]
    assert sum(own) == round(n * cost["kernel_evals_mean"])


def test_the_replay_has_a_line_of_its_own(by_default):
    program, cost = by_default.compiled.program, by_default.report["cost"]
    assert program.replay is not None and by_default.exits[-1]["name"] == "replay"
    answers = interpret(program, np.load(by_default.test_data).astype(np.float32))
    assert cost["mean_ops"] == answers.operations.mean()
    assert cost["replay_ops_mean"] == answers.replay_operations.mean()
    most = (answers.operations + answers.replay_operations).max()
    assert cost["max_ops_with_replay"] == most
    assert "operations of the replay in float64, mean" in printed(by_default.report)


@pytest.mark.exhaustive
def test_without_a_replay_its_figures_are_null(tmp_path):
    made = compiled(tmp_path, replay="none").report
    assert made["cost"]["max_ops_with_replay"] is made["cost"]["replay_ops_mean"] is None
    assert made["not_available"]["cost.replay_ops_mean"] == "the program has no replay"
    assert made["stages"][-1]["name"] != "replay"


def test_nothing_is_said_to_be_calibrated(by_default):
    report = by_default.report
    assert report["risk"] is report["calibration"] is None
    assert "no statistical exit" in report["not_available"]["risk"]
    assert "rests on no sample" in report["not_available"]["calibration"]
    header = (by_default.folder / "moons.h").read_text()
    assert "calibrated on samples" not in header and "moons_audit(" not in header


@pytest.mark.exhaustive
def test_the_report_says_what_the_exits_were_chosen_with(by_default, with_data):
    for case, source in ((by_default, "generated"), (with_data, "data")):
        choice = case.report["choice"]
        assert choice["queries_source"] == source
        means = [candidate["instructions_estimated"] for candidate in choice["candidates"]]
        assert means == sorted(means)
        assert [c["chosen"] for c in choice["candidates"]] == [True] + [False] * (len(means) - 1)
        assert ["exact_sum"] in [candidate["stages"] for candidate in choice["candidates"]]
    assert with_data.report["choice"]["queries"] == N_DATA // JUDGED


def test_samples_that_chose_the_exits_are_not_called_held_out(with_data):
    assert with_data.report["cost"]["queries_source"] == "calibration"
    text = printed(with_data.report)
    assert f"stages, of {N_DATA} samples that the early exits were chosen with" in text
    assert "held out" not in text and "calibrated" not in text


def test_of_many_candidates_the_cheapest_and_the_exact_sum_are_listed():
    many = [
        Candidate((f"stage {n}", "exact_sum"), float(n), n == 300, float(n)) for n in range(500)
    ]
    choice = Choice("generated", 9, (*many, Candidate(("exact_sum",), 500.0, False, 500.0)), ())
    listed = choice_section(choice)["candidates"]
    assert len(listed) < 50
    assert [c["mean_ops"] for c in listed] == [*range(20), 300, 500]
    assert list(listed[-1]["stages"]) == ["exact_sum"]


def test_the_page_shows_the_choice_and_the_certified_shares(by_default):
    program = by_default.compiled.program
    test = np.load(by_default.test_data).astype(np.float32)
    queries = Queries(test, "test-data", len(test), len(test))
    cascade = cascade_of(program, interpret(program, test), queries)
    text = html.render(by_default.report, None, cascade).decode()
    for words in (
        "come here",
        "made from the support vectors",
        "What was compared",
        "taken",
        "not certified",
        "What decides are proved bounds of each query, not thresholds.",
    ):
        assert words in text, words
    assert text.count("<svg") == 4  # that of the choices among them


def test_the_terminal_shows_the_certified_share_of_each_stage(by_default):
    text = printed(by_default.report, width=80)
    lines = {line.split()[0]: line for line in text.splitlines() if " certified " in line}
    for stage in by_default.exits:
        assert stage["name"] in lines
    assert any(line.strip().startswith("not certified") for line in text.splitlines())


def test_a_certified_folder_is_verified_again(by_default):
    facts = verify_folder(by_default.folder, by_default.model, by_default.test_data)
    checked = facts["verification"]
    assert checked["exact"]["host"]["mismatches"] == checked["certified"]["wrong"] == 0
    again = kmcompile.load(by_default.folder)
    results = again.classify(np.load(by_default.test_data))
    assert results["certified"].mean() == checked["certified"]["certified_share"]

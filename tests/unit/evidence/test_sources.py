"""What the page of the promises says of the evidence that they name."""

from __future__ import annotations

import json

import pytest

from evidence.promise_page import outcome_of, page
from evidence.promises import Promise, promises
from evidence.sources import Sources
from evidence.traceability import kept_promises
from kmcompile.evidence.finding import Finding, Outcome


def finding(claim, outcome):
    return Finding(claim, "iris", outcome, "0 of 3", "run it", "tool 1.0")


FOUND = [
    finding("ends", Outcome.SHOWN),
    finding("ends", Outcome.SHOWN),
    finding("ends", Outcome.OPEN),
]


def test_a_claim_has_all_its_outcomes_and_a_field_its_first_value(tmp_path):
    for name, report in (("a", {"risk": None}), ("b", {"risk": {"upper_bound": 0.02}})):
        (tmp_path / "supply_chain" / name).mkdir(parents=True)
        (tmp_path / "supply_chain" / name / "report.json").write_text(json.dumps(report))
    sources = Sources.of_folder(tmp_path, FOUND)
    assert sources.said("claim:ends") == "shown for 2, open for 1"
    assert sources.said("claim:begins") == ""
    assert sources.said("report:risk.upper_bound") == "0.02, supply_chain/b/report.json"
    assert sources.said("report:risk.confidence") == ""


def test_a_value_that_is_nothing_is_a_value():
    sources = Sources([], {"a": {"mismatches": 0, "replays": False, "notes": []}})
    assert sources.said("report:mismatches") == "0, supply_chain/a/report.json"
    assert sources.said("report:replays") == "false, supply_chain/a/report.json"
    assert sources.said("report:notes") == ""


def test_a_source_may_be_of_one_subject_or_have_a_value():
    sources = Sources(FOUND, {"a": {"wrong": 0}, "b": {"wrong": 2}, "c": {}})
    assert sources.said("claim:iris:ends") == "shown for 2, open for 1"
    assert sources.said("claim:wine:ends") == ""
    assert sources.said("report:b:wrong") == "2, supply_chain/b/report.json"
    assert sources.said("report:wrong=0") == "0 in 1 of 2 reports"
    assert sources.outcome("report:wrong=0") is Outcome.REFUTED
    assert sources.outcome("report:b:wrong=0") is Outcome.REFUTED
    assert sources.outcome("report:a:wrong=0") is Outcome.SHOWN
    assert sources.outcome("report:c:wrong=0") is Outcome.NOT_RUN


def test_what_repeats_a_source():
    sources = Sources(FOUND, {"a": {"risk": None}, "b": {"risk": {"upper_bound": 0.02}}})
    assert sources.command("claim:ends") == "run it"
    assert sources.command("claim:begins") == ""
    again = "kmcompile verify supply_chain/b --model trained/b.pkl"
    assert sources.command("report:risk.upper_bound") == again
    assert sources.command("report:risk.confidence") == ""


def test_the_worst_outcome_of_a_claim_counts():
    sources = Sources(FOUND, {"a": {"risk": 0.1}})
    assert sources.outcome("claim:ends") is Outcome.OPEN
    assert sources.outcome("claim:begins") is Outcome.NOT_RUN
    assert sources.outcome("report:risk") is Outcome.SHOWN
    assert sources.outcome("report:a:none") is Outcome.NOT_RUN


def test_what_is_not_in_the_folder_is_listed(tmp_path):
    (tmp_path / "promises.json").write_text("[]")
    sources = Sources([finding("promise-tests", Outcome.SHOWN)], {})
    named_here, shown = kept_promises(tmp_path, sources)
    named = [source for one in promises() for source in one.evidence]
    tests = named.count("claim:promise-tests")
    assert named_here.outcome is shown.outcome is Outcome.OPEN
    assert len(named_here.listed) == len(named) - tests > 50
    assert shown.figure.startswith("0 of")
    page = (tmp_path / "promises.md").read_text()
    assert page.count("the finding `promise-tests`: shown for 1") == tests


def test_a_finding_that_no_promise_names_stands_on_the_page():
    sources = Sources([*FOUND, finding("bills", Outcome.SHOWN)], {})
    one = Promise("p", "t", "It ends.", {}, (), ("tests/a.py::test_it",), ("claim:ends",), "0")
    assert sources.other_claims(one.evidence) == ["bills"]
    assert "- the finding `bills`: shown for 1; again: `run it`" in page((one,), {}, sources)


@pytest.mark.parametrize(
    ("counts", "claim", "outcome", "why"),
    [
        ({"passed": 3, "skipped": 1}, "ends", Outcome.SHOWN, []),
        ({"skipped": 1}, "ends", Outcome.OPEN, ["test_it not run"]),
        (None, "ends", Outcome.OPEN, ["test_it not run"]),
        ({"passed": 1, "failed": 1}, "ends", Outcome.REFUTED, ["test_it failed"]),
        ({"passed": 1}, "fails", Outcome.REFUTED, ["the finding `fails`: refuted for 1"]),
        ({"passed": 1}, "begins", Outcome.OPEN, ["the finding `begins`: not in this folder"]),
    ],
)
def test_a_promise_is_shown_if_all_that_it_names_is(counts, claim, outcome, why):
    sources = Sources([finding("ends", Outcome.SHOWN), finding("fails", Outcome.REFUTED)], {})
    one = Promise("p", "t", "It ends.", {}, (), ("tests/a.py::test_it",), (f"claim:{claim}",), "0")
    results = {} if counts is None else {"tests/a.py::test_it": counts}
    assert outcome_of(one, results, sources) == (outcome, why)
    assert f"| p | {outcome.value} |" in page((one,), results, sources)

"""What the page of the promises says of the evidence that they name."""

from __future__ import annotations

import json

from evidence.promises import promises
from evidence.sources import Sources
from evidence.traceability import named_evidence
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


def test_what_is_not_in_the_folder_is_listed(tmp_path):
    (tmp_path / "promises.json").write_text("[]")
    found = named_evidence(tmp_path, Sources([finding("promise-tests", Outcome.SHOWN)], {}))
    named = [source for one in promises() for source in one.evidence]
    tests = named.count("claim:promise-tests")
    assert found.outcome is Outcome.OPEN
    assert len(found.listed) == len(named) - tests > 50
    page = (tmp_path / "promises.md").read_text()
    assert page.count("the finding `promise-tests`: shown for 1") == tests

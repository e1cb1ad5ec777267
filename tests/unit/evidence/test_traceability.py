"""Each promise has its code, tests, evidence and figure, and no sentence is without a promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

import evidence.promises as traced
from evidence import sentences, traceability
from evidence.promises import WHOLE, problems, promises, uncovered
from kmcompile.evidence.finding import Outcome

BITS = next(one for one in promises() if one.name == "bits-are-the-interpreters")


def test_every_promise_has_code_tests_evidence_and_figure_and_every_sentence_a_promise():
    assert problems(promises()) == []


def test_identifiers_are_unique():
    names = [one.name for one in promises()]
    assert len(names) == len(set(names))


@pytest.mark.few
@pytest.mark.parametrize("part", ["code", "tests", "evidence", "figure", "says", "promise"])
def test_a_promise_that_lacks_a_part_is_found(part):
    lacking = replace(BITS, **{part: "" if part in ("figure", "promise") else ()})
    if part == "says":
        lacking = replace(BITS, says={})
    assert f"{BITS.name}: has no {part}" in problems((lacking,))


def test_a_sentence_that_no_longer_stands_there_is_found():
    changed = replace(BITS, says={"README.md": ("The C gives the answers of an oracle",)})
    wanted = f"{BITS.name}: README.md does not say: The C gives the answers of an oracle"
    assert wanted in problems((changed,))
    gone = replace(BITS, says={"templates/header/gone.h.j2": ("a",)})
    assert f"{BITS.name}: there is no file templates/header/gone.h.j2" in problems((gone,))


@pytest.mark.few
@pytest.mark.parametrize(
    ("part", "value", "problem"),
    [
        ("code", "kmcompile/verify/checks.py:check_nothing", "there is no kmcompile/verify/checks"),
        ("code", "templates/gone.c.j2", "there is no templates/gone.c.j2"),
        ("tests", "tests/unit/verify/test_checks.py::test_gone", "there is no test tests/unit"),
        ("tests", "tests/unit/verify/test_checks.py", "there is no test tests/unit/verify"),
        ("evidence", "report:verification.luck", "there is no report:verification.luck"),
        ("evidence", "claim:luck-held", "there is no claim:luck-held"),
        ("evidence", "rumour:yes", "there is no rumour:yes"),
    ],
)
def test_what_a_promise_names_and_is_not_there_is_found(part, value, problem):
    found = problems((replace(BITS, **{part: (value,)}),))
    assert any(one.startswith(f"{BITS.name}: {problem}") for one in found)


@pytest.mark.parametrize("heading", ["What is promised, and what not", "In flight"])
def test_a_sentence_without_a_promise_is_found(heading, monkeypatch):
    own = sentences.sentences_of("README.md", (heading,))[0]
    without = tuple(
        replace(one, says={f: q for f, q in one.says.items() if f != "README.md"})
        for one in promises()
    )
    monkeypatch.setattr(traced, "not_promised", lambda: {"README.md": []})
    assert ("README.md", own) in list(uncovered(without))


def test_a_new_sentence_of_the_header_is_found(monkeypatch):
    real = traced.sentences_of

    def more(name, headings=()):
        new = ["It never fails at all."] if name == WHOLE[1] else []
        return [*real(name, headings), *new]

    monkeypatch.setattr(traced, "sentences_of", more)
    assert f"{WHOLE[1]}: no promise says: It never fails at all." in problems(promises())


def test_sentences_are_those_of_comments_lists_and_texts():
    head = sentences.sentences_of("templates/header/head.h.j2")
    assert "All functions are reentrant: no mutable globals, no heap, no recursion." in head
    promised = sentences.sentences_of("README.md", ("What is promised, and what not",))
    assert "The same model and options give the same bytes." in promised
    assert all("Figures" not in one for one in promised)


@pytest.mark.exhaustive
def test_tests_of_a_promise_are_run_and_counted(tmp_path, monkeypatch):
    few = replace(BITS, tests=("tests/unit/verify/test_checks.py::test_equal_records_pass",))
    monkeypatch.setattr(traceability, "promises", lambda: (few,))
    monkeypatch.setattr(traceability, "problems", lambda made: [])
    traced_, tested = traceability.run_traceability(tmp_path, 1.0)
    assert (traced_.claim, traced_.outcome) == ("traceability", Outcome.SHOWN)
    assert (tested.claim, tested.outcome) == ("promise-tests", Outcome.SHOWN)
    assert tested.figure.endswith("of 1 of 1 tests passed, 0 failed, 0 skipped")
    assert "test_equal_records_pass` (" in (tmp_path / "promises.md").read_text("utf-8")


def test_a_failing_test_refutes_and_a_test_that_did_not_run_is_listed(tmp_path):
    (tmp_path / "tests.xml").write_text(
        '<testsuites><testsuite><testcase file="tests/a.py" name="test_a[1]"><failure/></testcase>'
        '<testcase file="tests/a.py" name="test_a[2]"/></testsuite></testsuites>'
    )
    results = traceability.read_results(tmp_path / "tests.xml")
    assert results == {"tests/a.py::test_a": {"failed": 1, "passed": 1}}
    few = replace(BITS, tests=("tests/a.py::test_a", "tests/a.py::test_b"))
    found = traceability._tested((few,), results, [], 1.0)
    assert found.outcome is Outcome.REFUTED
    assert found.listed[1] == "tests/a.py::test_b: was not run"


def test_the_reasons_of_skipped_cases_are_listed(tmp_path):
    path = tmp_path / "tests.xml"
    assert traceability._skipped(path) == []
    case = '<testcase file="tests/a.py" name="test_a"><skipped message="{}"/></testcase>'
    skips = [case.format(reason) for reason in ("no data", "no clang", "no data")]
    path.write_text(f"<testsuite>{''.join(skips)}</testsuite>")
    reasons = ["2 skipped: no data", "1 skipped: no clang"]
    assert traceability._skipped(path) == reasons
    few = replace(BITS, tests=("tests/a.py::test_a",))
    found = traceability._tested((few,), traceability.read_results(path), reasons, 1.0)
    assert found.outcome is Outcome.OPEN
    assert found.listed[1:] == tuple(reasons)

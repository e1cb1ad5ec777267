"""Coverage of the emitted C: what clang's figures mean, and what is justified."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from types import SimpleNamespace

import pytest

from evidence.subjects import small_models
from kit.tools import need
from kmcompile import resources
from kmcompile.evidence.coverage import count, covering
from kmcompile.evidence.coverage.count import Outcome, merged, numbers, outcomes
from kmcompile.evidence.coverage.justified import FILE, Facts, justified, reason_of
from kmcompile.evidence.coverage.measured import Measured
from kmcompile.evidence.coverage.with_gcc import outcomes_of_gcov
from kmcompile.evidence.finding import NO_ARGUMENT
from kmcompile.evidence.finding import Outcome as Stands

SOURCE = """static bool iris_both(const bool a, const bool b)
{
    return a && (b != IRIS_NO);
}"""
EXPORT = {
    "files": [
        {
            "branches": [[3, 12, 3, 13, 5, 1, 0, 0, 6], [3, 17, 3, 31, 5, 0, 0, 0, 6]],
            "mcdc_records": [[3, 12, 3, 31, 0, 5, [True, False]]],
        }
    ]
}
LCOV = "SF:iris.c\nDA:2,6\nDA:3,6\nDA:4,0\nend_of_record\n"


def found():
    return outcomes(json.dumps({"data": [EXPORT]}), LCOV, SOURCE, "iris")


def test_branches_conditions_and_lines_are_told_without_the_prefix():
    left = {
        (one.kind, one.function, one.text, one.value) for one in found().values() if not one.covered
    }
    assert left == {
        ("branch", "both", "(b != NO)", "false"),
        ("condition", "both", "(b != NO)", ""),
        ("line", "both", "}", ""),
    }


def test_what_another_build_covers_is_covered():
    other = {
        place: Outcome(one.kind, one.function, one.text, one.value, one.line, True)
        for place, one in found().items()
        if one.kind == "branch"
    }
    both = merged([found(), other])
    assert all(one.covered for one in both.values() if one.kind == "branch")
    assert not all(one.covered for one in both.values())


@pytest.mark.parametrize(
    ("reason", "told", "code"),
    [("no vector can", {}, 0), (None, {}, 1), ("no vector can", {"line": [3, 3]}, 1)],
)
def test_the_counts_can_be_repeated_without_kmcompile(reason, told, code, tmp_path):
    keys = ("kind", "line", "text", "value")
    left = [
        {**{key: getattr(one, key) for key in keys}, "reason": reason}
        for one in found().values()
        if not one.covered
    ]
    (tmp_path / "iris.c").write_text(SOURCE)
    (tmp_path / "covered.export.json").write_text(json.dumps({"data": [EXPORT]}))
    (tmp_path / "covered.lcov").write_text(LCOV)
    counted = {"covered": numbers(found()) | told, "left": left}
    (tmp_path / covering.COUNTS).write_text(json.dumps(counted))
    command = [sys.executable, "-I", count.__file__, "iris"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "3 of 4 outcomes of branches\n1 of 2 conditions (MC/DC)" in done.stdout
    assert done.stdout.count(reason or "no reason is known") == 3


def test_each_justified_function_stands_in_its_template():
    templates = next(iter(resources.template_folders()))
    for one in justified():
        text = " ".join((templates / one.template).read_text(encoding="utf-8").split())
        own = one.function.removesuffix("_float").removeprefix("replay_").strip("*_")
        if own in ("classify", "predict"):
            own = "{{ view.words.call }}"
        assert f"_{own}" in text, one
        assert one.value in ("true", "false", "any")
        assert len(one.reason) > 20


def test_each_justification_is_there_once():
    entries = tomllib.loads(FILE.read_text())["justified"]
    keys = [
        (one["function"], one["condition"], one["value"], *one.get("where", ())) for one in entries
    ]
    assert len(set(keys)) == len(keys)


def facts():
    source = """static bool iris_within(
    const uint32_t p)
{
    const bool within = true;

    return within && (p < IRIS_N_DECISIONS);
}
"""
    header = "#define IRIS_N_DECISIONS 1U  /* one */\n#define IRIS_N_CLASSES 2U\n"
    return Facts.of(source, header, "iris")


def test_an_unknown_condition_has_no_reason():
    assert reason_of(Outcome("branch", "sum", "x > 3U", "true", 7, False), facts(), 1) is None


@pytest.mark.parametrize(
    ("fact", "holds"),
    [
        ("N_DECISIONS == 1", True),
        ("N_CLASSES <= N_DECISIONS", False),
        ("N_CLASSES <= N_DECISIONS + 1", True),
        ("N_CLASSES >= 2", True),
        ("N_NODES == 1", False),
        ("within: const bool within = true; return within && (p < N_DECISIONS)", True),
        ("with*: bool within = true;", True),
        ("sum: bool within = true;", False),
    ],
)
def test_a_reason_rests_on_facts_about_the_c(fact, holds):
    assert facts().hold(fact) is holds


def test_a_reason_is_none_where_its_facts_do_not_hold():
    left = Outcome("branch", "within", "within", "false", 5, False)
    assert reason_of(left, facts(), 1) is not None
    assert reason_of(left, Facts({"N_DECISIONS": 3}, {}), 1) is None


@pytest.mark.exhaustive
def test_branches_of_small_models_are_covered_or_justified(tmp_path):
    need("clang-19")
    for subject in small_models(0.03, with_vectors=True):
        findings = covering.run(subject, tmp_path)
        assert {one.outcome for one in findings} == {Stands.SHOWN}, findings
        own = tmp_path / subject.name
        done = subprocess.run(["sh", "measure.sh"], cwd=own, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "as in coverage.json; 0 without a reason" in done.stdout
        told = json.loads((own / covering.COUNTS).read_text())
        for covered, all_ in told["covered"].values():
            assert covered >= 0.8 * all_
        covered, all_ = told["covered"]["branch"]
        assert covered >= 0.95 * all_


GCOV_SOURCE = """static uint32_t iris_both(const bool a, const bool b)
{
    if (a) {
        return IRIS_NO;
    }
    for (uint32_t i = 0U; i < 3U; i++) {
        use(a && b);
    }
    return 1U;
}"""


def of_gcov(*lines):
    """Return what gcov says of lines, each (number, count, counts of its branches)."""
    told = [
        {"line_number": n, "count": count, "branches": [{"count": one} for one in taken]}
        for n, count, taken in lines
    ]
    text = json.dumps({"files": [{"file": "iris.c", "lines": told}, {"file": "v.c", "lines": []}]})
    return [
        (one.kind, one.function, one.text, one.value)
        for one in outcomes_of_gcov(text, GCOV_SOURCE, "iris").values()
        if not one.covered
    ]


def test_gcov_tells_which_value_a_condition_never_has_by_the_line_behind_it():
    rest = (7, 3, [3, 3, 3, 3]), (9, 1, [])
    assert of_gcov((3, 5, [0, 5]), (4, 0, []), (6, 5, [1, 3]), *rest) == [
        ("line", "both", "return NO;", ""),
        ("branch", "both", "a", "true"),
    ]
    assert of_gcov((3, 5, [5, 0]), (4, 5, []), (6, 0, [0, 0]), *rest) == [
        ("line", "both", "for (uint32_t i = 0U; i < 3U; i++) {", ""),
        ("branch", "both", "a", "false"),
        ("branch", "both", "i < 3U", "true"),
        ("branch", "both", "i < 3U", "false"),
    ]


def test_of_several_conditions_gcov_tells_a_branch_without_a_value():
    lines = (3, 5, [1, 4]), (4, 1, []), (6, 4, [1, 3]), (7, 3, [3, 0, 3, 3]), (9, 1, [])
    assert of_gcov(*lines) == [("branch", "both", "branch 2 of use(a && b);", "")]


@pytest.mark.parametrize(
    ("body", "argument"),
    [
        ("test_table: judge_block(state->part, found)", "With two copies of the tables"),
        ("", NO_ARGUMENT),
    ],
)
def test_what_no_vector_covers_is_listed_with_its_place_and_argument(
    body, argument, tmp_path, monkeypatch
):
    left = Outcome("branch", "self_test", "!state.done", "false", 7, False)
    measured = Measured({("branch", 7, 3, 1): left}, ("9 words",), True, "a tool", ("tool",))
    monkeypatch.setattr(covering, "has_clang", lambda: True)
    monkeypatch.setattr(covering, "measure", lambda vectors, folder: measured)
    monkeypatch.setattr(covering.Vectors, "of", lambda subject: None)
    function, _, text = body.partition(": ")
    monkeypatch.setattr(covering, "facts_of", lambda subject: Facts({}, {function: text}))
    subject = SimpleNamespace(
        name="small", program=SimpleNamespace(name="iris"), files={"queries.npz": b""}
    )
    (tmp_path / "small").mkdir()
    found = {one.claim: one for one in covering.run(subject, tmp_path)}
    branches = found["every-branch-is-taken-both-ways"]
    (line,) = branches.listed
    assert line.startswith("iris.c, line 7, self_test: `!state.done`, never false: " + argument)
    assert branches.outcome is (Stands.OPEN if argument == NO_ARGUMENT else Stands.SHOWN)
    assert branches.programs == ("tool",)

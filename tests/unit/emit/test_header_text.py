"""The header says which functions there are, why others are not, and what the answers rest on."""

from __future__ import annotations

import re

import pytest

from kit import cascades, catalogue, certified, replays
from kmcompile.program.cost import replay_operations, worst_operations
from kmcompile.program.interpreter import interpret
from kmcompile.program.workspace import workspace_bytes

CASES = {
    "exact": catalogue.CORE[0],
    "replayed": replays.CORE[0],
    "certified": certified.CORE[0],
    "certified, many classes": certified.CORE[3],
    "statistical": cascades.CORE[0],
}
FUNCTIONS = {
    "exact": {"classify_float"},
    "replayed": {"classify_float"},
    "certified": {"classify_within", "classify_float"},
    "certified, many classes": {"classify_within", "classify_float"},
    "statistical": {"audit", "classify_float"},
}


def header(kind: str) -> str:
    return catalogue.emitted(CASES[kind], "cortex-m7").files["iris.h"].decode("ascii")


def joined(kind: str) -> str:
    """Return the header with its comments' lines joined."""
    return " ".join(header(kind).replace("\n *", " ").split())


@pytest.mark.parametrize("kind", CASES)
def test_the_functions_that_depend_on_the_mode_are_there_or_said_not_to_be(kind):
    text = joined(kind)
    declared = set(re.findall(r"iris_status_t iris_(\w+)\(", text))
    (absent,) = re.findall(r"Not here: (.*?)\. ", text)
    for function in ("classify_within", "audit", "classify_float", "decision_float"):
        assert (function in declared) == (function in FUNCTIONS[kind])
        assert (f"iris_{function}" in absent) == (function not in declared)
    assert absent.count("because") == absent.count(";") + 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("exact", "this program has no early exit to limit or to watch"),
        ("certified", "every early exit is proved: there is no risk to estimate"),
        ("statistical", "no early exit of this program proves bounds"),
    ],
)
def test_the_reason_is_that_of_the_mode(kind, reason):
    assert f"because {reason};" in joined(kind)


@pytest.mark.parametrize("kind", CASES)
def test_only_certified_programs_speak_of_proof_and_only_calibrated_ones_of_samples(kind):
    text = joined(kind)
    assert ("No sample takes part in the proof." in text) == kind.startswith("certified")
    assert ("calibrated on samples" in text) == (kind == "statistical")
    assert ("Where a calibrated early exit decided" in text) == (kind == "statistical")


@pytest.mark.parametrize("kind", CASES)
def test_lower_upper_and_certified_are_explained(kind):
    text = joined(kind)
    meant = "the closest pair that the winner won" if "many" in kind else "lower and upper bound"
    assert meant in text
    assert "in real arithmetic the trained model's lies between them" in text
    assert "certified: the label is the same for all decisions" in text


def test_the_precision_that_does_not_tell_is_that_of_the_last_sum():
    assert "so near a boundary that float does not tell" in joined("exact")
    assert "so near a boundary that double does not tell" in joined("replayed")


@pytest.mark.parametrize("kind", CASES)
def test_the_sizes_and_the_longest_path_are_the_program_s(kind):
    emitted = catalogue.emitted(CASES[kind], "cortex-m7")
    program, text = emitted.program, joined(kind)
    assert f"Constants: {program.table_bytes} bytes of tables and" in text
    assert f"{4 * len(program.tables())} bytes of their checksums" in text
    assert f"a workspace of {workspace_bytes(program)} bytes" in text
    assert f"has {worst_operations(program)} operations, which are counted" in text


def test_the_longest_path_goes_through_the_replay():
    case = CASES["replayed"]
    program = catalogue.emitted(case, "cortex-m7").program
    answers = interpret(program, catalogue.emitted(case, "cortex-m7").queries)
    more = replay_operations(program)
    assert more == answers.replay_operations.max() > 0
    assert f"multiply-adds, {more} more in the replay, and" in joined("replayed")
    assert "in the replay" not in joined("exact")


def test_the_figures_of_an_image_are_said_to_be_in_the_report():
    assert "report.json and report.html, which are written beside this file" in joined("exact")

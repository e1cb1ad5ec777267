"""The folder of the evidence: what a part found, the page that sums up, and what is refused."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from evidence import gather as make_evidence
from kit.catalogue import CORE
from kmcompile import evidence_command
from kmcompile.errors import OutputError, UsageError
from kmcompile.evidence.finding import READ, Finding, Outcome
from kmcompile.evidence.folder import JSON, PAGE, SUMS, summary
from kmcompile.evidence.gathering import CATALOGUE, gather, parts_named
from kmcompile.evidence.part import Part
from kmcompile.evidence.subject import Subject


def finding(subject, outcome=Outcome.SHOWN, listed=()):
    return Finding("ends", subject, outcome, "0 of 3 | all", "run it", "tool 1.0", listed)


@pytest.fixture
def subject():
    emitted = CORE[0].emit("host")
    return Subject("iris", emitted.program, emitted.target, emitted.files, {})


def writes(subject, folder):
    subject.write(folder / subject.name)
    return [finding(subject.name)]


def fails(subject, folder):
    raise OSError(28, "No space left on device")


def quiet(text):
    pass


def test_folder_has_the_digest_of_each_other_file(subject, tmp_path):
    out = tmp_path / "evidence"
    gather([subject], [Part("ending", "each loop ends", writes)], out, quiet)
    told = dict(line.split("  ")[::-1] for line in (out / SUMS).read_text().splitlines())
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert set(told) == files - {SUMS}
    assert told[JSON] == sha256((out / JSON).read_bytes()).hexdigest()


def test_folder_has_the_findings_and_what_the_parts_wrote(subject, tmp_path):
    out = tmp_path / "evidence"
    part = Part("ending", "each loop ends", writes)
    for _ in range(2):  # the second run replaces the folder of the first
        gather([subject], [part], out, quiet)
        told = json.loads((out / JSON).read_text())
        assert [one["claim"] for one in told["findings"]] == ["ends"]
        assert told["made"]["date"].startswith("20")
        assert (out / "ending" / "iris" / "iris.c").read_bytes() == subject.files["iris.c"]
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]


def test_parts_get_an_absolute_folder_where_a_relative_one_is_given(subject, tmp_path, monkeypatch):
    """Tools run in folders of their own."""
    monkeypatch.chdir(tmp_path)
    got = []

    def run(_, folder):
        got.append(folder)
        return ()

    gather([subject], [Part("none", "nothing", run)], Path("evidence"), quiet)
    monkeypatch.setattr(make_evidence, "run", lambda folder, share, names: got.append(folder) or [])
    monkeypatch.setattr(sys, "argv", ["gather", "build/evidence"])
    with pytest.raises(SystemExit):
        make_evidence.main()
    assert [folder.is_absolute() for folder in got] == [True, True]
    assert (tmp_path / "evidence" / JSON).is_file()
    assert (tmp_path / "build" / "evidence" / JSON).is_file()


def test_page_tells_the_worst_outcome_of_each_claim_and_what_is_left():
    left = finding("b", Outcome.OPEN, ("loop 7: has no bound",))
    made = {"date": "2026-11-26", "commit": "c0ffee", "machine": "Linux", "python": "3.11"}
    made["tools"] = {"gcc": "gcc (Debian) 12", "tcc": None}
    text = summary([finding("a"), left, finding("c", Outcome.NOT_RUN)], made)
    assert "| ends | open | 1 of 3 | b: 0 of 3 \\| all | tool 1.0 | `run it` |" in text
    assert "- ends, b: loop 7: has no bound" in text
    assert "commit c0ffee, on 2026-11-26" in text
    assert "- gcc: gcc (Debian) 12\n- tcc: tells no version\n" in text


def test_page_says_where_each_finding_comes_from_and_which_programs_were_used(subject, tmp_path):
    """Programs that are installed and were not used are not named."""
    ran = replace(finding("iris"), programs=("sh", "no-such-program"))
    read = replace(finding("iris"), claim="reads", where=READ)
    part = Part("ending", "each loop ends", lambda subject, folder: [ran, read])
    gather([subject], [part], tmp_path / "e", quiet)
    text = (tmp_path / "e" / PAGE).read_text()
    assert "| `run it` | host |" in text and "| `run it` | read |" in text
    made = text[text.index("## Made with") :].splitlines()[4:]
    assert [line.split(":")[0] for line in made] == ["- sh"]
    told = json.loads((tmp_path / "e" / JSON).read_text())
    assert list(told["made"]["tools"]) == ["sh"]
    assert [one["where"] for one in told["findings"]] == ["host", "read"]


def test_what_is_left_of_several_shown_subjects_is_in_the_json_only():
    made = {"date": "", "commit": None, "machine": "", "python": "", "tools": {}}
    shown = finding("a", listed=("line 3: it is never reached",))
    assert "line 3" in summary([shown], made)
    open_ = finding("b", Outcome.OPEN, ("line 4: open",))
    both = summary([shown, open_], made)
    assert "line 3" not in both and "line 4" in both


def test_a_folder_of_something_else_is_left_alone(subject, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not a folder of evidence"):
        gather([subject], [], tmp_path / "mine", quiet)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    with pytest.raises(UsageError, match="is a file"):
        gather([subject], [], tmp_path / "mine" / "notes.txt", quiet)


def test_nothing_is_half_written(subject, tmp_path):
    with pytest.raises(OutputError, match="no space is left for"):
        gather([subject], [Part("full", "fails", fails)], tmp_path / "evidence", quiet)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_part_is_named():
    with pytest.raises(UsageError, match="no part is called 'nothing'"):
        parts_named("nothing")


def test_summary_is_a_page_of_markdown(subject, tmp_path):
    gather([subject], [Part("ending", "each loop ends", writes)], tmp_path / "e", quiet)
    assert (tmp_path / "e" / PAGE).read_text().startswith("# What was run, and what came out\n")


def test_the_help_names_all_parts():
    assert ", ".join(part.name for part in CATALOGUE) == evidence_command._PARTS

"""Reliability 49: no text from a file changes how a page or a terminal shows anything else."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console
from sample_report import make_report

from kmcompile import console
from kmcompile.emit.literals import comment_text, string_literal
from kmcompile.report import bench_table, html, terminal
from kmcompile.report.bench_table import FailedTarget
from kmcompile.report.html_environment import html_environment
from kmcompile.report.json_report import to_dict
from kmcompile.text.visible import visible

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Control, format, surrogate, private and unassigned characters, ends of lines and paragraphs."""
NASTY = "benign\u202etnangilam \x1b[2J\x00 \u2066\u200d\ufeff\ud800\ue000\u2028<b>[red]\n\r\x9b"
any_text = st.text(st.characters(exclude_categories=()), max_size=20)


def hidden(text: str) -> set[str]:
    """Return the characters that cannot be seen, but for the ends of lines of the page's own."""
    return {c for c in text if unicodedata.category(c) in HIDDEN and c != "\n"}


def report_with(text: str):
    """Return a report with the text wherever a file's text stands."""
    report = to_dict(make_report())
    report["model"].update(classes=[text, "b"], file=text, kind=text, preprocessing=[text])
    report["tool"]["command"] = f"kmcompile {text}"
    report["target"].update(part=text)
    report["notes"] = [text]
    report["not_available"] = {**report["not_available"], "calibration": text}
    return report


@settings(max_examples=8, deadline=None)
@given(any_text)
@example(NASTY)
def test_any_text_gives_a_page_on_which_everything_is_seen(text):
    report = report_with(text)
    page = html.render(report).decode("utf-8")
    assert not hidden(page)
    failures = [FailedTarget("host", text)]
    page = bench_table.page_bytes(text, text, [report], failures, []).decode("utf-8")
    assert not hidden(page)


@settings(max_examples=8, deadline=None)
@given(any_text)
@example(NASTY)
def test_any_text_reaches_the_terminal_as_what_can_be_seen(text):
    shown = io.StringIO()
    terminal.print_report(report_with(text), Console(file=shown, width=120, no_color=True))
    assert not hidden(shown.getvalue())


@settings(max_examples=40, deadline=None)
@given(any_text)
@example(NASTY)
def test_any_text_in_errors_and_facts_can_be_seen(text):
    with pytest.MonkeyPatch.context() as patch:
        out, err = io.StringIO(), io.StringIO()
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", err)
        console.fail(text, 3)
        console.print_facts({text: text, "classes": [text]})
        console.print_table([("model", "bytes"), (text, "1")])
    assert not hidden(out.getvalue() + err.getvalue())


@settings(max_examples=40, deadline=None)
@given(any_text)
@example(NASTY)
def test_escapes_are_those_of_python_and_letters_stay(text):
    assert not hidden(visible(text))
    assert "\n" not in visible(text)
    assert visible(visible(text)) == visible(text)
    kept = "".join(c for c in text if c.isalnum())
    assert visible(kept) == kept
    assert visible("\u202e\x1b\x00\u200d") == r"\u202e\x1b\x00\u200d"


def test_a_class_label_from_right_to_left_is_named_on_the_page():
    page = html.render(report_with("benign\u202etnangilam")).decode()
    assert r"benign\u202etnangilam" in page


def test_what_a_template_inserts_is_made_visible_and_escaped():
    """No template asks for it: a made-up one has it, too."""
    template = html_environment().from_string("{{ text }}{{ text | upper }}<b>{{ 'a' ~ text }}</b>")
    shown = template.render(text="<\u202e>")
    assert shown == r"&lt;\u202e&gt;&lt;\u202e&gt;<b>a&lt;\u202e&gt;</b>"


@settings(max_examples=40, deadline=None)
@given(any_text)
@example(NASTY)
def test_c_takes_any_label(text):
    """Half of a surrogate pair, which has no bytes, too."""
    assert string_literal(text).isascii()
    assert comment_text(text).isascii()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_of_the_csv_is_a_formula(text):
    report = to_dict(make_report())
    report["target"]["part"] = text
    content = bench_table.csv_bytes([report]).decode()
    assert f"'{text}" in content or visible(text) in content
    assert not hidden(content)
    cells = content.splitlines()[1].split(",")
    assert not any(cell.strip('"').startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)

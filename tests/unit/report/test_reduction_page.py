"""report.html of a reduced machine: what it stands for, the curve and its plot."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sample_reduction import REDUCTION, SMALL, TRAINED, UNCOUNTED, UNREDUCED, reduced_report
from sample_report import make_report

from kmcompile.report import html
from kmcompile.report.json_report import to_dict
from kmcompile.report.missing import Content

MEMORY_MAPS = 2


def page(report: Content) -> str:
    return html.render(to_dict(report)).decode("utf-8")


@pytest.fixture(scope="module")
def reduced_page() -> str:
    return page(reduced_report())


def cells(text: str) -> list[list[str]]:
    """Return the rows of the table of machines that were compared."""
    section = text[text.index('<section id="reduction">') :].split("</section>")[0]
    body = section[section.index("<tbody>") :]
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]


def test_page_says_what_is_proved_of_the_trained_model(reduced_page):
    assert "<h2>Reduced machine</h2>" in reduced_page
    assert "1,400 of 5,355 (construction)" in reduced_page
    assert "proved to be the trained model&#39;s label" in reduced_page
    assert "a made-up method" in reduced_page


def test_table_has_every_machine_that_was_compared(reduced_page):
    rows = cells(reduced_page)
    assert [row[0] for row in rows] == ["5,355", "2,700", "1,400", "500"]
    assert rows[2] == [
        *("1,400", "construction", "31 of 2,000", "2.38 %"),
        *("234.0 KB", "53,200", "0.21", "taken"),
    ]
    assert [row[-1] for row in rows] == ["-", "-", "taken", "-"]


def test_plot_has_the_curve_with_its_limits_and_the_risk(reduced_page):
    assert reduced_page.count("<svg") == MEMORY_MAPS + 1
    assert "Vectors against disagreements" in reduced_page
    assert "taken: 1,400" in reduced_page
    assert "the risk that was asked for" in reduced_page
    assert "#0101" not in reduced_page  # the colours are the page's


@pytest.mark.parametrize(
    "reduction", [UNCOUNTED, UNREDUCED, replace(REDUCTION, points=(TRAINED, SMALL))]
)
def test_without_a_curve_there_is_no_plot(reduction):
    text = page(reduced_report(reduction))
    assert text.count("<svg") == MEMORY_MAPS
    assert "<h2>Reduced machine</h2>" in text


def test_without_samples_the_table_has_dashes():
    rows = cells(page(reduced_report(UNCOUNTED)))
    assert [row[2:4] for row in rows] == [["-", "-"], ["-", "-"]]


def test_page_of_another_machine_has_no_such_section():
    assert 'id="reduction"' not in page(make_report())

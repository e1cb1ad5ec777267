"""report.html in a real browser: every part is there, readable, inside its place and alone."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cascade_report import reported
from sklearn.datasets import load_diabetes, load_digits, make_moons
from sklearn.svm import SVC, SVR

import kmcompile
from kit.tools import need, run
from kmcompile.report import html as html_report

pytestmark = pytest.mark.exhaustive
BROWSER = "chromium"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--enable-logging=stderr",
)
EVERYWHERE = {
    *("verification", "cascade", "cost", "memory", "targets"),
    *("values", "model", "target", "missing", "files", "sign"),
}
ROUNDED_PX = 1.0  # a scroll width is rounded to whole pixels


def compiled(folder: Path, model: Any, **options: Any) -> str:
    made = kmcompile.compile_model(model, target="host", out=folder, verify="host", **options)
    assert made.report["verification"]["bounded"] is not None
    return (folder / "report.html").read_text(encoding="utf-8")


def rendered(n_classes: int) -> str:
    """Return the page of a statistical cascade of 2 or 10 classes, with instructions."""
    made = reported("rbf", n_classes, instructions=True)
    content = html_report.render(made.report, None, made.cascade, made.steps)
    return content.decode("utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    need("gcc", BROWSER)
    folder = tmp_path_factory.mktemp("pages")
    moons, digits = make_moons(400, noise=0.25, random_state=0), load_digits(return_X_y=True)
    diabetes = load_diabetes(return_X_y=True)
    two = np.isin(digits[1], (3, 8))
    return {
        "certified": compiled(folder / "certified", SVC(gamma=2.0, C=10).fit(*moons)),
        "statistical": rendered(2),
        "many classes": rendered(10),
        "regression": compiled(
            folder / "regression", SVR(C=100.0).fit(diabetes[0][:150], diabetes[1][:150])
        ),
        "integers": compiled(
            folder / "integers", SVC().fit(digits[0][two], digits[1][two]), format="int8"
        ),
    }


@pytest.fixture(scope="module")
def measured(pages: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return what one browser measures of all pages, light and wide, dark and narrow."""
    folder = tmp_path_factory.mktemp("browser")
    listed = [{"name": name, "html": text} for name, text in pages.items()]
    harness = (Path(__file__).parent / "measure.html").read_text(encoding="utf-8")
    text = json.dumps(listed).replace("</", "<\\/")
    (folder / "measure.html").write_text(harness.replace("PAGES;", f"{text};"), encoding="utf-8")
    done = run(
        [
            BROWSER,
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            "--virtual-time-budget=20000",
            "--dump-dom",
            (folder / "measure.html").as_uri(),
        ]
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "CONSOLE" not in done.stderr, done.stderr[-2000:]
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found and found[1], done.stderr[-2000:]
    listed = json.loads(html.unescape(found[1]))
    assert len(listed) == 2 * len(pages)
    return listed


@pytest.mark.exhaustive
def test_every_section_is_there_with_a_size(measured):
    for page in measured:
        sizes = {name: (width, height) for name, width, height in page["sections"]}
        assert set(sizes) >= EVERYWHERE, page["name"]
        assert all(min(size) > 40 for size in sizes.values()), (page["name"], sizes)
        assert ("risk" in sizes) == (page["name"] != "regression")


def test_no_page_is_wider_than_its_window(measured):
    for page in measured:
        assert page["page_width"] <= page["width"] + ROUNDED_PX, (page["name"], page["look"])


def test_texts_of_figures_are_inside_them(measured):
    for page in measured:
        assert len(page["figures"]) >= 3, page["name"]
        for figure in page["figures"]:
            assert figure["outside"] == [], (page["name"], figure)
            assert (
                figure["named"] and figure["title"] and min(figure["width"], figure["height"]) > 0
            )


def test_light_and_dark_have_the_contrast_of_wcag_aa(measured):
    for page in measured:
        assert (page["page_luminance"] > 0.5) == (page["look"] == "light"), page["name"]
        assert page["contrast"]["ratio"] >= 4.5, (page["name"], page["look"], page["contrast"])


def test_heads_of_tables_say_what_they_are_of_and_nothing_is_fetched(measured):
    for page in measured:
        assert page["headless"] == page["requests"] == 0, page["name"]


def test_it_prints_on_a4(pages, tmp_path):
    (tmp_path / "page.html").write_text(pages["statistical"], encoding="utf-8")
    pdf = tmp_path / "page.pdf"
    done = run(
        [
            BROWSER,
            *FLAGS,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={pdf}",
            (tmp_path / "page.html").as_uri(),
        ]
    )
    assert done.returncode == 0, done.stderr[-2000:]
    content = pdf.read_bytes()
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
    assert 2 <= len(boxes) <= 12
    # A4 in points of 1/72 inch, rounded to pixels of 1/96 inch.
    assert all(abs(float(w) - 595.28) < 1 and abs(float(h) - 841.89) < 1 for w, h in boxes)

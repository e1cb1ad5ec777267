"""report.html: one file, safe text, honest about what did not run, the same bytes every time."""

from __future__ import annotations

import html.parser
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_report import HOSTILE_LABEL, make_report

from kit.tools import HANGS_S
from kmcompile.report import html as html_report
from kmcompile.report.json_report import to_dict
from kmcompile.report.missing import Missing
from kmcompile.verify.evidence import Evidence

MEMORY_MAPS = 2  # flash and RAM, each against all that the part has


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    rng = np.random.default_rng(0)
    reference = rng.normal(size=2000)
    decision = (reference + rng.normal(size=2000) * 1e-7).astype(np.float32)
    return Evidence(reference, decision, np.full(2000, 1e-5, np.float32))


@pytest.fixture(scope="module")
def page(evidence) -> str:
    return _rendered(to_dict(make_report()), evidence)


class _Elements(html.parser.HTMLParser):
    """Collects the elements and checks that they are closed in order."""

    VOID = frozenset({"meta", "br", "link", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


def _rendered(report: dict[str, Any], evidence: Evidence | None) -> str:
    return html_report.render(report, evidence).decode("utf-8")


def test_every_element_is_closed(page):
    elements = _Elements(page)
    assert elements.open == []
    assert [tag for tag, _ in elements.seen].count("svg") == 3 + MEMORY_MAPS


def test_the_page_needs_no_network_and_runs_no_script(page):
    for tag, attributes in _Elements(page).seen:
        assert tag not in ("script", "link", "img", "iframe", "object")
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_hostile_labels_and_file_names_stay_text(report):
    report["model"]["file"] = "<img src=x onerror=alert(1)>.pkl"
    report["notes"] = ["{{ 7 * 7 }} & </style>"]
    text = _rendered(report, None)
    assert HOSTILE_LABEL not in text
    assert "&lt;script&gt;" in text
    assert "<img" not in text
    assert "{{ 7 * 7 }} &amp; &lt;/style&gt;" in text


def test_identifiers_are_unique_over_all_plots(page):
    names = [a["id"] for _, a in _Elements(page).seen if "id" in a]
    assert len(names) == len(set(names)) > 0


def test_every_reference_inside_a_plot_has_its_identifier(page):
    names = set(re.findall(r'\bid="([^"]+)"', page))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', page)) <= names


def test_plots_take_their_colours_from_the_page(page):
    assert "#0101" not in page and "#0404" not in page
    assert "prefers-color-scheme: dark" in page
    assert "fill: var(--accent)" in page


@pytest.mark.exhaustive
def test_the_bytes_are_the_same_in_another_process(report, tmp_path):
    # Another hash seed, locale, time zone and matplotlib configuration.
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 7\nfont.size: 20\n")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np\n"
        "from sample_report import make_report\n"
        "from kmcompile.report import html\n"
        "from kmcompile.verify.evidence import Evidence\n"
        "from kmcompile.report.json_report import to_dict\n"
        "x = np.linspace(-2, 2, 50)\n"
        "e = Evidence(x, np.float32(x), np.full(50, 1e-6, np.float32))\n"
        "sys.stdout.buffer.write(html.render(to_dict(make_report()), e))\n"
    )
    environment = {
        "PYTHONHASHSEED": "17",
        "LC_ALL": "C",
        "TZ": "Asia/Tokyo",
        "MATPLOTLIBRC": str(tmp_path),
        "PATH": "",
        "PYTHONPATH": str(Path(html_report.__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(__file__).parent)],
        capture_output=True,
        timeout=HANGS_S,
        env=environment,
        check=True,
    )
    x = np.linspace(-2, 2, 50)
    here = Evidence(x, np.float32(x), np.full(50, 1e-6, np.float32))
    assert done.stdout == html_report.render(report, here)


def test_no_times_paths_or_versions_of_libraries(page):
    assert "dc:date" not in page and "Matplotlib v" not in page
    assert str(Path(__file__).parents[3]) not in page and str(Path.home()) not in page


def test_what_did_not_run_is_never_called_passed():
    not_verified = make_report(verification=Missing("--verify none"))
    text = _rendered(to_dict(not_verified), None)
    assert "not verified" in text
    assert ">passed<" not in text
    assert text.count(">not run<") == 4
    assert "--verify none" in text


def test_a_failure_is_shown_as_failed(report):
    report["verification"]["exact"]["target"]["mismatches"] = 3
    text = _rendered(report, None)
    assert "verification failed" in text and ">failed<" in text


def test_every_reason_is_on_the_page(report):
    text = _rendered(report, None)
    for path, why in report["not_available"].items():
        assert path in text and why.replace("'", "&#39;") in text


def test_without_evidence_the_page_says_so(report):
    text = _rendered(report, None)
    assert "There are no decision values to plot." in text
    assert text.count("<svg") == MEMORY_MAPS


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("reference", "decision", "bound"),
    [
        ([], [], []),
        ([1.0], [1.0], [0.0]),
        ([0.0, 0.0], [0.0, 0.0], [1e-6, 1e-6]),
        ([1.0, -1.0], [1.0, -1.0], [np.inf, np.inf]),
        ([1.0, 2.0], [1.5, 2.5], [1e-6, 0.0]),
        ([1e-300, 1e30], [0.0, 1e30], [1e-38, 1e24]),
    ],
)
def test_odd_evidence_is_drawn(report, reference, decision, bound):
    text = _rendered(report, Evidence(reference, decision, bound))
    assert text.count("<svg") == (3 if reference else 0) + MEMORY_MAPS


def test_a_budget_above_the_part_is_told(report):
    report["memory"]["flash_budget_bytes"] = 4_194_304
    text = _rendered(report, None)
    assert "of the 2.10 MB of STM32H743ZI; the budget is 4.19 MB" in text


def test_without_a_part_only_what_is_used_is_drawn(report):
    for key in ("flash_budget_bytes", "part_flash_bytes", "stack_bytes"):
        report["memory"][key] = None
        report["not_available"][f"memory.{key}"] = "the host has no limit"
    text = _rendered(report, None)
    assert "stands for no part with a limit" in text
    assert text.count("<svg") == MEMORY_MAPS - 1


def test_evidence_of_different_lengths_is_refused():
    with pytest.raises(ValueError, match="one length"):
        Evidence(np.zeros(2), np.zeros(3, np.float32), np.zeros(2, np.float32))

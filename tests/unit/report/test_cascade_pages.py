"""Page and terminal of a program with early exits."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from cascade_report import EXPECTED, NO_PROMISE, Reported, reported
from rich.console import Console

from kmcompile.program.stages import NearestVectors
from kmcompile.report import html, terminal
from kmcompile.report.cascade import Cascade
from kmcompile.report.cascade_plots import _sample


def page(made: Reported) -> str:
    return html.render(made.report, None, made.cascade, made.steps).decode("utf-8")


def printed(made: Reported, width: int = 100) -> str:
    stream = io.StringIO()
    terminal.print_report(made.report, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.fixture(scope="module", params=[2, 10])
def made(request) -> Reported:
    return reported("rbf", request.param)


@pytest.mark.exhaustive
def test_the_page_has_plots_of_stages_steps_and_costs(made):
    text = page(made)
    assert text.count("<svg") == 4
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= set(names)
    assert "#0101" not in text and "#0404" not in text  # the colours are the page's


def test_thresholds_are_drawn_for_two_classes_and_otherwise_said_to_be_missing(made):
    text = page(made)
    binary = made.program.n_decisions == 1
    assert (">thresholds</text>" in text) == binary
    assert ("The thresholds are those of pairs" in text) == (not binary)


def test_thresholds_are_where_the_last_test_at_each_k_decides():
    made = reported("rbf", 2)
    assert made.cascade is not None and made.cascade.thresholds is not None
    (stage,) = [s for s in made.program.stages if isinstance(s, NearestVectors)]
    thresholds = made.cascade.thresholds
    assert thresholds.steps.tolist() == [0, 4, 10, 20]
    assert thresholds.upper.tolist() == stage.half_width[1:, 0].tolist()
    assert thresholds.lower.tolist() == (-stage.half_width[1:, 0]).tolist()


def test_what_the_plots_show_is_of_the_statistics_queries(made):
    cascade, n = made.cascade, made.queries.n_given
    assert cascade is not None and len(cascade) == made.report["cost"]["queries"] == n
    if made.program.n_decisions == 1:
        assert (cascade.decision == made.answers.decisions[:n, 0]).all()
    else:
        # The label's pairs are nine of 45: the smallest is no smaller than that of all pairs.
        assert (cascade.decision >= np.abs(made.answers.decisions[:n]).min(axis=1)).all()


def many(cascade: Cascade, n: int) -> Cascade:
    """Return the cascade with its queries repeated."""
    names = ("stage", "kernel_evals", "operations", "decision")
    return replace(cascade, **{name: np.resize(getattr(cascade, name), n) for name in names})


@pytest.mark.exhaustive
def test_a_page_of_many_queries_stays_small(made):
    assert made.cascade is not None
    cascade = many(made.cascade, 100_000)
    content = html.render(made.report, None, cascade)
    assert len(content) < 500_000
    assert content == html.render(made.report, None, cascade)


def test_the_hardest_queries_are_among_those_drawn(made):
    assert made.cascade is not None
    cascade = many(made.cascade, 10_000)
    shown = _sample(cascade)
    assert cascade.kernel_evals[shown].max() == cascade.kernel_evals.max()
    assert np.abs(cascade.decision[shown]).min() == np.abs(cascade.decision).min()


@pytest.mark.parametrize("n", [1, 2])
def test_few_queries_are_drawn(made, n):
    assert made.cascade is not None
    cascade = replace(many(made.cascade, n), kernel_evals=np.zeros(n, dtype=np.int64))
    assert html.render(made.report, None, cascade).count(b"<svg") == 3


def test_thresholds_that_decide_nothing_are_not_drawn():
    made = reported("rbf", 2)
    assert made.cascade is not None and made.cascade.thresholds is not None
    infinite = np.full(4, np.inf)
    thresholds = replace(made.cascade.thresholds, lower=-infinite, upper=infinite)
    content = html.render(made.report, None, replace(made.cascade, thresholds=thresholds))
    assert content.count(b"<svg") == 3 and b"nan" not in content.lower()


def test_the_page_tells_what_was_compared_and_what_was_left_out(made):
    text = page(made)
    for words in ("reduced_set 20 in 12 dimensions", "taken", "nested_projection is left out"):
        assert words in text


def test_mode_exact_has_no_plots_of_early_exits():
    made = reported(promise=None)
    assert made.cascade is None
    text = page(made)
    assert "<svg" not in text and "What was compared" not in text
    assert "no answer is statistical" in text


def test_the_terminal_shows_stages_cost_and_risk(made):
    text = printed(made)
    assert f"stages, of {made.queries.n_given} test samples" in text
    for words in (
        "linear_filter",
        "nearest_vectors",
        "operations, exact sum alone, mean",
        "speed-up",
    ):
        assert words in text
    for words in (
        "promised   at most 0.01, guaranteed",
        "supported  at most 0.0092 with 99 % confidence: 0 disagreements in 500 calibration",
        f"measured   0 of {made.queries.n_given} test samples: at most",
    ):
        assert words in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_narrow_terminal_still_shows_the_risk(made):
    text = "".join(printed(made, width=40).split())
    assert "atmost0.0092with99%confidence" in text


def test_the_terminal_tells_apart_what_is_promised():
    assert "at most 0.01 in expectation" in printed(reported(promise=EXPECTED))
    simple = printed(reported(promise=NO_PROMISE, thresholds="simple"))
    assert "nothing: --thresholds simple promises nothing" in simple


def test_in_mode_exact_the_terminal_shows_neither_stages_nor_risk():
    text = printed(reported(promise=None))
    assert "stages, of" not in text and "promised" not in text
    assert "operations, exact sum alone" not in text

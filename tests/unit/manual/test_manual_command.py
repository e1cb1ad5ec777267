"""`kmcompile manual` lists the topics, shows a page, and names the topics where there is none."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from documents import PAGES, name_of
from rich.console import Console

from kmcompile import cli
from kmcompile.manual.pages import find_page, list_pages
from kmcompile.manual.terminal import print_page, print_topics


@pytest.fixture
def narrow() -> Console:
    """Return a terminal of 80 columns whose text is kept."""
    return Console(file=io.StringIO(), force_terminal=True, color_system=None, width=80)


def test_list_has_every_topic_with_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["manual"]) == 0
    printed = capsys.readouterr().out
    for page in list_pages():
        assert f"\n{page.topic} " in printed
        assert page.sentence in " ".join(printed.split())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pipe_gets_the_markdown_of_the_page(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    assert cli.run(["manual", page.stem]) == 0
    assert capsys.readouterr().out == page.read_text(encoding="utf-8")


@pytest.mark.few
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_is_whole_on_a_terminal_of_80_columns(
    page: Path, narrow: Console, capsys: pytest.CaptureFixture[str]
) -> None:
    with narrow.capture() as caught:
        print_page(find_page(page.stem), narrow)
    printed = caught.get()
    assert "…" not in printed  # a cell that is cut
    assert "](" not in printed and "| ---" not in printed
    assert not capsys.readouterr().out


def test_link_to_a_page_is_the_command_that_shows_it(narrow: Console) -> None:
    with narrow.capture() as caught:
        print_page(find_page("targets"), narrow)
    assert "see manual boards" in " ".join(caught.get().split())


def test_sentences_of_the_list_are_wrapped_to_the_terminal(
    narrow: Console, capsys: pytest.CaptureFixture[str]
) -> None:
    print_topics(list_pages(), narrow)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize("topic", ["exit_codes", "exit-codes", "Exit_Codes", "exit_codes.md"])
def test_topic_is_found_however_it_is_spelled(topic: str) -> None:
    assert find_page(topic).topic == "exit_codes"


def test_unknown_topic_names_the_nearest_and_all_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["manual", "clases"]) == 2
    printed = capsys.readouterr().err
    assert "no topic clases; the nearest is classes" in printed
    assert all(page.topic in printed for page in list_pages())
    assert " ..." not in printed  # nothing is cut


@pytest.mark.parametrize("topic", ["../../README", "/etc/passwd", "", "*", "\x1b[2J", "x" * 5000])
def test_topic_is_no_path(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["manual", topic]) == 2
    assert "\x1b" not in capsys.readouterr().err

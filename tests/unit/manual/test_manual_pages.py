"""README.md and the manual are whole: links, lists and tables agree with the code."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from documents import CHECKOUT, DOCUMENTS, PAGES, README, anchors, name_of, section, table

from kmcompile import errors
from kmcompile.commands import VERBS, compile_command
from kmcompile.manual.pages import list_pages
from kmcompile.request.option_values import CHOICES
from kmcompile.resources import manual_dir, targets_dir
from kmcompile.target import list_targets
from kmcompile.version import VERSION

COMMANDS, CONTRIBUTING, ADDITIONS = (
    manual_dir() / f"{topic}.md" for topic in ("commands", "contributing", "additions")
)
README_LINES, PAGE_LINES = 250, 200

# Where the manual has the options of each command.
HEADINGS = {
    "": "Compile: `kmcompile MODEL`",
    "targets": "List targets: `kmcompile targets`",
    "doctor": "Find missing tools: `kmcompile doctor`",
    "inspect": "Look into a model: `kmcompile inspect MODEL`",
    "show": "Print a program: `kmcompile show MODEL`",
    "choices": "Print a program: `kmcompile show MODEL`",
    "verify": "Repeat the checks: `kmcompile verify DIR`",
    "report": "Print a report: `kmcompile report DIR`",
    "bench": "Compare targets: `kmcompile bench MODEL`",
    "image": "Make an image: `kmcompile image MODEL`",
    "patch": "Make a patch: `kmcompile patch OLD NEW`",
    "evidence": "Gather evidence: `kmcompile evidence DIR`",
    "manual": "Show the manual: `kmcompile manual TOPIC`",
}

pytestmark = pytest.mark.skipif(not README.is_file(), reason="an installed kmcompile has no README")


def command(verb: str) -> click.Command:
    return VERBS[verb] if verb else compile_command


def options(verb: str) -> list[str]:
    """Return the options of a command, but for those that every command has."""
    named = {param.opts[0] for param in command(verb).params if isinstance(param, click.Option)}
    return sorted(named - {"--version"})


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for path, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        linked = (document.parent / path) if path else document
        assert linked.exists(), path
        assert not anchor or anchor in anchors(linked), f"{path}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_begins_with_a_title_and_one_sentence(page: Path) -> None:
    (found,) = (one for one in list_pages() if one.topic == page.stem)
    assert found.title[0].isupper()
    assert found.sentence.endswith(".") and ". " not in found.sentence


def test_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= README_LINES


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "changes"], ids=name_of)
def test_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= PAGE_LINES


def test_readme_links_to_every_page() -> None:
    linked = set(re.findall(r"\]\(kmcompile/manual/(\w+)\.md", README.read_text(encoding="utf-8")))
    assert linked == {page.stem for page in PAGES}


def test_the_site_has_the_pages_of_the_readme_in_its_order() -> None:
    listed = re.findall(r"\]\((kmcompile/manual/\w+\.md)\)", section(README, "The manual"))
    assert re.findall(r"- (kmcompile/\S+)", (CHECKOUT / ".ci/site.yml").read_text()) == listed


def test_targets_are_those_that_ship() -> None:
    named = [row[0] for row in table(manual_dir() / "targets.md", "Targets")]
    assert named == [target.name for target in list_targets()]
    assert set(named) == {path.stem for path in targets_dir().glob("*.toml")}


def test_exit_codes_are_those_of_the_errors() -> None:
    codes = {int(row[0]) for row in table(manual_dir() / "exit_codes.md", "Exit codes")}
    kinds = [errors.KmcompileError, *errors.KmcompileError.__subclasses__()]
    assert codes == {0, 130, *(kind.exit_code for kind in kinds)}


def test_commands_are_those_of_the_command_line() -> None:
    named = " ".join(row[0] for row in table(COMMANDS, "Commands"))
    assert set(re.findall(r"kmcompile ([a-z]+)", named)) == set(VERBS) == set(HEADINGS) - {""}


@pytest.mark.parametrize("verb", HEADINGS, ids=lambda verb: verb or "compile")
def test_every_option_of_a_command_is_described_with_its_values(verb: str) -> None:
    text = section(COMMANDS, HEADINGS[verb])
    told = set(re.findall(r"`(--[\w-]+)", text))
    assert told == set(options(verb))
    if not verb:
        values = {value for field in CHOICES for value in CHOICES[field]}
        assert values <= set(re.findall(r"`([\w-]+)`", text))


def test_commands_of_the_readme_use_every_verb() -> None:
    rows = [row[0] for row in table(README, "The thirteen commands")]
    assert len(rows) == 13
    assert {row.split()[1] for row in rows} == {"model.pkl", *VERBS}


@pytest.mark.parametrize(
    ("heading", "folder"),
    [("The compiler", "kmcompile"), ("The tests", "tests"), ("The templates", "templates")],
)
def test_map_of_the_rooms_names_every_folder(heading: str, folder: str) -> None:
    rows = " ".join(row[0] for row in table(CONTRIBUTING, heading))
    named = set(re.findall(r"(\w+)/", rows))
    folders = {path.name for path in (CHECKOUT / folder).iterdir() if path.is_dir()}
    assert named <= folders
    others = {"__pycache__"}
    if folder == "templates":  # a row there stands for the folders of all stages
        others = {path.name.split(".")[0] for path in (CHECKOUT / folder / "stages").iterdir()}
    assert folders - others == named - others


ROOMS = ("kmcompile", "tests", "targets")


def test_files_and_tests_that_additions_names_are_there() -> None:
    text = ADDITIONS.read_text("utf-8")
    paths = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|c|json|toml))`", text))
    files = [f"/{path.as_posix()}" for room in ROOMS for path in _below(room)]
    missing = {path for path in paths if not any(file.endswith(f"/{path}") for file in files)}
    assert missing == {"pyproject.toml"}  # at the top
    tests = "\n".join(file.read_text("utf-8") for file in _below("tests") if file.suffix == ".py")
    named = set(re.findall(r"`(test_\w+)`", text))
    assert {name for name in named if f"def {name}(" not in tests} == set()


def _below(room: str) -> list[Path]:
    return [path for path in (CHECKOUT / room).rglob("*.*") if "__pycache__" not in path.parts]


def test_the_newest_version_of_the_changes_is_that_of_the_package() -> None:
    text = (manual_dir() / "changes.md").read_text(encoding="utf-8")
    versions = [one for one in re.findall(r"^## (.*)$", text, re.MULTILINE) if one != "Unreleased"]
    assert versions[0].split()[0] == VERSION
    numbers = [[int(part) for part in one.split()[0].split(".")] for one in versions]
    assert numbers == sorted(numbers, reverse=True)


def test_map_of_the_rooms_names_every_module() -> None:
    named = set(re.findall(r"(\w+\.py)", section(CONTRIBUTING, "The compiler")))
    modules = {path.name for path in (CHECKOUT / "kmcompile").glob("*.py")}
    assert named == {name for name in modules if not name.startswith("__")}

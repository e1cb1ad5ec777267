"""What a message proposes is done as it is written, and gets further than what failed.

Each case is a command that fails. The commands that its message proposes are read from the message
itself, and run up to the program that would be emitted.
"""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from advice_cases import CASES, MANY, MODELS, RNG, SLOW, VALUES

import kmcompile
from kit.plans import plan_for
from kmcompile import cli, errors, pipeline, readers
from kmcompile.choice.program import choose_program
from kmcompile.errors import OverBudgetError
from kmcompile.remedies import remedied


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside samples."""
    monkeypatch.chdir(tmp_path)
    np.savez("samples.npz", X=RNG.normal(size=(900, 3)) + 0.5)
    np.savez("few.npz", X=RNG.normal(size=(9, 3)))
    np.savez("enough.npz", X=np.random.default_rng(1).normal(size=(7000, 3)))
    np.savez("some.npz", X=RNG.normal(size=(90, 3)))
    np.savez("trained.npz", X=MANY)
    Path("taken").mkdir()
    Path("taken/notes.txt").touch()
    Path("link").symlink_to("taken")


def stop(*_arguments: Any) -> None:
    """Stand for a step behind which nothing is looked at."""
    raise click.exceptions.Exit(0)


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the exit code and the message of a command."""
    code = cli.run(["m.pkl", *words, "--verify", "none", "--quiet"])
    return code, "\n".join(
        line.removeprefix("kmcompile: ").strip()
        for line in capsys.readouterr().err.splitlines()
        if "warning" not in line
    )


def options_of(words: list[str]) -> dict[str, list[str]]:
    """Return the options of a command with their values, a value or none each."""
    options: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            options[word] = []
        else:
            options[list(options)[-1]].append(word)
    return options


OPTION = re.compile(r"(--[a-z-]+)(?: ([A-Z]+\b|[a-z0-9][\w.,+-]*))?(?: with N below (\d+))?")
NO_VALUES = {"if", "and", "with", "without", "or", "such", "for", "there"}


def proposals(message: str, words: list[str]) -> Iterator[list[str]]:
    """Yield the commands that the last line of a message proposes to run instead."""
    head, advice = re.split(r"\n(?!--.* does not go with )|; ", message, maxsplit=1)
    for clause in re.split(
        r",? or (?=use|give|leave|choose|pass|--|an?\b)|; |, (?=use|give|leave)|\n(?:or )?", advice
    ):
        found = OPTION.findall(clause)
        given = options_of(words)
        named = [one for one, *_ in OPTION.findall(head) if one in given]
        if re.search(r"leave (out )?one of", clause):
            for one, *_ in found or OPTION.findall(head):
                yield flat({key: value for key, value in given.items() if key != one})
        elif "leave it out" in clause and not clause.endswith(
            tuple(f"--exclude {n}" for n in given)
        ):
            kept = {key: value for key, value in given.items() if key != named[0]}
            yield flat(kept | asked(found))
        elif "leave out" in clause:
            used, _, left = clause.partition("leave out")
            gone = {one for one, *_ in OPTION.findall(left)}
            kept = {key: value for key, value in given.items() if key not in gone}
            yield flat(kept | asked(OPTION.findall(used)))
        elif "such as" in clause:
            yield flat(given | {"--name": [clause.rpartition(" ")[2]]})
        elif found:
            used, _, left = clause.partition(" without ")
            gone = {one for one, *_ in OPTION.findall(left)}
            kept = {key: value for key, value in given.items() if key not in gone}
            yield flat(kept | asked(OPTION.findall(used)))


def asked(found: list[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the options that a clause asks for, with a value for each word in capitals."""
    options = {}
    for name, word, below in found:
        if below:
            options[name] = [str(int(below) - 1)]
        elif name == "--trust-pickle":
            options[name] = []
        else:
            is_value = word and word not in NO_VALUES and not word.isupper()
            options[name] = [word if is_value else VALUES[name]]
    return options


def flat(options: dict[str, list[str]]) -> list[str]:
    """Return the words of options."""
    return [word for name, values in options.items() for word in (name, *values)]


@pytest.mark.few
@pytest.mark.parametrize(
    ("model", "line", "says"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in SLOW)],
)
def test_what_a_message_proposes_gets_further(
    model: str,
    line: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("m.pkl").write_bytes(pickle.dumps(MODELS[model]()))
    words = line.split()
    monkeypatch.setattr(pipeline, "_written", stop)
    with monkeypatch.context() as planned:
        planned.setattr(pipeline, "hold_out", stop)
        code, message = run(words, capsys)
    if code == 0:
        code, message = run(words, capsys)
    else:  # what fails before there is a plan need only get that far
        monkeypatch.setattr(pipeline, "hold_out", stop)
    assert code in (2, 3, 4, 6)
    if "…" not in says:
        assert says in message
    tried = list(proposals(message, words))
    assert tried, message
    for other in tried:
        assert other != words, (message, other)
        code, said = run(other, capsys)
        assert code != 70 and said.split("\n")[0] != message.split("\n")[0], (other, said)


def test_more_instructions_than_allowed_are_met_by_what_is_left() -> None:
    """The static worst case is known only where a board's image is built."""
    machine = readers.load_model(MODELS["rbf"]())
    for options, remedy in (
        ({"mode": "exact"}, "use --reduce N with N below 6"),
        ({"mode": "exact", "reduce": "9"}, "use --reduce N with N below 6"),
        ({"mode": "exact", "replay": "float64"}, "use --replay none"),
        ({"stages": ("bound_sequence",), "replay": "none"}, "use --mode exact without --stages or"),
    ):
        chosen = choose_program(machine, plan_for(machine, **options), lambda _: None)
        with pytest.raises(OverBudgetError) as caught, remedied(machine, chosen):
            raise OverBudgetError("too many", "instructions", 9 * machine.n_support_vectors, 59)
        assert str(caught.value).split("\n")[1].startswith(remedy)


_FLOAT32 = "every machine has a program in float32, as other cases show"
_OTHER = "it is about another command, or about several models"
_RETRAIN = "it is about a machine that another option made"
UNTESTED = {
    "so it has no entries; leave out --entry": "of files that are no pickles",
    "features are more than sums of 32 bits take": "tests/unit/program/stages has it",
    "codes of support vectors are for sums over them": "of leaves, and for `inspect`",
    "of this linear machine cancel too much": "a weight beyond 2^29 units",
    "too large for integers\nuse --format float32": "inputs beyond 2^100",
    "the worst case in cycles is not known": "tests/unit/test_all_budgets.py has it",
    "is no folder of kmcompile bench": _OTHER,
    "compile them with different --name": _OTHER,
    "compile it with another --name": _OTHER,
    "make it again: kmcompile image": _OTHER,
    "make both with the same folder": _OTHER,
    "is not a folder of evidence": _OTHER,
    "is a file; give --out the name": _OTHER,
    "so it takes no image": _OTHER,
    "fly code of a larger --capacity": _OTHER,
    "would be overwritten, and is read": _OTHER,
    "lies in the folder of the code that flies": _OTHER,
    "has no certified exit, so its kernel": "it is about an argument in Python",
    "no image holds … yet": "an image is there only where it is asked for",
    "an image would have no known": "an image is there only where it is asked for",
    "the polynomial is too large for float32": _FLOAT32,
    "sums of the polynomial reach": _FLOAT32,
    "the scaler changes the signs of the features": _FLOAT32,
    "integer formats are for the rbf, poly": _FLOAT32,
    "integer formats are for leaves of rbf": _FLOAT32,
    "overflows float32 for codes": _FLOAT32,
    "must be at most … in integers": _FLOAT32,
    "a table of all codes would have": _FLOAT32,
    "a routed machine has no replay": "a replay is there only where it is asked for",
    "too many for a replay in integers": "a replay is there only where it is asked for",
    "the bound of the reduced machine's distance": _RETRAIN,
    "leaves are reduced for the kernels": _RETRAIN,
    "they are not reduced": _RETRAIN,
    "holds …, which kmcompile did not write": "it is advised where the folder is no output folder",
    "is being written by another run": "it is advised where the folder is no output folder",
    "the paper's scheme computes kernels": "--format float32 and --thresholds risk are other cases",
    "the paper's scheme guesses kernels": "--thresholds risk is another case",
    "cannot keep the … of … on": "it takes an early exit that cannot keep a risk",
    "the reduced machine gives …": "it takes a reduced machine that breaks its promise",
}
"""Advice that no case here runs, by words of its message, and the reason."""

ERRORS = {name for name, one in vars(errors).items() if isinstance(one, type)}


def pieces_of_advice() -> Iterator[tuple[str, str]]:
    """Yield where an error with an option in its advice is raised, and its text without values."""
    package = Path(kmcompile.__file__).parent
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "raise " in source and "--" in source else ():
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            if getattr(node.exc.func, "id", "") not in ERRORS:
                continue
            text = "".join(text_of(one) for one in node.exc.args)
            if "--" in "".join(re.split(r"\n|; ", text)[1:]):
                yield f"{path.relative_to(package)}:{node.lineno}", text


def text_of(node: ast.expr) -> str:
    """Return the text of an expression, with … for each value in it."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            "…" if isinstance(one, ast.FormattedValue) else text_of(one) for one in node.values
        )
    return "…"


def test_every_piece_of_advice_is_run_or_listed() -> None:
    said = [says for *_, says in (*CASES, *SLOW)] + list(UNTESTED)
    advice = list(pieces_of_advice())
    assert [f"{at} {text}" for at, text in advice if not any(one in text for one in said)] == []
    assert [one for one in UNTESTED if not any(one in text for _, text in advice)] == []

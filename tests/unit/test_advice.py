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
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import kmcompile
from kit.plans import plan_for
from kmcompile import cli, errors, pipeline, readers
from kmcompile.choice.program import choose_program
from kmcompile.errors import OverBudgetError
from kmcompile.remedies import remedied

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) + np.repeat([[0.0], [1.0]], 30, axis=0)
Y = np.repeat([0, 1], 30)
MANY = RNG.normal(size=(400, 3))
MODELS: dict[str, Any] = {
    "rbf": lambda: SVC().fit(X, Y),
    "wide": lambda: SVC(gamma=1e30).fit(X, Y),
    "poly": lambda: SVC(kernel="poly").fit(X, Y),
    "sigmoid": lambda: SVC(kernel="sigmoid").fit(X, Y),
    "codes": lambda: SVC(kernel="sigmoid", gamma=0.001).fit(np.rint(9 * X), Y),
    "many": lambda: SVC().fit(MANY, MANY[:, 0] > 0),
    "rest": lambda: OneVsRestClassifier(SVC()).fit(X, np.arange(60) % 3),
    "steps": lambda: make_pipeline(FunctionTransformer(np.abs), SVC()).fit(X, Y),
    "three": lambda: SVC().fit(X, np.arange(60) % 3),
    "linear": lambda: LinearSVC().fit(X, Y),
    "unit": lambda: make_pipeline(Normalizer(), SVC()).fit(X, Y),
    "scaled": lambda: make_pipeline(StandardScaler(), SVC(kernel="poly")).fit(X, Y),
    "value": lambda: SVR().fit(X, X[:, 0]),
    "two": lambda: [SVC().fit(X, Y), SVC(C=9.0).fit(X, Y)],
    "laplacian": lambda: KernelRidge(kernel="laplacian").fit(X, X[:, 0]),
}
VALUES = {
    "--data": "samples.npz",
    "--entry": "1",
    "--loss": "0.05",
    "--max-flash": "500000",
    "--max-ram": "50000",
    "--out": "new",
    "--reduce": "9",
    "--risk": "0.05",
    "--tolerance": "0.5",
}
"""What stands for a word in capitals of a proposal, or for a larger number."""

# The model, the options, and what the message says, as it stands in the source.
CASES = [
    ("rbf", "--mode statistical", "--mode statistical needs calibration samples"),
    ("rbf", "--mode certified --data samples.npz --risk 0.05", "has no use for"),
    ("rbf", "--mode exact --data samples.npz --risk 0.05", "has no use for"),
    ("rbf", "--risk 0.05", "calibration samples are needed for"),
    ("rbf", "--data samples.npz --thresholds simple --risk 0.05", "promises nothing, so it does"),
    ("rbf", "--reduce 9 --replay float64", "brings a reduced machine no nearer"),
    ("rbf", "--mode exact --reduce auto", "--reduce auto counts disagreements on samples"),
    ("rbf", "--mode exact --data samples.npz --reduce auto --risk auto", "that is a number, so"),
    ("rbf", "--data samples.npz --risk 0.05 --loss 0.05", "a program keeps a risk or a loss"),
    ("rbf", "--data samples.npz --loss 0.05", "--data has no labels y, which say what"),
    ("value", "--data samples.npz --loss 0.05", "a loss is of right labels, and this model"),
    ("rbf", "--data samples.npz --window 3", "it belongs to the NSV paper's scheme"),
    ("rbf", "--window 3", "it belongs to the NSV paper's scheme"),
    ("rbf", "--data samples.npz --window 3 --thresholds simple", "--thresholds simple has no wi"),
    ("rbf", "--mode exact --require bound_sequence", "--mode exact has no early exits, so"),
    ("rbf", "--stages bound_sequence --exclude sign_map", "--stages lists all early exits, so"),
    ("rbf", "--require sign_map --exclude sign_map", "--require and --exclude both name"),
    ("rbf", "--mode exact --redundancy 3", "must be 2, a second copy of every table"),
    ("rbf", "--mode exact --redundancy 2 --package rust", "declares the self-test of one copy"),
    ("rbf", "--mode exact --monitor 0.05", "needs samples"),
    ("rbf", "--target avr --replay float64 --mode exact", "--replay float64: the C type double"),
    ("rbf", "--mode exact --capacity 90", "only an image has a capacity"),
    ("rbf", "--mode exact --tables image --capacity 3", "--capacity …: the model has …"),
    ("rbf", "--tables image --data samples.npz", "does not go with mode statistical"),
    ("rbf", "--tables image --format int16", "--tables image does not go with --format int16"),
    ("rbf", "--mode exact --tables image --step 900", "--tables image does not go with --step"),
    (
        "rbf",
        "--tables image --redundancy 2 --package rust --data samples.npz --step 90",
        "--redundancy 2 does not go with --package rust",
    ),
    ("rbf", "--tables image --format int8 --data samples.npz", "does not go with mode stat"),
    ("rbf", "--input-tolerance 0.01 --mode statistical --data samples.npz", "a risk is about sing"),
    ("laplacian", "--mode exact --tables image", "no image holds the … kernel, only …"),
    ("rbf", "--mode exact --tables image --target avr", "its tables lie in the memory of the"),
    ("rbf", "--mode exact --tolerance 0.1", "this model gives labels, not values"),
    ("value", "--data samples.npz --risk 0.05", "this model is a regression, whose exits are"),
    ("value", "--mode exact --replay float64", "no value of a regression is summed again"),
    ("value", "--mode exact --tolerance 0.1", "with --mode exact no stage stops at it"),
    ("value", "--data samples.npz --reduce auto", "needs to know which difference matters"),
    ("rbf", "--input-tolerance 0.01 --data samples.npz --risk 0.05", "is about single inputs, not"),
    ("rbf", "--input-tolerance 0.01 --replay float64", "sums in double leave as many labels open"),
    ("rbf", "--input-tolerance 0.01 --reduce 9", "its bounds are those of the trained machine"),
    ("unit", "--mode exact --input-tolerance 0.01", "before the kernel has no bound over a box"),
    ("linear", "--mode exact --reduce 9", "a linear machine is one product a decision"),
    ("sigmoid", "--mode exact --reduce 9", "machines are reduced for the kernels "),
    ("poly", "--mode exact --reduce 23", "vectors are no combinations of others"),
    ("linear", "--mode exact --format int16", "nothing tells how large the inputs of this linear"),
    ("poly", "--mode exact --format int16", "the support vectors are no integers that"),
    ("unit", "--mode exact --format int8", "integer formats are for machines whose preprocessing"),
    ("wide", "--mode exact --format int16", "gamma is"),
    ("codes", "--format int8 --mode exact --replay float64", "…\nuse --replay none"),
    ("rbf", "--mode certified --require linear_filter", "is a statistical exit, which mode certif"),
    ("rbf", "--data samples.npz --mode certified --require linear_filter", "is a statistical exit"),
    ("rbf", "--data few.npz --mode statistical", "usable samples"),
    ("rbf", "--data few.npz --risk 0.05 --risk-control expected", "usable samples"),
    ("rbf", "--data few.npz --mode certified --require bound_sequence", "usable samples"),
    ("rbf", "--data few.npz --mode exact --reduce 9", "usable samples"),
    ("rbf", "--data few.npz --thresholds maxsmoothed --window 3", "usable samples"),
    ("rbf", "--data some.npz --risk 0.05 --risk-control expected", "usable samples"),
    ("rbf", "--data few.npz --mode statistical --stages linear_filter", "usable samples"),
    ("value", "--data few.npz --tolerance 0.1 --mode certified", "usable samples"),
    ("rbf", "--mode exact --step 1", "and is not parted"),
    ("rbf", "--mode exact --replay float64 --step 30", "and is not parted"),
    ("three", "--target cortex-m4 --mode exact --format float32 --max-flash 1500", "of flash"),
    ("poly", "--target cortex-m4 --mode exact --max-flash 900", "bytes of flash"),
    ("rbf", "--mode exact --redundancy 2 --max-flash 2500", "bytes of flash"),
    ("rbf", "--stages bound_sequence --max-ram 30", "bytes of RAM"),
    ("rbf", "--mode exact --step 900 --max-ram 30", "bytes of RAM"),
    ("rbf", "--mode exact --redundancy 2 --max-flash 2KB --max-ram 30 --step 1", "and --step 1: "),
    (
        "poly",
        "--target cortex-m4 --mode exact --max-flash 900 --max-ram 7",
        "bytes of RAM, cortex-m4 may use 7",
    ),
    ("rbf", "--stages bound_sequence --risk 0.001 --data enough.npz --max-ram 30", "bytes of RAM"),
    ("rbf", "--require bound_sequence --replay none --step 10", "and is not parted"),
    ("rbf", "--mode exact --out taken", "exists and is not an output folder of kmcompile"),
    ("rbf", "--mode exact --out link", "is a symbolic link; give the folder itself with --out"),
    ("rbf", "--mode exact --out m.pkl", "is a file; choose another --out"),
    ("steps", "--mode exact", "pass --trust-pickle if you trust who made the file"),
    ("rbf", "--mode exact --name while", "cannot prefix C names: it"),
    ("rbf", "--mode exact --telemetry --name abcdefghijklmnopqrst", "--telemetry: the prefix"),
    ("rbf", "--mode exact --entry svc", "the file holds one object, …, so it has no entry …"),
    ("two", "--mode exact", "and it is not clear which are the model"),
    ("two", "--mode exact --entry 0,1", "the last one must be a machine, and the only one"),
]


# Those whose proposals fit statistical exits.
SLOW = [
    ("rbf", "--data samples.npz --risk 0.0001", "control samples of the"),
    ("rbf", "--data samples.npz --mode statistical", "control samples of the"),
    ("rbf", "--data samples.npz --risk 0.003 --generated 9", "control samples of the"),
    (
        "rbf",
        "--data samples.npz --risk 0.001 --require linear_filter --optimize worst",
        "control samples of the",
    ),
    ("rbf", "--mode exact --data samples.npz --reduce auto --risk 0.001", "control samples of the"),
    ("many", "--mode exact --data trained.npz --reduce 9", "--data holds the samples that the mod"),
    (
        "rbf",
        "--data samples.npz --thresholds simple --stages sign_map",
        "the paper's scheme is …, a",
    ),
    ("rest", "--data samples.npz --thresholds simple", "the paper's scheme is for pairs of cla"),
]


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

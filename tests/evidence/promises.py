"""The promises of README.md, of the emitted header and of the manual, and what shows each.

`tests/evidence/promises/*.toml` hold them: for each promise the sentences that make it, its place
in the code, its tests, its evidence and its figure.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evidence.sentences import ROOT, sentences_of, text_of
from evidence.sources import Named

FOLDER = Path(__file__).with_name("promises")
NOT_PROMISED = FOLDER / "not_promised.toml"
README_HEADINGS = ("kmcompile", "", "In flight", "What is promised, and what not")
WHOLE = (
    "kmcompile/manual/guarantees.md",
    *(
        f"templates/{name}.h.j2"
        for name in (
            *(
                f"header/{part}"
                for part in ("head", "limits", "types", "calls", "step", "self_test")
            ),
            *("telemetry/header", "self_test/header"),
            *("regression/notes", "regression/prediction"),
        )
    ),
    "kmcompile/emit/header_text.py",
    "kmcompile/emit/images/emitted.py",
    "kmcompile/emit/monitor_view.py",
    "kmcompile/emit/probability_view.py",
    "kmcompile/report/reduction_text.py",
    "kmcompile/report/risk_text.py",
)
"""Files of which each sentence must be of a promise, or be named as none."""


@dataclass(frozen=True)
class Promise:
    """A promise, and what shows it.

    Parameters
    ----------
    name : str
        Its identifier.
    topic : str
        The file that holds it.
    promise : str
        In one sentence.
    says : mapping of str to tuple of str
        Quotes from the sentences that make it, by file.
    code : tuple of str
        Its places: a file or folder, or "file:name" for a function, class or constant.
    tests : tuple of str
        Node ids of pytest, without parameters.
    evidence : tuple of str
        Fields of report.json, "report:...", and findings, "claim:...", see `Sources.said`.
    figure : str
        What comes out if the promise is kept.
    """

    name: str
    topic: str
    promise: str
    says: Mapping[str, tuple[str, ...]]
    code: tuple[str, ...]
    tests: tuple[str, ...]
    evidence: tuple[str, ...]
    figure: str


def promises(folder: Path = FOLDER) -> tuple[Promise, ...]:
    """Return all promises, in the order of their files."""
    made = []
    for path in sorted(folder.glob("*.toml")):
        if path.name == NOT_PROMISED.name:
            continue
        for name, plain in tomllib.loads(path.read_text(encoding="utf-8")).items():
            made.append(
                Promise(
                    name,
                    path.stem,
                    plain.get("promise", ""),
                    {file: tuple(quotes) for file, quotes in plain.get("says", {}).items()},
                    *(tuple(plain.get(part, ())) for part in ("code", "tests", "evidence")),
                    plain.get("figure", ""),
                )
            )
    return tuple(made)


def not_promised(parts: tuple[str, ...] = ("limits", "duties", "meanings")) -> dict[str, list[str]]:
    """Return quotes of sentences that promise nothing, by file."""
    by_file: dict[str, list[str]] = {}
    plain = tomllib.loads(NOT_PROMISED.read_text(encoding="utf-8"))
    for part in parts:
        for file, quotes in plain[part].items():
            by_file.setdefault(file, []).extend(quotes)
    return by_file


def problems(all_promises: tuple[Promise, ...]) -> list[str]:
    """Return what is wrong with the promises: each in one line, none if all is well."""
    return [
        *(problem for promise in all_promises for problem in _of_promise(promise)),
        *_lost_quotes(not_promised(), "not_promised.toml"),
        *(f"{file}: no promise says: {text}" for file, text in uncovered(all_promises)),
    ]


def _of_promise(promise: Promise) -> Iterator[str]:
    name = promise.name
    for part in ("promise", "says", "code", "tests", "evidence", "figure"):
        if not getattr(promise, part):
            yield f"{name}: has no {part}"
    yield from _lost_quotes(promise.says, name)
    yield from (f"{name}: there is no {place}" for place in promise.code if not _is_there(place))
    for test in promise.tests:
        path, _, function = test.partition("::")
        if not function.startswith("test_") or not _is_there(f"{path}:{function}"):
            yield f"{name}: there is no test {test}"
    for source in promise.evidence:
        named = Named.of(source)
        known = {"report": _is_report_field, "claim": _is_claim}.get(source.partition(":")[0])
        if known is None or not known(named.name):
            yield f"{name}: there is no {source}"


def _lost_quotes(says: Mapping[str, Any], name: str) -> Iterator[str]:
    for file, quotes in says.items():
        if not (ROOT / file).is_file():
            yield f"{name}: there is no file {file}"
            continue
        yield from (f"{name}: {file} does not say: {q}" for q in quotes if q not in text_of(file))


def uncovered(all_promises: tuple[Promise, ...]) -> Iterator[tuple[str, str]]:
    """Yield the sentences of the files that no quote is from, with their files."""
    quotes = not_promised()
    for promise in all_promises:
        for file, own in promise.says.items():
            quotes.setdefault(file, []).extend(own)
    for file, headings in [("README.md", README_HEADINGS), *((file, ()) for file in WHOLE)]:
        for sentence in sentences_of(file, headings):
            if not any(
                q in sentence or sentence in q or _meets(q, sentence) for q in quotes.get(file, ())
            ):
                yield file, sentence


def _meets(quote: str, sentence: str) -> bool:
    """Return whether a quote that begins or ends in another sentence goes on in this one."""
    return any(
        len(part.split()) > 3 and part in sentence
        for end in (". ", ": ", "; ")
        for part in quote.split(end)
    )


def _is_there(place: str) -> bool:
    """Return whether a file, a folder, or a name that is defined in a module exists."""
    path, _, name = place.partition(":")
    if not name:
        return (ROOT / path).exists()
    return (ROOT / path).is_file() and name in _defined(path)


@cache
def _defined(path: str) -> frozenset[str]:
    """Return the functions, classes and constants of a module."""
    names: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return frozenset(names)


@cache
def _schema() -> dict[str, Any]:
    text = (ROOT / "kmcompile/report/schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _is_report_field(path: str) -> bool:
    """Return whether the schema of report.json has a field."""
    nodes = [_schema()]
    for key in path.split("."):
        nodes = [
            node["properties"][key] for node in _flat(nodes) if key in node.get("properties", {})
        ]
    return bool(nodes)


def _flat(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the nodes that references and alternatives lead to."""
    for node in nodes:
        if "$ref" in node:
            yield from _flat([_schema()["$defs"][node["$ref"].removeprefix("#/$defs/")]])
        elif "anyOf" in node:
            yield from _flat(node["anyOf"])
        else:
            yield node


@cache
def _claims() -> frozenset[str]:
    """Return the texts in the code of the evidence, among which is the identifier of each claim."""
    texts: set[str] = set()
    for folder in ("kmcompile/evidence", "tests/evidence"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts.add(node.value)
    return frozenset(texts)


def _is_claim(name: str) -> bool:
    return name in _claims()

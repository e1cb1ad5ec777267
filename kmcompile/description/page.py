"""The page of a model description: the document in words, without its arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kmcompile.text.visible import printable


def page(plain: Mapping[str, Any], report: Mapping[str, Any] | None = None) -> str:
    """Return the page of a document, in Markdown.

    Parameters
    ----------
    plain : mapping
        The document.
    report : mapping, optional
        report.json of the same build, whose figures are then on the page.
    """
    lines = [
        "# Model description",
        "",
        "What was trained, and what was made of it. The same with all numbers is in the file",
        "that ends with `.mld.json`, and in the one that ends with `.mld.bin` if there is one.",
        "",
        "## What was trained",
        "",
        *_model(plain["model"]),
        "",
        "## What was made of it",
        "",
        *_replication(plain["replication"]),
        "",
        "## What came out",
        "",
        *_figures(plain["replication"], report),
        "",
        "## Not covered",
        "",
        *(f"- {text}" for text in plain["replication"]["not_covered"]),
    ]
    return "\n".join(map(printable, lines)) + "\n"


def _model(model: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines on the trained machine."""
    kernel = model["kernel"]
    parameters = "".join(f", {name} = {value!r}" for name, value in kernel["parameters"].items())
    vectors, features = model["support_vectors"]["shape"]
    classes = ", ".join(repr(label) for _, label in model["classes"]) or "none"
    yield f"- {model['kind']}, task {model['task']}, {model['n_features']} features"
    yield f"- classes: {classes}"
    yield f"- SHA-256: `{model['sha256']}`"
    yield f"- {model['meaning']}"
    for number, step in enumerate(model["preprocessing"]):
        sizes = f"{step['n_in']} to {step['n_out']} features"
        yield f"- preprocessing {number}, {step['step']}, {sizes}: {step['formula']}"
    yield f"- kernel {kernel['name']}: {kernel['formula']}{parameters}"
    yield f"- {vectors} support vectors of {features} features"
    yield f"- decisions: {model['decisions']['text']}"
    if model["decisions"]["threshold"]:
        yield (
            f"- threshold {model['decisions']['threshold']!r}: {model['decisions']['of_threshold']}"
        )
    yield f"- label: {model['label']['text']}"
    if model["probability"]:
        yield f"- probabilities: {model['probability']['text']}"
    yield from (f"- {note}" for note in model["notes"])


def _replication(made: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines on the C."""
    stages = ", ".join(f"{name} ({kind})" for name, kind in made["stages"]) or "none"
    arithmetic = made.get("replay_in", "double")
    compiler, target = made["compiler"], made["target"]
    yield f"- by `{made['command']}`"
    yield f"- the function `{made['function']}` in {', '.join(made['files'])}"
    yield (
        f"- {made['number_format']}, mode {made['mode']}; early exits: {stages}; "
        f"{'with' if made['replay'] else 'without'} a second sum in {arithmetic}"
    )
    yield (
        f"- input: {made['input']['type']}; no feature above {made['input']['largest_magnitude']!r}"
    )
    if made["input"]["codes"]:
        codes = made["input"]["codes"]
        meaning = " ".join(codes["meaning"])
        yield f"- codes: {codes['type']} from {codes['low']} to {codes['high']}, {meaning}"
    if made["of_fewer_vectors"]:
        yield "- by a machine of fewer vectors; the bounds are on the decisions of the trained one"
    yield f"- bound: {made['bound']['interval']} That is proved for {made['bound']['proved']}."
    yield f"- {made['bound']['of_the_last_sum']}"
    yield f"- for {target['name']}: {target['description']} ({target['byte_order']} endian)"
    yield f"- compiled with `{compiler['command']} {' '.join(compiler['flags'])}`"


def _figures(made: Mapping[str, Any], report: Mapping[str, Any] | None) -> Iterator[str]:
    """Return the lines on what was measured of this build."""
    for path in made["bound"]["figures"]["fields"]:
        value: Any = report
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, Mapping):
            facts = ", ".join(f"{key} {own}" for key, own in value.items())
            yield f"- {path}: {facts}"
        elif report is None:
            yield f"- `{path}` in {made['bound']['figures']['file']}"
        else:
            why = report.get("not_available", {}).get(path, "not measured")
            yield f"- {path}: {why}"

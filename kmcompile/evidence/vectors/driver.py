"""The program in C that asks a compiled model its vectors and compares every word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kmcompile.emit.environment import render
from kmcompile.evidence.vectors.asked import AUDITS, budgets
from kmcompile.evidence.vectors.inner import (
    block_steps,
    declared_functions,
    inner_parts,
    static_functions,
    transforms,
    units,
)
from kmcompile.evidence.vectors.scalars import scalars
from kmcompile.program.pieces import parts_replay, parts_sum
from kmcompile.program.program import Program
from kmcompile.program.stages import LeafExpansion, NearestVectors, Nonzeros, RangeGate
from kmcompile.program.stages.sums.grouped_sum import GroupedSum
from kmcompile.text.c_functions import Function

_TABLE = re.compile(
    r"^static (?:const |[A-Z0-9_]+_CONST\s+)(?:volatile __flash )?(\w+)\s+(\w+)\[\w+\] = ", re.M
)
_UNION = re.compile(r"^static (?:const |[A-Z0-9_]+_CONST\s+)union \{[^}]*\}\s+(\w+) = ", re.M)
_MEMBER = re.compile(r"^    const \w+ \*(\w+);", re.M)
_COUNT = re.compile(r"^    opened\.\w+ = \w+_take_count\(", re.M)
_INNER_NAMES = ("accept", "accept_float", "replay", "answer", "sum")
_ARGUMENTS = {
    "workspace": "&workspace",
    "model": "&model",
    "input": "&input",
    "result": "&result",
    "prediction": "&result",
    "n_known": "0U",
}


def driver(
    program: Program, source: str, header: str, rows: Sequence[int], damaged_rows: Sequence[int]
) -> str:
    """Return the text of the program, which includes the model's C file.

    Parameters
    ----------
    program : Program
    source, header : str
        The C file and the header of the model.
    rows, damaged_rows : sequence of int
        The queries that are asked more, and those that are asked with damaged tables.
    """
    name = program.name
    declared, coded = declared_functions(header, name), program.codes is not None
    functions = static_functions(source, name)
    inner = inner_calls(functions, name)
    verb = "predict" if program.is_regression else "classify"
    in_steps = program.step is not None
    return render(
        "evidence/vectors.c.j2",
        name=name,
        upper=name.upper(),
        is_regression=program.is_regression,
        verb=verb,
        answers=_named(_of_workspace(declared), (verb,), coded),
        decisions=_named(_of_workspace(declared), ("decision",), coded),
        calls=_calls(declared, verb, coded),
        answer="prediction" if program.is_regression else "result",
        tables=[] if program.capacity is not None else list(tables(source)),
        settings=[", ".join(f"{word}UL" for word in setting) for setting in AUDITS],
        within=_named(declared, ("predict_within", "classify_within"), coded),
        audits=_named(declared, ("audit",), coded),
        begins=_named(declared, ("begin",), coded),
        has_progress=in_steps and (parts_sum(program) or parts_replay(program)),
        keeps_pairs=in_steps and program.sum.sums_pairs,
        keeps_list=in_steps and any(isinstance(one, Nonzeros) for one in program.exits),
        telemetry="telemetry_count" in declared,
        differences="telemetry_differences" in declared,
        copies="tables_state" in declared,
        unlike=any(isinstance(one, RangeGate) and len(one.usual) for one in program.exits),
        has_image=program.capacity is not None,
        image_tables=list(image_tables(header, name)),
        answer_tables=_answer_tables(header, name),
        has_groups=isinstance(program.ends.exact, GroupedSum),
        image_counts=len(_COUNT.findall(source)),
        coded=coded,
        null_calls=[call for own, one in declared.items() for call in _null_calls(one, own)],
        objects=list(_objects(declared.values())),
        budgets=budgets(program),
        rows=rows,
        damaged_rows=damaged_rows,
        scalars=scalars(source, program),
        accept=inner.get("accept_float") or inner.get("accept"),
        replay=inner.get("replay"),
        conclude=inner.get("answer") or inner.get("sum"),
        sums=[
            {
                "real": one.c_type,
                "name": one.name,
                "is_largest": "largest" in own,
                "squares": "squares" in own,
            }
            for own, one in functions.items()
            if one.names == ("x", "n") and one.c_type in ("float", "double")
        ],
        has_answers=len(program.known_answers) > 0,
        **_inner(functions, program),
    )


def _inner(functions: dict[str, Function], program: Program) -> dict[str, object]:
    """Return what templates/evidence/inner.c.j2 takes."""
    unit, replay = units(functions), program.replay
    box_at = functions.get("box_at")
    places = unit["map_places"]
    of = "float" if places is None else places.parameters[0].c_type
    return {
        "unit": unit,
        "inner_parts": inner_parts(functions),
        "replay_unit": units(functions, replay=True),
        "transforms": transforms(functions),
        "walks_before": any(isinstance(one, LeafExpansion) for one in program.exits),
        "tug_of_war": any(
            isinstance(one, NearestVectors) and one.tug_of_war for one in program.exits
        ),
        "breaks_ties": program.label.break_ties,
        "of_distance": box_at is not None and "distance" in box_at.names,
        "block_steps": block_steps(functions),
        "end_replay": "do_end_replay" in functions and replay is not None and replay.sum.sums_pairs,
        "places": {
            "x": of,
            "is_float": of == "float",
            "taker": "features_of" if of == "float" else "codes_of",
        },
    }


def _calls(declared: Mapping[str, Function], verb: str, coded: bool) -> list[dict[str, str | bool]]:
    """Return the calls for answers, then those for decisions."""
    return [
        {**one, "decides": name == "decision"}
        for name in (verb, "decision")
        for one in _named(_of_workspace(declared), (name,), coded)
    ]


def _of_workspace(declared: Mapping[str, Function]) -> dict[str, Function]:
    """Return the functions that take a workspace and an input, and answer."""
    return {
        own: one
        for own, one in declared.items()
        if [name for name in one.names if name != "model"][:2] == ["workspace", "x"]
    }


def tables(source: str) -> Iterator[dict[str, str]]:
    """Yield each table of a model that holds no addresses: its name, an element, its kind.

    Examples
    --------
    >>> list(tables("static const float iris_vectors[2U] = {"))
    [{'name': 'iris_vectors', 'element': 'iris_vectors[0]', 'holds_indices': ''}]
    """
    found = [
        (one.start(), one[2], f"{one[2]}[0]", "" if one[1] in ("float", "double") else "yes")
        for one in _TABLE.finditer(source)
        if not one[1].endswith("_table_t")
    ]
    found += [(one.start(), one[1], f"{one[1]}.word[0]", "") for one in _UNION.finditer(source)]
    for _, name, element, holds_indices in sorted(found):
        yield {"name": name, "element": element, "holds_indices": holds_indices}


def _answer_tables(header: str, prefix: str) -> list[dict[str, str]]:
    """Return the tables of the known answers of an image, and C of the elements of one answer."""
    upper = prefix.upper()
    counts = {
        "known_inputs": f"{upper}_N_FEATURES",
        "known_labels": "1U",
        "known_lower": f"{upper}_N_DECISIONS",
        "known_upper": f"{upper}_N_DECISIONS",
    }
    names = (name for name in image_tables(header, prefix) if name in counts)
    return [{"name": name, "count": counts[name]} for name in names]


def image_tables(header: str, prefix: str) -> Iterator[str]:
    """Yield the member of the open model that points to each table of an image."""
    model = header[: header.find(f"}} {prefix}_model_t;")]
    for found in _MEMBER.finditer(model[model.rfind("typedef struct {") :]):
        if found[1] not in ("image", "model_sha256"):
            yield found[1]


def inner_calls(functions: dict[str, Function], prefix: str) -> dict[str, dict[str, Any]]:
    """Return how to call functions of the model that its header does not declare.

    Returns
    -------
    dict
        Name without prefix -> whether it has a result, and the call, for `accept`, `accept_float`,
        `replay`, `answer` and `sum`, as far as the C file has them.
    """
    found = {}
    for own, function in functions.items():
        if own in _INNER_NAMES:
            given = ", ".join(_ARGUMENTS.get(word, word) for word in function.names)
            found[own] = {"answers": function.answers, "call": f"{prefix}_{own}({given})"}
    return found


def _named(
    declared: Mapping[str, Function], names: Sequence[str], coded: bool
) -> list[dict[str, str]]:
    """Return name, suffix and type of a feature of the functions for floats and for codes."""
    return [
        {
            "name": own,
            "x": next(p.c_type for p in one.parameters if p.name == "x"),
            "is_float": "yes" if own.endswith("_float") else "",
            "taker": "codes_of" if coded and not own.endswith("_float") else "features_of",
        }
        for own, one in declared.items()
        if own.removesuffix("_float") in names
    ]


def _null_calls(function: Function, own: str) -> Iterator[str]:
    """Yield a call of a function for each of its pointers, which is NULL there."""
    places = [n for n, one in enumerate(function.parameters) if one.is_pointer]
    for null in places:
        given = [
            "NULL"
            if n == null
            else "&model"
            if one.name == "model" and own != "open"
            else f"null_{one.name}_{one.c_type}"
            if one.is_pointer
            else "0"
            for n, one in enumerate(function.parameters)
        ]
        yield f"{function.name}({', '.join(given)})"


def _objects(declared: Iterable[Function]) -> Iterator[str]:
    """Yield a declaration of what each pointer of a call may point to."""
    seen = set()
    for function in declared:
        for one in function.parameters:
            name = f"null_{one.name}_{one.c_type}"
            if one.is_pointer and name not in seen:
                seen.add(name)
                c_type = "uint64_t" if one.c_type == "void" else one.c_type
                yield f"{c_type} {name}[{one.length or 1}]"

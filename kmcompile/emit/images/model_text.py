"""C that reads a model from an image: every number, table and count of it becomes a member.

The text of an ordinary program is the start: numbers are marks (`marks`), tables and counts have
their names. What a function reads of the model it reads through one more parameter, `model`, and
so do the functions that call it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kmcompile.emit.images.functions import fitted, place_of, with_argument, with_parameter
from kmcompile.emit.marks import C_TYPES, MARK, number_of
from kmcompile.text.c_functions import Function, functions_of, without_comments

MODEL: Final = "model"
_NAMED: Final = re.compile(r" *const \w+ (\w+) = @\w+@;(?:  /\* (.*) \*/)?\Z")
_LOOP: Final = re.compile(r"^( *)(for \(.*?; \w+ < )(\w+)(; )", re.MULTILINE)
_CHECKED: Final = re.compile(r"^    if \(\(?\w+ == NULL\)", re.MULTILINE)

KNOWN_NUMBERS: Final[Mapping[str, tuple[str, str]]] = {
    "check_0": ("input_limit_bits", "bits of the largest |x_j| that is taken"),
    **dict.fromkeys(
        ("rounded_up_1", "fixed_decision_3"),
        ("result_shift", "log2 of the products that result_scale is the decision of"),
    ),
}
"""Names and meanings of numbers that stand in an expression: a name has one number."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the model, which is copied from the image when that is opened."""

    member: str
    kind: str
    value: int | float
    meaning: str

    @property
    def c_type(self) -> str:
        """The C type of the member."""
        return C_TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class Count:
    """A count of the model, with the private constant of its largest value.

    Parameters
    ----------
    constant : str
        The constant that has the count where tables are in the code, without prefix.
    member : str
    most_constant : str
        The constant that has the capacity.
    """

    constant: str
    member: str
    most_constant: str
    value: int
    most: int
    meaning: str


@dataclass(frozen=True, slots=True)
class ModelText:
    """The C of a model in an image, and the numbers that it reads."""

    text: str
    numbers: tuple[Number, ...]


def of_model(text: str, name: str, tables: Iterable[str], counts: Iterable[Count]) -> ModelText:
    """Return C that reads numbers, tables and counts from a model.

    Parameters
    ----------
    text : str
        The functions of a program, with marks.
    name : str
        The prefix of the C.
    tables : iterable of str
        Names of the tables, without prefix.
    counts : iterable of Count

    Raises
    ------
    ValueError
        If a number stands outside of a function: a defect of a template.
    """
    counts = tuple(counts)
    members = {f"{name}_{table}": f"{MODEL}->{table}" for table in tables}
    members |= {f"{name.upper()}_{one.constant}": f"{MODEL}->{one.member}" for one in counts}
    most = {
        f"{name.upper()}_{one.constant}": f"{name.upper()}_{one.most_constant}" for one in counts
    }
    functions = list(functions_of(text))
    reading = _reading(functions, members, name)
    places = {one.name: place_of(one) for one in functions if one.name in reading}
    places = {key: place for key, place in places.items() if key != f"{name}_is_open"}
    numbers: list[Number] = []
    parts, before = [], 0
    for one in functions:
        parts.append(text[before : one.start])
        before = one.end
        body = _with_loop_bounds(one.body, most)
        body = _with_members(body, members)
        body = _with_numbers(body, one.name.removeprefix(f"{name}_"), numbers)
        body = with_argument(body, places, MODEL)
        if one.name not in places:
            parts.append(text[one.start : one.end])
        elif one.is_static:
            parts.append(with_parameter(one, f"const {name}_model_t *const {MODEL}", body))
        else:
            body = _with_check(body, name)
            parts.append(with_parameter(one, f"const {name}_model_t *{MODEL}", body))
    made = fitted("".join([*parts, text[before:]]))
    if MARK.search(made):
        raise ValueError(f"a number of the model stands outside of a function: {MARK.search(made)}")
    return ModelText(made, tuple(numbers))


def with_model_declared(text: str, name: str) -> str:
    """Return a header whose functions take a model, but for those that need none."""
    parts, before = [], 0
    functions = [one for one in functions_of(text) if not _needs_no_model(one.name, name)]
    places = {one.name: place_of(one) for one in functions}
    for one in functions:
        body = with_argument(one.body, places, MODEL)
        parts += [
            text[before : one.start],
            with_parameter(one, f"const {name}_model_t *{MODEL}", body),
        ]
        before = one.end
    return fitted("".join([*parts, text[before:]]))


def _needs_no_model(function: str, name: str) -> bool:
    """Return whether a function of the interface makes a model, or only counts its answers."""
    return function == f"{name}_open" or function.startswith(f"{name}_telemetry_")


def _reading(functions: list[Function], members: Mapping[str, str], name: str) -> set[str]:
    """Return the functions that read the model or call one that does, and all of the interface."""
    named = re.compile(rf"@\w+@|\b{MODEL}->|\b(?:{'|'.join(map(re.escape, sorted(members)))})\b")
    codes = {one.name: without_comments(one.body) for one in functions}
    found = {key for key, code in codes.items() if named.search(code)}
    interface = {one.name for one in functions if not one.is_static}
    found |= {key for key in interface if not _needs_no_model(key, name)}
    while True:
        calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(found)))})\(")
        more = {key for key, code in codes.items() if calls.search(code)} - found
        if not more:
            return found
        found |= more


def _with_loop_bounds(body: str, most: Mapping[str, str]) -> str:
    """Return a body whose loops to a count of the model state their bounds, the capacities."""

    def stated(found: re.Match[str]) -> str:
        if found[3] not in most:
            return found[0]
        return f"{found[1]}/* Loop bound: {most[found[3]]}. */\n{found[0]}"

    return _LOOP.sub(stated, body)


def _with_members(body: str, members: Mapping[str, str]) -> str:
    """Return a body with the members of the model in place of tables and counts."""
    if not members:
        return body
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(members)))})\b")
    code = without_comments(body)
    for found in reversed(list(named.finditer(code))):
        body = body[: found.start()] + members[found[0]] + body[found.end() :]
    return body


def _with_numbers(body: str, function: str, numbers: list[Number]) -> str:
    """Return a body with the members of the model in place of marks; append these to `numbers`."""

    def member(found: re.Match[str]) -> str:
        line = body[body.rfind("\n", 0, found.start()) + 1 : body.find("\n", found.end())]
        named = _NAMED.match(line)
        taken = {number.member for number in numbers}
        own = f"{function}_{named[1]}" if named else f"{function}_{len(seen)}"
        meaning = (named and named[2]) or f"constant of {function}"
        if not named:
            known = KNOWN_NUMBERS.get(own)
            own, meaning = known or (own, meaning)
            if known and own in taken:
                seen.append(own)
                return f"{MODEL}->{own}"
        while own in taken:
            own += "_more"
        seen.append(own)
        numbers.append(Number(own, found[1], number_of(found[1], found[2]), meaning))
        return f"{MODEL}->{own}"

    seen: list[str] = []
    return MARK.sub(member, body)


def _with_check(body: str, name: str) -> str:
    """Return the body of a function of the interface that refuses a model that is not open."""
    found = _CHECKED.search(body)
    if found is None:
        return body
    if f"{MODEL}->" in without_comments(body[: found.start()]):
        raise ValueError("a function reads the model before it is known to be open")
    refused = (
        f"    if (!{name}_is_open({MODEL})) {{\n        return {name.upper()}_ERROR_NULL;\n    }}\n"
    )
    return body[: found.start()] + refused + body[found.start() :]

"""Flow facts: the largest number of iterations of each loop of emitted C, for a WCET tool.

A `for` from one constant to another by constant steps, whose body does not change the variable,
needs no comment: a `break`, a `return` or a further condition only reduces its iterations.
Every other loop has its bound in a comment on the line before,

    /* Loop bound: EXPR. */
    /* Loop bound: EXPR, in all EXPR. */
    /* Loop bound: EXPR, in all EXPR, of a query EXPR. */

The first EXPR bounds the iterations each time the loop is entered. The second bounds the iterations
in one call of the function, and the third those in one query, over all calls of the loop's own
function. A query is one call of a function of the header, but for the self-test. Each is given if
it is less than what follows from those before. EXPR has integers, #defined names, + - * / and
parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kmcompile.machine_code.c_source.c_loops import Loop, find_loops
from kmcompile.machine_code.c_source.constant_expressions import evaluate, integer_defines
from kmcompile.text.c_functions import without_comments

_STATED: Final = re.compile(
    r"^ */\* Loop bound: ([^,.]+)(?:, in all ([^,.]+))?"
    r"(?:, of a query ([^,.]+))?\. \*/$"
)
_START: Final = re.compile(r"(?:uint32_t )?(\w+) = (.+)")
_STEP: Final = re.compile(r"(\+\+|--)(\w+)|(\w+) (\+=|-=) (.+)")
_LIMIT: Final = re.compile(r"(\w+) (<=|<|>=|>|!=) (.+)")


@dataclass(frozen=True, slots=True)
class LoopFact:
    """The largest number of iterations of a loop.

    Attributes
    ----------
    function : str
        The function that contains the loop.
    line : int
        Line of the `for` or `while`, counted from 1.
    maximum : int
        Largest number of iterations each time the loop is entered.
    total : int or None
        Largest number of iterations in one call of the function; None if the product of nested
        bounds is the best known.
    body_line, last_line : int
        First and last line of the body.
    query_total : int or None
        Largest number of iterations in one query, over all calls of the loop's function; None if
        none is stated.
    """

    function: str
    line: int
    maximum: int
    total: int | None
    body_line: int
    last_line: int
    query_total: int | None = None


def read_loop_facts(source: str, header: str) -> tuple[LoopFact, ...]:
    """Return the facts of all loops of a file, in order.

    Parameters
    ----------
    source : str
        The emitted C.
    header : str
        The header of the C, for its #defined names.

    Raises
    ------
    ValueError
        If a loop has no bound, if its comment contradicts its head, or if its form is not that of
        the templates. Each is a defect of a template.
    """
    defines = integer_defines(without_comments(header), without_comments(source))
    return tuple(_fact(loop, defines) for loop in find_loops(source))


def _fact(loop: Loop, defines: Mapping[str, int]) -> LoopFact:
    where = f"line {loop.line} of {loop.function}"
    seen = _counted_turns(loop, defines)
    stated = _STATED.match(loop.before)
    if stated is None:
        if "Loop bound" in loop.before:
            raise ValueError(f"{where}: {loop.before.strip()!r} is no bound of a loop")
        if seen is None:
            raise ValueError(f"{where}: a loop has no bound")
        return LoopFact(loop.function, loop.line, seen, None, loop.body_line, loop.last_line)
    maximum = evaluate(stated[1], defines)
    total = None if stated[2] is None else evaluate(stated[2], defines)
    query_total = None if stated[3] is None else evaluate(stated[3], defines)
    if seen is not None and maximum > seen:
        raise ValueError(f"{where}: the stated bound {maximum} exceeds {seen}")
    return LoopFact(
        loop.function, loop.line, maximum, total, loop.body_line, loop.last_line, query_total
    )


def _counted_turns(loop: Loop, defines: Mapping[str, int]) -> int | None:
    """Return the iterations of a `for` between constants; None for any other loop."""
    if loop.keyword != "for" or re.search(r"\|\||\?", loop.head[1]):
        return None
    start, step = _START.fullmatch(loop.head[0]), _STEP.fullmatch(loop.head[2])
    if start is None or step is None:
        return None
    variable = start[1]
    counts_words = variable in loop.words and variable == (step[2] or step[3])
    if not counts_words or _changes(loop.body, variable):
        return None
    sign = 1 if "+" in (step[1] or step[4]) else -1
    try:
        first = evaluate(start[2], defines)
        by = sign * evaluate(step[5] or "1", defines)
    except ValueError:
        return None
    conditions = (_outer_parentheses(part) for part in loop.head[1].split(" && "))
    bounds = [_turns(first, by, part, variable, defines) for part in conditions]
    return min((bound for bound in bounds if bound is not None), default=None)


def _turns(
    first: int, by: int, condition: str, variable: str, defines: Mapping[str, int]
) -> int | None:
    """Return the iterations that a condition allows; None if it does not limit the variable."""
    limit = _LIMIT.fullmatch(condition)
    if limit is None or limit[1] != variable or by == 0:
        return None
    try:
        last = evaluate(_outer_parentheses(limit[3]), defines)
    except ValueError:
        return None
    match limit[2]:
        case "<" if by > 0:
            way = last - first
        case "<=" if by > 0:
            way = last + 1 - first
        case ">" if by < 0:
            way = first - last
        case ">=" if by < 0:
            way = first - last + 1
        case "!=" if (last - first) % by == 0 and (last - first) * by >= 0:
            way = abs(last - first)
        case _:
            return None
    turns = max(0, -(-way // abs(by)))
    # The variable is unsigned with 32 bits: beyond its ends it would wrap around and go on.
    return turns if 0 <= first + turns * by < 2**32 else None


def _outer_parentheses(text: str) -> str:
    """Return the text without parentheses around the whole of it."""
    inner = text[1:-1]
    if text.startswith("(") and text.endswith(")") and inner.find(")") >= inner.find("("):
        return inner
    return text


def _changes(body: str, variable: str) -> bool:
    """Return whether code assigns a variable or takes its address."""
    name = re.escape(variable)
    assigned = rf"\b{name} (?:[-+*/%&|^]|<<|>>)?= |\b{name}(?:\+\+|--)|(?:\+\+|--|&){name}\b"
    return re.search(assigned, body) is not None

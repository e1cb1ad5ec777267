"""Branch facts: how often the body of an `if` of emitted C runs in one query.

They are stated where the loops around the `if` say much more, in a comment on the line before,

    /* Taken: at most EXPR of a query. */

for example where a kernel is computed by the first of many sums that need it. EXPR bounds how often
the condition holds in one query, over all calls of the function that contains the `if`. A query is
one call of a function of the header, but for the self-test. The condition is one comparison or one
call, so that one branch of the machine code decides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kmcompile.machine_code.c_source.c_loops import closing, code_of, defined_functions
from kmcompile.machine_code.c_source.constant_expressions import evaluate, integer_defines
from kmcompile.text.c_functions import without_comments

_STATED: Final = re.compile(
    r"^ */\* Taken: at most ([^,.]+) of a query\. \*/\n( *)(.*)$", re.MULTILINE
)
_MENTIONED: Final = re.compile(r"/\* Taken:")
_COMPOUND: Final = re.compile(r"&&|\|\||\?")


@dataclass(frozen=True, slots=True)
class BranchFact:
    """How often the body of an `if` runs.

    Attributes
    ----------
    function : str
        The function that contains the `if`.
    line : int
        Line of the `if`, counted from 1.
    query_total : int
        Largest number of executions of the body in one query.
    body_line, last_line : int
        Line of the brace that opens the body, and of the one that closes it.
    """

    function: str
    line: int
    query_total: int
    body_line: int
    last_line: int


def read_branch_facts(source: str, header: str) -> tuple[BranchFact, ...]:
    """Return the facts that a file states, in order.

    Raises
    ------
    ValueError
        If a comment has another form, or what follows it is no `if` of one condition without an
        `else`. Each is a defect of a template.
    """
    defines = integer_defines(without_comments(header), without_comments(source))
    facts = tuple(_facts(source, defines))
    if len(facts) != len(_MENTIONED.findall(source)):
        raise ValueError("a comment on a branch has an unknown form or stands in no function")
    return facts


def _facts(source: str, defines: Mapping[str, int]) -> Iterator[BranchFact]:
    code = code_of(source)
    for function in defined_functions(source):
        for found in _STATED.finditer(source, function.body_start, function.end):
            line = source.count("\n", 0, found.start(2)) + 1
            where = f"line {line} of {function.name}"
            if not found[3].startswith("if ("):
                raise ValueError(f"{where}: a bound of a branch stands before no if")
            start = found.start(3) + len("if (") - 1
            head_end = closing(code, start, "()", where)
            if _COMPOUND.search(code, start, head_end) or not code.startswith(" {\n", head_end):
                raise ValueError(f"{where}: a bounded if has one condition and a brace behind it")
            body_end = closing(code, head_end + 1, "{}", where)
            if code[body_end:].lstrip().startswith("else"):
                raise ValueError(f"{where}: a bounded if has an else")
            yield BranchFact(
                function.name,
                line,
                evaluate(found[1], defines),
                code.count("\n", 0, head_end) + 1,
                code.count("\n", 0, body_end) + 1,
            )

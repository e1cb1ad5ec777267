"""Bounds on how often each function of emitted C runs during one call from outside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kmcompile.machine_code.c_source.c_loops import defined_functions, find_calls, find_loops
from kmcompile.machine_code.c_source.flow_facts import LoopFact


def most_calls(
    source: str, facts: Sequence[LoopFact], without: Iterable[str] = ()
) -> dict[str, int]:
    """Return the largest number of calls of each function in one call of a function of the header.

    A call in the source counts once for each iteration of the loops around it. A call in the head
    of a loop counts once more, because the condition is evaluated once more than it holds. Branches
    are ignored: both sides count.

    Parameters
    ----------
    source : str
        The emitted C.
    facts : sequence of LoopFact
        The facts of the C's loops.
    without : iterable of str
        Functions of the header that are ignored.

    Raises
    ------
    ValueError
        If a function is called before its definition, as in a recursion. Templates define each
        function before its callers.
    """
    functions = defined_functions(source)
    order = {function.name: number for number, function in enumerate(functions)}
    sites: dict[str, list[tuple[str, int]]] = defaultdict(list)
    turns = _turns_around(source, facts)
    for caller, called, line in find_calls(source):
        if order[called] >= order[caller]:
            raise ValueError(f"line {line}: {caller} calls {called}, which is not defined before")
        sites[caller].append((called, turns.get(line, 1)))
    left_out = set(without)
    entries = [f.name for f in functions if not f.is_static and f.name not in left_out]
    most = dict.fromkeys(order, 0)
    for entry in entries:
        calls = dict.fromkeys(order, 0)
        calls[entry] = 1
        for caller in reversed(order):
            for called, times in sites[caller]:
                calls[called] += calls[caller] * times
        most = {name: max(most[name], calls[name]) for name in order}
    return most


def _turns_around(source: str, facts: Sequence[LoopFact]) -> dict[int, int]:
    """Return the largest number of executions of each line in a loop per call of its function."""
    turns: dict[int, int] = {}
    for loop, fact in zip(find_loops(source), facts, strict=True):
        # Loops come in order: an outer loop comes before the loops inside it.
        around = turns.get(loop.line, 1)
        inside = around * fact.maximum
        if fact.total is not None:
            inside = min(inside, fact.total)
        for line in range(loop.line, loop.last_line + 1):
            turns[line] = inside if line > loop.body_line else inside + around
    return turns

"""How often one call from outside can lead to each function of emitted C."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kmcompile.machine_code.c_source.c_loops import find_calls, find_functions, find_loops
from kmcompile.machine_code.c_source.flow_facts import LoopFact


def most_calls(
    source: str, facts: Sequence[LoopFact], without: Iterable[str] = ()
) -> dict[str, int]:
    """Return the most calls of each function during one call of a function of the header.

    Every place that calls counts once for every turn of the loops around it, and once more in the
    head of a loop, whose condition is asked once more than it holds. Branches are not looked at.

    Parameters
    ----------
    source : str
        The emitted C.
    facts : sequence of LoopFact
        Of its loops.
    without : iterable of str
        Functions of the header that are left out.

    Raises
    ------
    ValueError
        If a function is called before it is defined, as in a recursion: templates put each behind
        what it calls.
    """
    functions = find_functions(source)
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
    """Return how often each line in a loop is passed during one call of its function, at most."""
    turns: dict[int, int] = {}
    for loop, fact in zip(find_loops(source), facts, strict=True):
        # Loops come in order, those around before those in them.
        around = turns.get(loop.line, 1)
        inside = around * fact.maximum
        if fact.total is not None:
            inside = min(inside, fact.total)
        for line in range(loop.line, loop.last_line + 1):
            turns[line] = inside if line > loop.body_line else inside + around
    return turns

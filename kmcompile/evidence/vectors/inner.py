"""The functions inside of a C file that the vectors ask with arguments of their own.

No input of a caller reaches some of what these functions are for: a workspace in which two classes
have as many votes, a deviation as large as the input, a heap of one slot.
"""

from __future__ import annotations

import re

from kmcompile.text.c_functions import Function, functions_of, without_comments

_TRANSFORM = ("state", "y")
_OF_REPLAY = "replay_"

UNITS: dict[str, tuple[str, ...]] = {
    "approximate": ("workspace", "level", "rest"),
    "beats": ("workspace", "winner", "rival"),
    "box_add": ("workspace", "p", "threshold", "is_below", "most"),
    "box_bounds": ("workspace", "input", "box", "p"),
    "box_row": ("group", "p"),
    "box_threshold": ("workspace", "room", "left_out"),
    "closest_met_pair": ("workspace", "winner", "result"),
    "evaluate_pair": ("workspace", "terms", "p"),
    "exact_sum": ("workspace", "input", "n_known"),
    "has_next": ("order",),
    "interval_ratio": ("workspace", "input", "result"),
    "local_holds": ("local",),
    "local_square": ("x", "c", "limit"),
    "map_lookup": ("x",),
    "map_places": ("x", "place"),
    "mean_of_leaves": ("workspace",),
    "narrow": ("workspace", "p", "low", "high"),
    "next_slot": ("order", "score"),
    "proved": ("workspace", "result"),
    "quadratic_bounds": ("workspace", "input", "result"),
    "rank": ("ranking", "choice", "score"),
    "routed_fixed_sum": ("workspace", "input"),
    "routed_sum": ("workspace", "input"),
    "sharpen": ("workspace", "input"),
    "sign": ("workspace", "result"),
    "subspace_touch_vectors": ("workspace", "input", "state", "result"),
    "take_first": ("heap", "score"),
    "vote": ("workspace", "result"),
    "within": ("decision", "answer"),
}
"""Each function that templates/evidence/inner.c.j2 asks, and its parameters."""

PARTS: dict[str, tuple[str, ...]] = {
    "heaps": ("has_next", "take_first"),
    "intervals": ("interval_ratio", "proved", "narrow"),
    "places": ("map_places",),
    "boxes": ("box_bounds", "box_add"),
    "exit_steps": ("approximate", "local_holds", "local_square", "rank"),
    "quadratic": ("quadratic_bounds",),
    "pairs": ("evaluate_pair", "closest_met_pair"),
    "known": ("exact_sum", "subspace_touch_vectors"),
    "routes": ("routed_sum", "routed_fixed_sum"),
}
"""Each file of templates/evidence/inner/, and the functions of which it asks one or more."""

_BLOCKS = re.compile(r"do_\w+_blocks_\d+")


def static_functions(source: str, prefix: str) -> dict[str, Function]:
    """Return the static functions of a C file by their names without the model's prefix."""
    return {
        one.name.removeprefix(f"{prefix}_"): one
        for one in functions_of(source)
        if one.is_static and one.is_defined
    }


def declared_functions(header: str, prefix: str) -> dict[str, Function]:
    """Return the functions of a header that return a status, by their names without the prefix."""
    return {
        one.name.removeprefix(f"{prefix}_"): one
        for one in functions_of(without_comments(header))
        if one.c_type == f"{prefix}_status_t" and not one.is_defined
    }


def units(functions: dict[str, Function], replay: bool = False) -> dict[str, Function | None]:
    """Return each function that may be asked, of the sums or of the replay; None if it is not."""
    start = _OF_REPLAY if replay else ""
    found = {own: functions.get(start + own) for own in UNITS}
    return {
        own: one if one is not None and UNITS[own] in _ways(one) else None
        for own, one in found.items()
    }


def inner_parts(functions: dict[str, Function]) -> list[str]:
    """Return the files of templates/evidence/inner/ that ask functions of a C file."""
    asked = {own for own, one in units(functions).items() if one is not None}
    return [part for part, own in PARTS.items() if not asked.isdisjoint(own)]


def _ways(function: Function) -> tuple[tuple[str, ...], ...]:
    """Return the parameters, and the same without an input, which some of the C files need."""
    return function.names, tuple(one for one in function.names if one != "input")


def transforms(functions: dict[str, Function]) -> list[dict[str, str]]:
    """Return the steps of the preparation: name, type of numbers, state, length of the result."""
    found = []
    for function in functions.values():
        if function.names == _TRANSFORM and not function.answers:
            state, array = function.parameters
            found.append(
                {
                    "name": function.name,
                    "real": array.c_type,
                    "state": state.c_type,
                    "length": array.length or "",
                }
            )
    return found


def block_steps(functions: dict[str, Function]) -> list[str]:
    """Return the steps of a job that sum blocks, by their names in the C."""
    return [one.name for own, one in functions.items() if _BLOCKS.fullmatch(own)]

"""Why an alarm of Eva is no error: one reason for each, by function and expression.

An alarm with a reason is listed in the evidence with it; one without is listed as not explained.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kmcompile.evidence.run_time_errors.eva import Alarm


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some alarms are no errors.

    Parameters
    ----------
    functions, expressions : str
        Regular expressions of the alarms' functions and expressions, without the prefix.
    kind : str
        Of the alarms, as Frama-C calls it.
    text : str
    """

    functions: str
    kind: str
    expressions: str
    text: str


REASONS: tuple[Reason, ...] = (
    Reason(
        "take_first",
        "mem_access",
        r"\\valid_read\(heap->slots \+ heap->size\)",
        "next_slot takes from a heap that is not empty: has_next was asked, and the other heap "
        "is taken where this one is empty",
    ),
    Reason(
        "map_lookup",
        "initialization",
        r"\\initialized\(.*place.*\)",
        "map_places has written each place where it returns true",
    ),
    Reason(
        "map_halved|map_rank",
        "index_bound",
        r".*",
        "only a node that is halved has a rank, and the map has four nodes for each of them: "
        "the interpreter walks the same tables",
    ),
    Reason(
        "nearest_test",
        "is_nan_or_infinite",
        r"\\is_finite\(workspace->earlier\[\w+\]\)",
        "earlier is read where the reduced set before had x in its range, and has written it: "
        "in_range is true in both stages, or this one is not asked",
    ),
    Reason(
        "coded_polynomial_sum",
        "is_nan_or_infinite",
        r".*\\mul_float\(moved, input->deviation\).*",
        "of an input within the scale each feature is off by half a unit at most; accept_float "
        "refuses any other, for which the deviation is 2^100 and does not come here",
    ),
    Reason(
        "scaled",
        "is_nan_or_infinite",
        r"\\is_finite\(number\.value\)",
        "value is 0, a whole number up to 2^32 or a deviation, and the exponent that is added from "
        "-100 to 60, so that the result is 0 or normal: kmcompile.lower refuses machines with "
        "larger ones. Eva keeps no range of a float's bits",
    ),
    Reason(
        r"reach|sequence_\w+|bound_sequence",
        "is_nan_or_infinite",
        r".*",
        "an infinity does arise for large accepted inputs: `usable` of bound_sequence is false "
        "then, and the next stage answers",
    ),
    Reason(
        r"subspace_\w+",
        "is_nan_or_infinite",
        r".*",
        "an infinity does arise for large accepted inputs: `whole` is not at most `largest` then, "
        "and the next stage answers",
    ),
    Reason(
        r"box_(fixed|bounds)",
        "is_nan_or_infinite",
        r".*",
        "an infinity may arise for large accepted inputs: `room` is not above 0 then, or no end of "
        "an interval moves inward, so that nothing is proved",
    ),
    Reason(
        r"(replay_)?(power_\d+|bump_square|kernel_values|add_block|add_group|exact_sum|sign"
        r"|closest_pair|below|beats|count_votes)|reduced_\d+_(add_block|decide)",
        "is_nan_or_infinite",
        r".*",
        "|<s, x>| <= |s| |x|: with it kmcompile.lower has made the limits so that all is "
        "below 2^120, where Eva takes all features at their largest. This is not shown by Eva",
    ),
)


def reason_of(alarm: Alarm) -> str | None:
    """Return why an alarm is no error, or None if no reason is written down.

    Examples
    --------
    >>> reason_of(Alarm("map_rank", "index_bound", "word < 9U"))[:36]
    'only a node that is halved has a ran'
    """
    for one in REASONS:
        if (
            one.kind == alarm.kind
            and re.fullmatch(one.functions, alarm.function)
            and re.fullmatch(one.expressions, alarm.expression)
        ):
            return one.text
    return None

"""Facts that relate two values, which intervals do not keep: said in the copy, with their reasons.

Each replaces an expression of the emitted C by one with the fact in it. The fact is not proved by
Eva: its reason is in `reason`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DEFINITIONS = {
    "below": """static inline uint32_t {prefix}_below(const uint32_t v, const uint32_t end)
{{
    (void)v;
    return (uint32_t)Frama_C_unsigned_long_interval(0UL, end - 1UL);
}}
""",
    "between": """static inline float {prefix}_between(const float v, const float most)
{{
    (void)v;
    return Frama_C_float_interval(-most, most);
}}
""",
    "double_between": """static inline double {prefix}_double_between(
    const double v, const double most)
{{
    (void)v;
    return Frama_C_double_interval(-most, most);
}}
""",
}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A fact about an expression of some functions.

    Parameters
    ----------
    functions : str
        Regular expression of their names without the prefix.
    found : str
        The text, as a regular expression; {prefix} and {upper} stand for the names.
    said : str
        What takes its place.
    reason : str
    of_numbers : bool
        Whether only the analysis of numbers needs it.
    """

    functions: str
    found: str
    said: str
    reason: str
    of_numbers: bool = True


def _zeroed(owner: str, *members: str) -> str:
    """Return C, behind what was found, that clears arrays of a workspace."""
    lines = []
    for array in (f"{owner}->{name}" for name in members):
        lines += [
            f"    for (uint32_t i = 0U; i < (sizeof {array} / sizeof {array}[0]); ++i) {{{{",
            f"        {array}[i] = 0;",
            "    }}",
        ]
    return r"\g<0>" + "".join(rf"{line}\n" for line in lines)


_NO_CHANGE = "no change"
_DECLARATIONS = r"(?s)\A.*?\n\n"
_BELOW = r"{prefix}_below(\g<0>, {upper}_N_PREPARED)"
HYPOTHESES = (
    Hypothesis(
        r"(?!knows_features).*",
        r"(?:workspace->)?nonzeros\[k(?: \+ \dU)?\](?! =)",
        _BELOW,
        "k is below the number of nonzeros, and each of them was written with the number of a "
        "feature, by append_nonzero alone; in steps knows_features has asked for it",
        of_numbers=False,
    ),
    Hypothesis(
        r"other_totals",
        r"missing\[lane\];",
        r"first_slot + {prefix}_below(missing[lane], {upper}_LANES);",
        "lane is below n, and as many elements were written, each with a slot of this block",
        of_numbers=False,
    ),
    Hypothesis(
        r"other_totals",
        r"uint32_t lane;\n\n",
        r"\g<0>    for (lane = 0U; lane < {upper}_LANES; ++lane) {{\n"
        r"        total[lane] = 0.0f;\n    }}\n",
        "each lane is touched, or one of the missing ones: its total is written",
        of_numbers=False,
    ),
    Hypothesis(
        r"(replay_)?closest_pair",
        r"    result->lower = 0\.0f;\n",
        r"    /*@ split winner; */\n\g<0>",
        "no change: looks at each winner in turn, whose pairs have other numbers",
        of_numbers=False,
    ),
    Hypothesis(
        r"(?!knows_classes).*",
        r"workspace->rank\[[^\]]*\](?! =)",
        r"{prefix}_below(\g<0>, {upper}_N_CLASSES)",
        "rank_classes has written a class for each place, before any is read; in steps "
        "knows_classes has asked for it",
        of_numbers=False,
    ),
    Hypothesis(
        r"(replay_)?forget_kernels",
        _DECLARATIONS,
        _zeroed("workspace", "kernel", "kernel_error"),
        "a kernel value is read where it is marked as computed, and all marks are cleared here",
    ),
    Hypothesis(
        r"(replay_)?forget_votes",
        _DECLARATIONS,
        _zeroed("workspace", "decision", "bound"),
        "a decision is read where its pair is marked as evaluated",
    ),
    Hypothesis(
        r"do_begin_replay",
        r"    {prefix}_replay_forget_kernels\(own\);\n",
        _zeroed("own", "decision", "bound"),
        "do_end_replay reads the decisions once each pair has its own",
    ),
    Hypothesis(
        r"rank_classes",
        _DECLARATIONS,
        _zeroed("workspace", "score"),
        "the score of each class before this one is written",
    ),
    Hypothesis(
        r"meet|have_met|closest_met_pair|open_pair|compute_kernels|pair_sum",
        r"{prefix}_pair_of\([^()]*\)",
        r"{prefix}_below(\g<0>, {upper}_N_DECISIONS)",
        "the two classes are not one, which steps ask for: two classes have a pair",
        of_numbers=False,
    ),
    Hypothesis(
        r"next_pair|meet_pair|end_pairs|open_pair|compute_kernels|pair_sum",
        r"pairs(?:->|\.)(?:a|b|leader)\b(?! =)",
        r"{prefix}_below(\g<0>, {upper}_N_CLASSES)",
        "the classes of a pair and the leader come from the order of the classes, or from a pair; "
        "in steps knows_classes has asked for it",
        of_numbers=False,
    ),
    Hypothesis(
        r"compute_kernels",
        r"pairs->entry(?=[\])])(?!\)\s*\{{)",
        r"{prefix}_below(\g<0>, {upper}_N_ENTRIES)",
        "left > 0 entries are left up to end, which is N_ENTRIES at most",
        of_numbers=False,
    ),
    Hypothesis(
        r"do_replay_pairs_\d+",
        r"        {prefix}_replay_evaluate_pair\(",
        r"        /*@ split job->progress.group; */\n\g<0>",
        "no change: looks at each pair in turn, which has its own range of entries",
        of_numbers=False,
    ),
    Hypothesis(
        r"meet",
        r"    {prefix}_evaluate_pair\(",
        r"    /*@ split p; */\n\g<0>",
        "no change: looks at each pair in turn, which has its own range of entries",
        of_numbers=False,
    ),
    Hypothesis(
        r"sharpen",
        r"    for \(c = 0U;",
        r"    /*@ split label; */\n\g<0>",
        "no change: looks at each label in turn, whose pairs have other numbers",
        of_numbers=False,
    ),
    Hypothesis(
        r"walk",
        r" *valid = {prefix}_choose\(",
        r"            /*@ split walk->target; */\n\g<0>",
        "no change: looks at each node in turn, which has its own range of choices",
        of_numbers=False,
    ),
    Hypothesis(
        r"routed_sum|routed_fixed_sum",
        r"{prefix}_first_leaf\(input, &walk, &leaf\)\s*&& {prefix}_leaf_sum\(([^)]*)\);",
        r"{prefix}_first_leaf(input, &walk, &leaf);\n"
        r"    /*@ split leaf; */\n    if (valid) {{\n"
        r"        valid = {prefix}_leaf_sum(\g<1>);\n    }}",
        "no change: looks at each leaf in turn, which has its own range of vectors",
        of_numbers=False,
    ),
    Hypothesis(
        r"routed_sum|routed_fixed_sum",
        r"            valid = {prefix}_leaf_sum",
        r"            /*@ split leaf; */\n\g<0>",
        "no change: looks at each leaf in turn, which has its own range of vectors",
        of_numbers=False,
    ),
    Hypothesis(
        r"block_kernels",
        r"(?<={prefix}_exp2_fixed\(model, ){prefix}_upper_product\(scaled, multiplier\)",
        r"{prefix}_below(\g<0>, 0x80000000UL)",
        "the distance is at most block_kernels_last, for which _open has refused a product of "
        "2^31 or more",
        of_numbers=False,
    ),
    Hypothesis(
        r"start_pairs",
        r"\(own - first\)",
        r"{prefix}_below(\g<0>, {upper}_MOST_OWN_PAIRS)",
        "own < end, and end - first <= MOST_OWN_PAIRS was checked",
        of_numbers=False,
    ),
    Hypothesis(
        r"fixed_decision",
        r"2U \* rank",
        r"2U * {prefix}_below(rank, {upper}_MOST_OWN_PAIRS)",
        "own < end, and end - first <= MOST_OWN_PAIRS was checked",
        of_numbers=False,
    ),
    Hypothesis(
        r"whole",
        r"number - \(\(float\)high \* 0x1p\+32f\)",
        "Frama_C_float_interval(0.0f, 0x1.fffffep+31f)",
        "high * 2^32 is the part of the number from 2^32 up, and nothing of it is rounded",
    ),
    Hypothesis(
        r"logistic",
        r"1\.0f / e\b",
        "Frama_C_float_interval(1.0f, 0x1p+126f)",
        "an exponential that is not 0 is at least 2^-126: tests/equivalence/test_scalar.py",
    ),
    Hypothesis(
        r".*",
        r"(?<=taylor_offset\[j\] = )input->x\[j\] - c\[j\]",
        r"{prefix}_between(\g<0>, reach)",
        "|x_j - c_j| <= |x - c| <= reach",
    ),
    Hypothesis(
        r"(replay_)?normalize_\d+",
        r"\(known \?",
        r"((size >= smallest) ?",
        "no change: known is size >= smallest",
    ),
    Hypothesis(
        r"replay_part",
        r"x\[j\] - \(nearest \* part\)",
        r"{prefix}_double_between(\g<0>, part * 0.5)",
        "nearest is the integer nearest to x / part, and x an integer below 2^46: what is left is "
        "exact, and at most half a part",
        of_numbers=False,
    ),
    Hypothesis(
        r"normalize_\d+",
        r"x\[[^;]*\] \* reciprocal",
        r"{prefix}_between(\g<0>, 0x1.001p+0f)",
        "|x_j| <= |x|: divided by |x| it is at most 1 and the roundings; where |x| is below "
        "`smallest` and x stays, |x_j| is below 1, too",
    ),
    Hypothesis(
        r"replay_normalize_\d+",
        r"x\[[^;]*\] \* reciprocal",
        r"{prefix}_double_between(\g<0>, 0x1.001p+0)",
        "|x_j| <= |x|, as in float",
    ),
    Hypothesis(
        r"(?!replay_).*kernel_term.*",
        r"difference / both",
        r"Frama_C_float_interval(-1.0f, 1.0f)",
        "|x - s| <= x + s, as x and s are not negative: accept refuses an x that is",
    ),
    Hypothesis(
        r"replay_kernel_term.*",
        r"difference / both",
        r"Frama_C_double_interval(-1.0, 1.0)",
        "|x - s| <= x + s, as x and s are not negative: accept refuses an x that is",
    ),
    Hypothesis(
        r"local_expansion",
        r"if \(!decided && {prefix}_local_holds\(&local\)\) \{{\n",
        r"\g<0>        {prefix}_local_linear(workspace, input, &local);\n",
        "local_test has asked local_holds of this centre before, and has called local_linear",
    ),
    Hypothesis(
        r"local_linear",
        r"    {prefix}_local_slopes\(",
        r"    {prefix}_said_reach = local->reach;\n\g<0>",
        "no change: makes the reach known where the offset is computed",
    ),
    Hypothesis(
        r"local_slopes",
        r"x\[[^\]]*\] - c\[[^\]]*\]",
        r"{prefix}_between(\g<0>, {prefix}_said_reach)",
        "|x_j - c_j| <= |x - c| <= reach",
    ),
)


def definitions(prefix: str, text: str) -> str:
    """Return the functions that the facts in a text call."""
    used = [one for name, one in _DEFINITIONS.items() if f"{prefix}_{name}(" in text]
    return "\n".join(one.format(prefix=prefix) for one in used)


def said(prefix: str, function: str, body: str, of_numbers: bool) -> str:
    """Return the body of a function with the facts about its expressions.

    Parameters
    ----------
    prefix : str
        Of the emitted names.
    function : str
        Without the prefix.
    body : str
    of_numbers : bool
        Whether it is for the analysis of numbers.
    """
    names = {"prefix": prefix, "upper": prefix.upper()}
    for one in HYPOTHESES:
        if (of_numbers or not one.of_numbers) and re.fullmatch(one.functions, function):
            body = re.sub(one.found.format(**names), one.said.format(**names), body)
    return body


def reasons(prefix: str, function: str, body: str, of_numbers: bool) -> list[str]:
    """Return the reason of each fact that `said` puts into a body."""
    names = {"prefix": prefix, "upper": prefix.upper()}
    return [
        one.reason
        for one in HYPOTHESES
        if (of_numbers or not one.of_numbers)
        and not one.reason.startswith(_NO_CHANGE)
        and re.fullmatch(one.functions, function)
        and re.search(one.found.format(**names), body)
    ]

"""The copy of the emitted C that Eva reads: what is changed in it, and why.

The text of the emitted file is left alone. In the copy

- `v * v` is written as a square, which is not negative: Eva multiplies intervals and forgets that
  both factors are one;
- functions that take floats apart have the bodies of `substitutes`;
- the entry's check accepts what the driver gives, which are the numbers that it accepts;
- the loops over the words of a table are not unrolled, and the whole self-test takes a step of any
  state, as the driver takes each.

Only the analysis of numbers reads the first three.
"""

from __future__ import annotations

import re

from kmcompile.evidence.run_time_errors import hypotheses
from kmcompile.evidence.run_time_errors.substitutes import SUBSTITUTES

_HEAD = """#include "__fc_builtin.h"

/*@ assigns \\\\result \\\\from v; */
extern float Frama_C_sqrtf(float v);
/*@ assigns \\\\result \\\\from v; */
extern double Frama_C_sqrt(double v);
""".replace("\\\\", "\\")

_SQUARED = """
static inline {type} {name}({type} v)
{{
    const {type} square = v * v;

    return (square < 0) ? 0 : square;
}}
"""

_SQUARE = re.compile(
    r"(?<![\w.>\])])(?P<v>(?P<name>[a-z]\w*)(?:\[[^\[\]]*\])?) \* (?P=v)(?![\w\[.(]|->)"
)
_DECLARED = re.compile(r"\b(?P<type>float|double) (?:\*?const )?\*?(?P<name>[a-z]\w*)")
_FUNCTION = re.compile(
    r"^(?P<head>(?:static )?(?:inline )?\w+ (?P<name>\w+)\([^;{}]*\)\n)\{\n(?P<body>.*?)^\}\n",
    re.MULTILINE | re.DOTALL,
)

_OUTCOME = re.compile(
    r"^    (?:const )?(?:bool|\w+_status_t) (status|decided|found)\b", re.MULTILINE
)
"""Variables that tell whether what was written is to be used."""

_ANY_STEP = """static {prefix}_status_t {prefix}_step_of_any_state(
    {prefix}_self_test_t *const state)
{{
    const bool done = Frama_C_nondet(0, 1) != 0;

    Frama_C_make_unknown((char *)state, sizeof *state);
    state->done = done;
    return ({prefix}_status_t)Frama_C_interval(0, {upper}_ERROR_CORRUPT);
}}

"""


def of_any_bits(prefix: str, text: str) -> str:
    """Return the copy for the analysis of any bits."""
    return _with_head(prefix, _common(prefix, text, of_numbers=False))


def of_numbers(prefix: str, text: str) -> str:
    """Return the copy for the analysis of numbers."""
    squares: dict[str, str] = {}
    text = _FUNCTION.sub(lambda found: _of_numbers(prefix, found, squares), text)
    defined = [_SQUARED.format(name=name, type=type_) for name, type_ in squares.items()]
    return _with_head(prefix, "".join(defined) + _common(prefix, text, of_numbers=True))


def _with_head(prefix: str, text: str) -> str:
    defined = hypotheses.definitions(prefix, text)
    return f"#include <stdint.h>\n{_HEAD}static float {prefix}_said_reach;\n{defined}{text}"


def _common(prefix: str, text: str, of_numbers: bool) -> str:
    def say(found: re.Match[str]) -> str:
        name = found["name"].removeprefix(f"{prefix}_")
        body = hypotheses.said(prefix, name, found["body"], of_numbers)
        return f"{found['head']}{{\n{body}}}\n"

    return _short_self_test(prefix, _FUNCTION.sub(_split_function, _FUNCTION.sub(say, text)))


def _split_function(found: re.Match[str]) -> str:
    body = found["body"]
    declarations, blank, statements = body.partition("\n\n")
    names = _OUTCOME.findall(declarations)
    if not blank or not names or "\n    {" in declarations:
        return found[0]
    marks = "".join(f"    /*@ dynamic_split {name}; */\n" for name in names)
    return f"{found['head']}{{\n{declarations}\n\n{marks}{statements}}}\n"


def assumed(prefix: str, text: str, of_numbers: bool) -> list[str]:
    """Return what an analysis takes for true without a proof of Eva, a line for each function.

    Parameters
    ----------
    prefix, text : str
        Of the emitted names, and the emitted C.
    of_numbers : bool
        Whether it is the analysis of numbers.
    """
    lines = []
    for found in _FUNCTION.finditer(text):
        name = found["name"].removeprefix(f"{prefix}_")
        replaced = [one.reason for one in SUBSTITUTES if of_numbers and one.function == name]
        facts = hypotheses.reasons(prefix, name, found["body"], of_numbers)
        lines += [f"`{name}`, its body is another: {reason}" for reason in replaced]
        lines += [f"`{name}`: {reason}" for reason in facts if not replaced]
    return list(dict.fromkeys(lines))  # a function may have a body for each kind of core


def deciders(prefix: str, text: str) -> tuple[str, ...]:
    """Return the functions that tell by their result whether what they wrote is to be used."""
    return tuple(
        found["name"]
        for found in _FUNCTION.finditer(text)
        if re.match(rf"(static )?(inline )?(bool|{prefix}_status_t) ", found["head"])
    )


def _of_numbers(prefix: str, found: re.Match[str], squares: dict[str, str]) -> str:
    name, body = found["name"].removeprefix(f"{prefix}_"), found["body"]
    own = [one for one in SUBSTITUTES if one.function == name]
    if own:
        return f"{found['head']}{{\n    {own[0].body}\n}}\n"
    if name == "check":
        return f"{found['head']}{{\n    (void)x;\n    return {prefix.upper()}_OK;\n}}\n"
    types = {one["name"]: one["type"] for one in _DECLARED.finditer(found["head"] + body)}

    def square(product: re.Match[str]) -> str:
        """Write v * v as a square if v is declared as float or double in the function."""
        if product["name"] not in types:
            return product[0]
        type_ = types[product["name"]]
        of_function = f"{found['name']}_{'' if type_ == 'float' else 'double_'}square"
        squares[of_function] = type_
        return f"{of_function}({product['v']})"

    return f"{found['head']}{{\n{_SQUARE.sub(square, body)}}}\n"


def _short_self_test(prefix: str, text: str) -> str:
    """Keep loops over words together, and take a step of any state in the whole self-test."""
    upper = prefix.upper()
    for head in (
        f"    for (count = 0U; count < {upper}_STEP_WORDS; ++count) {{",
        "    for (bit = 0U; bit < 32U; ++bit) {",
    ):
        text = text.replace(head, f"    /*@ loop unroll 0; */\n{head}")
    begin = text.index(f"{prefix}_status_t {prefix}_self_test(")
    step = re.compile(r"_self_test_step\(&state(?:, model)?\)")
    whole = step.sub("_step_of_any_state(&state)", text[begin:])
    return text[:begin] + _ANY_STEP.format(prefix=prefix, upper=upper) + whole

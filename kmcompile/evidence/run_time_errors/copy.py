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
from kmcompile.text.c_functions import Function, functions_of, with_statements

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
    text = with_statements(text, lambda one: _of_numbers(prefix, one, squares))
    defined = [_SQUARED.format(name=name, type=type_) for name, type_ in squares.items()]
    return _with_head(prefix, "".join(defined) + _common(prefix, text, of_numbers=True))


def _with_head(prefix: str, text: str) -> str:
    defined = hypotheses.definitions(prefix, text)
    return f"#include <stdint.h>\n{_HEAD}static float {prefix}_said_reach;\n{defined}{text}"


def _common(prefix: str, text: str, of_numbers: bool) -> str:
    def say(one: Function) -> str:
        name = one.name.removeprefix(f"{prefix}_")
        return hypotheses.said(prefix, name, one.statements, of_numbers)

    return _short_self_test(prefix, with_statements(with_statements(text, say), _split_function))


def _split_function(one: Function) -> str:
    declarations, blank, statements = one.statements.partition("\n\n")
    names = _OUTCOME.findall(declarations)
    if not blank or not names or "\n    {" in declarations:
        return one.statements
    marks = "".join(f"    /*@ dynamic_split {name}; */\n" for name in names)
    return f"{declarations}\n\n{marks}{statements}"


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
    for function in functions_of(text):
        if not function.is_defined:
            continue
        name = function.name.removeprefix(f"{prefix}_")
        replaced = [one.reason for one in SUBSTITUTES if of_numbers and one.function == name]
        facts = hypotheses.reasons(prefix, name, function.statements, of_numbers)
        lines += [f"`{name}`, its body is another: {reason}" for reason in replaced]
        lines += [f"`{name}`: {reason}" for reason in facts if not replaced]
    return list(dict.fromkeys(lines))  # a function may have a body for each kind of core


def deciders(prefix: str, text: str) -> tuple[str, ...]:
    """Return the functions that tell by their result whether what they wrote is to be used."""
    results = ("bool", f"{prefix}_status_t")
    return tuple(one.name for one in functions_of(text) if one.is_defined and one.c_type in results)


def _of_numbers(prefix: str, function: Function, squares: dict[str, str]) -> str:
    name, statements = function.name.removeprefix(f"{prefix}_"), function.statements
    own = [one for one in SUBSTITUTES if one.function == name]
    if own:
        return f"    {own[0].body}\n"
    if name == "check":
        return f"    (void)x;\n    return {prefix.upper()}_OK;\n"
    declared = _DECLARED.finditer(f"{function.parameter_text})\n{statements}")
    types = {one["name"]: one["type"] for one in declared}

    def square(product: re.Match[str]) -> str:
        """Write v * v as a square if v is declared as float or double in the function."""
        if product["name"] not in types:
            return product[0]
        type_ = types[product["name"]]
        of_function = f"{function.name}_{'' if type_ == 'float' else 'double_'}square"
        squares[of_function] = type_
        return f"{of_function}({product['v']})"

    return _SQUARE.sub(square, statements)


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

"""2^-t in integers of 64 bits: what each cut takes off, down to the last shift."""

from __future__ import annotations

from fractions import Fraction

from evidence.rounding.constants import LN2
from evidence.rounding.proof import Claim, Proof, proof, units
from evidence.rounding.series import above, exponential, largest, product, remainder
from evidence.rounding.statements import read_function
from kmcompile.emit.environment import render
from kmcompile.numeric.scalar import exp2_long

_TERMS = 30
_DEFINITIONS = [
    f"@argument = fixed<-{exp2_long.ARGUMENT_BITS}, dn>;",
    "@upper_half = fixed<-32, dn>;",
    f"@short = fixed<-{exp2_long.SHORT_BITS}, dn>;",
    "@long = fixed<-64, dn>;",
    "@last = fixed<-63, dn>;",
    "f = argument(any);",
    "short_f = upper_half(f);",
    "low_f = f - short_f;",
]
PRODUCT = [
    "const uint32_t a_high = (uint32_t) (a >> 32U)",
    "const uint32_t a_low = (uint32_t) (a & 0xFFFFFFFFUL)",
    "const uint32_t b_high = (uint32_t) (b >> 32U)",
    "const uint32_t b_low = (uint32_t) (b & 0xFFFFFFFFUL)",
    "const uint64_t upper = ((uint64_t) a_high) * b_high",
    "const uint64_t left = ((uint64_t) a_high) * b_low",
    "const uint64_t right = ((uint64_t) a_low) * b_high",
    "return (upper + (left >> 32U)) + (right >> 32U);",
]
LESS = ["return c - ((uint32_t) ((((uint64_t) f) * s) >> 32U));"]


def claims() -> list[Claim]:
    """Return the claim of exp2_long."""
    code = render("replay/exp2_long.c.j2", name="k", scalar=exp2_long)
    read_function(code, "k_upper_product", integer=True, bits=PRODUCT)
    read_function(code, "k_less", integer=True, bits=LESS)
    read_function(code, "k_exp2_long", integer=True, bits=statements())
    eta = polynomial_error()
    taken = (
        f"|ETA| <= {float(eta):.3g}: of the polynomial against 2^-f, by Taylor forms in exact "
        "rational arithmetic (series.py)",
        "f, its upper half and the shift are bits of t; the shift takes off less than 1 in the "
        "last bit",
    )
    bound = f"{exp2_long.RELATIVE_ERROR_TEXT} before the shift"
    return [Claim("exp2_long", bound, (_proof(eta),), taken, code)]


def statements() -> list[str]:
    """Return the statements of exp2_long that its proof models."""
    own, (first, *others) = exp2_long, exp2_long.LONG[::-1]
    return [
        f"const uint64_t f = t << {own.FRACTION_SHIFT}U",
        f"const uint32_t shift = {own.LAST_SHIFT}U + ((uint32_t) (t >> {own.ARGUMENT_BITS}U))",
        "const uint32_t short_f = (uint32_t) (f >> 32U)",
        f"uint32_t rest = 0x{own.SHORT[-1]:08X}UL",
        *(f"rest = k_less(0x{c:08X}UL, short_f, rest)" for c in own.SHORT[-2::-1]),
        f"slope = 0x{first:016X}ULL - ((((uint64_t) short_f) * rest) >> {own.JOIN_SHIFT}U)",
        *(f"slope = 0x{c:016X}ULL - k_upper_product(f, slope)" for c in others),
        "value = 0x8000000000000000ULL - (k_upper_product(f, slope) >> 1U)",
        "return value >> shift;",
    ]


def polynomial_error() -> Fraction:
    """Return a bound on |p(f) 2^f - 1| for 0 <= f <= 1, p with the stored coefficients."""
    ln2 = sum(LN2) / 2
    stored = [Fraction(c, 1 << 64) for c in exp2_long.LONG]
    stored += [Fraction(c, 1 << exp2_long.SHORT_BITS) for c in exp2_long.SHORT]
    series = [Fraction(1), *((-1) ** k * c for k, c in enumerate(stored, 1))]
    growth = [c * ln2**k for k, c in enumerate(exponential(_TERMS))]
    error = product(series, growth)
    error[0] -= 1
    # The rest of the series, and of ln 2, times |p| <= 1.
    return max(largest(error, Fraction(0), Fraction(1), 64)) + remainder(_TERMS, ln2) + LN2[1] - ln2


def _proof(eta: Fraction) -> Proof:
    """Return the proof of value against 2^-f; with its goals no step leaves its unsigned type."""
    last = f"{exp2_long.SHORT[-1]}b-{exp2_long.SHORT_BITS}"
    lines = [f"rest_0 = {last};", f"x_rest_0 = {last};"]
    goals, hints = [], []
    before = "rest_0"
    each = [("rest", c, exp2_long.SHORT_BITS, "short") for c in exp2_long.SHORT[-2::-1]]
    each.append(("slope", exp2_long.LONG[-1], 64, "long"))
    for number, (kind, c, bits, cut) in enumerate(each, 1):
        own = f"{kind}_{number}"
        lines += [
            f"{own} = {c}b-{bits} - {cut}(short_f * {before});",
            f"x_{own} = {c}b-{bits} - f * x_{before};",
        ]
        hints.append(
            f"{own} - x_{own} -> -({cut}(short_f * {before}) - short_f * {before})"
            f" + low_f * {before} - f * ({before} - x_{before});"
        )
        goals.append(f"{own} in [0, {(1 << (32 if kind == 'rest' else 64)) - 1}b-{bits}]")
        before = own
    for number, c in enumerate(exp2_long.LONG[-2::-1], len(each) + 1):
        own = f"slope_{number}"
        lines += [
            *_upper_product(before),
            f"{own} = {c}b-64 - p_{before};",
            f"x_{own} = {c}b-64 - f * x_{before};",
        ]
        hints += [
            _below(before),
            f"{own} - x_{own} -> -(p_{before} - f * {before}) - f * ({before} - x_{before});",
        ]
        goals.append(f"{own} in [0, {(1 << 64) - 1}b-64]")
        before = own
    lines += [
        *_upper_product(before),
        f"value = 1 - last(p_{before});",
        f"x_value = 1 - f * x_{before};",
        "exact = x_value / (1 + ETA);",
    ]
    hints += [
        _below(before),
        f"value - x_value -> -(last(p_{before}) - p_{before}) - (p_{before} - f * {before})"
        f" - f * ({before} - x_{before});",
        "(x_value - exact) / exact -> ETA { exact <> 0, 1 + ETA <> 0 };",
    ]
    bound = units(exp2_long.RELATIVE_ERROR, 0)
    parts = [f"|value -/ exact| <= {bound}", "value in [0, 1]", *goals]
    goal = f"{{ f in [0, 1] /\\ |ETA| <= {above(eta)}\n  -> " + "\n  /\\ ".join(parts) + " }"
    shows = f"value is within {exp2_long.RELATIVE_ERROR_TEXT}, relative, of 2^-f."
    return proof("exp2_long", shows, [*_DEFINITIONS, *lines], goal, hints)


def _upper_product(slope: str) -> list[str]:
    """Return definitions of `upper_product` of f and a slope, of which halves are cut off."""
    high, low = f"high_{slope}", f"low_{slope}"
    return [
        f"{high} = upper_half({slope});",
        f"{low} = {slope} - {high};",
        f"p_{slope} = short_f * {high} + long(short_f * {low}) + long(low_f * {high});",
    ]


def _below(slope: str) -> str:
    """Return the hint how far `upper_product` lies below the product."""
    high, low = f"high_{slope}", f"low_{slope}"
    return (
        f"p_{slope} - f * {slope} -> (long(short_f * {low}) - short_f * {low})"
        f" + (long(low_f * {high}) - low_f * {high}) - low_f * {low};"
    )

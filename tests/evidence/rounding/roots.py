"""Square roots: correctly rounded in float32, by Heron's steps in float64, and an upper bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from evidence.rounding.proof import Claim, proof, units
from evidence.rounding.statements import read_function
from kmcompile.emit.environment import render
from kmcompile.numeric.scalar import root_bound, square_root, square_root_double

_START = Fraction(45, 1000)
_CLOSE = "1b-19"
BITS = [
    f"const uint32_t half_bias = 0x{root_bound.MAGIC:X}UL",
    "s.bits = (s.bits >> 1U) + half_bias",
]
BITS_DOUBLE = [
    "const bool tiny = v < tiny_end",
    "k_square_root((float) scaled)",
]


def claims() -> list[Claim]:
    """Return the claims of the three."""
    return [_rounded_claim(), _double_claim(), _bound_claim()]


def _rounded_claim() -> Claim:
    code = render("scalar/square_root.c.j2", name="k", scalar=square_root.VIEW)
    last = proof(
        "square_root",
        "The 25 bits of floor(sqrt(radicand)), with 1 added and halved, are within half a unit"
        " in the last place of 24 bits, which is a relative error of 2^-24.",
        [
            "@down = fixed<0, dn>;",
            "@halved = fixed<1, dn>;",
            "radicand = down(any);",
            "root = down(sqrt(radicand));",
            "rounded = halved(root + 1);",
        ],
        "{ radicand in [1b48, 1b50] -> |rounded - sqrt(radicand)| <= 1\n"
        "  /\\ |rounded -/ sqrt(radicand)| <= 1b-24 }",
        [
            "rounded - sqrt(radicand) -> (rounded - (root + 1)) + (root - sqrt(radicand)) + 1;",
            "(rounded - sqrt(radicand)) / sqrt(radicand) ->"
            " (rounded - sqrt(radicand)) * (1 / sqrt(radicand)) { sqrt(radicand) <> 0 };",
        ],
    )
    left = (
        "that the 25 steps make floor(sqrt(radicand)): Gappa has no loops. "
        "tests/equivalence/test_scalar.py goes through every significand with both parities of "
        "the exponent and every subnormal number; the invariant is in the C",
    )
    return Claim("square_root", "2^-24", (last,), (), code, left)


def _double_claim() -> Claim:
    code = render("scalar/square_root_double.c.j2", name="k", base="k", scalar=None)
    bound = square_root_double.RELATIVE_ERROR * 2**53
    calls = {"k_square_root": "y"}
    # v is not tiny: both factors are 1. Where it is, they are 2^128 and 2^-64, which is exact.
    function = read_function(code, "k_square_root", [False, True, False], calls, bits=BITS_DOUBLE)
    body = function.lines("root_b_b", "root_4")
    steps = (
        _Step("root_2", "root_b_b", "root_b", "root_3"),
        _Step("root_3", "root_b_b_2", "root_b_2", "root_4"),
    )
    main = proof(
        "square_root_double",
        f"Two steps of Heron's from a start within 1.51 * 2^-24 end within {bound:g} * 2^-53.",
        [
            "scaled = R * R;",
            "root_2 = R * (1 + E0);",
            *body,
            *_means(steps, "scaled", "0.5 * mean"),
        ],
        f"{{ R in [1, 2] /\\ |E0| <= {units(1.51, 24)}\n"
        f"  -> |root_4 -/ R| <= {units(bound, 53)} }}",
        _hints(steps, "scaled"),
    )
    taken = (
        "R is sqrt(scaled), from 1 to 2 as all scales by powers of two, without underflow from "
        "2^-64 on; |E0| <= 1.51 * 2^-24: rounding scaled to float32 moves its root by "
        "half of 2^-24, and the root in float32 is rounded once (square_root); no result is "
        "subnormal",
        "products with 0.5, 1, 2^128 and 2^-64 are exact here",
    )
    return Claim("square_root_double", f"{bound:g} * 2^-53", (main,), taken, code)


@dataclass(frozen=True)
class _Step:
    """Names of a step of Heron's: the start y, then v / y, then the sum, then half of it."""

    start: str
    quotient: str
    total: str
    after: str


def _means(steps: Sequence[_Step], v: str, half: str) -> list[str]:
    """Return definitions of each step's exact mean m, and of the relative error e of its start.

    `half` is "0.5 * mean" or "mean * 0.5", as the C has it.
    """
    lines = []
    for number, step in enumerate(steps):
        mean = f"({step.start} + {v} / {step.start})"
        lines.append(f"m{number} = {half.replace('mean', mean)};")
        if number:
            lines.append(f"E{number} = ({step.start} - R) / R;")
    return lines


def _hints(steps: Sequence[_Step], v: str) -> list[str]:
    """Return hints: a step turns the relative error e of y into e^2 / (2 (1 + e)), and rounds."""
    hints = [f"({steps[0].start} - R) / R -> E0 {{ R <> 0 }};"]
    for number, step in enumerate(steps):
        e = f"E{number}"
        hints += [
            f"(m{number} - R) / R -> {e} * {e} / (2 * (1 + {e}))"
            f" {{ R <> 0, {step.start} <> 0, 1 + {e} <> 0 }};",
            f"{v} / {step.start} -> R / (1 + {e}) {{ R <> 0, {step.start} <> 0, 1 + {e} <> 0 }};",
            f"{step.after} ~ m{number};",
            f"m{number} ~ R;",
        ]
    return hints


def _bound_claim() -> Claim:
    code = render("scalar/root_bound.c.j2", name="k", scalar=root_bound)
    function = read_function(code, "k_root_bound", bits=BITS)
    proofs = []
    steps = (
        _Step("s_bits", "root_a_b", "root_a", "root"),
        _Step("root", "root_a_b_2", "root_a_2", "root_2"),
    )
    for name, form in (("", function), ("_contracted", function.contracted())):
        proofs += [
            proof(
                f"root_bound{name}_first",
                "From a start within 4.5 % the first step ends within 0.0011.",
                [
                    "padded = R * R;",
                    "s_bits = R * (1 + E0);",
                    *form.lines("root_a_b", "root"),
                    *_means(steps[:1], "padded", "mean * 0.5"),
                ],
                "{ R in [1, 2] /\\ |E0| <= 0.045 -> |root -/ R| <= 0.0011 }",
                _hints(steps[:1], "padded"),
            ),
            proof(
                f"root_bound{name}",
                "From there the result is at least the root, and within 2^-19 of it.",
                [
                    "padded = R * R;",
                    "root = R * (1 + E0);",
                    *form.lines("root_a_b_2"),
                    *_means(steps[1:], "padded", "mean * 0.5"),
                ],
                f"{{ R in [1, 2] /\\ |E0| <= 0.0011 -> returned -/ R in [0, {_CLOSE}] }}",
                [
                    *_hints(steps[1:], "padded"),
                    "root_2 ~ R;",
                    "(root_2 * up - R) / R -> ((root_2 - R) / R) * up + (up - 1) { R <> 0 };",
                    "returned ~ root_2 * up;",
                    "root_2 * up ~ R;",
                ],
            ),
        ]
    worst = start_error()
    if worst > _START:
        raise ValueError(f"root_bound: the start is off by {float(worst):g}")
    taken = (
        f"|E0| <= 0.045: the halved bits are off by at most {float(worst):.4g}, by rational "
        "arithmetic on each line of s (roots.py)",
        "R is sqrt(padded), from 1 to 2 as all scales by powers of two, without underflow",
        "padded = v + 2^-100, rounded, is at least v, as rounding is monotone",
    )
    return Claim("root_bound", "at least sqrt(v)", tuple(proofs), taken, code)


def start_error() -> Fraction:
    """Return a bound on |s / sqrt(v) - 1| for the start s of `root_bound`, over all normal v.

    The bits of v = 2^e (1 + f) and half of them plus the constant are read as a number: s is a
    line in f between two powers of two, and s / sqrt(v) depends on e by its parity only. On a line
    a + b f the square (a + b f)^2 / (1 + f) has its only extremum at f = (a - 2 b) / b. The lowest
    bit, which is shifted out, is 2^-23 of s at most.
    """
    worst = Fraction(0)
    for exponent in (127, 128):
        ends = [Fraction(0), Fraction(1)]
        # Where the halved bits pass a multiple of 2^23 a new line begins.
        half = Fraction(exponent << 23, 2) + root_bound.MAGIC
        step = 2**22
        whole = int(half) >> 23
        crossing = (Fraction((whole + 1) << 23) - half) / step
        if 0 < crossing < 1:
            ends.insert(1, crossing)
        for low, high in pairwise(ends):
            at = int(half + (low + high) / 2 * step) >> 23
            power = Fraction(2) ** (at - 127)
            a, b = power * (1 + (half - (at << 23)) / 2**23), power * Fraction(step, 2**23)
            points = [low, high]
            extremum = (a - 2 * b) / b
            if low < extremum < high:
                points.append(extremum)
            for f in points:
                square = (a + b * f) ** 2 / ((1 + f) * Fraction(2) ** (exponent - 127))
                worst = max(worst, _off(square))
    return worst + Fraction(1, 2**22)


def _off(square: Fraction) -> Fraction:
    """Return a bound on |sqrt(square) - 1|, by a step of Heron's from above and one from below."""
    above = (1 + square) / 2
    above = (above + square / above) / 2
    return max(above - 1, 1 - square / above)

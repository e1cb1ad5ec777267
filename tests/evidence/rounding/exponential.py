"""exp(-z) in float32 and float64: the reduction of z to s, and what follows it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from evidence.rounding.constants import LN2, rest
from evidence.rounding.proof import Claim, Proof, proof, units
from evidence.rounding.series import (
    Polynomial,
    above,
    difference,
    exponential,
    fractions_of,
    largest,
    product,
    remainder,
)
from evidence.rounding.statements import Function, read_function
from kmcompile.emit.environment import render
from kmcompile.numeric.arrays import Real
from kmcompile.numeric.scalar import exp_negative, exp_negative_double

_TERMS = 40
BITS = [
    "const uint32_t cutoff = 0x42ADFADEUL",
    "const uint32_t shifted_end = 0x4B00007EUL",
    "argument.bits = (argument.bits < cutoff) ? (argument.bits) : (cutoff)",
    "result.bits -= shifted.bits << 23U",
    "result.bits &= 0U - ((uint32_t) (shifted.bits < shifted_end))",
]
"""argument is min(z, cutoff). The result is lowered by n in the exponent: times 2^-n, exactly, as
0.7 2^-125 is normal. It is 0 from the shifted_end on, which is 2^23 + 126: n >= 126."""
BITS_DOUBLE = ["k_one_minus_exp(s)", "result.bits -= shifted.bits << 52U"]
"""The result is lowered by n in the exponent: times 2^-n, exactly, as 0.7 2^-1020 is normal."""


@dataclass(frozen=True)
class _Format:
    """What differs between the formats.

    `reach` bounds |s| and `drift` the distance of s from z - n ln 2 before the last rounding of s;
    the script of the reduction proves both. `first` is the first operation after the reduction.
    """

    function: str
    precision: int
    rounding: str
    variable: str
    cutoff: str
    last_n: int
    parts: tuple[float, float]
    reach: str
    drift: str
    product_error: str
    first: str
    pieces: int


def _below(cutoff: Real) -> str:
    """Return the largest number below the cutoff."""
    return float(np.nextafter(cutoff, cutoff.dtype.type(0.0))).hex()


_FLOAT = _Format(
    "exp_negative", 24, "b32", "argument_bits", _below(exp_negative.CUTOFF),
    exp_negative.N_END - 1, (float(exp_negative.LN2_HIGH), float(exp_negative.LN2_LOW)),
    "0.34676", "1b-35", "1b-37", "square", 60,
)  # fmt: skip
_DOUBLE = _Format(
    "exp_negative_double", 53, "b64", "z", _below(exp_negative_double.CUTOFF), 1020,
    (exp_negative_double.LN2_HIGH, exp_negative_double.LN2_LOW),
    "0.34658", "1b-84", "1b-86", "total_b", 40,
)  # fmt: skip
_OCTAVES = "0.34, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512"


def claims() -> list[Claim]:
    """Return the claims of both exponentials, and of 1 - exp(-s) in float64."""
    return [_float_claim(), _double_claim(), _one_minus_claim()]


def _float_claim() -> Claim:
    code = render("scalar/exp_negative.c.j2", name="k", scalar=exp_negative)
    function = read_function(code, "k_exp_negative", bits=BITS)
    series = [Fraction(1), Fraction(-1), *fractions_of(exp_negative.COEFFICIENTS)]
    eta = _relative_error(series, Fraction(_FLOAT.reach))
    bound = exp_negative.RELATIVE_ERROR * 2**24
    proofs = []
    for name, form in (("", function), ("_contracted", function.contracted())):
        proofs += _reductions(form, _FLOAT, name)
        proofs += [
            _evaluation(form, _FLOAT, eta, bound, f"[-{_FLOAT.reach}, 0.3]", name),
            _evaluation(form, _FLOAT, eta, 1.57, f"[0.3, {_FLOAT.reach}]", f"{name}_end"),
        ]
    left = (
        "for s from 0.3 to 0.3468 Gappa shows 1.57 * 2^-24 only; for the claimed bound "
        "tests/equivalence/test_scalar.py and test_other_roundings.py go through every float32",
    )
    return Claim("exp_negative", f"{bound:g} * 2^-24", tuple(proofs), _taken(eta), code, left)


def _double_claim() -> Claim:
    code, function, one_minus = _double_functions()
    eta = _relative_error(_taylor(), Fraction(_DOUBLE.reach))
    bound = exp_negative_double.RELATIVE_ERROR * 2**53
    proofs = [
        *_reductions(function, _DOUBLE, ""),
        *_reductions(function.contracted(), _DOUBLE, "_contracted"),
    ]
    for name, form in (("", one_minus), ("_contracted", one_minus.contracted())):
        whole = Function([*form.operations, *function.between("result")], form.constants)
        t = f"[-{_DOUBLE.reach}, {_DOUBLE.reach}]"
        proofs.append(_evaluation(whole, _DOUBLE, eta, bound, t, name))
    taken = _taken(eta)
    return Claim("exp_negative_double", f"{bound:g} * 2^-53", tuple(proofs), taken, code)


def _double_functions() -> tuple[str, Function, Function]:
    code = render("scalar/exp_negative_double.c.j2", name="k", scalar=exp_negative_double)
    calls = {"k_one_minus_exp": "returned"}
    function = read_function(code, "k_exp_negative", [True], calls, bits=BITS_DOUBLE)
    return code, function, read_function(code, "k_one_minus_exp")


def _taylor() -> Polynomial:
    signed = [(-1) ** k * c for k, c in enumerate(fractions_of(exp_negative_double.COEFFICIENTS))]
    return [Fraction(1), Fraction(-1), *signed]


def _relative_error(series: Polynomial, reach: Fraction) -> Fraction:
    """Return a bound on |p(s) exp(s) - 1| for |s| <= reach."""
    error = difference(product(series, exponential(_TERMS)), [Fraction(1)])
    return max(largest(error, -reach, reach, 64)) + 2 * remainder(_TERMS, reach)


def _taken(eta: Fraction) -> tuple[str, ...]:
    return (
        f"|ETA| <= {float(eta):.3g}: the polynomial's relative error, by Taylor forms in exact "
        "rational arithmetic (series.py)",
        "REST: ln 2 without its two parts, by interval arithmetic (mpmath)",
        "EPS: (exp(y) - 1) / y - 1 is at most |y| for |y| <= 1",
    )


def _reductions(function: Function, of: _Format, name: str) -> list[Proof]:
    """Return the proofs of the reduction: n = 0, and all other n."""
    variable = of.variable
    definitions = [f"{variable} = {of.rounding}(any);", *function.lines(last="s_b")]
    start = proof(
        f"{of.function}{name}_start",
        "Up to 0.34 n is 0, so that s is z.",
        definitions,
        f"{{ {variable} in [0, 0.34] -> n in [0, 0] /\\ s_a_b in [0, 0] /\\ s_b in [0, 0] }}",
    )
    goal = (
        f"{{ {variable} in [0.34, {of.cutoff}] /\\ REST in {rest(LN2, *of.parts)}\n"
        f"  -> n in [0, {of.last_n}]\n"
        f"  /\\ s_a - ({variable} - n * ln2_high) in [0, 0]\n"
        f"  /\\ |s_b - n * ln2_low| <= {of.product_error}\n"
        f"  /\\ |S - (s_a - s_b)| <= {of.drift}\n"
        f"  /\\ |s_a - s_b| <= {of.reach} }}"
    )
    product_of_z = f"{variable} * log2_e"
    hints = [
        f"n - {product_of_z} -> (n - (shifted - shifter)) + (shifted - (shifted_a + shifter))"
        f" + (shifted_a - {product_of_z});",
        f"{product_of_z} - n -> -(n - {product_of_z});",
        f"{variable} - n * ln2_high ->"
        f" ({product_of_z} - n) / log2_e + n * (1 / log2_e - ln2_high) {{ log2_e <> 0 }};",
        f"S - (s_a - s_b) ->"
        f" -((s_a - ({variable} - n * ln2_high)) - (s_b - n * ln2_low)) - n * REST;",
        f"$ {variable} in ({_OCTAVES});",
    ]
    definitions.append(f"S = {variable} - n * (ln2_high + ln2_low + REST);")
    shows = "s_a is exact, and s_a - s_b is within a tiny drift of S = z - n ln 2."
    return [start, proof(f"{of.function}{name}_reduction", shows, definitions, goal, hints)]


def _evaluation(
    function: Function, of: _Format, eta: Fraction, bound: float, t: str, name: str
) -> Proof:
    """Return the proof of what follows the reduction; t is s before its last rounding."""
    definitions = [
        f"s = {of.rounding}(t);",
        *function.lines(of.first, "result"),
        *function.exact_lines(of.first, "result"),
        "exp_s = x_result / (1 + ETA);",
        "exp_S = exp_s / (1 + (S - s) * (1 + EPS));",
    ]
    goal = (
        f"{{ t in {t} /\\ |S - t| <= {of.drift}\n"
        f"  /\\ |ETA| <= {above(eta)} /\\ |EPS| <= 1b-{of.precision - 1}\n"
        f"  -> |result -/ exp_S| <= {units(bound, of.precision)} }}"
    )
    hints = [
        "(x_result - exp_s) / exp_s -> ETA { exp_s <> 0, 1 + ETA <> 0 };",
        "(exp_s - exp_S) / exp_S -> (S - s) * (1 + EPS)"
        " { exp_S <> 0, 1 + (S - s) * (1 + EPS) <> 0 };",
        "S - s -> (S - t) - (s - t);",
        f"(result - exp_S) / exp_S $ t in {of.pieces};",
    ]
    shows = f"result is within {bound:g} * 2^-{of.precision}, relative, of exp(-S), t in {t}."
    return proof(f"{of.function}{name}", shows, definitions, goal, hints)


def _one_minus_claim() -> Claim:
    code, _, function = _double_functions()
    bound = exp_negative_double.ONE_MINUS_ERROR * 2**53
    end = Fraction(exp_negative_double.REDUCED_END)
    # (1 - p(s)) / s against (1 - exp(-s)) / s, which is at least 1 - s / 2.
    minus = [(-1) ** k * c for k, c in enumerate(exponential(_TERMS))]
    error = difference(_taylor(), minus)[1:]
    off = max(largest(error, Fraction(0), end, 64)) + remainder(_TERMS, end) / end
    eta = off / (1 - end / 2)
    proofs = [_one_minus_tiny(function), _one_minus_small(function)]
    for name, form in (("", function), ("_contracted", function.contracted())):
        proofs.append(_one_minus(form, eta, bound, name))
    taken = (
        f"|ETA| <= {float(eta):.3g}: the polynomial's relative error, by Taylor forms in exact "
        "rational arithmetic (series.py)",
        "below 2^-60, 1 - exp(-s) is s (1 + y) with |y| <= s / 2",
    )
    return Claim("one_minus_exp", f"{bound:g} * 2^-53", tuple(proofs), taken, code)


def _one_minus(function: Function, eta: Fraction, bound: float, name: str) -> Proof:
    definitions = [
        "s = b64(any);",
        *function.lines(),
        *function.exact_lines(),
        "exact = x_returned / (1 + ETA);",
    ]
    end = exp_negative_double.REDUCED_END
    goal = (
        f"{{ s in [1b-60, {end.hex()}] /\\ |ETA| <= {above(eta)}\n"
        f"  -> |returned -/ exact| <= {units(bound, 53)} }}"
    )
    hints = [
        "(x_returned - exact) / exact -> ETA { exact <> 0, 1 + ETA <> 0 };",
        "((s - returned_b) - x_returned) / x_returned -> -((returned_b - x_returned_b) /"
        " x_returned_b) * (s * x_total_12) / (1 - s * x_total_12)"
        " { x_returned <> 0, x_returned_b <> 0, s <> 0, 1 - s * x_total_12 <> 0 };",
        "(returned - exact) / exact $ s in (1b-60, 1b-10, 0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3);",
    ]
    shows = f"returned is within {bound:g} * 2^-53, relative, of 1 - exp(-s), s from 2^-60 on."
    return proof(f"one_minus_exp{name}", shows, definitions, goal, hints)


def _one_minus_small(function: Function) -> Proof:
    return proof(
        "one_minus_exp_small",
        "From 2^-540 to 2^-60 the result is within 1.1 * 2^-53, relative, of s.",
        ["s = b64(any);", *function.lines()],
        "{ s in [1b-540, 1b-60] -> |returned -/ s| <= 4505b-65 }",
        [
            "((s - returned_b) - s) / s -> -(returned_b / s) { s <> 0 };",
            "returned_b / s -> (returned_b - returned_b_a * total_12) / s"
            " + (returned_b_a - s * s) / s * total_12 + s * total_12 { s <> 0 };",
            "$ s in (1b-540, 1b-500, 1b-460, 1b-420, 1b-380, 1b-340, 1b-300, 1b-260, 1b-220,"
            " 1b-180, 1b-140, 1b-100);",
        ],
    )


def _one_minus_tiny(function: Function) -> Proof:
    return proof(
        "one_minus_exp_tiny",
        "Up to 2^-540 the result is s itself: its square is 0.",
        ["s = b64(any);", *function.lines()],
        "{ s in [0, 1b-540] -> returned_b in [0, 0] }",
    )

"""tanh in float32, a rational function, and in float64, by 1 - exp(-2 |v|)."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from evidence.rounding.proof import Claim, Proof, proof, units
from evidence.rounding.series import (
    Polynomial,
    above,
    difference,
    fractions_of,
    largest,
    product,
    remainder,
)
from evidence.rounding.statements import Function, read_function
from kmcompile.emit.environment import render
from kmcompile.numeric.scalar import exp_negative_double, tanh, tanh_double

_TERMS = 90
_SHOWN = 16.5
"""What Gappa shows for float32, in units of 2^-24."""
BITS = [
    "sign = limited.bits & 0x80000000UL",
    "limited.bits ^= sign",
    "limited.bits = (limited.bits < limit.bits) ? (limited.bits) : (limit.bits)",
    "limited.bits |= sign",
]
"""limited is v, but -8 below -8 and 8 above 8."""


def claims() -> list[Claim]:
    """Return the claims of both."""
    return [_float_claim(), _double_claim()]


def _float_claim() -> Claim:
    code = render("scalar/tanh.c.j2", name="k", scalar=tanh)
    function = read_function(code, "k_tanh", bits=BITS)
    eta = _rational_error()
    bound = tanh.RELATIVE_ERROR * 2**24
    proofs = []
    for name, form in (("", function), ("_contracted", function.contracted())):
        proofs += [_rational(form, eta, name), _tiny(form, name)]
    left = (
        f"Gappa shows {_SHOWN:g} * 2^-24, the sum of all half units in the last place: for the "
        "claimed bound tests/equivalence/test_scalar.py and test_other_roundings.py go through "
        "every float32",
        "beyond 8 the result stays at that of 8: tanh(8) is 1 - 3.8 * 2^-24",
    )
    taken = (
        f"|ETA| <= {float(eta):.3g}: the rational function's relative error, by Taylor forms of "
        "numerator cosh - denominator sinh in exact rational arithmetic (series.py)",
        "|ETA_TINY| <= 2^-41: tanh(v) is v (1 + y) with |y| <= v^2 / 3",
    )
    return Claim("tanh", f"{bound:g} * 2^-24", tuple(proofs), taken, code, left)


def _rational_error() -> Fraction:
    """Return a bound on |r(v) / tanh(v) - 1| for 0 < v <= 8, r the rational function.

    With N and D the polynomials in v, without the factor v of the numerator: it is
    |N cosh(v) - D sinh(v) / v| / (D sinh(v) / v), and D sinh(v) / v grows with v.
    """
    one = [Fraction(1)]
    numerator = _of_square([*one, *fractions_of(list(tanh.NUMERATOR))])
    denominator = _of_square([*one, *fractions_of(list(tanh.DENOMINATOR))])
    half = _TERMS // 2
    cosh = _of_square([Fraction(1, factorial(2 * k)) for k in range(half)])
    sinh = _of_square([Fraction(1, factorial(2 * k + 1)) for k in range(half)])
    error = difference(product(numerator, cosh), product(denominator, sinh))
    whole = product(denominator, sinh)
    pieces, end = 160, Fraction(8)
    worst = Fraction(0)
    rest = remainder(_TERMS, end) * 2 * _at(denominator, end)
    for number, off in enumerate(largest(error, Fraction(0), end, pieces)):
        worst = max(worst, (off + rest) / _at(whole, end * number / pieces))
    return worst


def _of_square(p: Polynomial) -> Polynomial:
    spread = [Fraction(0)] * (2 * len(p) - 1)
    spread[::2] = p
    return spread


def _at(p: Polynomial, x: Fraction) -> Fraction:
    return sum((c * x**k for k, c in enumerate(p)), Fraction(0))


def _rational(function: Function, eta: Fraction, name: str) -> Proof:
    definitions = [
        "limited_bits_3 = b32(any);",
        *function.lines(),
        *function.exact_lines(),
        "exact = x_returned / (1 + ETA);",
    ]
    goal = (
        f"{{ limited_bits_3 in [1b-20, 8] /\\ |ETA| <= {above(eta)}\n"
        f"  -> |returned -/ exact| <= {units(_SHOWN, 24)} }}"
    )
    hints = [
        "(x_returned - exact) / exact -> ETA { exact <> 0, 1 + ETA <> 0 };",
        "(returned - exact) / exact $ limited_bits_3 in"
        " (1b-20, 1b-8, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6, 7);",
    ]
    shows = f"returned is within {_SHOWN:g} * 2^-24, relative, of tanh of 2^-20 to 8."
    return proof(f"tanh{name}", shows, definitions, goal, hints)


def _tiny(function: Function, name: str) -> Proof:
    return proof(
        f"tanh{name}_tiny",
        "Up to 2^-20 both polynomials are 1: the result is v itself.",
        ["limited_bits_3 = b32(any);", *function.lines()],
        "{ limited_bits_3 in [1b-149, 1b-20] -> numerator_4 in [1, 1]"
        " /\\ denominator_4 in [1, 1] }",
    )


def _double_claim() -> Claim:
    code = render("scalar/tanh_double.c.j2", name="k", scalar=tanh_double)
    bound = tanh_double.RELATIVE_ERROR * 2**53
    calls = {
        "k_magnitude": "size",
        "k_one_minus_exp": "p_of_z",
        "k_exp_negative": "e",
    }
    magnitude = "k_magnitude(v)"
    small = read_function(
        code, "k_tanh", [True, False], calls, bits=[magnitude, "k_one_minus_exp(z)"]
    )
    large = read_function(
        code, "k_tanh", [False, False], calls, bits=[magnitude, "k_exp_negative(z)"]
    )
    own = units(exp_negative_double.ONE_MINUS_ERROR * 2**53, 53)
    exponential = units(exp_negative_double.RELATIVE_ERROR * 2**53, 53)
    small_hints = [
        "(p_of_z - P) / P -> EP { P <> 0 };",
        "(quotient_b - (2 - P)) / (2 - P) ->"
        " ((quotient_b - (2.0 - p_of_z)) - P * EP) / (2 - P) { 2 - P <> 0 };",
        "(quotient - exact) / exact $ P in (1b-1020, 1b-20, 0.1, 0.2);",
    ]
    large_hints = [
        "(p - P) / P -> ((p - (1.0 - e)) - E * EE) / (1 - E) { P <> 0, 1 - E <> 0 };",
        "(quotient_b - (2 - P)) / (2 - P) ->"
        " ((quotient_b - (2.0 - p)) - (p - P)) / (2 - P) { 2 - P <> 0 };",
        "p - P -> (p - (1.0 - e)) - E * EE;",
        "(quotient - exact) / exact $ E in (1b-1021, 1b-20, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65);",
    ]
    proofs = [
        proof(
            "tanh_double_small",
            f"Where z <= 0.34: quotient is within {bound:g} * 2^-53 of P / (2 - P).",
            ["p_of_z = P * (1 + EP);", *small.lines("quotient_b"), "exact = P / (2 - P);"],
            f"{{ P in [1b-1020, 0.2882300] /\\ |EP| <= {own}\n"
            f"  -> |quotient -/ exact| <= {units(bound, 53)} }}",
            small_hints,
        ),
        proof(
            "tanh_double_large",
            f"Where z > 0.34: quotient is within {bound:g} * 2^-53 of P / (2 - P), P = 1 - E.",
            [
                "e = E * (1 + EE);",
                *large.lines("p"),
                "P = 1 - E;",
                "exact = P / (2 - P);",
            ],
            f"{{ E in [1b-1021, 0.7117704] /\\ |EE| <= {exponential}\n"
            f"  -> |quotient -/ exact| <= {units(bound, 53)} }}",
            large_hints,
        ),
        proof(
            "tanh_double_one",
            "From the cutoff of the exponential on e is 0, and the quotient is 1.",
            ["e = 0;", *large.lines("p"), "P = 1 - E;", "exact = P / (2 - P);"],
            "{ E in [0, 1b-1000] -> |quotient -/ exact| <= 1b-53 }",
        ),
    ]
    taken = (
        "EP and EE: the claims of one_minus_exp and of exp_negative_double",
        "1 - exp(-0.34) is 0.288229.., exp(-0.34) 0.711770..",
        "below z = 2^-540 p is z (one_minus_exp_tiny), 2 - p is 2, and the quotient is |v|",
        "z = 2 |v| is exact, and P / (2 - P) with P = 1 - exp(-z) is tanh |v|",
    )
    return Claim("tanh_double", f"{bound:g} * 2^-53", tuple(proofs), taken, code)

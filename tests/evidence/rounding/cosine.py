"""The cosine in float32 and float64: the reduction of v to s, then the polynomial in s^2."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any

from evidence.rounding.constants import PI, rest
from evidence.rounding.proof import Claim, Proof, proof, units
from evidence.rounding.series import (
    Polynomial,
    above,
    difference,
    fractions_of,
    largest,
    remainder,
)
from evidence.rounding.statements import Function, read_function
from kmcompile.emit.environment import render
from kmcompile.numeric.scalar import cosine, cosine_double

_TERMS = 24
_OCTAVES = "1.57, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192"


@dataclass(frozen=True)
class _Format:
    """What differs between the formats.

    `names` are those of the parts of pi and `sums` of v without the products of k with the parts
    but the last. `reach` bounds |s|, `drift` the distance of s from v - k pi before the last
    rounding of s. `s` is the reduced argument, `last` the last product, `ends` the ends of
    intervals of s, each with its own bound on the cosine's slope.
    """

    function: str
    precision: int
    rounding: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    sums: tuple[str, ...]
    products: tuple[str, ...]
    last: str
    s: str
    reach: str
    drift: str
    bits: str
    pieces: int


_FLOAT = _Format(
    "cosine", 24, "b32", ("pi_high", "pi_middle", "pi_low"),
    (float(cosine.PI_HIGH), float(cosine.PI_MIDDLE), float(cosine.PI_LOW)),
    ("s_a", "s"), ("s_a_b", "s_b"), "s_b_2", "s_2", "1.5738", "1b-34",
    "result.bits ^= shifted.bits << 31U", 12,
)  # fmt: skip
_DOUBLE = _Format(
    "cosine_double", 53, "b64", ("pi_high", "pi_low"),
    (cosine_double.PI_HIGH, cosine_double.PI_LOW),
    ("s_a",), ("s_a_b",), "s_b", "s", "1.57081", "1b-77",
    "result.bits ^= shifted.bits << 63U", 8,
)  # fmt: skip
_ENDS = ("0", "0.75", "1.15", "1.41422", "1.57")
_LOOSE = ("1.15", "1.41422", "1.57")


def claims() -> list[Claim]:
    """Return the claims of both cosines."""
    left = (
        "for |s| beyond 1.15, without contraction, Gappa shows 3.9 * 2^-24 only; for the claimed "
        "bound tests/equivalence/test_cosine.py goes through every float32",
    )
    return [
        _claim(_FLOAT, cosine, cosine.COEFFICIENTS, cosine.ABSOLUTE_ERROR, 3.9, left),
        _claim(
            _DOUBLE,
            cosine_double,
            cosine_double.COEFFICIENTS,
            cosine_double.ABSOLUTE_ERROR,
            cosine_double.ABSOLUTE_ERROR * 2**53,
            (),
        ),
    ]


def _claim(
    of: _Format, module: object, coefficients: Any, error: float, end: float, left: tuple[str, ...]
) -> Claim:
    code = render(f"scalar/{of.function}.c.j2", name="k", scalar=module)
    function = read_function(code, "k_cosine", bits=[of.bits])
    reach = Fraction(of.reach)
    signed = [(-1) ** (k + 1) * c for k, c in enumerate(fractions_of(coefficients))]
    series = [Fraction(1), *signed]
    exact = [Fraction((-1) ** k, factorial(2 * k)) for k in range(_TERMS)]
    eta = max(largest(difference(series, exact), Fraction(0), reach**2, 64))
    eta += remainder(2 * _TERMS, reach)
    bound = error * 2**of.precision
    proofs = []
    for name, form in (("", function), ("_contracted", function.contracted())):
        proofs += _reductions(form, of, name)
        for low, high in zip(_ENDS, (*_ENDS[1:], of.reach), strict=True):
            own = end if low in _LOOSE and not name else bound
            proofs.append(_evaluation(form, of, eta, own, (low, high), name))
    taken = (
        f"|ETA| <= {float(eta):.3g}: the polynomial's error, by Taylor forms in exact rational "
        "arithmetic (series.py)",
        "REST: pi without its parts, by interval arithmetic (mpmath)",
        "SLOPE: of cos(sqrt(x)), from -sin(s) / (2 s) = -1/2 + x/12 - x^2/240 + .., alternating; "
        "all is even in s",
    )
    return Claim(of.function, f"{bound:g} * 2^-{of.precision}", tuple(proofs), taken, code, left)


def _reductions(function: Function, of: _Format, suffix: str) -> list[Proof]:
    """Return the proofs of the reduction: k = 0, and all other k. All is odd in v to the bit."""
    definitions = [f"v = {of.rounding}(any);", *function.lines(last=of.last)]
    zero = " /\\ ".join(f"{name} in [0, 0]" for name in ("k", *of.products, of.last))
    start = proof(
        f"{of.function}{suffix}_start",
        "Up to 1.57 k is 0, so that s is v.",
        definitions,
        f"{{ v in [0, 1.57] -> {zero} }}",
    )
    of_v = "v * inverse_pi"
    hints = [
        f"k - {of_v} -> (k - (shifted - shifter)) + (shifted - (shifted_a + shifter))"
        f" + (shifted_a - {of_v});",
        f"{of_v} - k -> -(k - {of_v});",
    ]
    exact, taken, steps = "v", "", []
    goals = []
    for number, (total, name) in enumerate(zip(of.sums, of.names, strict=False)):
        before = exact
        exact = f"{exact} - k * {name}" if number == 0 else f"({exact}) - k * {name}"
        taken += f" - {name}"
        hints.append(
            f"{exact} -> ({of_v} - k) / inverse_pi + k * (1 / inverse_pi{taken})"
            " { inverse_pi <> 0 };"
        )
        if number:
            hints.append(f"{steps[-1]} - k * {name} -> ({steps[-1]} - ({before})) + ({exact});")
            hints.append(
                f"{total} - ({exact}) -> ({total} - ({steps[-1]} - {of.products[number]}))"
                f" + ({steps[-1]} - ({before})) - ({of.products[number]} - k * {name});"
            )
        goals.append(f"{total} - ({exact}) in [0, 0]")
        steps.append(total)
    low = of.names[-1]
    hints.append(
        f"S - ({steps[-1]} - {of.last}) ->"
        f" -({steps[-1]} - ({exact})) + ({of.last} - k * {low}) - k * REST;"
    )
    hints.append(f"$ v in ({_OCTAVES});")
    goal = "\n  /\\ ".join(
        [
            "-> k in [0, 5216]",
            *goals,
            f"|S - ({steps[-1]} - {of.last})| <= {of.drift}",
            f"|{steps[-1]} - {of.last}| <= {of.reach}",
        ]
    )
    definitions.append(f"S = v - k * ({' + '.join(of.names)} + REST);")
    goal = f"{{ v in [1.57, 16384] /\\ REST in {rest(PI, *of.values)}\n  {goal} }}"
    shows = "All but the last difference are exact: s is within a tiny drift of S = v - k pi."
    return [start, proof(f"{of.function}{suffix}_reduction", shows, definitions, goal, hints)]


def _evaluation(
    function: Function, of: _Format, eta: Fraction, bound: float, ends: tuple[str, str], name: str
) -> Proof:
    """Return the proof of what follows the reduction; t is s before its last rounding."""
    low, high = ends
    polynomial = function.between("total_b")
    definitions = [
        f"{of.s} = {of.rounding}(t);",
        *function.lines("x", "result"),
        *function.exact_lines(polynomial[0].name, "result"),
        "cos_s = x_result - ETA;",
        "cos_S = cos_s - (x - S * S) * SLOPE;",
    ]
    steep = above(_slope(Fraction(low)) + Fraction(1, 1000))
    flat = above(_slope(Fraction(high)) - Fraction(1, 1000))
    goal = (
        f"{{ t in [{low}, {high}] /\\ |S - t| <= {of.drift} /\\ |ETA| <= {above(eta)}\n"
        f"  /\\ SLOPE in [-{steep}, -{flat}]\n"
        f"  -> |result - cos_S| <= {units(bound, of.precision)} }}"
    )
    hints = [
        "result - cos_S -> (result - x_result) + ETA + (x - S * S) * SLOPE;",
        f"x - S * S -> (x - {of.s} * {of.s}) + (({of.s} - t) - (S - t)) * ({of.s} + S);",
        f"{of.s} + S -> 2 * t + ({of.s} - t) + (S - t);",
        f"result - cos_S $ t in {of.pieces};",
    ]
    shows = f"result is within {bound:g} * 2^-{of.precision} of cos(S), |t| in [{low}, {high}]."
    return proof(f"{of.function}{name}_{low.replace('.', '_')}", shows, definitions, goal, hints)


def _slope(s: Fraction) -> Fraction:
    """Return sin(s) / (2 s) to 1e-6 for 0 <= s <= 1.6: an alternating series."""
    terms: Polynomial = [Fraction((-1) ** k, 2 * factorial(2 * k + 1)) for k in range(7)]
    return sum((c * s ** (2 * k) for k, c in enumerate(terms)), Fraction(0))

"""log(1 + u) in both formats: the series in s^2, then the sum with e ln(2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evidence.rounding.constants import LN2, rest
from evidence.rounding.proof import Claim, Proof, proof, units
from evidence.rounding.series import Polynomial, above, difference, fractions_of, largest
from evidence.rounding.statements import Function, read_function
from kmcompile.emit.environment import DOUBLE, FLOAT, render
from kmcompile.numeric.scalar import log1p

_TERMS = 40
_Q = Fraction(1, 9)
_SHOWN = 3.2
"""What Gappa shows of log(1 + f), in unit roundoffs."""
_EXPONENTS = (("1", "1"), ("2", "1024"))
_ENDS = "0.0625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.9375, 1"


def claims() -> list[Claim]:
    """Return the claims of both formats."""
    return [
        _claim("log1p", log1p.VIEW, FLOAT, 24),
        _claim("log1p_double", log1p.VIEW_DOUBLE, DOUBLE, 53),
    ]


def bits(view: log1p.Log1pView) -> list[str]:
    """Return the statements on bits: 1 + u = 2^exponent w, w from 1 to 2."""
    shift = f"{view.fraction_bits}U"
    return [
        f"const bool small = u < 1.0{'f' if view is log1p.VIEW else ''}",
        f"exponent = (w.bits >> {shift}) - {view.bias}U",
        f"w.bits -= exponent << {shift}",
    ]


def series_error(view: log1p.Log1pView) -> Fraction:
    """Return a bound on the relative error of 2 s + s q P(q) for log(1 + f), 0 < s <= 1 / 3.

    2 atanh(s) / s = 2 + 2 q / 3 + 2 q^2 / 5 + .. is at least 2, and what n terms leave of it is at
    most 2 q^n / (2 n + 1) / (1 - q).
    """
    own: Polynomial = [Fraction(2), *fractions_of([float(c) for c in view.coefficients])]
    exact: Polynomial = [Fraction(2, 2 * k + 1) for k in range(_TERMS)]
    left = 2 * _Q**_TERMS / (2 * _TERMS + 1) / (1 - _Q)
    return (max(largest(difference(own, exact), Fraction(0), _Q, 128)) + left) / 2


def _claim(name: str, view: log1p.Log1pView, of_format: Mapping[str, Any], unit: int) -> Claim:
    code = render("scalar/log1p.c.j2", name="k", scalar=view, **of_format)
    read_function(code, "k_log1p", [True, True], bits=bits(view))  # u < 1: e is 0 and f is u
    function = _doubled(read_function(code, "k_log1p", [False, False], bits=bits(view)))
    eta = series_error(view)
    proofs = []
    for own, form in (("", function), ("_contracted", function.contracted())):
        proofs += [
            _series(f"{name}{own}_series", form, eta, unit),
            *(_sum(f"{name}{own}", form, view, ends, unit) for ends in _EXPONENTS),
        ]
    taken = (
        f"|ETA| <= {float(eta):.3g}: the series' error, by Taylor forms in exact rational "
        "arithmetic (series.py)",
        "REST: ln 2 without the stored one, by interval arithmetic (mpmath)",
        "s + s and, below u = 1, 0 ln(2) + .. are exact; below f = 2^-60 2 + f is rounded to 2, "
        "and the rest of the series is less than 2^-120 of f: the result is f",
        f"|W| is that of log(1 + d), |d| <= 2^-{unit} the rounding of 1 + u",
        "L is log(1 + f), f from 0 to 1: at most 0.693148; where f is 0, e ln 2 and W are left",
    )
    bound = f"{log1p.ROUNDOFFS:g} * 2^-{unit}"
    return Claim(name, bound, tuple(proofs), taken, code)


def _doubled(function: Function) -> Function:
    """Return the function with s + s exact, as it is for binary numbers."""
    return replace(
        function,
        operations=[
            replace(one, rounding="") if one.symbol == "+" and one.left == one.right else one
            for one in function.operations
        ],
    )


def _series(name: str, function: Function, eta: Fraction, unit: int) -> Proof:
    """Return the proof that `total` is within `_SHOWN` roundoffs of log(1 + f)."""
    total = function.operations[-1].right
    by_name = {one.name: one for one in function.operations}
    doubled, product = by_name[total].left, by_name[by_name[total].right].right
    definitions = [
        f"f = b{32 if unit == 24 else 64}(any);",
        *function.lines("s_b", total),
        *function.exact_lines("s_b", total),
        f"L = x_{total} / (1 + ETA);",
    ]
    goal = (
        f"{{ f in [1b-60, 1] /\\ |ETA| <= {above(eta)}\n"
        f"  -> |{total} -/ L| <= {units(_SHOWN, unit)} }}"
    )
    hints = [
        f"(x_{total} - L) / L -> ETA {{ L <> 0, 1 + ETA <> 0 }};",
        f"x_{doubled} / x_{total} -> 1 / (1 + x_{product} / 2)"
        f" {{ x_{total} <> 0, x_{doubled} <> 0, 1 + x_{product} / 2 <> 0 }};",
        f"{total} ~ x_{total};",
        f"({total} - L) / L $ f in (1b-60, 1b-10, {_ENDS});",
    ]
    shows = f"The series is within {_SHOWN:g} * 2^-{unit} of L = log(1 + f), relative."
    return proof(name, shows, definitions, goal, hints)


def _sum(
    name: str, function: Function, view: log1p.Log1pView, ends: tuple[str, str], unit: int
) -> Proof:
    """Return the proof of the last sum for exponents between two ends."""
    last = function.operations[-1]
    log, added, real = last.right, last.left, f"b{32 if unit == 24 else 64}"
    definitions = [
        "@whole = fixed<0, ne>;",
        "exponent_bits = whole(any);",
        *(line for line in function.lines() if line.startswith("ln2 =")),
        *(one.line() for one in function.operations if one.name in ("e", added)),
        f"{log} = L * (1 + T);",
        f"returned = {real}({added} + {log});",
        "exact = e * (ln2 + REST) + L - W;",
    ]
    low, high = ends
    goal = (
        f"{{ exponent_bits in [{low}, {high}] /\\ L in [1b-60, 0.693148]\n"
        f"  /\\ |T| <= {units(_SHOWN, unit)} /\\ |W| <= 16777217b-{unit + 24}\n"
        f"  /\\ REST in {rest(LN2, float(view.ln2))}\n"
        f"  -> |returned -/ exact| <= {units(log1p.ROUNDOFFS, unit)} }}"
    )
    whole, product = f"({added} + {log})", "(e * ln2)"
    hints = [
        f"(returned - exact) / exact -> (returned - {whole}) / {whole} * (1 + ({whole} - exact)"
        f" / exact) + ({whole} - exact) / exact {{ {whole} <> 0, exact <> 0 }};",
        f"({whole} - exact) / exact -> ({added} - {product}) / {product} * ({product} / exact)"
        f" - REST / ln2 * ({product} / exact) + T * (L / exact) + W / exact"
        f" {{ exact <> 0, {product} <> 0 }};",
        f"{product} / exact -> 1 / (1 + REST / ln2 + (L - W) / {product})"
        f" {{ exact <> 0, {product} <> 0 }};",
        "L / exact -> 1 / (1 + (e * (ln2 + REST) - W) / L) { exact <> 0, L <> 0 };",
        "(returned - exact) / exact $ L in 16, exponent_bits in (1, 2, 3, 4, 8, 64, 1024);",
    ]
    shows = f"With e from {low} to {high}: within {log1p.ROUNDOFFS:g} * 2^-{unit}, relative."
    return proof(f"{name}_{low}", shows, definitions, goal, hints)

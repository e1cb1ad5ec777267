"""exp2 in integers, integer powers and the logistic function."""

from __future__ import annotations

from fractions import Fraction

from evidence.rounding.constants import LN2
from evidence.rounding.proof import Claim, proof, units
from evidence.rounding.series import above, exponential, largest, product, remainder
from evidence.rounding.statements import Function, Operation, read_function
from kmcompile.emit.environment import DOUBLE, FLOAT, render
from kmcompile.numeric.scalar import exp2_fixed, exp_negative, logistic, power

_TERMS = 20
_LOOSE = {53: 9.72e-9}
"""Entries of the table of exp2_fixed for which Gappa shows a larger bound than the claimed one."""

DEGREES = range(2, 65)
"""The degrees of kernels; their slopes have one less (kmcompile.kernels.poly)."""


def claims() -> list[Claim]:
    """Return the claims of these functions."""
    return [_fixed_claim(), *_power_claims(), _logistic_claim()]


def fixed_statements() -> list[str]:
    """Return the statements of exp2_fixed that its proof models."""
    own = exp2_fixed
    return [
        f"const uint32_t c1 = {own.LINEAR}UL",
        f"const uint32_t c2 = {own.QUADRATIC}UL",
        f"const uint32_t r = t << {own.REST_SHIFT}U",
        "const uint32_t slope = c1 - k_upper_product(r, c2)",
        "const uint32_t drop = k_upper_product(r, slope)",
        f"const uint32_t i = (t >> {own.REST_BITS}U) & {own.TABLE_MASK}U",
        "const uint32_t entry = k_exp2_table[i]",
        f"return (entry - k_upper_product(entry, drop)) >> (t >> {own.ARGUMENT_BITS}U);",
    ]


def _fixed_claim() -> Claim:
    code = render("scalar/exp2_fixed.c.j2", name="k", scalar=exp2_fixed)
    eta, entries = _fixed_errors()
    proofs = []
    for i, (stored, off) in enumerate(entries):
        low = off.numerator * 2**70 // off.denominator
        bound = _LOOSE.get(i, exp2_fixed.RELATIVE_ERROR)
        definitions = [
            "@upper = fixed<-32, dn>;",
            "@last = fixed<-31, dn>;",
            f"@rest_bits = fixed<-{exp2_fixed.REST_BITS}, dn>;",
            f"c1 = {exp2_fixed.LINEAR}b-32;",
            f"c2 = {exp2_fixed.QUADRATIC}b-32;",
            f"entry = {stored}b-31;",
            "r = rest_bits(any);",
            "slope = c1 - upper(r * c2);",
            "drop = upper(r * slope);",
            "value = entry - last(entry * drop);",
            "x_drop = r * (c1 - r * c2);",
            "power_of_r = (1 - x_drop) / (1 + ETA);",
            "exact = entry * OFF * power_of_r;",
        ]
        goal = (
            f"{{ r in [0, 1] /\\ |ETA| <= {above(eta)} /\\ OFF in [{low}b-70, {low + 1}b-70]\n"
            f"  -> |value -/ exact| <= {units(bound, 0)} }}"
        )
        hints = [
            "((1 - x_drop) - power_of_r) / power_of_r -> ETA { power_of_r <> 0, 1 + ETA <> 0 };",
            "drop - x_drop -> (drop - r * slope) - r * (upper(r * c2) - r * c2);",
            "value - entry * (1 - drop) -> -(last(entry * drop) - entry * drop);",
            "value ~ entry * (1 - drop);",
            "entry * (1 - drop) ~ exact;",
            "(entry * (1 - drop) - exact) / exact ->"
            " ((1 - drop) - power_of_r) / power_of_r * (1 / OFF) + (1 / OFF - 1)"
            " { exact <> 0, OFF <> 0, power_of_r <> 0 };",
        ]
        shows = f"With entry {i} value is within {bound:g}, relative, of 2^-f."
        proofs.append(proof(f"exp2_fixed_{i:02}", shows, definitions, goal, hints))
    taken = (
        f"|ETA| <= {float(eta):.3g}: of 1 - r (c1 - r c2) against 2^(-r / 64), by Taylor forms in "
        "exact rational arithmetic (series.py)",
        "OFF: 2^(-i / 64) over the stored entry, in rational arithmetic",
        "r, i and the shift are bits of t; the shift takes off less than 1 in the last bit",
    )
    left = (
        "with entry 53 of the table Gappa shows 9.72e-9 only; for the claimed bound "
        "tests/unit/numeric/test_exp2_fixed.py goes through all 2^26 fractions",
    )
    read_function(code, "k_exp2_fixed", integer=True, bits=fixed_statements())
    return Claim("exp2_fixed", f"{exp2_fixed.RELATIVE_ERROR:g}", tuple(proofs), taken, code, left)


def _fixed_errors() -> tuple[Fraction, list[tuple[int, Fraction]]]:
    """Return the polynomial's relative error; of each entry, it and 2^(-i / 64) divided by it."""
    ln2 = sum(LN2) / 2
    c1, c2 = Fraction(exp2_fixed.LINEAR, 2**32), Fraction(exp2_fixed.QUADRATIC, 2**32)
    # (1 - r c1 + r^2 c2) 2^(r / 64) - 1
    growth = [c * (ln2 / 64) ** k for k, c in enumerate(exponential(_TERMS))]
    error = product([Fraction(1), -c1, c2], growth)
    error[0] -= 1
    eta = max(largest(error, Fraction(0), Fraction(1), 64)) + remainder(_TERMS, ln2 / 64)
    entries = []
    for i, stored in enumerate(exp2_fixed.TABLE.tolist()):
        grown = [c * (ln2 * i / 64) ** k for k, c in enumerate(exponential(40))]
        entries.append((stored, Fraction(2**31, stored) / sum(grown, Fraction(0))))
    return eta + Fraction(1, 2**60), entries


def _power_claims() -> list[Claim]:
    claims = []
    for name, format_of, unit, rounding in (
        ("power", FLOAT, 24, "b32"),
        ("power_double", DOUBLE, 53, "b64"),
    ):
        definitions = [f"@wide = float<{unit}, -10000, ne>;", "v = wide(any);"]
        goals, codes = [], []
        for degree in DEGREES:
            view = power.power_view(degree)
            code = render("scalar/power.c.j2", name="k", scalar=view, **format_of)
            codes.append(code)
            function = _named(read_function(code, f"k_power_{degree}"), f"d{degree}_")
            definitions += [line.replace(f"{rounding}(", "wide(") for line in function.lines()]
            definitions += function.exact_lines()
            # power.relative_error without the roundings of its own evaluation
            bound = (degree - 1) / (1 - (degree - 1) * Fraction(1, 2**unit))
            last = function.operations[-1].name
            goals.append(f"|{last} -/ x_{last}| <= {units(bound, unit)}")
        main = proof(
            name,
            f"v^2 to v^64 are within gamma_(degree - 1) of u = 2^-{unit}, without underflow.",
            definitions,
            "{ v in [1, 2] -> " + "\n  /\\ ".join(goals) + " }",
        )
        claims.append(
            Claim(
                name,
                f"gamma_(degree - 1), u = 2^-{unit}",
                (main,),
                (
                    "v in 1 .. 2 stands for all v: without underflow all products scale by powers "
                    "of two, and all is even or odd in v",
                    "that underflow adds less than (degree - 1) times the smallest normal number: "
                    "the argument in kmcompile/numeric/scalar/power.py",
                ),
                "\n".join(codes),
            )
        )
    return claims


def _named(function: Function, prefix: str) -> Function:
    own = {one.name for one in function.operations}
    return Function(
        [
            Operation(
                prefix + one.name,
                one.symbol,
                prefix + one.left if one.left in own else one.left,
                prefix + one.right if one.right in own else one.right,
                one.rounding,
            )
            for one in function.operations
        ]
    )


def _logistic_claim() -> Claim:
    code = render("scalar/logistic.c.j2", name="k", scalar=logistic)
    bound = logistic.RELATIVE_ERROR * 2**24
    own = units(exp_negative.RELATIVE_ERROR * 2**24, 24)
    calls = {"k_exp_negative": "e"}
    bits = ["k_exp_negative(k_magnitude(v))"]
    upper = read_function(code, "k_logistic", [True], calls, bits=bits)
    lower = read_function(code, "k_logistic", [False, True], calls, bits=bits)
    start = ["e = E * (1 + EE);"]
    goal = (
        f"{{ E in [0x1.66p-126, 1] /\\ |EE| <= {own}\n"
        f"  -> |result_2 -/ exact| <= {units(bound, 24)} }}"
    )
    relation = "(e - E) / E -> EE { E <> 0 };"
    at_most_one = "E / (1 + E) -> 1 - 1 / (1 + E) { 1 + E <> 0 };"
    proofs = (
        proof(
            "logistic_upper",
            f"v >= 0: the result is within {bound:g} * 2^-24 of 1 / (1 + E), E = exp(-v).",
            [*start, *upper.lines("result_b"), "exact = 1 / (1 + E);"],
            goal,
            [
                relation,
                at_most_one,
                "((1.0 + e) - (1 + E)) / (1 + E) -> EE * (E / (1 + E)) { 1 + E <> 0 };",
            ],
        ),
        proof(
            "logistic_lower",
            f"v < 0: the result is within {bound:g} * 2^-24 of E / (1 + E), E = exp(-|v|).",
            [*start, *lower.lines("result_b_b"), "X = 1 / E;", "exact = 1 / (1 + X);"],
            goal,
            [
                relation,
                "X / (1 + X) -> 1 - 1 / (1 + X) { 1 + X <> 0 };",
                "(result_b_b - X) / X -> ((result_b_b - 1.0 / e) / (1.0 / e)) * (E / e)"
                " + (E / e - 1) { X <> 0, e <> 0, E <> 0 };",
                "E / e -> 1 / (1 + EE) { E <> 0, e <> 0, 1 + EE <> 0 };",
                "((1.0 + result_b_b) - (1 + X)) / (1 + X) ->"
                " ((result_b_b - X) / X) * (X / (1 + X)) { X <> 0, 1 + X <> 0 };",
            ],
        ),
    )
    taken = ("EE: the claim of exp_negative", "e is normal where it is not 0: at least 1.65e-38")
    return Claim("logistic", f"{bound:g} * 2^-24", proofs, taken, code)

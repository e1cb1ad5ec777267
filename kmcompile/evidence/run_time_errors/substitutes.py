"""What Eva reads in place of functions that take floats apart, each with its reason.

Eva keeps intervals, and knows nothing of a float whose bits were changed as an integer. The
analysis of numbers reads these bodies instead; that of any bits reads what was emitted.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Substitute:
    """A body for one emitted function.

    Parameters
    ----------
    function : str
        Its name without the prefix.
    body : str
        C of one statement; an interval stands for every number in it.
    reason : str
        Why each result of the emitted function is among those of this body.
    """

    function: str
    body: str
    reason: str


_EVERY_FLOAT = "tests/equivalence/test_scalar.py asks every float of its domain"

SUBSTITUTES = (
    Substitute(
        "magnitude",
        "return (v < 0.0f) ? -v : v;",
        "clearing the sign bit is |v|",
    ),
    Substitute(
        "replay_magnitude",
        "return (v < 0.0) ? -v : v;",
        "clearing the sign bit is |v|",
    ),
    Substitute(
        "exp_negative",
        "return Frama_C_float_interval(0.0f, 1.0f);",
        f"within [0, 1]: {_EVERY_FLOAT}",
    ),
    Substitute(
        "tanh",
        "return Frama_C_float_interval(-1.0f, 1.0f);",
        f"within [-1, 1]: {_EVERY_FLOAT}",
    ),
    Substitute(
        "log1p",
        "(void)u;\n    return Frama_C_float_interval(0.0f, 90.0f);",
        f"log(1 + u) of the largest float is below 88.8, within its bound: {_EVERY_FLOAT}",
    ),
    Substitute(
        "square_root",
        "return (v <= 0.0f) ? v : Frama_C_sqrtf(v);",
        f"sqrt(v) rounded to nearest: {_EVERY_FLOAT}",
    ),
    Substitute(
        "cosine",
        "return Frama_C_float_interval(-2.0f, 2.0f);",
        "within its bound of cos: tests/equivalence/test_cosine.py asks every float",
    ),
    Substitute(
        "root_bound",
        "return Frama_C_float_interval(\n"
        "        0.0f, (0x1.1p+0f * Frama_C_sqrtf((v < 0.0f) ? 0.0f : v)) + 0x1p-40f);",
        "the first guess is within 4 % of sqrt(v + 2^-100), and Heron's steps come nearer",
    ),
    Substitute(
        "replay_exp_negative",
        "return Frama_C_double_interval(0.0, 1.0);",
        "1 - p with p >= 0, halved n times: p is kmcompile.numeric.scalar.exp_negative_double's "
        "one_minus_exp on [0, REDUCED_END]",
    ),
    Substitute(
        "replay_cosine",
        "return Frama_C_double_interval(-2.0, 2.0);",
        "a polynomial of |s| <= pi / 2 whose error bound is far below 1",
    ),
    Substitute(
        "replay_log1p",
        "(void)u;\n    return Frama_C_double_interval(0.0, 711.0);",
        "log(1 + u) of the largest double is below 709.8, within its bound, which Gappa proves",
    ),
    Substitute(
        "replay_square_root",
        "return Frama_C_double_interval(0.0, 0x1.1p+0 * Frama_C_sqrt((v < 0.0) ? 0.0 : v));",
        "within 2^-52 of sqrt(v), or 0; v <= 2^126, so that the scaled v is below 2^126 as float",
    ),
    Substitute(
        "float_at",
        "(void)element;\n    return Frama_C_unsigned_int_interval(0U, 0xFFFFFFFFU);",
        "copies the bits of an element and computes nothing with them",
    ),
    Substitute(
        "double_at",
        "(void)element;\n"
        "    (void)half;\n"
        "    return Frama_C_unsigned_int_interval(0U, 0xFFFFFFFFU);",
        "copies the bits of an element and computes nothing with them",
    ),
)

"""reliability 44: a program whose numbers are not what its C relies on is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from kit import coded_polynomials, polynomials
from kit.catalogue import CORE
from kit.coded import Coded, few_pixels, few_poly_digits, intersection_digits, linear_bytes
from kit.long_replays import QUICK
from kit.routed import Routed
from kmcompile.emit.exits import views
from kmcompile.program.program import Program
from kmcompile.program.stages import CATALOGUE, EarlyExit
from kmcompile.program.stages.sums.code_range import CodeRange

EVERY = (1 << 32) - 1
ZEROS = np.zeros((1, 7), dtype=np.int64)

CASES = {
    "rbf codes": Coded(few_pixels, "int8", low_parts=True),
    "poly codes": Coded(few_poly_digits, "int8"),
    "tables": Coded(intersection_digits, "int8"),
    "linear codes": Coded(linear_bytes, "int8"),
    "leaves": Routed("iris", 5, extra="widths products linear", number_format="int8"),
    "floats": CORE[0],
    "monomials": polynomials.FEW_TERMS[0],
    "monomials of codes": coded_polynomials.CORE[0],
    "long": QUICK[0],
}


@cache
def program(name: str) -> Program:
    return CASES[name].emit("host").program


def with_sum(name: str, **changed: Any) -> Program:
    made = program(name)
    return replace(made, sum=replace(made.sum, **changed))


def with_part(name: str, part: str, **changed: Any) -> Program:
    return with_sum(name, **{part: replace(getattr(program(name).sum, part), **changed)})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"layout": "zzz"}, "the layout is 'zzz', none of rows, bytes"),
        ({"width": "float32"}, "a code is of type 'float32', none of int16, uint8, int8"),
        ({"width": "int64"}, "a code is of type 'int64', none of"),
        ({"low": 256, "high": 200}, "a code is not from 0 to 255"),
        ({"low": 3, "high": 2}, "are from 3 to 2"),
        ({"high": 256}, "a code is not from 0 to 255"),
        ({"wide": True}, "any codes fit 32 bits, and are said to need 64"),
    ],
)
@pytest.mark.parametrize("name", ["rbf codes", "poly codes"])
def test_a_table_of_codes_holds_codes(name, changed, message):
    codes = program(name).sum.codes
    assert (codes.width, codes.low, codes.high, codes.wide) == ("uint8", 0, 255, False)
    with pytest.raises(ValueError, match=message):
        with_part(name, "codes", **changed)


def test_a_code_that_its_type_does_not_hold_is_refused():
    codes = program("rbf codes").sum.codes.codes.copy()
    for code in (300, -1):
        codes[0, 0] = code
        with pytest.raises(ValueError, match="a code is not from 0 to 255"):
            with_part("rbf codes", "codes", codes=codes)


def test_sums_that_do_not_fit_32_bits_are_said_to_need_64():
    codes = program("rbf codes").sum.codes
    far = {"codes": np.full_like(codes.codes, 32767), "width": "int16", "high": 32767}
    with pytest.raises(ValueError, match="needs 64 bits, and is said to fit 32"):
        with_part("rbf codes", "codes", **far)
    assert replace(codes, wide=True, **far).wide


@pytest.mark.parametrize(
    "changed", [{"width": "uint16"}, {"low": -1}, {"high": 256}, {"low": 2, "high": 1}]
)
def test_a_range_of_codes_is_one_of_its_type(changed):
    codes = program("tables").sum.codes
    assert isinstance(codes, CodeRange) and (codes.width, codes.low, codes.high) == (
        "uint8", 0, 255,
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"a code is|codes of an input are"):
        with_part("tables", "codes", **changed)


def test_a_group_of_coefficients_of_both_signs_says_so():
    made = program("floats").sum
    assert not made.mixed_signs
    coefficients = made.coefficients.copy()
    coefficients[0, 0, 0] *= -1
    with pytest.raises(ValueError, match="coefficients of both signs, without saying"):
        with_sum("floats", coefficients=coefficients)
    assert with_sum("floats", coefficients=coefficients, mixed_signs=True).sum.mixed_signs


@pytest.mark.parametrize("name", ["floats", "rbf codes", "poly codes"])
def test_the_number_of_vectors_is_that_of_the_blocks(name):
    for n in (-1, 0, 10**6):
        with pytest.raises(ValueError, match=f"{n} vectors do not fill"):
            with_sum(name, n_vectors=n)


@pytest.mark.parametrize("field", ["product_shift", "distance_shift"])
@pytest.mark.parametrize("shift", [-1, 64, 99])
def test_a_shift_of_a_kernel_is_one_of_64_bits(field, shift):
    with pytest.raises(ValueError, match=r"shifts .*multiplier and cutoff do not fit"):
        with_sum("rbf codes", **{field: shift})


def test_no_exponent_of_a_kernel_is_32_or_more():
    made = program("rbf codes").sum
    assert (made.cutoff - 1) * made.multiplier >> made.product_shift >= 1 << 30
    wrong: tuple[dict[str, int], ...] = (
        {"cutoff": 0},
        {"cutoff": made.codes.largest_distance() + 2},
        {"multiplier": 0},
        {"multiplier": 1 << 32},
        {"product_shift": made.product_shift - 1},
    )
    for changed in wrong:
        with pytest.raises(ValueError, match="multiplier and cutoff do not fit"):
            with_sum("rbf codes", **changed)


def test_the_gammas_of_leaves_are_checked_each():
    scales = program("leaves").sum.scales
    shifts = scales.product_shifts.copy()
    shifts[-1] = 99
    with pytest.raises(ValueError, match="multiplier and cutoff do not fit"):
        with_part("leaves", "scales", product_shifts=shifts)


def test_coefficients_add_up_to_less_than_a_sum_holds():
    made = program("rbf codes").sum
    with pytest.raises(ValueError, match=r"add up to 2\^32 or more"):
        with_sum("rbf codes", coefficients=np.full(made.coefficients.shape, EVERY))
    with pytest.raises(ValueError, match=r"add up to 2\^32 or more"):
        with_sum("rbf codes", start=np.full_like(made.start, 1 << 62))
    for shift in (-1, 0, 64):
        with pytest.raises(ValueError, match=f"shifted by {shift} bits, does not fit 32"):
            with_sum("rbf codes", result_shift=shift)


LEAF: dict[str, Callable[[Any], dict[str, Any]]] = {
    "coefficients": lambda s: {"coefficients": np.full_like(s.coefficients, 1 << 30, dtype="i4")},
    "start": lambda s: {"start": np.full_like(s.start, 1 << 62)},
    "pairs": lambda s: {
        "pairs": replace(s.pairs, coefficients=np.full_like(s.pairs.coefficients, EVERY >> 1, "i4"))
    },
    "linear": lambda s: {"linear": replace(s.linear, shift=60)},
}


@pytest.mark.parametrize("part", LEAF)
def test_parts_of_a_leaf_add_up_to_less_than_a_sum_holds(part):
    with pytest.raises(ValueError, match=r"add up to 2\^32 or more"):
        with_sum("leaves", **LEAF[part](program("leaves").sum))


def test_leaves_say_how_wide_their_distances_are():
    with pytest.raises(ValueError, match="needs 64 bits is said wrongly"):
        with_sum("leaves", wide=not program("leaves").sum.wide)


def test_the_codes_of_leaves_are_of_their_type():
    made = program("leaves").sum
    vectors = made.vectors.astype(np.int64)
    vectors[0, 0] = 300
    with pytest.raises(ValueError, match="int8 does not hold all of these numbers"):
        with_sum("leaves", vectors=vectors)


def test_the_values_of_functions_add_up_to_less_than_a_sum_holds():
    made = program("tables").sum
    for changed in (
        {"values": np.full(made.values.shape, EVERY)},
        {"start": np.full_like(made.start, EVERY)},
    ):
        with pytest.raises(ValueError, match=r"of a decision add up to 2\^32 or more"):
            with_sum("tables", **changed)


def test_a_function_has_a_value():
    ends = program("tables").sum.function_ends.copy()
    ends[-2] = ends[-1]
    with pytest.raises(ValueError, match="a function has no value"):
        with_sum("tables", function_ends=ends)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {"shift": 16}, "the products are shifted by 16 bits"),
        (lambda s: {"shift": -1}, "the products are shifted by -1 bits"),
        (lambda s: {"exponents": s.exponents - 200}, r"a unit is not from 2\^-100 to 2\^60"),
        (lambda s: {"exponents": s.exponents + 200}, r"a unit is not from 2\^-100 to 2\^60"),
        (lambda s: {"base": s.base + (1 << 29)}, "a part of the bound is above"),
        (lambda s: {"per_part": s.per_part + (1 << 29)}, "a part of the bound is above"),
        (lambda s: {"parts": s.parts * np.float32(1.5)}, "no power of two"),
        (
            lambda s: {"start": (s.start - s.sums(ZEROS)[0] - 1 + (1 << 31)) % (1 << 32)},
            "fit 31 bits and a sign",
        ),
    ],
)
def test_linear_sums_of_codes_have_numbers_within_their_limits(change, message):
    with pytest.raises(ValueError, match=message):
        with_sum("linear codes", **change(program("linear codes").sum))


@pytest.mark.parametrize("name", ["monomials", "monomials of codes"])
def test_each_monomial_has_a_coefficient(name):
    terms = program(name).sum.terms
    more, twice = np.concatenate([terms, terms[:, :1]], axis=1), np.concatenate([terms, terms])
    for wrong in (terms[:, :-1], more, terms[:0], terms[:, :, :0], twice):
        with pytest.raises(ValueError, match=r"coefficients are not those of \d+ monomials"):
            replace(program(name), replay=None, sum=replace(program(name).sum, terms=wrong))
    with pytest.raises(ValueError, match=r"the degree is 7, not from 1 to 6|laid out for DEGREE"):
        with_sum(name, degree=7)


def test_no_sum_over_monomials_reaches_2_to_the_62():
    made = program("monomials of codes").sum
    largest = made._largest_sum()
    codes = np.full((1, made.n_features), made.codes.largest)
    assert np.abs(made.sums(codes)).max() <= largest < 2.0**62
    start = np.full_like(made.start, 1 << 61)
    with pytest.raises(ValueError, match=r"a sum of the polynomial reaches 2\^62"):
        with_sum("monomials of codes", start=start)
    for shifts in (np.append(made.shifts[:-1], 1), np.append(32, made.shifts[1:])):
        with pytest.raises(ValueError, match="a sum is shifted by more than 31 bits"):
            with_sum("monomials of codes", shifts=shifts)


@pytest.mark.parametrize(
    "changed", [{"shift": 64}, {"limit": 0}, {"factor": 1 << 64}, {"half_bits": 21}]
)
def test_a_kernel_in_integers_fits_64_bits(changed):
    long = program("long").replay.sum.long
    with pytest.raises(ValueError, match="not fit 64"):
        replace(long, **changed)


def test_a_replay_has_the_kind_of_sum_that_the_program_has():
    of_codes, made = program("linear codes").sum, program("floats").sum
    with pytest.raises(ValueError, match="the replay is one of exact_sum, the sum coded_linear_s"):
        made.check_reads(of_codes, np.zeros(0), np.zeros(0))


def test_every_exit_of_the_package_has_a_view():
    exits = {stage for stage in CATALOGUE if issubclass(stage, EarlyExit)}
    assert {stage for stage in views._VIEWS if stage in CATALOGUE} == exits


def test_units_of_a_replay_add_up_to_less_than_a_sum_holds():
    made = program("long")
    summed, low = made.replay.sum, made.replay.low_vectors
    bits, step = summed.coefficient_bits + 30, np.float64(summed.step * 2.0**-30)
    fine = replace(summed, coefficient_bits=bits, step=step)
    read = fine.read(made.ends.exact, low, np.zeros(0))
    fine = replace(fine, coefficients=read["coefficients"][1])
    replay = replace(made.replay, sum=fine, low_coefficients=np.zeros(0))
    with pytest.raises(ValueError, match=r"units of a decision add up to 2\^"):
        replace(made, replay=replay)

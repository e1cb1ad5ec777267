"""Codes beside float queries: those of the input itself, and edges where it is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.svm import SVC

import kmcompile
from kit import catalogue, coded
from kmcompile.exits.candidates.samples import accepted_rows
from kmcompile.model.likely_inputs import generate
from kmcompile.numeric import width
from kmcompile.program.interpreter import Status, interpret
from kmcompile.verify.codes import (
    codes_beside,
    edge_codes,
    inputs_beside_codes,
    query_words,
    within_scale,
)

WIDTHS = {"uint8": coded.CORE[0], "int8": coded.CORE[3], "int16": coded.CORE[4]}


@pytest.fixture(scope="module", params=WIDTHS)
def emitted(request):
    """Return a program of each type of codes."""
    return catalogue.emitted(WIDTHS[request.param], "host")


def test_what_the_float_entry_accepts_has_the_nearest_codes(emitted):
    codes, scale = emitted.codes, emitted.program.scale
    accepted = emitted.answers.results["status"] == Status.OK
    assert accepted.any() and not accepted.all()
    # float32 rounds on the way to a code, by far less than the tenth of one.
    off = (emitted.queries[accepted] - scale.values(codes[accepted])) / scale.step
    assert np.abs(off).max() <= 0.6


def test_the_codes_of_an_input_are_answered_like_the_input(emitted):
    """Both entries prepare the same integers, so that the exact sums have the same bits."""
    accepted = emitted.answers.results["status"] == Status.OK
    assert (emitted.answers_of_codes.results["status"][accepted] == Status.OK).all()
    np.testing.assert_array_equal(
        emitted.answers.decisions[accepted], emitted.answers_of_codes.decisions[accepted]
    )


def test_refused_inputs_get_edges(emitted):
    X = np.full((7, emitted.program.n_features), np.nan, dtype=np.float32)
    edges = edge_codes(emitted.program.codes, 7)
    np.testing.assert_array_equal(codes_beside(emitted.program, X), edges)


def test_edges_are_both_ends_in_turn_and_one_beyond_as_far_as_the_type_goes(emitted):
    table = emitted.program.codes
    limits = np.iinfo(table.width)
    edges = edge_codes(table, 12)
    assert (edges[0] == table.low).all() and (edges[1] == table.high).all()
    assert set(edges[2]) == {table.low, table.high}
    assert ((edges[3] >= table.low) & (edges[3] <= table.high)).all()
    assert (edges[4] == max(table.low - 1, limits.min)).any()
    assert (edges[5] == min(table.high + 1, limits.max)).any()
    assert edges.min() >= limits.min and edges.max() <= limits.max
    refused = interpret(emitted.program, edges).results["status"] == Status.ERROR_RANGE
    inside = ((edges >= table.low) & (edges <= table.high)).all(axis=1)
    np.testing.assert_array_equal(refused, ~inside)


def test_the_feature_that_is_beyond_changes(emitted):
    table = emitted.program.codes
    if table.low == np.iinfo(table.width).min:
        table = replace(table, low=table.low + 1, high=table.high - 1)
    below = edge_codes(table, 6 * table.n_features)[4::6]
    np.testing.assert_array_equal(np.argwhere(below < table.low)[:, 1], np.arange(len(below)))


def test_no_input_has_no_codes(emitted):
    n = emitted.program.n_features
    assert codes_beside(emitted.program, np.zeros((0, n), dtype=np.float32)).shape == (0, n)


def test_words_are_the_bits_of_floats_and_then_codes_with_their_sign():
    X = np.array([[1.0, -0.0]], dtype=np.float32)
    words = query_words(X, np.array([[-1, 255]]))
    assert words.dtype == np.uint32
    assert words.tolist() == [[0x3F800000, 0x80000000, 0xFFFFFFFF, 255]]
    assert query_words(X, None).tolist() == [[0x3F800000, 0x80000000]]


@pytest.fixture(scope="module", params=(15, 16), ids=("digits", "bytes"))
def linear(request):
    """Return a linear program that measures how far inputs are from their codes."""
    return catalogue.emitted(coded.CORE[request.param], "host")


def test_inputs_beside_codes_are_off_in_one_feature_by_the_parts_that_are_asked_for(linear):
    program = linear.program
    accepted = linear.queries[linear.answers.results["status"] == Status.OK]
    X = inputs_beside_codes(program, accepted)
    steps = np.ldexp(X.astype(np.float64), program.prepare.quantize.exponents)
    off = np.abs(steps - np.rint(steps))
    assert ((off > 0).sum(axis=1) <= 1).all()
    parts = {0.5, 1, 1.5, 2, 126.5, 127, 127.5, 128}
    assert set((256 * off).max(axis=1)) == parts | {0}
    assert (interpret(program, X).results["status"] == Status.OK).all()


def test_other_programs_have_no_inputs_beside_codes(emitted):
    assert len(inputs_beside_codes(emitted.program, emitted.queries)) == 0


def test_half_of_the_refused_inputs_are_moved_into_the_scale(emitted):
    X = generate(emitted.machine, 400)
    X[::3] *= 50
    moved = within_scale(emitted.program, X)
    before, after = (accepted_rows(emitted.program.prepare, one) for one in (X, moved))
    np.testing.assert_array_equal(X[before], moved[before])
    refused = (~before).sum()
    assert refused >= 100
    assert abs(2 * (after & ~before).sum() - refused) <= 2


def test_inputs_of_a_program_in_floats_stay():
    plain = catalogue.emitted(catalogue.CORE[0], "host")
    X = 1e20 * generate(plain.machine, 20)
    assert within_scale(plain.program, X) is X


def test_a_linear_machine_whose_inputs_have_large_units_is_verified_without_samples():
    """Points near its hyperplanes, of which inputs are made, lie far beyond the scale."""
    X, y = load_wine(return_X_y=True)
    made = kmcompile.compile_model(
        SVC(kernel="linear").fit(X, y), target="host", name="wine", format="int8", verify="none"
    )
    machine = kmcompile.readers.load_model(SVC(kernel="linear").fit(X, y))
    X = within_scale(made.program, generate(machine, 400))
    assert accepted_rows(made.program.prepare, X).mean() > 0.4


def test_every_width_has_its_program_here():
    assert set(WIDTHS) == {*width.WIDTHS}

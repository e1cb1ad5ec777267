"""Codes beside float queries: those of the input itself, and edges where it is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit import catalogue, coded
from kmcompile.numeric import width
from kmcompile.program.interpreter import Status, interpret
from kmcompile.verify.codes import codes_beside, edge_codes, query_words

WIDTHS = {"uint8": coded.CORE[0], "int8": coded.CORE[3], "int16": coded.CORE[4]}
assert set(WIDTHS) == {*width.WIDTHS}


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

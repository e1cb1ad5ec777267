"""Literals of whole tables are those of their elements, in lines that are as full as can be."""

from __future__ import annotations

import io

import numpy as np
import pytest

from kmcompile.emit import tables
from kmcompile.emit.float_words import float32_literals
from kmcompile.emit.literals import float32_literal


def some_floats() -> np.ndarray:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 1 << 32, size=4000, dtype=np.uint32)
    values = np.append(bits.view(np.float32), np.float32([0.0, -0.0, 1.0, -1.0, 2.0**-126, 1e-42]))
    return values[np.isfinite(values)]


def one_by_one(words: list[str]) -> str:
    text, separator, width = io.StringIO(), "    ", 4
    for word in words:
        if width + len(word) + 2 > 100:
            separator, width = ",\n    ", 4
        text.write(separator + word)
        separator, width = ", ", width + len(word) + 2
    return text.getvalue()


def test_literals_of_an_array_are_those_of_its_elements() -> None:
    values = some_floats()
    assert float32_literals(values) == [float32_literal(value) for value in values]


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_array_with_a_value_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="is not a finite float32"):
        float32_literals(np.float32([1.0, value]))


@pytest.mark.parametrize("at_a_time", [1, 5, 64, 1 << 18])
@pytest.mark.parametrize("n", [0, 1, 9, 400])
def test_lines_are_as_full_as_word_by_word(
    n: int, at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_AT_A_TIME", at_a_time)
    values = some_floats()[:n]
    words = [float32_literal(value) for value in values]
    assert tables._wrap(tables._literals(values)) == one_by_one(words)

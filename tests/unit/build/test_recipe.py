"""recipe.json: it reads back equal, and what is no recipe is refused."""

from __future__ import annotations

import json

import pytest

from kmcompile.build.recipe import Recipe, sha256_of
from kmcompile.errors import InputError
from kmcompile.target import load_target


@pytest.fixture
def recipe() -> Recipe:
    return Recipe(
        name="iris",
        sources=("iris.c",),
        harness="iris_harness.c",
        target=load_target("cortex-m7"),
        input_words=4,
        record_words=8,
        sha256=sha256_of({"iris.c": "int x;", "iris.h": ""}),
    )


def test_a_recipe_reads_back_equal(recipe):
    text = recipe.to_json()
    assert Recipe.from_json(text) == recipe
    assert Recipe.from_json(text).to_json() == text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Iris"),
        ("name", None),
        ("sources", []),
        ("sources", ["../iris.c"]),
        ("harness", "/etc/passwd"),
        ("sha256", {"iris.c": "0"}),
        ("sha256", []),
        ("input_words", 0),
        ("record_words", True),
        ("target", {}),
    ],
)
def test_a_broken_recipe_is_refused(recipe, field, value):
    plain = json.loads(recipe.to_json()) | {field: value}
    with pytest.raises(InputError, match=r"recipe\.json: "):
        Recipe.from_json(json.dumps(plain))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "iris"}'])
def test_what_is_no_recipe_is_refused(text):
    with pytest.raises(InputError, match=r"recipe\.json: "):
        Recipe.from_json(text)

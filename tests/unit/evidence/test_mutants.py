"""Small faults in the emitted C: where they are made, and that the vectors find them."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from evidence.gather import run_part
from evidence.subjects import small_models
from kit.tools import need
from kmcompile.evidence.mutation import mutating
from kmcompile.evidence.mutation.mutants import Mutant, flipped, sampled, sites
from kmcompile.evidence.mutation.tokens import tokens
from kmcompile.evidence.part import Part

SOURCE = """#define IRIS_N_BLOCKS 4U

static const float iris_vectors[2U] = {
    0x1.8p+0f, 2.0f
};

/* Not a fault: a + b. */
static float iris_sum(const float *const x, const uint32_t n)
{
    float total[1] = { 0.0f };
    uint32_t j;

    for (j = 0U; j < n; ++j) {
        total[0] += x[j] * -2.0f;
    }
    if (total[0] > 1.0f) {
        iris_call(total);
    }
    return total[0];
}
"""
LINES = frozenset(range(1, SOURCE.count("\n") + 1))


def told(kind):
    return [one.told(SOURCE).split(" -> ")[1].strip() for one in sites(SOURCE, LINES).get(kind, [])]


def test_comments_and_texts_have_no_tokens():
    assert [one.text for one in tokens('/* a + b */ x = "1 + 2"; // y')][:3] == ["x", "=", ";"]


def test_every_kind_of_fault_is_made_where_it_belongs():
    assert told("operator") == [
        "for (j = 0U; j < n; --j) {",
        "total[0] -= x[j] * -2.0f;",
        "total[0] += x[j] / -2.0f;",
    ]
    assert "for (j = 0U; j <= n; ++j) {" in told("comparison")
    assert told("condition") == ["if (!(total[0] > 1.0f)) {"]
    assert told("index") == ["total[0] += x[j + 1U] * -2.0f;"]
    assert told("statement") == [";", ";"]
    assert {"#define IRIS_N_BLOCKS 5U", "#define IRIS_N_BLOCKS 3U"} <= set(told("constant"))
    assert len(told("table")) == 2


def test_lengths_of_arrays_are_no_faults():
    assert not any("float total[2]" in one or "float total[0]" in one for one in told("constant"))


def test_lines_that_the_host_leaves_out_have_no_faults():
    kept = sites(SOURCE, LINES - {13})
    assert not any("for (" in one.told(SOURCE) for own in kept.values() for one in own)


@pytest.mark.parametrize("text", ["0U", "17UL", "0x1.8p+3f", "2.0", "0xFFU"])
def test_one_bit_is_another(text):
    changed = flipped(text, random.Random(1))
    assert changed != text
    assert changed.endswith("f") == text.endswith("f")


def test_a_sample_is_the_same_for_the_same_seed():
    found = sites(SOURCE, LINES)
    assert sampled(found, 8, "a") == sampled(found, 8, "a") != sampled(found, 8, "b")


def test_a_share_is_taken_by_the_part_that_can_do_less(monkeypatch):
    done = []
    whole = Part("whole", "does all", lambda subject, folder: done.append(1.0) or [])
    monkeypatch.setattr(mutating, "run", lambda subject, folder, share: done.append(share) or [])
    for part in (whole, mutating.PART):
        run_part(part, SimpleNamespace(name="any"), Path(), 0.1)
    assert done == [1.0, 0.1]


@pytest.mark.parametrize(("new", "is_known"), [("<=", True), (">=", False)])
def test_a_comparison_that_differs_only_at_equal_sides_has_its_argument(new, is_known):
    source = "if (a < b) {"
    argument = Mutant("comparison", 6, 7, new).argument(source)
    assert (argument is not None) == is_known


@pytest.mark.exhaustive
def test_nine_of_ten_small_faults_are_found(tmp_path):
    need("gcc")
    for subject in small_models(0.03, with_vectors=True):
        mutating.run(subject, tmp_path)
    found = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    killed = sum(one["killed"] + one["astray"] for one in found)
    assert killed >= 0.9 * sum(one["counted"] for one in found)
    for one in found:  # a mutated table is always found
        assert "table, survived" not in one["kinds"]
    again = [sys.executable, "repeat.py", sorted(tmp_path.glob("*.json"))[0].stem]
    run = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    assert "0 with another fate" in run.stdout

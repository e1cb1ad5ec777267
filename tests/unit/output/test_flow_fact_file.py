"""`<name>.ffx` says of every loop what the C says of it, where a WCET tool looks for it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from kit import cascades, catalogue, coded, pairs, polynomials
from kmcompile.machine_code.c_source.c_loops import find_loops, without_tables
from kmcompile.machine_code.c_source.call_counts import most_calls
from kmcompile.machine_code.c_source.flow_facts import read_loop_facts
from kmcompile.output.flow_fact_file import flow_fact_file

CASES = [catalogue.CORE[1], cascades.CORE[0], coded.CORE[0], pairs.CORE[0], polynomials.CORE[0]]


@pytest.mark.few
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_loop_has_an_entry_at_its_line_with_its_bounds(case):
    emitted = catalogue.emitted(case, "host")
    source, header = (emitted.files[f"iris.{kind}"].decode() for kind in "ch")
    facts = read_loop_facts(source, header)
    calls = most_calls(source, facts, without=["iris_self_test"])
    root = ElementTree.fromstring(emitted.files["iris.ffx"])
    lines = source.splitlines()
    assert root.tag == "flowfacts"
    assert len(root) == len(facts) == sum(bool(re.match(r" *(for|while) \(", x)) for x in lines)
    for loop, fact in zip(root, facts, strict=True):
        assert loop.tag == "loop"
        assert loop.get("source") == "iris.c"
        assert re.match(r" *(for|while) \(", lines[int(loop.get("line")) - 1])
        assert loop.get("maxcount") == str(fact.maximum)
        total = None if fact.total is None else str(fact.total * calls[fact.function])
        assert loop.get("totalcount") == total


def test_the_same_c_gives_the_same_bytes_and_the_recipe_has_their_hash():
    emitted = catalogue.emitted(CASES[0], "host")
    texts = [emitted.files[f"iris.{kind}"].decode() for kind in "ch"]
    assert flow_fact_file("iris", *texts).encode() == emitted.files["iris.ffx"]
    assert "iris.ffx" in dict(emitted.recipe.sha256)


def test_the_tables_of_a_file_have_no_loops_and_keep_their_lines():
    source = catalogue.emitted(CASES[0], "host").files["iris.c"].decode()
    short = without_tables(source)
    assert len(short) < len(source)
    assert short.count("\n") == source.count("\n")
    assert find_loops(short) == find_loops(source)

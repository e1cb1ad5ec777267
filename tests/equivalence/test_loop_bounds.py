"""No loop of the emitted C turns more often than its flow fact says, damaged tables or not."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from loop_counters import Counted, Taken, count_loops, template_loops

from kit import (
    additive,
    calibrated,
    cascades,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    expansions,
    input_tolerances,
    integer_exits,
    leaf_expansions,
    long_replays,
    monitors,
    pairs,
    polynomials,
    quadratics,
    ratios,
    regressions,
    replays,
    routed,
    sparse_digits,
    taylor,
)
from kit.emitted import Emitted
from kit.reduced_machines import Reduced
from kit.steps import InSteps
from kit.watched import CORE as WATCHED
from kit.watched import DOUBLED
from kmcompile.lower import lower
from kmcompile.model.likely_inputs import ordinary_inputs

CASES = [
    *((catalogue.CORE[number], "cortex-m7") for number in (3, 5, 6, 7, 9, 10, 14)),
    *((cascades.CORE[number], "cortex-m7") for number in (1, 3)),
    *((case, "cortex-m7") for case in cascades.CORE if case.n_scores),
    (replace(cascades.CORE[0], n_fitted=4), "host"),
    *((sparse_digits.CASES[4], target) for target in ("host", "cortex-m7")),
    *((certified.EVERY[number], "host") for number in (6, 7)),
    (integer_exits.CORE[1], "host"),
    *((integer_exits.CORE[number], "cortex-m7") for number in (8, 9)),
    *((coded.CORE[6], target) for target in ("cortex-m0", "cortex-m55")),
    (coded.CORE[10], "cortex-m0"),
    (coded.CORE[11], "cortex-m7"),
    (coded.REPLAYED[1], "host"),
    (calibrated.CORE[2], "program memory"),
    (replays.CORE[2], "host"),
    (replays.SPARSE[1], "cortex-m7"),
    (pairs.CORE[0], "cortex-m7"),
    (pairs.MORE[2], "cortex-m7"),
    (expansions.CORE[2], "cortex-m0"),
    (polynomials.CORE[0], "cortex-m7"),
    (coded_polynomials.CORE[0], "cortex-m7"),
    (quadratics.CORE[0], "cortex-m7"),
    *((additive.CORE[number], "cortex-m7") for number in (1, 5)),
    (ratios.CORE[1], "host"),
    (regressions.SIGNED[1], "host"),
    (regressions.CORE[3], "cortex-m7"),
    (Reduced("quartic_digits", 16), "cortex-m7"),
    *((routed.CORE[number], "cortex-m7") for number in (0, 3, 9, 11, 12, 19)),
    *((routed.VOTES[number], "cortex-m7") for number in (1, 3)),
    *((leaf_expansions.CORE[number], "cortex-m7") for number in (0, 2)),
    (taylor.CORE[0], "cortex-m7"),
    (InSteps(replays.CORE[2]), "host"),
    (InSteps(pairs.CORE[0]), "cortex-m7"),
    (InSteps(sparse_digits.CASES[4]), "host"),
    (InSteps(coded.REPLAYED[0]), "host"),
    (InSteps(coded.REPLAYED[1]), "cortex-m7"),
    (monitors.CORE[0], "cortex-m7"),
    (monitors.CORE[8], "cortex-m0"),
    (input_tolerances.CORE[1], "cortex-m7"),
    (input_tolerances.CORE[3], "host"),
    (input_tolerances.CORE[5], "cortex-m7"),
    *((input_tolerances.CORE[number], "host") for number in (6, 7)),
    (input_tolerances.MORE[-1], "host"),
    *((case, "cortex-m7") for case in DOUBLED[:2]),
    (WATCHED[0], "host"),
    ("zeros left out", "host"),
    *((long_replays.QUICK[number], "host") for number in (0, 3, 6, 8)),
    (coded.Coded(coded.linear_sensors, "int16"), "host"),
]
"""Every loop of every template."""

ONLY_WITH_VECTORS = {"code_table/chunks_products.c.j2"}
"""Its first loop is of vector registers, which the machine of the tests has not."""


def emitted(case: object, target: str) -> Emitted:
    """Return the emitted C of a case."""
    if isinstance(case, str):
        whole = catalogue.emitted(catalogue.CORE[0], target)
        inputs = ordinary_inputs(whole.machine, 64)
        program = lower(whole.machine, whole.target, whole.name, inputs, skip_zeros=True)
        return replace(whole, program=program)
    if target != "program memory":
        return catalogue.emitted(case, target)
    plain = catalogue.emitted(case, "host")
    program = replace(plain.target.program, memory_space="program")
    return replace(plain, target=replace(plain.target, program=program))


@cache
def counted(case: object, target: str) -> tuple[list[Counted], list[Taken]]:
    """Return the loops and the bounded branches of a case with what they counted."""
    with tempfile.TemporaryDirectory() as folder:
        return count_loops(emitted(case, target), Path(folder))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("case", "target"),
    [
        pytest.param(*one, marks=pytest.mark.exhaustive if n % 4 else ())
        for n, one in enumerate(CASES)
    ],
    ids=str,
)
def test_no_loop_turns_more_often_than_its_flow_fact_says(case, target):
    loops, branches = counted(case, target)
    for loop in loops:
        fact = loop.fact
        assert loop.most <= fact.maximum, loop
        assert fact.total is None or loop.most_total <= fact.total, loop
        assert fact.query_total is None or loop.most_of_query <= fact.query_total, loop
    for branch in branches:
        assert branch.most_of_query <= branch.fact.query_total, branch


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [pairs.CORE[0], pairs.MORE[3]], ids=str)
def test_entries_and_kernels_of_all_pairs_are_bounded_and_may_meet_the_bound(case):
    loops, (kernel, *of_replay) = counted(case, "cortex-m7")
    assert kernel.most_of_query == kernel.fact.query_total
    assert [one.most_of_query for one in of_replay] == [one.fact.query_total for one in of_replay]
    stated = [loop for loop in loops if loop.fact.query_total is not None]
    assert len(stated) == 2 * (1 + len(of_replay))
    for sections, entries in zip(stated[::2], stated[1::2], strict=True):
        assert sections.most_of_query <= sections.fact.query_total
        assert entries.most_of_query == entries.fact.query_total


@pytest.mark.exhaustive
def test_entries_of_all_pairs_of_a_replay_in_integers_meet_their_bound():
    loops, _ = counted(long_replays.QUICK[3], "host")
    (entries,) = (
        loop
        for loop in loops
        if loop.template.startswith("replay/") and loop.fact.query_total is not None
    )
    assert entries.most_of_query == entries.fact.query_total


@pytest.mark.exhaustive
def test_every_loop_of_every_template_has_turned():
    turned = {loop.template for case in CASES for loop in counted(*case)[0] if loop.most > 0}
    missing = template_loops() - turned
    assert {place.split(":")[0] for place in missing} == ONLY_WITH_VECTORS
    assert len(missing) == 1

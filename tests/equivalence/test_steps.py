"""The answer in steps is the answer at once, bit for bit, and takes the steps that were planned."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kit import catalogue, coded, pairs, replays
from kit.stepped import EVERY, QUICK
from kit.steps import InSteps, in_steps
from kit.tools import FAST
from kmcompile.build import build
from kmcompile.program import storage
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.pieces import pieces
from kmcompile.program.schedule import schedule, smallest_step
from kmcompile.program.stages import Nonzeros
from kmcompile.run import HostRunner
from kmcompile.target import load_target

HOST = load_target("host")

TIMES = (1.0, 1.7, 1e6)


def run_on_host(emitted, folder: Path, optimisation: str | None = FAST):
    """Return what the C on the host gives."""
    emitted.write(folder)
    with build(emitted.recipe, folder, HOST, optimisation=optimisation) as artifact:
        return HostRunner().run(artifact, emitted.inputs)


def check(emitted, folder: Path, optimisation: str | None = FAST) -> None:
    """Compare all words of the harness, those of the answers in steps among them."""
    result = run_on_host(emitted, folder, optimisation)
    np.testing.assert_array_equal(result.records, emitted.records)
    assert result.self_test == Status.OK


@pytest.mark.few
@pytest.mark.parametrize(
    "case", [InSteps(case, TIMES[n % 2]) for n, case in enumerate(QUICK)], ids=str
)
def test_steps_match_the_interpreter_bit_for_bit(case, tmp_path):
    check(case.emit("cortex-m7" if case.times > 1 else "host"), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_steps_of_every_stage_match_the_interpreter_bit_for_bit(case, times, tmp_path):
    check(InSteps(case, times).emit("host"), tmp_path, HOST.compiler.optimisation)


@pytest.mark.few
@pytest.mark.parametrize("case", QUICK, ids=str)
def test_a_large_number_of_operations_is_one_step(case):
    program = InSteps(case, 1e6).emit("host").program
    planned = schedule(program)
    if planned.pair_place is None:
        assert planned.most_steps == 1
    else:
        assert len(planned.places) == 3
        assert planned.pair_place.repeats == program.n_decisions


@pytest.mark.few
@pytest.mark.parametrize("case", QUICK, ids=str)
def test_the_answers_at_once_do_not_depend_on_the_option(case):
    emitted = case.emit("host")
    stepped = in_steps(emitted.program, HOST)
    with_steps, at_once = interpret(stepped, emitted.queries), emitted.answers
    np.testing.assert_array_equal(with_steps.results, at_once.results)
    np.testing.assert_array_equal(with_steps.decisions, at_once.decisions)
    assert at_once.steps is None
    assert with_steps.steps.min() >= 1
    assert with_steps.steps.max() <= schedule(stepped).most_steps


@pytest.mark.parametrize("case", [catalogue.CORE[0], pairs.CORE[0], coded.REPLAYED[0]], ids=str)
def test_a_program_in_steps_is_stored(case):
    program = InSteps(case, 1.5).emit("host").program
    loaded = storage.load(storage.save(program), "program.npz")
    assert loaded.step == program.step
    assert str(loaded) == str(program)
    plain = case.emit("host").program
    assert storage.load(storage.save(plain), "program.npz").step is None
    assert b'"Step"' not in storage.save(plain)


@pytest.mark.parametrize("case", [replays.SPARSE[0], catalogue.CORE[0]], ids=str)
def test_the_look_at_the_list_of_features_counts_in_every_step(case):
    program = InSteps(case, 1.7).emit("host").program
    n_listed = sum(s.n_features for s in program.exits if isinstance(s, Nonzeros))
    largest = max(piece.operations for piece in pieces(program))
    assert smallest_step(program).operations == largest + n_listed
    for place in schedule(program).places:
        assert place.operations == n_listed + sum(part.operations for part in place.parts)
        assert place.operations <= program.step.operations


MUTATIONS = {
    "one block less in each step": (
        catalogue.CORE[0],
        r"\bi < (\d+)U\) && \(job",
        "i < 0U) && (job",
    ),
    "a job forgets what the groups have": (
        catalogue.CORE[0],
        r"\+\+progress->group;",
        "progress->group += (progress->block == 1U) ? 1U : 0U;",
    ),
    "a job keeps no deviation": (replays.CORE[0], r"job->deviation = input->deviation;", ""),
    "the replay begins in the midst": (
        replays.CORE[0],
        r"(job->replay_deviation = prepared.deviation;)",
        r"\1 job->progress.block = 1U;",
    ),
    "a pair is met before its kernels": (pairs.CORE[0], r"return left == 0U;", "return true;"),
    "a job that has ended goes on": (
        catalogue.CORE[0],
        r"job->place = 0U;\n    }\n    if \(status",
        "job->place = 1U;\n    }\n    if (status",
    ),
}


@pytest.mark.few
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutant_is_found(name, tmp_path):
    case, pattern, instead = MUTATIONS[name]
    emitted = InSteps(case).emit("host")
    source = f"{emitted.name}.c"
    text, n = re.subn(pattern, instead, emitted.files[source].decode())
    assert n > 0
    result = run_on_host(emitted.with_file(source, text.encode()), tmp_path)
    assert (result.records != emitted.records).any()


@pytest.mark.parametrize("case", [catalogue.CORE[0], pairs.CORE[0], coded.CORE[0]], ids=str)
def test_a_damaged_table_gives_an_error_in_steps_too(case, tmp_path):
    emitted = InSteps(case).emit("host")
    source, name = f"{emitted.name}.c", emitted.name
    table = "pair_ends" if case is pairs.CORE[0] else "group_ends"
    pattern = rf"({name}_{table}\[\w+\] = \{{\n    )\d+"
    text, n = re.subn(pattern, r"\g<1>60000", emitted.files[source].decode())
    assert n == 1
    records = run_on_host(emitted.with_file(source, text.encode()), tmp_path).records
    expected = emitted.records
    ok = expected[:, 0] == Status.OK
    words = emitted.answers.decisions.shape[1] + 8
    assert (records[ok, 0] == Status.ERROR_CORRUPT).any()
    np.testing.assert_array_equal(records[:, words], records[:, 0])
    np.testing.assert_array_equal(records[:, words + 8], expected[:, words + 8])


def test_a_replay_counts_as_what_it_takes():
    emitted = replays.CORE[0].emit("host")
    heavy = replace(HOST, cost=replace(HOST.cost, float64=17.0 * HOST.cost.float32.product))
    light, weighted = (in_steps(emitted.program, target) for target in (HOST, heavy))
    assert weighted.step.replay_weight == 17
    assert weighted.step.operations > light.step.operations

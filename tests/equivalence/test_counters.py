"""The C's telemetry counts what Python says, on the host and on boards."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from kit import catalogue, coded, regressions
from kit.host_program import STRICT
from kit.telemetry import counted_all
from kit.tools import FAST, need, need_tools, succeed
from kit.watched import CORE, Library, Watched
from kmcompile.build import build
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.interpreter import RESULT_DTYPE, Status
from kmcompile.program.telemetry import counters, n_words, places, reset
from kmcompile.run import HostRunner, runner_for
from kmcompile.target import load_target
from kmcompile.verify.records import answers_of

FULL = 0xFFFFFFFF
BOARDS = {
    "avr": [Watched(catalogue.FEW_VECTORS[0])],
    "leon3": [CORE[1], CORE[4]],
    "cortex-m7": CORE,
}


@pytest.mark.few
@pytest.mark.parametrize("case", CORE, ids=str)
def test_the_host_counts_every_answer_as_python_does(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, load_target("host"), optimisation=FAST) as artifact:
        records = HostRunner().run(artifact, emitted.inputs).records
    np.testing.assert_array_equal(records, emitted.records)


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize(
    ("target", "case"),
    [
        pytest.param(
            target, case, marks=() if case is cases[0] else pytest.mark.exhaustive, id=target
        )
        for target, cases in BOARDS.items()
        for case in cases
    ],
)
def test_a_board_counts_every_answer_as_python_does(target, case, tmp_path):
    board = load_target(target)
    need_tools(board)
    emitted = catalogue.emitted(case, target)
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, board) as artifact:
        run = runner_for(board).run(artifact, emitted.inputs)
    np.testing.assert_array_equal(run.records, emitted.records)
    assert run.self_test == Status.OK


@pytest.mark.few
@pytest.mark.parametrize("case", CORE, ids=str)
def test_a_day_of_answers_has_the_totals_of_python(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    library = Library(emitted, tmp_path)
    asked = emitted.queries if emitted.codes is None else emitted.codes
    answers = emitted.answers if emitted.codes is None else emitted.answers_of_codes
    width = np.float32 if emitted.codes is None else emitted.program.codes.width
    workspace = library.ffi.new("iris_workspace_t *")
    answer, telemetry = library.answer_of(), library.telemetry()
    call = getattr(library.lib, f"iris_{library.call}")
    for x in asked.astype(width):
        status = call(workspace, library.ffi.from_buffer(np.ascontiguousarray(x)), answer)
        assert library.lib.iris_telemetry_count(telemetry, status, answer) == Status.OK
    program, results = emitted.program, answers.results
    found = library.words(telemetry)
    np.testing.assert_array_equal(found, counted_all(program, reset(program), results))
    at, accepted = places(program), int((results["status"] == Status.OK).sum())
    assert found[at["queries"]] == len(results)
    assert found[at["by_status"]] == accepted
    n_stages = len(program.exit_stages)
    assert found[at["by_stage"] : at["by_stage"] + n_stages].sum() == accepted
    if not program.is_regression:
        n_classes = len(program.classes)
        assert found[at["by_label"] : at["by_label"] + n_classes].sum() == accepted


def hand_made(program, **fields):
    """Return results that no query gives: each field's values in every combination."""
    usual = {"status": [0], "label": [0], "stage": [0], "lower": [-1.0], "upper": [2.0]}
    usual |= {"kernel_evals": [7], "certified": [True], "in_range": [True]}
    grid = np.meshgrid(*{**usual, **fields}.values(), indexing="ij")
    results = np.zeros(grid[0].size, dtype=RESULT_DTYPE)
    for name, values in zip({**usual, **fields}, grid, strict=True):
        results[name] = values.ravel()
    if program.is_regression:
        results["label"] = -1
    return results


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [CORE[0], CORE[4]], ids=str)
def test_answers_of_damaged_memory_count_as_corrupt_and_nan_as_no_margin(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    library, program = Library(emitted, tmp_path), emitted.program
    last = len(program.exit_stages) - 1
    labels = [0] if program.is_regression else [-(2**31), -1, 0, 1, 2, 2**31 - 1]
    numbers = [-np.inf, -1.0, -0.0, 0.0, 1e-45, 3.0, np.inf, np.nan]
    results = np.concatenate(
        [
            hand_made(program, status=[0, 1, 2, 3, 4, 5, 99], label=labels),
            hand_made(program, stage=[0, last, last + 1, 65535], label=labels),
            hand_made(program, lower=numbers, upper=numbers),
            hand_made(program, kernel_evals=[0, 1, FULL, 5], certified=[False, True]),
            hand_made(program, in_range=[False, True], certified=[False, True]),
        ]
    )
    telemetry, words = library.telemetry(), reset(program)
    taken = [
        name
        for name in RESULT_DTYPE.names[1:]
        if not program.is_regression or name not in ("label", "certified")
    ]
    taken = [name for name in taken if program.is_regression or name != "value"]
    for result in results:
        answer = library.answer_of(**{name: result[name].item() for name in taken})
        status = int(result["status"])
        returned = library.lib.iris_telemetry_count(telemetry, status, answer)
        words = counted_all(program, words, result[None])
        np.testing.assert_array_equal(library.words(telemetry), words)
        known = status != 0 or (
            result["stage"] <= last
            and (program.is_regression or 0 <= result["label"] < len(program.classes))
        )
        known = known and status < len(Status)
        assert returned == (Status.OK if known else Status.ERROR_CORRUPT)


def test_a_full_counter_stays_full(tmp_path):
    emitted = catalogue.emitted(CORE[1], "host")
    library = Library(emitted, tmp_path)
    telemetry = library.telemetry()
    library.ffi.memmove(telemetry, b"\xff" * library.ffi.sizeof("iris_telemetry_t"), 4 * 6)
    answer = library.answer_of(in_range=True, certified=True)
    for _ in range(3):
        library.lib.iris_telemetry_count(telemetry, 0, answer)
    assert telemetry.queries == telemetry.by_status[0] == FULL
    assert telemetry.by_stage[0] == 3 and telemetry.not_certified == 0


def test_null_counts_nothing_and_a_refused_query_needs_no_answer(tmp_path):
    emitted = catalogue.emitted(CORE[0], "host")
    library = Library(emitted, tmp_path)
    telemetry, null = library.telemetry(), library.ffi.NULL
    before = library.words(telemetry)
    lib = library.lib
    assert lib.iris_telemetry_reset(null) == Status.ERROR_NULL
    assert lib.iris_telemetry_count(null, 0, library.answer_of()) == Status.ERROR_NULL
    assert lib.iris_telemetry_count(telemetry, 0, null) == Status.ERROR_NULL
    assert lib.iris_telemetry_test(null, 0) == Status.ERROR_NULL
    assert lib.iris_telemetry_step(telemetry, null) == Status.ERROR_NULL
    assert lib.iris_telemetry_differences(telemetry, null) == Status.ERROR_NULL
    assert lib.iris_telemetry_differences(null, library.ffi.new("iris_audit_t *")) == 1
    np.testing.assert_array_equal(library.words(telemetry), before)
    assert lib.iris_telemetry_count(telemetry, Status.ERROR_RANGE, null) == Status.OK
    assert telemetry.queries == telemetry.by_status[Status.ERROR_RANGE] == 1


def test_self_tests_and_the_audit_are_taken_over(tmp_path):
    emitted = catalogue.emitted(CORE[0], "host")
    library = Library(emitted, tmp_path)
    telemetry, lib = library.telemetry(), library.lib
    state = library.ffi.new("iris_self_test_t *")
    while not state.done:
        assert telemetry.self_test_passes == 0
        lib.iris_self_test_step(state)
        assert lib.iris_telemetry_step(telemetry, state) == Status.OK
    assert (telemetry.self_test_passes, telemetry.self_test_failures) == (1, 0)
    state = library.ffi.new("iris_self_test_t *", {"part": FULL})
    lib.iris_self_test_step(state)
    lib.iris_telemetry_step(telemetry, state)
    lib.iris_telemetry_test(telemetry, Status.ERROR_CORRUPT)
    lib.iris_telemetry_test(telemetry, Status.OK)
    assert (telemetry.self_test_passes, telemetry.self_test_failures) == (2, 2)
    counts = {"checked": 5, "differences": 2, "unlike_checked": 7, "unlike_differences": 3}
    lib.iris_telemetry_differences(telemetry, library.ffi.new("iris_audit_t *", counts))
    assert [getattr(telemetry, f"audit_{name}") for name in counts] == list(counts.values())


@pytest.mark.few
@pytest.mark.parametrize("case", CORE, ids=str)
def test_the_struct_has_the_words_in_the_order_of_the_counters(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    library = Library(emitted, tmp_path)
    assert library.ffi.sizeof("iris_telemetry_t") == 4 * n_words(emitted.program)
    for name, place in places(emitted.program).items():
        assert library.ffi.offsetof("iris_telemetry_t", name) == 4 * place
    header = emitted.files["iris.h"].decode()
    for counter in counters(emitted.program):
        offset = 4 * places(emitted.program)[counter.name]
        assert re.search(rf" {counter.name}\W.*/\* {offset}: {re.escape(counter.meaning)}", header)


def test_another_layout_does_not_compile(tmp_path):
    need("gcc")
    emitted = catalogue.emitted(CORE[1], "host")
    emitted.write(tmp_path)
    command = ["gcc", *EXACT_FLAGS, *STRICT, "-c", tmp_path / "iris.c", "-o", tmp_path / "o"]
    succeed(command)
    header = tmp_path / "iris.h"
    whole = header.read_text()
    for member in ("uint32_t not_certified;", "float smallest_margin;"):
        header.write_text(whole.replace(member, f"uint32_t spare; {member}"))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode and "iris_telemetry_layout_t" in done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("case", "right", "wrong"),
    [
        (CORE[1], "if (*counter < UINT32_MAX)", "if (*counter <= UINT32_MAX)"),
        (CORE[1], "(from_above > result->lower)", "(from_above < result->lower)"),
        (CORE[1], "by_label[(uint32_t)result->label]", "by_label[0]"),
        (CORE[0], "if (!result->in_range)", "if (result->in_range)"),
        (CORE[4], "width > telemetry->widest_interval", "width < telemetry->widest_interval"),
        (CORE[4], "width = prediction->upper - prediction->lower", "width = prediction->upper"),
    ],
    ids=["full", "margin", "label", "range", "widest", "width"],
)
def test_the_exact_check_finds_a_changed_count(case, right, wrong, tmp_path):
    emitted = catalogue.emitted(case, "host")
    source = emitted.write(tmp_path) / "iris.c"
    assert source.read_text().count(right) == 1
    source.write_text(source.read_text().replace(right, wrong))
    with build(emitted.recipe, tmp_path, load_target("host"), optimisation=FAST) as artifact:
        records = HostRunner().run(artifact, emitted.inputs).records
    assert (records != emitted.records).any()
    own, expected = (answers_of(one)[0] for one in (records, emitted.records))
    assert (own == expected).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [catalogue.CORE[1], coded.CORE[0], regressions.CORE[1]], ids=str)
def test_the_functions_beside_it_are_those_without_telemetry(case):
    """What is not asked costs nothing: the C of the answers is the same, and that without is it."""
    plain = catalogue.emitted(case, "host")
    with_it = catalogue.emitted(Watched(case), "host")
    for file in ("iris.c", "iris.h"):
        known = plain.files[file].decode().splitlines()
        lines = with_it.files[file].decode().splitlines()
        rest = iter(lines)
        assert all(line in rest for line in known), "every line of one is in the other, in order"
    assert "telemetry" not in "".join(text.decode("latin-1") for text in plain.files.values())
    assert plain.recipe.record_words < with_it.recipe.record_words

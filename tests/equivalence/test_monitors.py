"""The C of a monitor gives the interpreter's `in_range`, and no other field depends on it."""

from __future__ import annotations

import numpy as np
import pytest

from kit import catalogue, monitors
from kit.tools import FAST
from kmcompile.build import build
from kmcompile.monitor.reading import read
from kmcompile.program.interpreter import Status, interpret
from kmcompile.run import HostRunner
from kmcompile.target import load_target

HOST = load_target("host")


@pytest.mark.few
@pytest.mark.parametrize("case", monitors.CORE, ids=str)
def test_c_gives_the_interpreter_s_answers_with_every_monitor(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, HOST, optimisation=FAST) as artifact:
        result = HostRunner().run(artifact, emitted.inputs)
    np.testing.assert_array_equal(result.records, emitted.records)
    assert result.self_test == Status.OK


@pytest.mark.few
@pytest.mark.parametrize("case", monitors.CORE, ids=str)
def test_a_monitor_changes_no_answer_but_in_range(case):
    emitted = catalogue.emitted(case, "host")
    plain = emitted.program.without_monitor()
    own, without = (interpret(each, emitted.queries) for each in (emitted.program, plain))
    for field in own.results.dtype.names:
        if field != "in_range":
            np.testing.assert_array_equal(own.results[field], without.results[field])
    accepted = own.results["status"] == Status.OK
    spent = emitted.program.monitor.operations()
    assert set(own.operations[accepted] - without.operations[accepted]) == {spent}
    assert set(own.results["in_range"][accepted]) == {False, True}


@pytest.mark.parametrize("number", [1, 9], ids=["float32", "codes"])
def test_another_limit_in_the_c_gives_other_records(number, tmp_path):
    """The comparison above would find it: neighbours at the limit are among the queries."""
    emitted = catalogue.emitted(monitors.CORE[number], "host")
    emitted.write(tmp_path)
    source = tmp_path / "iris.c"
    text = source.read_text()
    limit = next(line for line in text.splitlines() if line.strip().startswith(LIMITS[number]))
    monitor = emitted.program.monitor
    values = read(emitted.program, emitted.queries)[1]
    passing = monitor.score(values)[monitor.passes(values)].max()
    less = f"{passing - 1}ULL" if number == 9 else f"{float(passing) * 0.9999:.9g}f"
    source.write_text(text.replace(limit, f"{limit.split('=')[0]}= {less};"))
    with build(emitted.recipe, tmp_path, HOST, optimisation=FAST) as artifact:
        result = HostRunner().run(artifact, emitted.inputs)
    assert (result.records != emitted.records).any()


LIMITS = {1: "const float limit = 0x", 9: "const uint64_t limit = "}

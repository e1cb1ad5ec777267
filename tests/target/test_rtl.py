"""The small model on the logic of open cores, where `make rtl` has installed them and Verilator."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import small_model
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC
from small_model import model_with

import kmcompile
from kit.tools import need_logic, need_tools
from kmcompile import cli, run
from kmcompile.errors import ToolError, UsageError
from kmcompile.run import QemuRunner, RtlRunner, rtl
from kmcompile.target import load_target
from kmcompile.target.cores import Core

IBEX, CV32E40P = load_target("rv32imac"), load_target("rv32imafc")
FOLDER = Path(__file__).parents[2] / "build" / "rtl"

pytestmark = pytest.mark.target


def by_core(target):
    return target.time.logic


both = pytest.mark.parametrize("target", [IBEX, CV32E40P], ids=by_core)


@pytest.fixture
def runner(monkeypatch, target):
    """Return a runner that keeps its simulator where `make rtl` does."""
    need_tools(target)
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER / "python")])
    need_logic(target.time.logic)
    return RtlRunner(FOLDER)


@both
def test_it_gives_the_answers_and_the_instructions_of_qemu(built, runner, target):
    artifact = built(target, model_with("for (volatile int i = 0; i < (int)x[0]; i++) { }"))
    inputs = small_model.queries(12)
    inputs[:4, 0] = np.float32([0, 3, 100, 201]).view(np.uint32)
    emulated = QemuRunner().run(artifact, inputs, True)
    simulated = runner.run(artifact, inputs)
    np.testing.assert_array_equal(simulated.records, small_model.expected_records(inputs))
    np.testing.assert_array_equal(simulated.records, emulated.records)
    np.testing.assert_array_equal(simulated.instructions, emulated.instructions)
    assert simulated.painted_stack_bytes == emulated.painted_stack_bytes
    assert simulated.self_test == emulated.self_test
    assert (simulated.cycles[:, 0] >= simulated.instructions).all()


def in_assembler(code):
    """Return the small model with a function in assembler."""
    start, end = (small_model.MODEL_C.index(f"float small_{f}") for f in ("classify", "decision"))
    head = "__attribute__((naked, aligned(4))) float small_classify(const float x[3])"
    text = f'{head} {{ __asm__ volatile("{code}"); }}\n'
    return small_model.MODEL_C[:start] + text + small_model.MODEL_C[end:]


@pytest.mark.few
@pytest.mark.parametrize("target", [IBEX], ids=by_core)
@pytest.mark.parametrize(
    ("code", "instructions", "cycles"),
    [
        (r"li t0, 1000\n1: addi t0, t0, -1\nbnez t0, 1b\nret", 2002, 1 + 1000 * 4 - 2 + 2),
        (r"lw t0, 0(a0)\nlw t0, 4(a0)\nsw t0, -4(sp)\nret", 4, 3 * 2 + 2),
        (r"mul t0, t0, t0\nmulhu t0, t0, t0\nret", 3, 3 + 4 + 2),
        (r"li t0, 7\ndivu t1, t0, t0\nret", 3, 1 + 37 + 2),
    ],
)
def test_cycles_are_those_counted_by_hand(built, runner, target, code, instructions, cycles):
    result = runner.run(built(target, in_assembler(code)), small_model.queries(2))
    assert result.instructions.tolist() == [instructions] * 2
    assert result.cycles.tolist() == [[cycles] * 2] * 2


@pytest.mark.few
@both
@pytest.mark.parametrize(
    "code",
    [
        r".word 0\nret",
        r"lui t0, 0x80000\nsw t0, 0(t0)\nret",
        r"lw t0, 0(zero)\nret",
        r"li t0, 4\njr t0",
        r"1: addi sp, sp, -1024\nsw ra, 0(sp)\nj 1b",
    ],
)
def test_an_exception_ends_the_run(built, runner, target, code):
    artifact = built(target, in_assembler(code))
    with pytest.raises(ToolError, match="the emulated program took a fault"):
        runner.run(artifact, small_model.queries(1))


@pytest.mark.parametrize("target", [IBEX], ids=by_core)
def test_verify_on_ibex_checks_the_answers_and_measures_cycles(
    tmp_path, capsys, monkeypatch, runner, target
):
    monkeypatch.setattr(run, "RtlRunner", lambda: runner)
    X, y = load_iris(return_X_y=True)
    folder = tmp_path / "iris-rv32imac"
    model = LinearSVC(random_state=0).fit(X[:100], y[:100])
    kmcompile.compile_model(model, target=target.name, name="iris", out=folder, verify="none")
    assert cli.run(["verify", str(folder), "--on", "ibex", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["target"] == {"name": "rv32imac", "emulator": "ibex"}
    assert found["verification"]["exact"]["target"]["mismatches"] == 0
    assert found["measured_cycles"]["clock_hz"] is None
    assert found["measured_cycles"]["mean_cycles"] <= found["measured_cycles"]["max_cycles"]


def test_a_part_with_other_instructions_is_refused(built):
    with pytest.raises(UsageError, match="no core is known whose logic runs its instructions"):
        RtlRunner().run(built(load_target("cortex-m4")), small_model.queries(1))


def test_a_missing_core_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(Core, "folder", lambda _: None)
    with pytest.raises(ToolError, match="install it with: pip install pythondata-cpu-ibex"):
        rtl.simulator("ibex", tmp_path)


def test_a_missing_simulator_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(Core, "folder", lambda _: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"install it with: .* verilator g\+\+ make"):
        rtl.simulator("ibex", tmp_path)

"""Clock cycles of the small model: counted in QEMU, in simavr, by hand, and bounded."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import small_model
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC
from small_model import model_with

import kmcompile
from kit import cascades, catalogue, certified, coded
from kit.tools import need, need_tools
from kmcompile import cli
from kmcompile.build import build
from kmcompile.errors import ToolError, UsageError, VerificationError
from kmcompile.run import SimavrRunner, simavr
from kmcompile.run.qemu import QemuRunner
from kmcompile.target import list_targets, load_target
from kmcompile.verify.worst_case import check_cycles, static_worst_case

MODELLED = [target for target in list_targets() if target.time is not None and target.time.core]
OTHERS = ("cortex-m7", "leon3")
AVR = load_target("avr")

pytestmark = pytest.mark.target

TURNS = 1000
_ARM = r".syntax unified\nldr r1, ={turns}\n1: subs r1, #1\nbne 1b\nbx lr"
# By core: the code, cycles beside those of the turns, and cycles of a turn that goes back.
BY_HAND = {
    "avr-22": (
        r"ldi r24, lo8({turns})\nldi r25, hi8({turns})\n1: sbiw r24, 1\nbrne 1b\nret",
        (2 + 5 - 1, 2 + 5 - 1),
        (4, 4),
    ),
    "cortex-m0": (_ARM, (2 + 3 - 2, 2 + 3 - 2), (4, 4)),
    "cortex-m3": (_ARM, (1 + 2 - 1, 1 + 4 - 3), (3, 5)),
    "cortex-m4": (_ARM, (1 + 2 - 1, 1 + 4 - 3), (3, 5)),
}
"""The last branch is not taken. Where it fits, the assembler makes a move of the load."""


def by_name(target):
    return target.name


@pytest.mark.few
@pytest.mark.parametrize("target", MODELLED, ids=by_name)
def test_cycles_are_those_counted_by_hand(built, target):
    code, beside, turn = BY_HAND[target.time.core]
    start, end = (small_model.MODEL_C.index(f"float small_{f}") for f in ("classify", "decision"))
    text = f'__asm__ volatile("{code.format(turns=TURNS)}");'
    text = f"__attribute__((naked)) float small_classify(const float x[3]) {{ {text} }}\n"
    text = small_model.MODEL_C[:start] + text + small_model.MODEL_C[end:]
    result = QemuRunner().run(built(target, text), small_model.queries(3), True)
    expected = [one + TURNS * each for one, each in zip(beside, turn, strict=True)]
    assert result.cycles.tolist() == [expected] * 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", MODELLED, ids=by_name)
def test_the_static_worst_case_in_cycles_is_not_exceeded(tmp_path, built, target):
    loop = "for (uint32_t i = 0U; i < 20U; ++i) {\n sum += x[i % 3U] * 0.75f;\n}"
    text = small_model.MODEL_C.replace("return sum;", f"{loop}\n    return sum;", 1)
    artifact = built(target, text.replace("i++", "++i"))
    result = QemuRunner().run(artifact, small_model.queries(20), True)
    worst = static_worst_case(artifact, tmp_path)
    fewest, most = result.cycles.T
    assert result.no_cycles_reason is None
    assert worst.no_cycles is None
    assert (fewest <= most).all()
    assert (result.instructions <= most).all()
    assert most.max() <= worst.cycles


@pytest.mark.parametrize("name", OTHERS)
def test_where_no_cycles_are_known_there_is_a_reason(tmp_path, built, name):
    target = load_target(name)
    artifact = built(target)
    result = QemuRunner().run(artifact, small_model.queries(2), True)
    assert result.cycles is None
    assert result.no_cycles_reason == target.time.unknown
    assert static_worst_case(artifact, tmp_path).cycles is None


def test_cycles_of_an_unknown_instruction_are_not_counted(tmp_path, built):
    target = load_target("cortex-m3")
    text = small_model.MODEL_C.replace(
        "return sum;", '__asm__ volatile("dsb sy");\n    return sum;', 1
    )
    artifact = built(target, text.replace("i++", "++i"))
    result = QemuRunner().run(artifact, small_model.queries(2), True)
    worst = static_worst_case(artifact, tmp_path)
    assert result.cycles is None
    assert "cycles are not known" in result.no_cycles_reason
    assert worst.cycles is None
    assert "'dsb sy'" in worst.no_cycles
    assert result.instructions.max() <= worst.instructions


@pytest.fixture
def simulated(built):
    """Return what builds the small model for AVR, if simavr is here."""
    need_tools(AVR)
    need("simavr")
    return lambda text=small_model.MODEL_C: built(AVR, text)


def test_simavr_gives_the_answers_and_the_cycles_of_the_model_of_the_core(simulated):
    text = model_with("for (volatile int i = 0; i < (int)x[0]; i++) { if (i & 1) { i++; } }")
    inputs = small_model.queries(12)
    inputs[:4, 0] = np.float32([0, 3, 100, 201]).view(np.uint32)
    artifact = simulated(text)
    emulated = QemuRunner().run(artifact, inputs, True)
    measured = SimavrRunner().run(artifact, inputs)
    np.testing.assert_array_equal(measured.records, emulated.records)
    np.testing.assert_array_equal(measured.cycles, emulated.cycles)
    assert measured.painted_stack_bytes == emulated.painted_stack_bytes
    assert measured.self_test == emulated.self_test
    assert len(np.unique(measured.cycles)) > 4


def test_a_part_that_simavr_does_not_know_is_refused(built):
    with pytest.raises(UsageError, match="simavr does not know this part"):
        SimavrRunner().run(built(load_target("cortex-m4")), small_model.queries(1))


@pytest.mark.exhaustive
def test_verify_on_simavr_checks_the_answers_and_measures_cycles(tmp_path, capsys):
    need_tools(AVR)
    need("simavr")
    X, y = load_iris(return_X_y=True)
    folder = tmp_path / "iris-avr"
    model = LinearSVC(random_state=0).fit(X[:100], y[:100])
    kmcompile.compile_model(model, target="avr", name="iris", out=folder, verify="none")
    assert cli.run(["verify", str(folder), "--on", "simavr", "--quiet"]) == 0
    assert cli.run(["verify", str(folder), "--on", "simavr", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["target"] == {"name": "avr", "emulator": "simavr"}
    assert found["verification"]["exact"]["target"]["mismatches"] == 0
    measured = found["measured_cycles"]
    assert measured["mean_cycles"] <= measured["max_cycles"] <= measured["worst_cycles"]


def test_a_missing_simavr_says_how_to_install_it(simulated, monkeypatch):
    artifact = simulated()
    monkeypatch.setattr(simavr, "is_here", lambda: False)
    with pytest.raises(ToolError, match=r"install it with: .*libsimavr-dev"):
        SimavrRunner().run(artifact, small_model.queries(1))


PROGRAMS = (catalogue.CORE[0], cascades.CORE[0], certified.EVERY[0], coded.CORE[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", PROGRAMS, ids=str)
@pytest.mark.parametrize("target", MODELLED, ids=by_name)
def test_no_query_of_a_program_takes_more_than_its_static_worst_case(tmp_path, target, case):
    need_tools(target)
    emitted = case.emit(target.name)
    folder = emitted.write(tmp_path / "program")
    rows = np.linspace(0, len(emitted.queries) - 1, 12).astype(int)
    with build(emitted.recipe, folder, target) as artifact:
        counted = QemuRunner().run(artifact, emitted.inputs[rows], True)
        worst = static_worst_case(artifact, folder)
        np.testing.assert_array_equal(counted.records, emitted.records[rows])
        assert worst.no_cycles is None
        check_cycles(worst, counted.cycles, target.name)
        with pytest.raises(VerificationError, match=r"query \d+ took [\d,]+ cycles, more than"):
            check_cycles(replace(worst, cycles=1), counted.cycles, target.name)
        if target == AVR:
            need("simavr")
            measured = SimavrRunner().run(artifact, emitted.inputs[rows])
            np.testing.assert_array_equal(measured.records, emitted.records[rows])
            np.testing.assert_array_equal(measured.cycles, counted.cycles)

"""A model description holds every number that was trained, and says what each means."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kit.catalogue import CORE, SPECIAL, Case
from kit.emitted import emit_machine, emit_model
from kit.every_target import GROUPS
from kmcompile import kernels, steps
from kmcompile.description import describe, names_of
from kmcompile.description.machine import machine_of
from kmcompile.errors import InputError
from kmcompile.evidence.rebuilding import rebuild
from kmcompile.passes.move_threshold import move_threshold

DOCUMENT, TABLES, PAGE = names_of("iris")
ROUTED = [model for model in GROUPS["sums"] if type(model).__name__ == "Routed"]


def read_back(files):
    return machine_of(json.loads(files[DOCUMENT])["model"], files.get(TABLES, b""))


@pytest.mark.few
@pytest.mark.parametrize("case", [*CORE, *SPECIAL, *ROUTED], ids=str)
def test_described_machine_has_the_bytes_of_the_trained_one(case):
    emitted = case.emit("host")
    machine = read_back(emitted.files)
    assert machine.canonical_bytes() == emitted.machine.canonical_bytes()
    assert json.loads(emitted.files[DOCUMENT])["model"]["sha256"] == emitted.machine.sha256


def test_threshold_and_zero_are_described():
    trained = CORE[0].emit("host").machine
    moved = replace(move_threshold(trained, 0.25, equal_is_positive=False))
    emitted = emit_machine(moved)
    assert read_back(emitted.files).canonical_bytes() == moved.canonical_bytes()
    plain = json.loads(emitted.files[DOCUMENT])["model"]
    assert plain["decisions"]["threshold"] == 0.25
    assert plain["label"]["rule"] == "sign-zero-negative"


def test_every_kernel_and_step_has_its_formula_and_is_rebuilt():
    for catalogue, rebuilt in ((kernels, rebuild._KERNELS), (steps, rebuild._STEPS)):
        own = [kind for kind in catalogue.CATALOGUE if _is_own(kind)]
        assert all(kind.formula for kind in own)
        assert set(rebuilt) == {kind.name for kind in own}


def _is_own(kind):
    return kind.__module__.startswith("kmcompile.")


def test_rebuilding_knows_nothing_of_kmcompile():
    tree = ast.parse(Path(rebuild.__file__).read_text())
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [
        a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names
    ]
    assert not [name for name in modules if name.startswith(("kmcompile", "numpy", "sklearn"))]


def test_same_machine_and_program_give_the_same_bytes():
    emitted = CORE[1].emit("cortex-m7")
    sources = {name: text.decode() for name, text in emitted.files.items() if name.endswith(".c")}
    asked = (emitted.machine, emitted.program, emitted.target, sources, "kmcompile iris.pkl")
    assert describe(*asked) == describe(*asked)


def test_hashes_of_the_description_are_in_the_recipe():
    emitted = CORE[1].emit("host")
    digests = dict(emitted.recipe.sha256)
    for name in (DOCUMENT, TABLES, PAGE):
        assert digests[name] == hashlib.sha256(emitted.files[name]).hexdigest()


def test_short_arrays_need_no_second_file():
    case = Case("LinearSVC", "linear", "binary", "raw")
    assert TABLES not in emit_model(case.fitted()).files


def test_damaged_arrays_are_found(tmp_path):
    files = dict(CORE[1].emit("host").files)
    files[TABLES] = files[TABLES][:-1] + bytes([files[TABLES][-1] ^ 1])
    with pytest.raises(InputError, match=r"iris\.mld\.bin: damaged"):
        read_back(files)
    for name in (DOCUMENT, TABLES):
        (tmp_path / name).write_bytes(files[name])
    with pytest.raises(SystemExit, match="is not what the description says"):
        rebuild.Machine(tmp_path / DOCUMENT)


def test_page_says_what_was_trained_what_was_made_and_what_is_not_covered():
    emitted = CORE[0].emit("cortex-m7")
    text = emitted.files[PAGE].decode()
    assert "K(s, x) = exp(-gamma sum_j (s_j - x_j)^2), gamma = 0.4" in text
    assert "arm-none-eabi-gcc -std=c99 -ffp-contract=off -mcpu=cortex-m7" in text
    assert emitted.machine.sha256 in text
    for property_of_the_board in emitted.target.not_shown:
        assert f"- {property_of_the_board}" in text


def test_numbers_are_the_float64_that_was_trained():
    machine = replace(CORE[0].emit("host").machine, intercept=np.array([0.1 + 2.0**-55]))
    files = emit_machine(machine).files
    assert json.loads(files[DOCUMENT])["model"]["intercept"]["values"] == machine.intercept.tolist()

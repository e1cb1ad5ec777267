"""Reliability 46: what can be compiled can be read back, whatever a program is made of."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache

import numpy as np
import pytest

import kmcompile
from kit import (
    additive,
    calibrated,
    cascades,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    expansions,
    images,
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
    sign_maps,
    subspaces,
    taylor,
)
from kit.reduced_machines import Reduced
from kit.steps import InSteps
from kit.tools import need
from kmcompile.errors import InputError
from kmcompile.kernels import CATALOGUE as KERNELS
from kmcompile.model.kernel_machine import Task
from kmcompile.pipeline import verify_folder
from kmcompile.program import storage
from kmcompile.program.interpreter import interpret
from kmcompile.program.program import Step
from kmcompile.program.stages import CATALOGUE as STAGES
from kmcompile.program.stages import Sign
from kmcompile.program.storable import storable_classes
from kmcompile.steps import CATALOGUE as STEPS
from kmcompile.steps import Quantize

CHI2 = catalogue.Case("SVC", "chi2", "binary", "maxabs", parameters=(("C", 100.0),))
CASES = (
    *catalogue.CORE,
    cascades.CORE[0],
    cascades.CORE[5],
    *certified.CORE[:3],
    certified.OTHERS[0],
    certified.OTHERS[2],
    ratios.CORE[0],
    quadratics.CORE[0],
    subspaces.CORE[2],
    sign_maps.CORE[1],
    expansions.CORE[2],
    *coded.CORE[5:8],
    *coded.CORE[13:15],
    coded.REPLAYED[3],
    integer_exits.CORE[9],
    regressions.MORE[0],
    calibrated.CORE[1],
    *pairs.FEW_VECTORS,
    *polynomials.FEW_TERMS,
    input_tolerances.CORE[0],
    input_tolerances.CORE[5],
    coded_polynomials.CORE[0],
    additive.CORE[0],
    additive.CORE[5],
    replays.CORE[0],
    InSteps(catalogue.CORE[0]),
    replays.Replayed(CHI2, low_parts=True),
    Reduced("cubic_wine", 8),
    routed.CORE[0],
    routed.CORE[9],
    routed.CORE[-1],
    routed.VOTES[0],
    leaf_expansions.CORE[0],
    taylor.CORE[1],
    images.CORE[0],
    monitors.CORE[0],
    long_replays.QUICK[0],
    long_replays.QUICK[3],
)
"""The cheapest of each kind: together they have every class that a program can hold."""

emitted = cache(lambda case: case.emit("host"))


def classes_in(value) -> set[str]:
    """Return the names of all dataclasses that a value is made of."""
    if is_dataclass(value):
        inner = (classes_in(getattr(value, field.name)) for field in fields(value))
        return {type(value).__name__}.union(*inner)
    return set().union(*map(classes_in, value)) if isinstance(value, tuple) else set()


def own_classes() -> set[str]:
    """Return the names of those that the package defines: tests define others."""
    found = storable_classes().items()
    return {name for name, cls in found if cls.__module__.startswith("kmcompile.")}


@pytest.mark.few
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_program_comes_back_with_the_same_bytes_and_answers(case):
    program, X = emitted(case).program, emitted(case).queries[:200]
    content = storage.save(program)
    again = storage.load(content, "program.npz")
    assert storage.save(again) == content
    first, second = interpret(program, X), interpret(again, X)
    for field in fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        assert (a is None and b is None) or a.tobytes() == b.tobytes(), field.name


def test_the_programs_above_hold_every_class_that_can_be_stored():
    assert set().union(*(classes_in(emitted(case).program) for case in CASES)) == own_classes()


def test_every_stage_step_and_kernel_can_be_stored():
    names = {cls.__name__ for cls in (*STAGES, Quantize, *(step.image for step in STEPS))}
    # A linear machine has weights and no kernel of its own.
    names |= {f"{cls.__name__}Float32" for cls in KERNELS if cls.name != "linear"}
    assert names <= own_classes()


def test_a_class_defined_elsewhere_is_stored_as_soon_as_it_exists():
    @dataclass(frozen=True, slots=True, eq=False)
    class MadeUpSign(Sign):
        pass

    assert storable_classes()["MadeUpSign"] is MadeUpSign


def test_classes_of_one_name_hinder_no_program_without_them():
    """A notebook defines a class anew whenever its cell runs again."""

    def defined() -> type[Step]:
        @dataclass(frozen=True, slots=True, eq=False)
        class DefinedTwice(Step):
            pass

        return DefinedTwice

    classes = [defined(), defined()]
    assert "DefinedTwice" not in storable_classes()
    program = emitted(CASES[0]).program
    storage.load(storage.save(program), "program.npz")
    doubtful = replace(program, step=classes[0](operations=1000))
    with pytest.raises(TypeError, match="another class that one may have has its name"):
        storage.save(doubtful)


@pytest.mark.parametrize("value", [["a"], {"a": 1}, np.int64(1), Task.BINARY], ids=type)
def test_a_value_that_would_come_back_as_another_is_not_stored(value):
    program = emitted(CASES[0]).program
    with pytest.raises(ValueError, match=r"Program\.target cannot be"):
        replace(program, target=value)
    changed = replace(program)
    object.__setattr__(changed, "target", value)
    with pytest.raises(TypeError, match=r"program\.target: program\.npz cannot hold a <"):
        storage.save(changed)


@pytest.mark.parametrize("name", ["Popen", "KernelMachine", "Stage", "Batch", "float", "", None])
def test_nothing_else_is_made_of_a_file(name):
    """Neither what runs something, nor an abstract class, nor what no program holds."""
    archive = dict(np.load(io.BytesIO(storage.save(emitted(CASES[0]).program))))
    tree = json.loads(archive["tree"].tobytes())
    tree["program"]["fields"]["known_answers"] = {"class": name, "fields": {}}
    archive["tree"] = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **archive)
    with pytest.raises(InputError, match="a program has no part called"):
        storage.load(buffer.getvalue(), "program.npz")


def test_what_could_not_be_read_back_is_not_written():
    @dataclass(frozen=True)
    class WithoutSlots(Step):
        pass

    changed = replace(emitted(CASES[0]).program, step=WithoutSlots(operations=1))
    with pytest.raises(TypeError, match=r"program\.step: no field of a Program has the type"):
        storage.save(changed)


def test_a_chi2_folder_is_loaded_and_verified(tmp_path):
    need("gcc")
    model, X = CHI2.fitted(), np.abs(np.random.default_rng(3).normal(size=(40, 6)))
    out = tmp_path / "out"
    kmcompile.compile_model(model, target="host", name="chi", out=out, verify="none")
    loaded = kmcompile.load(out)
    sure = loaded.classify(X)["certified"]
    assert sure.any()
    np.testing.assert_array_equal(loaded.predict(X)[sure], model.predict(X.astype("f4"))[sure])
    facts = verify_folder(out, model=None, test_data=None)
    assert facts["verification"]["exact"]["host"]["queries"] > 0
    assert facts["verification"]["exact"]["host"]["mismatches"] == 0

"""A kernel and a step from outside the package are compiled, verified, stored and reported."""

from __future__ import annotations

import json
from dataclasses import replace

import made_up
import numpy as np
import pytest

import kmcompile
from kit.additions.cauchy import Cauchy, CauchyFloat32
from kit.additions.cube import Cube, CubeFloat32
from kit.lowered import program_of
from kit.tools import need, need_tools
from kmcompile.description.machine import machine_of
from kmcompile.errors import InputError
from kmcompile.evidence.finding import Outcome
from kmcompile.evidence.rebuilding import part
from kmcompile.evidence.subject import Subject
from kmcompile.lower.codes import lossless_codes
from kmcompile.model.reference import evaluate
from kmcompile.pipeline import verify_folder
from kmcompile.program import storage
from kmcompile.program.interpreter import interpret
from kmcompile.steps import Affine
from kmcompile.target import load_target

pytestmark = pytest.mark.usefixtures("registered")


def assert_verified(compiled, place: str) -> None:
    """Assert that the C gave the interpreter's bits, and these the model's labels and values."""
    verification = compiled.report["verification"]
    assert verification["exact"][place]["queries"] > 500
    assert verification["exact"][place]["mismatches"] == 0
    assert verification["bounded"]["sign_disagreements"] == 0
    assert verification["certified"]["wrong"] == 0
    assert verification["certified"]["certified_share"] > 0.8


@pytest.mark.parametrize(
    "mode",
    [
        "exact",
        *(pytest.param(m, marks=pytest.mark.exhaustive) for m in ("certified", "statistical")),
    ],
)
def test_c_on_the_host_has_the_bits_of_the_interpreter(mode, tmp_path):
    need("gcc")
    machine, (X, _) = made_up.machine(), made_up.samples(400, seed=8)
    data = {} if mode == "exact" else {"data": X}
    if mode == "statistical":
        data["risk"] = "auto"
    compiled = kmcompile.compile_model(
        machine, target="host", mode=mode, verify="host", name="made", out=tmp_path / "out", **data
    )
    assert_verified(compiled, "host")
    fresh, _ = made_up.samples(50, seed=9)
    answers = compiled.classify(fresh)
    sure = answers["certified"]
    np.testing.assert_array_equal(answers["label"][sure], evaluate(machine, fresh).labels[sure])
    described = compiled.report["model"]
    assert described["kernel"] == "cauchy"
    assert "cube" in described["preprocessing"]


@pytest.mark.target
def test_c_on_cortex_m7_has_the_bits_of_the_interpreter(tmp_path):
    need_tools(load_target("cortex-m7"))
    compiled = kmcompile.compile_model(
        made_up.machine(), target="cortex-m7", verify="target", name="made", out=tmp_path / "out"
    )
    assert_verified(compiled, "target")


def test_a_stored_program_is_loaded_and_verified_again(tmp_path):
    need("gcc")
    out, (X, _) = tmp_path / "out", made_up.samples(50, seed=9)
    options = {"target": "host", "mode": "exact", "verify": "none", "name": "made"}
    compiled = kmcompile.compile_model(made_up.machine(), out=out, **options)
    content = (out / "program.npz").read_bytes()
    program = storage.load(content, "program.npz")
    assert storage.save(program) == content
    assert isinstance(program.ends.exact.kernel, CauchyFloat32)
    assert any(isinstance(step, CubeFloat32) for step in program.prepare.steps)
    np.testing.assert_array_equal(kmcompile.load(out).classify(X), compiled.classify(X))
    facts = verify_folder(out, model=None, test_data=None)
    assert facts["verification"]["exact"]["host"]["mismatches"] == 0


def test_the_limit_of_inputs_falls_with_every_cube():
    """2^60 squared is the largest norm; cubes must stay below it, and cubes of cubes."""
    scaler = made_up.chain()[0]
    limits = [
        program_of(made_up.machine((scaler, *[Cube(made_up.N_FEATURES)] * n))).prepare.limit
        for n in range(3)
    ]
    assert np.all(np.diff(np.log2(limits)) < 0)
    assert limits[1] <= 2.0**21
    assert limits[2] <= 2.0**8


def test_what_no_limit_keeps_from_overflowing_is_refused():
    far = Affine(np.zeros(made_up.N_FEATURES), np.full(made_up.N_FEATURES, 1e3))
    machine = made_up.machine((far, *[Cube(made_up.N_FEATURES)] * 2))
    assert np.isfinite(machine.support_vectors.astype(np.float32)).all()
    with pytest.raises(InputError, match=r"cauchy kernel gamma 0\.3 overflows float32"):
        program_of(machine)


def test_no_intermediate_of_an_accepted_input_overflows():
    """Inputs at the limit, in every sign: nothing on the way is infinite or larger than 2^120."""
    program = program_of(made_up.machine())
    rng = np.random.default_rng(3)
    X = program.prepare.limit * rng.choice([-1.0, 1.0, 0.5], size=(200, made_up.N_FEATURES))
    with np.errstate(over="raise", invalid="raise"):
        answers = interpret(program, X.astype(np.float32))
    assert np.isfinite(answers.results["lower"]).all()


def test_a_permutation_stops_before_a_step_that_takes_features_in_their_order():
    kinds = [step.name for step in program_of(made_up.machine()).prepare.steps]
    assert kinds == ["scale", "select", "cube", "scale"]
    plain = replace(made_up.machine(), preprocessing=made_up.chain()[:2])
    assert "select" not in [step.name for step in program_of(plain).prepare.steps]


@pytest.mark.parametrize("bound", [np.nan, np.inf])
def test_a_step_whose_bound_says_nothing_is_refused(bound, monkeypatch):
    """NaN is within no limit, nor is what overflows float64."""
    monkeypatch.setattr(Cube, "magnitudes", lambda self, before, _: (before * bound, 0.0))
    with pytest.raises(InputError, match="overflows float32"):
        program_of(made_up.machine())


def test_a_step_whose_bound_raises_an_overflow_is_refused(monkeypatch):
    monkeypatch.setattr(Cube, "magnitudes", lambda self, before, _: (before, 1e300**2))
    with pytest.raises(InputError, match="overflows float32"):
        program_of(made_up.machine())


@pytest.mark.parametrize("scales", [False, True])
def test_a_kernel_of_distances_has_no_integer_sum(scales, monkeypatch):
    """That sum is of rbf values, and the sum of other kernels one of inner products."""
    if scales:
        monkeypatch.setattr(Cauchy, "in_code_units", lambda self, factor: Cauchy(self.gamma / 4))
    machine = made_up.machine(())
    whole = replace(machine, support_vectors=np.rint(machine.support_vectors))
    with pytest.raises(InputError, match="integer formats are for the rbf"):
        lossless_codes(whole)


def test_a_folder_says_what_they_are_and_that_they_are_not_rebuilt(tmp_path):
    need("gcc")
    machine, out = made_up.machine(), tmp_path / "out"
    kmcompile.compile_model(machine, target="host", verify="none", name="made", out=out)
    subject = Subject.of_folder(out)
    plain = json.loads(subject.files["made.mld.json"])["model"]
    assert plain["kernel"]["formula"] == Cauchy.__doc__.split("\n")[0]
    back = machine_of(plain, subject.files["made.mld.bin"])
    assert back.canonical_bytes() == machine.canonical_bytes()
    (found,) = part.run(subject, tmp_path)
    assert found.outcome is Outcome.NOT_RUN
    assert found.figure.startswith("no formula here for cauchy, Cube")

"""A kernel or a step is known once it is registered, and only if nothing is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import kmcompile
from kit import additions
from kit.additions.cauchy import Cauchy
from kit.additions.cube import Cube, CubeFloat32
from kmcompile import kernels, steps
from kmcompile.errors import InputError
from kmcompile.kernels import Kernel, Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps import Affine, PrepareStep, Step

TEMPLATES = Path(additions.__file__).parent / "templates"
MACHINE = KernelMachine(
    kind="SVC",
    task=Task.BINARY,
    kernel=Rbf(1.0),
    support_vectors=np.eye(2),
    dual_coef=np.array([[1.0, -1.0]]),
    intercept=np.zeros(1),
    classes=(0, 1),
    n_features=2,
)
METHODS = {
    Kernel: ("values", "positive_definite", "lower"),
    Step: ("apply", "lower", "magnitudes", "undo", "__str__"),
    PrepareStep: ("apply", "largest_deviation", "operations"),
}


def test_unregistered_kernel_is_refused():
    with pytest.raises(InputError, match=r"Cauchy is no kernel .* kmcompile\.register_kernel"):
        replace(MACHINE, kernel=Cauchy(1.0))


def test_unregistered_step_is_refused():
    with pytest.raises(InputError, match=r"Cube is no step .* kmcompile\.register_step"):
        replace(MACHINE, preprocessing=(Cube(2),))


@pytest.mark.usefixtures("registered")
def test_what_is_registered_is_part_of_the_catalogue_once():
    kmcompile.register_kernel(Cauchy, TEMPLATES)
    kmcompile.register_step(Cube, TEMPLATES)
    assert kernels.CATALOGUE.count(Cauchy) == 1 and steps.CATALOGUE.count(Cube) == 1
    machine = replace(MACHINE, kernel=Cauchy(1.0), preprocessing=(Cube(2),))
    assert machine.sha256 != MACHINE.sha256


@pytest.mark.usefixtures("registry")
def test_name_of_another_kernel_is_refused():
    class Other(Cauchy):
        name: ClassVar[str] = "rbf"

    with pytest.raises(ValueError, match="another kernel has the name 'rbf'"):
        kmcompile.register_kernel(Other, TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_name_of_another_step_is_refused():
    class Other(Cube):
        name: ClassVar[str] = "Affine"

    with pytest.raises(ValueError, match="another step has the name 'Affine'"):
        kmcompile.register_step(Other, TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_template_of_the_package_cannot_be_taken(tmp_path):
    @dataclass(frozen=True, slots=True, eq=False)
    class Scaling(CubeFloat32):
        name: ClassVar[str] = "scale"

    class Other(Cube):
        name: ClassVar[str] = "Other"
        image: ClassVar[type[PrepareStep]] = Scaling

    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "scale.c.j2").write_text("")
    with pytest.raises(ValueError, match=r"scale\.c\.j2: another one with this name is in"):
        kmcompile.register_step(Other, tmp_path)


@pytest.mark.usefixtures("registry")
def test_missing_template_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cauchy\.c\.j2: no template is there"):
        kmcompile.register_kernel(Cauchy, tmp_path)
    assert Cauchy not in kernels.CATALOGUE


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(("base", "method"), [(b, m) for b in METHODS for m in METHODS[b]])
def test_without_one_of_the_methods_it_is_refused(base, method):
    """Nothing that the compiler asks of every kernel or step can be left out."""
    assert method in base.__abstractmethods__
    whole = {Kernel: Cauchy, Step: Cube, PrepareStep: CubeFloat32}[base]

    class Lacking(whole):
        name: ClassVar[str] = "lacking"

    setattr(Lacking, method, getattr(base, method))
    Lacking.__abstractmethods__ = frozenset({method})

    class Using(Cube):
        name: ClassVar[str] = "Using"
        image: ClassVar[type[PrepareStep]] = Lacking

    register = kmcompile.register_kernel if base is Kernel else kmcompile.register_step
    with pytest.raises(ValueError, match="lack"):
        register(Using if base is PrepareStep else Lacking, TEMPLATES)


def test_every_abstract_method_is_tried_above():
    assert {base: set(methods) for base, methods in METHODS.items()} == {
        base: set(base.__abstractmethods__) for base in METHODS
    }


@pytest.mark.usefixtures("registry")
def test_kernel_or_step_that_derives_from_one_of_the_package_is_refused():
    """Passes and early exits would take it for its parent, whatever its own formulas are."""

    class Shifted(Affine):
        name: ClassVar[str] = "Shifted"

    class Steep(Rbf):
        name: ClassVar[str] = "steep"

    with pytest.raises(ValueError, match="Shifted derives from Affine"):
        kmcompile.register_step(Shifted, TEMPLATES)
    with pytest.raises(ValueError, match="Steep derives from Rbf"):
        kmcompile.register_kernel(Steep, TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_kernel_or_step_without_a_class_variable_is_refused():
    """It is refused here, and not in the middle of a compilation."""

    class Nameless(Kernel):
        values = positive_definite = lower = parameters = None

    class Halfway(Step):
        name: ClassVar[str] = "Halfway"
        image: ClassVar[type[PrepareStep]] = CubeFloat32
        reads_length: ClassVar[bool] = True
        apply = lower = magnitudes = undo = __str__ = None

    with pytest.raises(ValueError, match="Nameless lacks name"):
        kmcompile.register_kernel(Nameless, TEMPLATES)
    with pytest.raises(ValueError, match="Halfway lacks measures_length"):
        kmcompile.register_step(Halfway, TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_step_whose_image_program_npz_cannot_hold_is_refused():
    class Image(CubeFloat32):
        pass

    class Other(Cube):
        name: ClassVar[str] = "Other"
        image: ClassVar[type[PrepareStep]] = Image

    with pytest.raises(ValueError, match=r"Image is no @dataclass\(frozen=True, slots=True"):
        kmcompile.register_step(Other, TEMPLATES)
    assert Other not in steps.CATALOGUE


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("change", "name"),
    [({"kernel": Cauchy(1.0)}, "cauchy"), ({"preprocessing": (Cube(2),)}, "Cube")],
)
def test_machine_that_no_reader_could_read_back_is_not_saved(change, name, tmp_path):
    with pytest.raises(
        InputError, match=f"{name} is no kernel or step that an .npz model can hold"
    ):
        kmcompile.save_model(tmp_path / "model.npz", replace(MACHINE, **change))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("registered")
def test_step_that_does_not_fit_its_input_is_refused():
    with pytest.raises(InputError, match="Cube is of 3 features, its input has 2"):
        replace(MACHINE, preprocessing=(Cube(3),))


@pytest.mark.usefixtures("registered")
def test_class_that_is_no_dataclass_of_its_own_is_not_mistaken_for_its_parent():
    @dataclass(frozen=True, slots=True)
    class Wider(Cauchy):
        pass

    with pytest.raises(InputError, match="Wider is no kernel"):
        replace(MACHINE, kernel=Wider(1.0))

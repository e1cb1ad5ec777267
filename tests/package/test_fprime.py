"""`--package fprime`: what F´'s own autocoder makes of the components, compiled and run.

F´ itself is no package that can be installed here: `stubs/fprime` stands for the part of it that
a component and its unit test need.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import kmcompile
from kit.fprime import STUBS, Project, fpp, models
from kit.packages import fitted, packaged
from kit.tools import succeed
from kmcompile.emit.packages.fprime import component_name

LONG = "a_2_name_of_20_chars"


def project_in(folder: Path, **options: Any) -> Project:
    """Return a project of two libraries: a classifier and a regression."""
    iris = packaged("fprime", folder / "o_iris", **options) / "iris"
    disease = packaged("fprime", folder / "o_disease", "regression", name="disease", **options)
    return Project((iris, disease / "disease"), folder / "build")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return project_in(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the project with telemetry."""
    return project_in(tmp_path_factory.mktemp("counting"), telemetry=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("component", ["Iris", "IrisActive", "Disease", "DiseaseActive"])
def test_its_own_unit_tests_pass(component: str, project: Project) -> None:
    n_tests = 6
    assert succeed([project.unit_test(component)]) == f"{n_tests} tests passed\n"


@pytest.mark.exhaustive
def test_its_own_unit_tests_pass_in_an_integer_format_with_a_long_name(tmp_path: Path) -> None:
    library = packaged("fprime", tmp_path / "o", "codes", name=LONG) / LONG
    made = Project((library,), tmp_path / "build")
    for component in (component_name(LONG), f"{component_name(LONG)}Active"):
        succeed([made.unit_test(component)])


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", [0, 1], ids=["Iris", "Disease"])
def test_its_own_unit_tests_pass_with_telemetry(place: int, counting: Project) -> None:
    library = counting.libraries[place]
    name = library.name.capitalize()
    for component in (name, f"{name}Active"):
        assert succeed([counting.unit_test(component)]) == "7 tests passed\n"
    code = [path for path in library.rglob("*") if path.is_file() and path.suffix != ".md"]
    assert all(len(line) <= 100 for path in code for line in path.read_text().splitlines()[1:])


@pytest.mark.exhaustive
def test_two_models_in_one_program_answer_as_they_were_trained(project: Project) -> None:
    flowers, _ = load_iris(return_X_y=True)
    flowers = np.vstack([flowers, flowers + 0.25]).astype(np.float32)
    patients = load_diabetes(return_X_y=True)[0][:300].astype(np.float32)
    rows = np.hstack([flowers, patients])
    told = subprocess.run(
        [project.program(STUBS / "deployment.cpp")],
        input="\n".join(" ".join(f"{value:.9g}" for value in row) for row in rows),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    status, label, rated, value = np.array([line.split() for line in told.splitlines()]).T
    assert (status == "0").all() and (rated == "0").all()
    assert (label.astype(int) == fitted("iris").predict(flowers)).all()
    compiled = kmcompile.load(project.libraries[1].parents[1])
    assert (value.astype(np.float32) == compiled.predict_interval(patients)["value"]).all()


@pytest.mark.few
@pytest.mark.parametrize("name", ["t", "os", "fw", "models", "f32", "a_1", "b__c_", LONG])
def test_fpp_accepts_the_components_of_any_name(name: str, tmp_path: Path) -> None:
    library = packaged("fprime", tmp_path / "o", name=name) / name
    fpp("fpp-check", *models((library,)))


def test_different_names_give_different_components() -> None:
    names = ["m2", "m_2", "m__2", "m2_", "m_2_", "m_b", "mb", "os", "f32", "f_32"]
    assert len({component_name(name) for name in names}) == len(names)


def test_every_line_of_code_is_short_with_the_longest_name(tmp_path: Path) -> None:
    library = packaged("fprime", tmp_path / "o", "regression", name=LONG) / LONG
    code = [path for path in library.rglob("*") if path.is_file() and path.suffix != ".md"]
    assert all(len(line) <= 100 for path in code for line in path.read_text().splitlines()[1:])


@pytest.mark.parametrize("target", ["host", "avr"])
def test_cmake_names_every_source_and_folder(target: str, tmp_path: Path) -> None:
    library = packaged("fprime", tmp_path / "o", target=target) / "iris"
    named = {
        lists.parent / path
        for lists in [library / "library.cmake", *library.rglob("CMakeLists.txt")]
        for path in re.findall(r'"\$\{CMAKE_CURRENT_LIST_DIR\}/([^"]+)"', lists.read_text())
    }
    sources = {path for path in library.rglob("*") if path.suffix in (".c", ".cpp", ".fpp")}
    folders = {path.parent for path in library.rglob("CMakeLists.txt")}
    assert named == sources | folders

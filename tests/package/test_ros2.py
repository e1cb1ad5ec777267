"""`--package ros2`: the packages build with stand-ins for ROS 2, and two composed nodes answer."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from kit.packages import answer_text, packaged, queries, query_text
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "ros2"
STRICT = "-Wall -Wextra -Werror -pedantic"


def install(source: Path, install_to: Path, build: Path) -> None:
    """Configure, build, test and install a package, as colcon does."""
    options = {
        "CMAKE_MODULE_PATH": STUBS / "cmake",
        "CMAKE_PREFIX_PATH": install_to,
        "CMAKE_INSTALL_PREFIX": install_to,
        "CMAKE_C_FLAGS": STRICT,
        "CMAKE_CXX_FLAGS": STRICT,
        "Python3_EXECUTABLE": sys.executable,
    }
    defined = [f"-D{name}={value}" for name, value in options.items()]
    succeed(["cmake", "-G", "Unix Makefiles", "-S", source, "-B", build, *defined])
    succeed(["cmake", "--build", build])
    if (source / "test").exists():
        succeed(["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error"])
    succeed(["cmake", "--install", build])


def install_model(folder: Path, model: str, name: str) -> Path:
    """Package a model and install its three packages; return their folder."""
    packages = packaged("ros2", folder / name, model, name)
    for suffix in ("", "_msgs", "_node"):
        source = packages / f"{name}_model{suffix}"
        install(source, folder / "install", folder / f"build_{source.name}")
    return packages


@pytest.mark.exhaustive
def test_two_composed_nodes_answer_as_the_c_does(tmp_path: Path) -> None:
    need("cmake", "ctest", "gcc", "g++")
    models = {"iris": "iris", "m_2": "regression"}
    asked = expected = ""
    for name, model in models.items():
        install_model(tmp_path, model, name)
        X = queries(model)
        asked += query_text(X)
        expected += answer_text(tmp_path / name, X)
    prefix = f"-DCMAKE_PREFIX_PATH={tmp_path / 'install'}"
    modules = f"-DCMAKE_MODULE_PATH={STUBS / 'cmake'}"
    build = tmp_path / "build"
    generator = ["cmake", "-G", "Unix Makefiles"]
    succeed([*generator, "-S", STUBS / "container", "-B", build, prefix, modules])
    succeed(["cmake", "--build", build])
    done = subprocess.run(
        [build / "container"], input=asked, capture_output=True, text=True, check=True
    )
    assert done.stdout == expected
    assert len(expected.splitlines()) == 600


@pytest.mark.exhaustive
def test_an_integer_format_and_a_name_with_underscores_build(tmp_path: Path) -> None:
    need("cmake", "ctest", "gcc", "g++")
    packages = packaged("ros2", tmp_path / "o", "codes", "a__b_")
    for suffix in ("", "_msgs", "_node"):
        source = packages / f"a_b_model{suffix}"
        install(source, tmp_path / "install", tmp_path / f"build{suffix}")


@pytest.mark.exhaustive
def test_after_damage_queries_are_refused_and_counted(tmp_path: Path) -> None:
    need("cmake", "gcc", "g++")
    packages = packaged("ros2", tmp_path / "o")
    source = packages / "iris_model" / "src" / "iris.c"
    source.write_text(
        re.sub(
            r"(static const float \w+\[[^{]*\{[^}]*?)0x1\.",
            r"\g<1>0x1.1",
            source.read_text(),
            count=1,
        )
    )
    install(packages / "iris_model_msgs", tmp_path / "install", tmp_path / "b")
    folders = [STUBS / "include", tmp_path / "install" / "include" / "iris_model_msgs"]
    folders += [packages / name / "include" for name in ("iris_model", "iris_model_node")]
    includes = [f"-I{folder}" for folder in folders]
    model = [*includes, f"-I{packages / 'iris_model' / 'include' / 'iris_model'}"]
    succeed(["gcc", "-ffp-contract=off", *model, "-c", source, "-o", tmp_path / "iris.o"])
    node = packages / "iris_model_node" / "src" / "model_node.cpp"
    parts = [STUBS / "two_queries.cpp", node, tmp_path / "iris.o"]
    succeed(["g++", "-std=c++17", *STRICT.split(), *includes, *parts, "-o", tmp_path / "program"])
    lines = succeed([tmp_path / "program"]).splitlines()
    assert lines.count("answered") == 1
    # The level of the report, the answered and the refused queries.
    assert lines[-1] == "2 1 1"


@pytest.mark.few
@pytest.mark.parametrize("name", ["k", "std", "test", "a_name_of_20_letters"])
def test_the_manifests_name_what_cmake_finds(name: str, tmp_path: Path) -> None:
    packages = packaged("ros2", tmp_path / "o", name=name)
    assert {path.name for path in packages.iterdir()} == {
        f"{name}_model{suffix}" for suffix in ("", "_msgs", "_node")
    }
    for package in packages.iterdir():
        manifest = ElementTree.parse(package / "package.xml").getroot()
        assert manifest.get("format") == "3"
        for needed in ("name", "version", "description", "maintainer", "license"):
            assert manifest.findtext(needed)
        assert manifest.findtext("name") == package.name
        asked = {
            tag.text for tag in manifest if tag.tag.endswith("depend") and tag.tag != "exec_depend"
        }
        found = re.findall(r"find_package\((\w+)", (package / "CMakeLists.txt").read_text())
        assert asked == set(found)
    written = [path for path in packages.rglob("*.*pp")]
    lines = [line for path in written for line in path.read_text().splitlines()[1:]]
    assert max(map(len, lines)) <= 100


def test_the_launch_file_starts_the_registered_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = packaged("ros2", tmp_path / "o") / "iris_model_node"
    for module, names in {
        "launch": {"LaunchDescription": list},
        "launch_ros": {},
        "launch_ros.actions": {"ComposableNodeContainer": dict},
        "launch_ros.descriptions": {"ComposableNode": dict},
    }.items():
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
        vars(sys.modules[module]).update(names)
    scope: dict[str, object] = {}
    exec((node / "launch" / "iris_model.launch.py").read_text(), scope)
    ((container,),) = [scope["generate_launch_description"]()]
    (composed,) = container["composable_node_descriptions"]
    assert composed["package"] == node.name
    assert f'PLUGIN "{composed["plugin"]}"' in (node / "CMakeLists.txt").read_text()

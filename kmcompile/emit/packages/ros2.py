"""Three ROS 2 packages: a library, its messages, and a node that can be composed.

Sources: docs.ros.org ("ament_cmake", "Composing multiple nodes"), REP 144 (names of packages),
REP 149 (package.xml, format 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.emit.packages.framework import Framework
from kmcompile.emit.packages.names import single_underscores
from kmcompile.program.program import Program
from kmcompile.target import Target

_FILES: Mapping[str, str] = {
    "{own.package}/CMakeLists.txt": "ros2/library_CMakeLists.txt",
    "{own.package}/package.xml": "ros2/library_package.xml",
    "{own.package}/README.md": "ros2/README.md",
    "{own.package}/include/{own.package}/{name}.h": "{name}.h",
    "{own.package}/src/{name}.c": "{name}.c",
    "{own.package}/test/test_known_answers.cpp": "ros2/test_known_answers.cpp",
    "{own.package}_msgs/CMakeLists.txt": "ros2/msgs_CMakeLists.txt",
    "{own.package}_msgs/package.xml": "ros2/msgs_package.xml",
    "{own.package}_msgs/msg/Query.msg": "ros2/Query.msg",
    "{own.package}_msgs/msg/Answer.msg": "ros2/Answer.msg",
    "{own.package}_node/CMakeLists.txt": "ros2/node_CMakeLists.txt",
    "{own.package}_node/package.xml": "ros2/node_package.xml",
    "{own.package}_node/src/model_node.cpp": "ros2/model_node.cpp",
    "{own.package}_node/include/{own.package}_node/model_node.hpp": "ros2/model_node.hpp",
    "{own.package}_node/launch/{own.package}.launch.py": "ros2/model.launch.py",
    "{own.package}_node/test/test_model_node.cpp": "ros2/test_model_node.cpp",
}


@dataclass(frozen=True, slots=True)
class Ros2View:
    """What only the templates of the ROS 2 packages know.

    Attributes
    ----------
    package : str
        The library's name.
    guard : str
        Of the node's header.
    class_names : tuple of str
        For comments.
    """

    package: str
    guard: str
    class_names: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, target: Target) -> Ros2View:
        """Return the view of a program."""
        package = package_name(program.name)
        guard = f"{package}_node__model_node_hpp_".upper()
        return cls(package, guard, tuple(map(str, program.classes)))


def package_name(name: str) -> str:
    """Return the name of a model's library, without two underscores or one at the end (REP 144).

    `_model` keeps it and `_model_msgs` apart from ROS' own packages, such as `std_msgs`.

    Examples
    --------
    >>> package_name("iris"), package_name("std"), package_name("a__b_")
    ('iris_model', 'std_model', 'a_b_model')
    """
    return f"{single_underscores(name)}_model"


FRAMEWORK = Framework(_FILES, Ros2View.of)

"""Three ROS 2 packages: a library, its messages, and a node that can be composed.

Sources: docs.ros.org ("ament_cmake", "Composing multiple nodes"), REP 144 (names of packages),
REP 149 (package.xml, format 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.emit.packages.names import single_underscores
from kmcompile.program.program import Program

FILES: Mapping[str, str] = {
    "{ros}/CMakeLists.txt": "ros2/library_CMakeLists.txt",
    "{ros}/package.xml": "ros2/library_package.xml",
    "{ros}/README.md": "ros2/README.md",
    "{ros}/include/{ros}/{name}.h": "{name}.h",
    "{ros}/src/{name}.c": "{name}.c",
    "{ros}/test/test_known_answers.cpp": "ros2/test_known_answers.cpp",
    "{ros}_msgs/CMakeLists.txt": "ros2/msgs_CMakeLists.txt",
    "{ros}_msgs/package.xml": "ros2/msgs_package.xml",
    "{ros}_msgs/msg/Query.msg": "ros2/Query.msg",
    "{ros}_msgs/msg/Answer.msg": "ros2/Answer.msg",
    "{ros}_node/CMakeLists.txt": "ros2/node_CMakeLists.txt",
    "{ros}_node/package.xml": "ros2/node_package.xml",
    "{ros}_node/src/model_node.cpp": "ros2/model_node.cpp",
    "{ros}_node/include/{ros}_node/model_node.hpp": "ros2/model_node.hpp",
    "{ros}_node/launch/{ros}.launch.py": "ros2/model.launch.py",
    "{ros}_node/test/test_model_node.cpp": "ros2/test_model_node.cpp",
}
"""Path in the package -> template, or the name of an emitted file."""


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
    def of(cls, program: Program) -> Ros2View:
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

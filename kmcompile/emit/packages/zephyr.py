"""A Zephyr module.

Source: docs.zephyrproject.org, "Modules (External projects)".
"""

from __future__ import annotations

from collections.abc import Mapping

FILES: Mapping[str, str] = {
    "{name}/zephyr/module.yml": "zephyr/module.yml",
    "{name}/CMakeLists.txt": "zephyr/CMakeLists.txt",
    "{name}/Kconfig": "zephyr/Kconfig",
    "{name}/include/{name}.h": "{name}.h",
    "{name}/src/{name}.c": "{name}.c",
    "{name}/samples/one_query/CMakeLists.txt": "zephyr/sample_CMakeLists.txt",
    "{name}/samples/one_query/prj.conf": "zephyr/prj.conf",
    "{name}/samples/one_query/src/main.c": "zephyr/main.c",
}
"""Path in the package -> template, or the name of an emitted file."""

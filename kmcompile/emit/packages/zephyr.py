"""A Zephyr module.

Sources: docs.zephyrproject.org, "Modules (External projects)", "Test Runner (Twister)" and "Build
System (CMake)" on linker sources.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.emit.packages.framework import Framework

_FILES: Mapping[str, str] = {
    "{name}/zephyr/module.yml": "zephyr/module.yml",
    "{name}/CMakeLists.txt": "zephyr/CMakeLists.txt",
    "{name}/Kconfig": "zephyr/Kconfig",
    "{name}/tables.ld": "zephyr/tables.ld",
    "{name}/README.rst": "zephyr/README.rst",
    "{name}/LICENSE": "LICENSE",
    "{name}/include/{name}.h": "{name}.h",
    "{name}/src/{name}.c": "{name}.c",
    "{name}/samples/one_query/CMakeLists.txt": "zephyr/app_CMakeLists.txt",
    "{name}/samples/one_query/prj.conf": "zephyr/prj.conf",
    "{name}/samples/one_query/sample.yaml": "zephyr/sample.yaml",
    "{name}/samples/one_query/README.rst": "zephyr/sample_README.rst",
    "{name}/samples/one_query/src/main.c": "zephyr/main.c",
    "{name}/samples/bench/CMakeLists.txt": "zephyr/bench_CMakeLists.txt",
    "{name}/samples/bench/prj.conf": "zephyr/prj.conf",
    "{name}/samples/bench/sample.yaml": "zephyr/bench_sample.yaml",
    "{name}/samples/bench/README.rst": "zephyr/bench_README.rst",
    "{name}/samples/bench/src/main.c": "zephyr/bench_main.c",
    "{name}/samples/bench/src/{name}_bench.h": "bench/bench.h",
    "{name}/samples/bench/src/{name}_bench.c": "bench/bench.c",
    "{name}/samples/bench/src/{name}_bench_counter.h": "bench/zephyr_counter.h",
    "{name}/tests/known_answers/CMakeLists.txt": "zephyr/app_CMakeLists.txt",
    "{name}/tests/known_answers/prj.conf": "zephyr/test_prj.conf",
    "{name}/tests/known_answers/testcase.yaml": "zephyr/testcase.yaml",
    "{name}/tests/known_answers/src/main.c": "zephyr/test_main.c",
}

FRAMEWORK = Framework(_FILES)

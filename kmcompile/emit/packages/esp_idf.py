"""A component for ESP-IDF.

Sources: ESP-IDF's programming guide, "Build System", "Linker Script Generation" and "Unit Testing";
the manifest format of its component manager. The component's name has a prefix: a component takes
the place of one of ESP-IDF of the same name, such as `driver`.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.emit.packages.framework import Framework

_FILES: Mapping[str, str] = {
    "kmcompile_{name}/CMakeLists.txt": "esp_idf/CMakeLists.txt",
    "kmcompile_{name}/idf_component.yml": "esp_idf/idf_component.yml",
    "kmcompile_{name}/Kconfig": "esp_idf/Kconfig",
    "kmcompile_{name}/linker.lf": "esp_idf/linker.lf",
    "kmcompile_{name}/README.md": "esp_idf/README.md",
    "kmcompile_{name}/LICENSE": "LICENSE",
    "kmcompile_{name}/include/{name}.h": "{name}.h",
    "kmcompile_{name}/src/{name}.c": "{name}.c",
    "kmcompile_{name}/test/CMakeLists.txt": "esp_idf/test_CMakeLists.txt",
    "kmcompile_{name}/test/test_{name}.c": "esp_idf/test.c",
    "kmcompile_{name}/examples/one_query/CMakeLists.txt": "esp_idf/project_CMakeLists.txt",
    "kmcompile_{name}/examples/one_query/README.md": "esp_idf/example_README.md",
    "kmcompile_{name}/examples/one_query/sdkconfig.defaults": "esp_idf/sdkconfig.defaults",
    "kmcompile_{name}/examples/one_query/main/CMakeLists.txt": "esp_idf/main_CMakeLists.txt",
    "kmcompile_{name}/examples/one_query/main/main.c": "esp_idf/main.c",
    "kmcompile_{name}/examples/bench/CMakeLists.txt": "esp_idf/bench_project_CMakeLists.txt",
    "kmcompile_{name}/examples/bench/README.md": "esp_idf/bench_README.md",
    "kmcompile_{name}/examples/bench/sdkconfig.defaults": "esp_idf/sdkconfig.defaults",
    "kmcompile_{name}/examples/bench/main/CMakeLists.txt": "esp_idf/bench_main_CMakeLists.txt",
    "kmcompile_{name}/examples/bench/main/main.c": "esp_idf/bench_main.c",
    "kmcompile_{name}/examples/bench/main/{name}_bench.h": "bench/bench.h",
    "kmcompile_{name}/examples/bench/main/{name}_bench.c": "bench/bench.c",
    "kmcompile_{name}/examples/bench/main/{name}_bench_counter.h": "bench/esp_idf_counter.h",
}

FRAMEWORK = Framework(_FILES)

"""An F´ library of two components: one answers in the caller's thread, one in its own.

Sources: F´'s user manual and FPP's language specification.
"""

from __future__ import annotations

from collections.abc import Mapping

FILES: Mapping[str, str] = {
    "{name}/library.cmake": "fprime/library.cmake",
    "{name}/README.md": "fprime/README.md",
    "{name}/Models/{title}/CMakeLists.txt": "fprime/CMakeLists.txt",
    "{name}/Models/{title}/{title}.fpp": "fprime/component.fpp",
    "{name}/Models/{title}/Events.fppi": "fprime/Events.fppi",
    "{name}/Models/{title}/Telemetry.fppi": "fprime/Telemetry.fppi",
    "{name}/Models/{title}/{title}.hpp": "fprime/component.hpp",
    "{name}/Models/{title}/{title}.cpp": "fprime/component.cpp",
    "{name}/Models/{title}/{title}Machine.hpp": "fprime/machine.hpp",
    "{name}/Models/{title}/{title}Machine.cpp": "fprime/machine.cpp",
    "{name}/Models/{title}/{name}.h": "{name}.h",
    "{name}/Models/{title}/{name}.c": "{name}.c",
    "{name}/Models/{title}/docs/sdd.md": "fprime/sdd.md",
    "{name}/Models/{title}/test/ut/{title}KnownQueries.hpp": "fprime/known.hpp",
    "{name}/Models/{title}/test/ut/{title}TestMain.cpp": "fprime/test_main.cpp",
    "{name}/Models/{title}/test/ut/{title}Tester.hpp": "fprime/tester.hpp",
    "{name}/Models/{title}/test/ut/{title}Tester.cpp": "fprime/tester.cpp",
    "{name}/Models/{title}Active/CMakeLists.txt": "fprime/active_CMakeLists.txt",
    "{name}/Models/{title}Active/{title}Active.fpp": "fprime/active.fpp",
    "{name}/Models/{title}Active/{title}Active.hpp": "fprime/active.hpp",
    "{name}/Models/{title}Active/{title}Active.cpp": "fprime/active.cpp",
    "{name}/Models/{title}Active/docs/sdd.md": "fprime/active_sdd.md",
    "{name}/Models/{title}Active/test/ut/{title}ActiveTestMain.cpp": "fprime/active_test_main.cpp",
    "{name}/Models/{title}Active/test/ut/{title}ActiveTester.hpp": "fprime/active_tester.hpp",
    "{name}/Models/{title}Active/test/ut/{title}ActiveTester.cpp": "fprime/active_tester.cpp",
}
"""Path in the package -> template, or the name of an emitted file."""

_TAKEN = frozenset(
    {
        *("F32", "F64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"),
        *("Drv", "Fw", "Models", "Os", "Svc"),
    }
)
"""Types of FPP, and name spaces that would be hidden within `Models`."""


def component_name(name: str) -> str:
    """Return the name of a prefix's passive component, in camel case.

    Different prefixes have different names: an underscore stays where no letter follows it.

    Examples
    --------
    >>> component_name("iris"), component_name("sun_sensor"), component_name("m_2")
    ('Iris', 'SunSensor', 'M_2')
    >>> component_name("m2"), component_name("os")
    ('M2', 'OsModel')
    """
    first, *words = name.split("_")
    camel = first.capitalize() + "".join(
        word.capitalize() if word[:1].isalpha() else f"_{word}" for word in words
    )
    return f"{camel}Model" if camel in _TAKEN else camel

"""An F´ component.

Sources: F´'s user manual and FPP's language specification.
"""

from __future__ import annotations

from collections.abc import Mapping

FILES: Mapping[str, str] = {
    "{title}/CMakeLists.txt": "fprime/CMakeLists.txt",
    "{title}/{title}.fpp": "fprime/component.fpp",
    "{title}/{title}.hpp": "fprime/component.hpp",
    "{title}/{title}.cpp": "fprime/component.cpp",
    "{title}/{name}.h": "{name}.h",
    "{title}/{name}.c": "{name}.c",
}
"""Path in the package -> template, or the name of an emitted file."""

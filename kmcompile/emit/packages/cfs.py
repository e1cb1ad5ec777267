"""A cFS app.

Source: the cFE user's guide.
"""

from __future__ import annotations

from collections.abc import Mapping

FILES: Mapping[str, str] = {
    "{name}_app/CMakeLists.txt": "cfs/CMakeLists.txt",
    "{name}_app/fsw/inc/{name}_app.h": "cfs/app.h",
    "{name}_app/fsw/inc/{name}.h": "{name}.h",
    "{name}_app/fsw/src/{name}_app.c": "cfs/app.c",
    "{name}_app/fsw/src/{name}.c": "{name}.c",
}
"""Path in the package -> template, or the name of an emitted file."""

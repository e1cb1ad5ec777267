"""A library for the Arduino IDE and PlatformIO.

Sources: Arduino's library specification 2.2, PlatformIO's library.json.
"""

from __future__ import annotations

from collections.abc import Mapping

FILES: Mapping[str, str] = {
    "{name}/library.properties": "arduino/library.properties",
    "{name}/library.json": "arduino/library.json",
    "{name}/src/{name}.h": "{name}.h",
    "{name}/src/{name}.c": "{name}.c",
    "{name}/examples/OneQuery/OneQuery.ino": "arduino/example.ino",
}
"""Path in the package -> template, or the name of an emitted file."""

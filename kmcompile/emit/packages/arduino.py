"""A library for the Arduino IDE and PlatformIO.

Sources: Arduino's library specification 2.2, the rules of arduino-lint 1.3, PlatformIO's
library.json.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from kmcompile.emit.packages.framework import Framework
from kmcompile.program.program import Program
from kmcompile.target import Target

_FILES: Mapping[str, str] = {
    "{name}/library.properties": "arduino/library.properties",
    "{name}/library.json": "arduino/library.json",
    "{name}/keywords.txt": "arduino/keywords.txt",
    "{name}/README.md": "arduino/README.md",
    "{name}/LICENSE": "LICENSE",
    # A header of the library's name, as arduino-lint asks (LS008): the model's own if they agree.
    "{name}/src/{own.library}.h": "arduino/short_name.h",
    "{name}/src/{name}.h": "{name}.h",
    "{name}/src/{name}.c": "{name}.c",
    "{name}/examples/OneQuery/OneQuery.ino": "arduino/example.ino",
    "{name}/examples/Bench/Bench.ino": "arduino/bench.ino",
    "{name}/examples/Bench/{name}_bench.h": "bench/bench.h",
    "{name}/examples/Bench/{name}_bench.c": "bench/bench.c",
    "{name}/examples/Bench/{name}_bench_counter.h": "bench/arduino_counter.h",
}

_MOST_LETTERS = 16  # arduino-lint, rule LP010: an error in its strict mode


def library_name(name: str) -> str:
    """Return a model's name as the name of a library, at most 16 letters.

    Examples
    --------
    >>> library_name("iris"), library_name("breast_cancer_wisconsin")
    ('iris', 'breast_canc_a3bb')
    """
    if len(name) <= _MOST_LETTERS:
        return name
    return f"{name[:11]}_{hashlib.sha256(name.encode('ascii')).hexdigest()[:4]}"


@dataclass(frozen=True, slots=True)
class ArduinoView:
    """What only the templates of the library know.

    Attributes
    ----------
    library : str
        The name as that of a library.
    """

    library: str

    @classmethod
    def of(cls, program: Program, target: Target) -> ArduinoView:
        """Return the view of a program."""
        return cls(library_name(program.name))


FRAMEWORK = Framework(_FILES, ArduinoView.of)

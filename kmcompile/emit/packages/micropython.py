"""A user module of MicroPython, in C.

Sources: docs.micropython.org, "MicroPython external C modules" and the list of its libraries.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kmcompile.emit.packages.framework import Framework
from kmcompile.emit.words import words_of
from kmcompile.program.program import Program
from kmcompile.target import Target

_FILES: Mapping[str, str] = {
    "{own.module}/README.md": "micropython/README.md",
    "{own.module}/micropython.mk": "micropython/micropython.mk",
    "{own.module}/micropython.cmake": "micropython/micropython.cmake",
    "{own.module}/mod_{name}.c": "micropython/module.c",
    "{own.module}/{name}.h": "{name}.h",
    "{own.module}/{name}.c": "{name}.c",
    "{own.module}/example.py": "micropython/example.py",
}

# Modules of MicroPython and of its ports, and those that many boards have frozen in.
_MODULES = """array asyncio binascii bluetooth btree builtins cmath collections cryptolib deflate
espnow framebuf gc hashlib heapq io json lcd160cr machine marshal math micropython mip neopixel
network ntptime onewire openamp os platform pyb random re requests rp2 socket ssl stm struct sys
termios time tls uasyncio uctypes unittest vfs webrepl websocket wipy wm8960 zephyr zlib dht ds18x20
esp esp32 ffi jni nrf music microbit apa102 lwip ubluepy"""
_TAKEN: Final = frozenset([*_MODULES.split(), *keyword.kwlist, "self", "match", "case", "type"])


def module_name(name: str) -> str:
    """Return the name of a model's module: the model's, if MicroPython has no other use for it.

    Examples
    --------
    >>> module_name("iris"), module_name("def"), module_name("machine")
    ('iris', 'def_model', 'machine_model')
    """
    return f"{name}_model" if name in _TAKEN else name


@dataclass(frozen=True, slots=True)
class MicroPythonView:
    """What only the templates of the user module know.

    Attributes
    ----------
    module, call : str
        The module's name, and its function that answers.
    class_names : tuple of str
    """

    module: str
    call: str
    class_names: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, target: Target) -> MicroPythonView:
        """Return the view of a program."""
        names = tuple(map(str, program.classes))
        return cls(module_name(program.name), words_of(program).call, names)


FRAMEWORK = Framework(_FILES, MicroPythonView.of)

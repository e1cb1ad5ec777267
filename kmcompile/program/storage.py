"""program.npz: a Program stored as arrays and one JSON text, without pickles."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.program.program import Program
from kmcompile.program.shared import is_left_out
from kmcompile.program.storable import storable_classes

_LARGEST_BYTES = 1 << 30
_STAGES = ("prepare", "exits", "sum", "label")
"""The fields of a program that are stored in one list, its stages in order."""


def save(program: Program) -> bytes:
    """Return the bytes of program.npz; equal programs give equal bytes.

    Raises
    ------
    TypeError
        If the program holds an object that `load` could not read.
    """
    arrays: dict[str, Any] = {}
    tree = {"version": Program.version, "program": _Writer(arrays).encode(program, "program")}
    text = json.dumps(tree, sort_keys=True).encode()
    buffer = io.BytesIO()
    np.savez(buffer, tree=np.frombuffer(text, dtype=np.uint8), **arrays)
    return buffer.getvalue()


def load(content: bytes, name: str) -> Program:
    """Return the Program in the bytes of a program.npz.

    Raises
    ------
    InputError
        If the file is damaged or of another release.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(item.file_size for item in archive.infolist()) > _LARGEST_BYTES:
                raise ValueError(f"it unpacks to more than {_LARGEST_BYTES} bytes")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        tree = json.loads(arrays.pop("tree").tobytes())
        if tree["version"] != Program.version:
            raise ValueError(f"version {tree['version']}, this release reads {Program.version}")
        program = _Reader(arrays).decode(tree["program"])
        if not isinstance(program, Program):
            raise ValueError("it holds no program")
    except Exception as error:  # damaged bytes raise any error
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{name}: damaged ({reason}); compile the model again") from error
    return program


def _parts(value: Any) -> dict[str, Any]:
    """Return the fields of a part by name; a program's stages as one list."""
    parts: dict[str, Any] = {}
    for field in fields(value):
        if isinstance(value, Program) and field.name in _STAGES:
            parts["stages"] = value.stages
        elif isinstance(value, Program) and _is_off(value, field.name):
            continue
        elif not is_left_out(field, value):
            parts[field.name] = getattr(value, field.name)
    return parts


def _is_off(program: Program, name: str) -> bool:
    """Return whether a field is a switch that is off: the file is that without the switch."""
    return name in Program.switches and getattr(program, name) == Program.switches[name]


class _Writer:
    """Turns a program into a tree for JSON, and collects its arrays by the path of their field."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = arrays
        self.classes = frozenset(storable_classes().values())

    def encode(self, value: Any, path: str) -> Any:
        """Return a value as JSON has it."""
        if is_dataclass(value):
            if type(value) not in self.classes:
                raise TypeError(
                    f"{path}: no field of a Program has the type {type(value)}, or another class "
                    "that one may have has its name"
                )
            inner = {
                name: self.encode(item, f"{path}.{name}") for name, item in _parts(value).items()
            }
            return {"class": type(value).__name__, "fields": inner}
        if isinstance(value, np.ndarray):
            self.arrays[path] = value
            return {"array": path}
        if isinstance(value, np.float32 | np.float64):
            return {value.dtype.name: float(value).hex()}
        if isinstance(value, tuple):
            return [self.encode(item, f"{path}.{number}") for number, item in enumerate(value)]
        if value is not None and type(value) not in (bool, int, float, str):
            raise TypeError(f"{path}: program.npz cannot hold a {type(value)}")
        return value


class _Reader:
    """Builds the program from the tree; it calls only classes of `storable_classes`."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = arrays
        self.classes = storable_classes()

    def decode(self, value: Any) -> Any:
        """Return the value that was encoded."""
        if isinstance(value, list):
            return tuple(self.decode(item) for item in value)
        if not isinstance(value, dict):
            return value
        if "array" in value:
            return self.arrays[value["array"]]
        if "float32" in value:
            return np.float32(float.fromhex(value["float32"]))
        if "float64" in value:
            return np.float64(float.fromhex(value["float64"]))
        if value["class"] not in self.classes:
            raise ValueError(
                f"a program has no part called {value['class']!r} here; register it, if it is not "
                "the package's"
            )
        of_class = self.classes[value["class"]]
        make = Program.of_stages if of_class is Program else of_class
        return make(**{name: self.decode(item) for name, item in value["fields"].items()})

"""The functions that a header of emitted C declares, with their parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PROTOTYPE = re.compile(r"^(\w+_status_t) (\w+)\(\s*([^;{]*?)\s*\);", re.M)
_PARAMETER = re.compile(r"(?P<type>.*?)(?P<star>\*?)(?P<name>\w+)(?P<length>\[\w+\])?\Z", re.S)
_COMMENT = re.compile(r"/\*.*?\*/", re.S)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a declared function.

    Attributes
    ----------
    c_type : str
        Without const and the star.
    length : str
        Number of elements of an array, such as "IRIS_N_FEATURES"; "1" otherwise.
    is_pointer : bool
        Whether it is a pointer or an array.
    """

    c_type: str
    name: str
    length: str
    is_pointer: bool


@dataclass(frozen=True, slots=True)
class Prototype:
    """A function of the header that returns a status.

    Attributes
    ----------
    name : str
        Without the model's prefix, such as "classify_float".
    parameters : tuple of Parameter
    """

    name: str
    parameters: tuple[Parameter, ...]


def prototypes(header: str, prefix: str) -> tuple[Prototype, ...]:
    """Return the functions that a header declares and that return a status."""
    plain = _COMMENT.sub("", header)
    return tuple(
        Prototype(name.removeprefix(f"{prefix}_"), _parameters(parameters))
        for _, name, parameters in _PROTOTYPE.findall(plain)
    )


def _parameters(text: str) -> tuple[Parameter, ...]:
    if text == "void":
        return ()
    return tuple(_parameter(" ".join(one.split())) for one in text.split(","))


def _parameter(text: str) -> Parameter:
    found = _PARAMETER.match(text)
    assert found is not None
    length = found["length"]
    return Parameter(
        c_type=found["type"].replace("const ", "").strip(),
        name=found["name"],
        length=length[1:-1] if length else "1",
        is_pointer=bool(found["star"] or length),
    )

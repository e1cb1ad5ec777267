"""What the emitted header declares: functions with their parameters, and structures."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(
    r"^(?:static inline )?(?P<result>\w+)\s+(?P<name>\w+)\s*\((?P<parameters>[^;{}()]*)\)\s*[;{]",
    re.MULTILINE,
)
_STRUCTURE = re.compile(r"^typedef struct \{\n(?P<fields>[^{}]*)\} (?P<name>\w+);", re.MULTILINE)
_PARAMETER = re.compile(
    r"(?P<const>const )?(?P<type>\w+) (?P<star>\*?)(?P<name>\w+)(?:\[(?P<size>\w+)\])?"
)
_FIELD = re.compile(r"(?P<type>\w+) (?P<name>\w+)(?:\[(?P<size>\w+)\])?;")


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of a function or a field of a structure.

    Parameters
    ----------
    type, name : str
    size : str or None
        Of an array: the expression of its length.
    is_pointer, is_const : bool
        An array that is a parameter is no pointer here.
    """

    type: str
    name: str
    size: str | None
    is_pointer: bool = False
    is_const: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the header."""

    name: str
    parameters: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """What an emitted header declares.

    Parameters
    ----------
    prefix : str
    functions : tuple of Function
        In the order of the header.
    structures : dict of str to tuple of Variable
        The fields of each structure.
    types : dict of str to str
        Other names of types and what they stand for, such as the input's.
    limit : str or None
        The largest magnitude of a float that is accepted, as C; None if there is no such limit.
    """

    prefix: str
    functions: tuple[Function, ...]
    structures: dict[str, tuple[Variable, ...]]
    types: dict[str, str]
    limit: str | None

    def is_float(self, type_name: str) -> bool:
        """Return whether a name stands for float."""
        return self.types.get(type_name, type_name) == "float"


def read_header(prefix: str, text: str) -> Header:
    """Return what the text of an emitted header declares.

    Examples
    --------
    >>> read_header("k", "k_status_t k_self_test(void);\\n").functions[0]
    Function(name='k_self_test', parameters=())
    """
    text = _COMMENT.sub("", text)
    limit = re.search(rf"#define {prefix.upper()}_INPUT_LIMIT (\S+)", text)
    return Header(
        prefix,
        tuple(
            Function(found["name"], _parameters(found["parameters"]))
            for found in _FUNCTION.finditer(text)
            if found["name"].startswith(f"{prefix}_")
        ),
        {
            found["name"]: tuple(
                Variable(field["type"], field["name"], field["size"])
                for field in _FIELD.finditer(found["fields"])
            )
            for found in _STRUCTURE.finditer(text)
        },
        dict(reversed(pair) for pair in re.findall(r"^typedef (\w+) (\w+);", text, re.MULTILINE)),
        limit[1] if limit else None,
    )


def _parameters(text: str) -> tuple[Variable, ...]:
    if text.strip() == "void":
        return ()
    found = [_PARAMETER.fullmatch(" ".join(one.split())) for one in text.split(",")]
    if not all(found):
        raise ValueError(f"a parameter of an emitted header is not read: {text!r}")
    return tuple(
        Variable(one["type"], one["name"], one["size"], bool(one["star"]), bool(one["const"]))
        for one in found
        if one
    )

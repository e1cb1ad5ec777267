"""What the emitted header declares: functions with their parameters, and structures."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kmcompile.text.c_functions import Function, Parameter, functions_of, without_comments

_STRUCTURE = re.compile(r"^typedef struct \{\n(?P<fields>[^{}]*)\} (?P<name>\w+);", re.MULTILINE)
_FIELD = re.compile(r"(?P<type>\w+) (?P<name>\w+)(?:\[(?P<size>\w+)\])?;")


@dataclass(frozen=True, slots=True)
class Header:
    """What an emitted header declares.

    Parameters
    ----------
    prefix : str
    functions : tuple of Function
        In the order of the header.
    structures : dict of str to tuple of Parameter
        The fields of each structure.
    types : dict of str to str
        Other names of types and what they stand for, such as the input's.
    limit : str or None
        The largest magnitude of a float that is accepted, as C; None if there is no such limit.
    """

    prefix: str
    functions: tuple[Function, ...]
    structures: dict[str, tuple[Parameter, ...]]
    types: dict[str, str]
    limit: str | None

    def is_float(self, type_name: str) -> bool:
        """Return whether a name stands for float."""
        return self.types.get(type_name, type_name) == "float"


def read_header(prefix: str, text: str) -> Header:
    """Return what the text of an emitted header declares.

    Examples
    --------
    >>> read_header("k", "k_status_t k_self_test(void);\\n").functions[0].name
    'k_self_test'
    """
    text = without_comments(text)
    limit = re.search(rf"#define {prefix.upper()}_INPUT_LIMIT (\S+)", text)
    return Header(
        prefix,
        tuple(one for one in functions_of(text) if one.name.startswith(f"{prefix}_")),
        {
            found["name"]: tuple(
                Parameter(field["type"], field["name"], field["size"], False, False)
                for field in _FIELD.finditer(found["fields"])
            )
            for found in _STRUCTURE.finditer(text)
        },
        dict(reversed(pair) for pair in re.findall(r"^typedef (\w+) (\w+);", text, re.MULTILINE)),
        limit[1] if limit else None,
    )

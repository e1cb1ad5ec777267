"""The functions of emitted C, read from its text: the one place that knows their form there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_NOT_CODE: Final = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_FUNCTION: Final = re.compile(
    r"^(?P<kind>(?:static )?(?:inline |[A-Z]\w*_ALONE )?(?:const )?[A-Za-z]\w* \*?)(?P<name>\w+)"
    r"\((?P<parameter_text>[^;{}()]*)\)(?P<body>;|\s*\n\{\n.*?^\})$",
    re.MULTILINE | re.DOTALL,
)
_BODY: Final = re.compile(r"^\{$", re.MULTILINE)
_PARAMETER: Final = re.compile(
    r"(?P<is_const>const )?(?:volatile )?(?:[A-Z]\w*_TABLE )?(?P<c_type>\w+) "
    r"(?P<star>\*?)(?:const )?(?P<name>\w+)"
    r"(?:\[(?P<length>[^]]*)\])?"
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function.

    Attributes
    ----------
    c_type, name : str
        The type without `const` and the star.
    length : str or None
        Of an array, the expression of its length, "" where there is none; None of what is no array.
    has_star, is_const : bool
        Whether it is declared as a pointer, and whether what it points to stays.
    """

    c_type: str
    name: str
    length: str | None
    has_star: bool
    is_const: bool

    @property
    def is_pointer(self) -> bool:
        """Whether the function gets an address."""
        return self.has_star or self.length is not None


@dataclass(frozen=True, slots=True)
class Function:
    """A function of emitted C, or its declaration, with the text of its parts.

    Attributes
    ----------
    kind : str
        What stands before the name, such as "static inline bool ".
    name : str
    parameter_text : str
        The text between the parentheses.
    body : str
        The body with its braces, or ";".
    start, end : int
        Range of the whole in the file.
    """

    kind: str
    name: str
    parameter_text: str
    body: str
    start: int
    end: int

    @property
    def takes_input(self) -> bool:
        """Whether it is given a prepared input."""
        return "input" in self.names

    @property
    def is_static(self) -> bool:
        """Whether the function is called from its file only."""
        return self.kind.startswith("static ")

    @property
    def is_defined(self) -> bool:
        """Whether the function has a body here."""
        return self.body != ";"

    @property
    def body_start(self) -> int:
        """Where the body begins in the file."""
        return self.end - len(self.body)

    @property
    def statements(self) -> str:
        """The lines between the braces of the body."""
        return self.body[self.body.index("{") + 2 : -1]

    @property
    def c_type(self) -> str:
        """The type of the result."""
        return re.sub(r"\b(static|inline|const|\w+_ALONE) |[* ]+$", "", self.kind)

    @property
    def answers(self) -> bool:
        """Whether the function has a result."""
        return self.c_type != "void" or "*" in self.kind

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters; ValueError if one has a form that is not known."""
        if self.parameter_text == "void":
            return ()
        text = _NOT_CODE.sub("", self.parameter_text)
        return tuple(self._parameter(" ".join(part.split())) for part in text.split(","))

    def _parameter(self, text: str) -> Parameter:
        found = _PARAMETER.fullmatch(text)
        if found is None:
            raise ValueError(f"the parameter {text!r} of {self.name} has an unknown form")
        return Parameter(
            found["c_type"],
            found["name"],
            found["length"],
            bool(found["star"]),
            bool(found["is_const"]),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(one.name for one in self.parameters)


def functions_of(text: str) -> Iterator[Function]:
    """Yield the functions and declarations of a file in order.

    Raises
    ------
    ValueError
        If something in braces is no function of the known form: a defect of a template.

    Examples
    --------
    >>> text = "static bool iris_row(\\n    const uint32_t p)\\n{\\n    return p > 2U;\\n}\\n"
    >>> (found,) = functions_of(text)
    >>> found.name, found.names, found.answers
    ('iris_row', ('p',), True)
    """
    understood = 0
    for found in _FUNCTION.finditer(text):
        understood += found["body"] != ";"
        yield Function(**found.groupdict(), start=found.start(), end=found.end())
    if understood != len(_BODY.findall(text)):
        raise ValueError("a function of the emitted C has an unknown form")


def with_statements(text: str, statements_of: Callable[[Function], str]) -> str:
    """Return the file with what `statements_of` gives between the braces of each function."""
    parts, before = [], 0
    for one in functions_of(text):
        if one.is_defined:
            parts += [text[before : one.end - len(one.statements) - 1], statements_of(one)]
            before = one.end - 1
    return "".join([*parts, text[before:]])


def without_comments(text: str) -> str:
    """Return the C with blanks in place of comments and strings; lines and length stay."""
    return _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)

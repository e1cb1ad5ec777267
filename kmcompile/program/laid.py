"""Arrays that say how they lie in the C: what they hold, their axes, and their type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import numpy as np

from kmcompile.numeric.arrays import finite, frozen
from kmcompile.numeric.table import C_TYPES, Below, Table
from kmcompile.program.shared import Shared

OWN = "self."
"""What stands before the attribute of an owner where a constant may stand, too."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the array of a field lies in the C: a part of the field's annotation.

    Parameters
    ----------
    text : str
        The comment of the table: content, symbol, unit and order of indices; "{self.words}" stands
        for an attribute of the owner. "" if the array is not a table as it is.
    axes : tuple of str or int, or str
        A name for each axis: a constant that stages share, words where the C has only literals, or
        "" for an axis of the array's own; a number for one of this length. Without any, the shape
        is not checked. Or the attribute of the owner that has them.
    name : str
        The table's C name behind the prefix of its owner; by default that of the field.
    where : str
        The attribute of the owner that tells whether the table is there; by default it is, unless
        it is None.
    of : str
        The attribute of the owner that is the table, by default the field: "products.blocks".
    narrow : dtype, optional
        The type of the elements where it holds all of them: a narrower one than the annotation's.
    clipped : bool
        Whether infinite half-widths become the largest ones that C has a literal for.
    below : Below, optional
        What the elements are below, if other tables are read at them.
    """

    text: str
    axes: tuple[str | int, ...] | str = ()
    name: str = ""
    where: str = ""
    of: str = ""
    narrow: Any = None
    clipped: bool = False
    below: Below | None = None


@dataclass(frozen=True, slots=True)
class _Field:
    """A field with its layout, and the type of its elements; None if it is no array."""

    name: str
    layout: Layout
    is_laid: bool
    dtype: Any

    def stored(self, value: Any, dtype_of_reals: Any) -> Any:
        """Return the read-only copy of an array as the C has it."""
        value = finite(value) if self.layout.clipped else value
        stored = frozen(value, dtype_of_reals if self.dtype is Any else self.dtype)
        narrow = self.layout.narrow
        if narrow is None or np.abs(stored.astype(np.int64)).max(initial=0) > np.iinfo(narrow).max:
            return stored
        return frozen(stored, narrow)


class Laid:
    """A frozen dataclass whose arrays say in their annotations how they lie in the C.

    What an array's type and `Layout` say is made and checked here: the read-only copy, the
    constants in its shape, and the table.
    """

    __slots__ = ()

    order_in_c: ClassVar[tuple[str, ...]] = ()
    """The fields whose tables come first in the C; the others follow in the order of the fields."""

    def __post_init__(self) -> None:
        for field in self._fields():
            value = getattr(self, field.name)
            if field.dtype is not None and value is not None:
                object.__setattr__(self, field.name, field.stored(value, self.dtype_of_reals))

    @property
    def dtype_of_reals(self) -> Any:
        """The type of the arrays that are float32, or float64 in a replay."""
        return np.float32

    @property
    def prefix(self) -> str:
        """What the names of the tables begin with, without the "_" behind it."""
        return ""

    def shared(self) -> Shared:
        """Return the constants that the object shares with other stages or with the program.

        A program whose stages return different values for one name cannot be made.
        """
        return tuple(self._shared())

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the arrays at whose elements other tables are read, and in classes what is theirs.

        Parameters
        ----------
        known : mapping of str to float
            The program's constants.

        Raises
        ------
        ValueError
            If an element is not below what its `Layout` says, or an array is not what another one
            makes of it.
        """
        for field in self._fields():
            for part in self._parts(field):
                part.check_tables(known)
            below = self._below(field.layout)
            if below is not None and self._has(field):
                below.check(field.name, getattr(self, field.name), known)

    def tables(self) -> tuple[Table, ...]:
        """Return the constant tables, in the order of the C."""
        own = {field.name: field for field in self._fields()}
        names = (*self.order_in_c, *(name for name in own if name not in self.order_in_c))
        return tuple(table for name in names for table in self._tables(own[name]))

    def _fields(self) -> tuple[_Field, ...]:
        of_class: Any = type(self)  # mypy takes no class for hashable, which a cache asks for
        return laid_fields(of_class)

    def _parts(self, field: _Field) -> Iterator[Laid]:
        """Yield what the field holds of objects that have arrays of their own."""
        value = getattr(self, field.name)
        yield from (
            part
            for part in (value if isinstance(value, tuple) else (value,))
            if isinstance(part, Laid)
        )

    def _shared(self) -> Iterator[tuple[str, float]]:
        for field in self._fields():
            for part in self._parts(field):
                yield from part.shared()
            if field.layout.axes and self._has(field):
                shape = getattr(self, field.name).shape
                for name, n in zip(self._axes(field.layout), shape, strict=True):
                    if isinstance(name, int):
                        yield from ((f"axis of {name}", n), (f"axis of {name}", name))
                    elif name:
                        yield name, n

    def _tables(self, field: _Field) -> Iterator[Table]:
        layout = field.layout
        if not field.is_laid:
            for part in self._parts(field):
                yield from part.tables()
        elif layout.text and self._has(field):
            name = "_".join(filter(None, (self.prefix, layout.name or field.name)))
            values = attrgetter(layout.of or field.name)(self)
            axes = self._axes(layout)
            counted = axes[0] if axes and isinstance(axes[0], str) else ""
            text = layout.text.format(self=self)
            yield Table(name, values, text, counted, self._below(layout))

    def _below(self, layout: Layout) -> Below | None:
        """Return what the elements of an array are below, in constants and numbers."""
        below = layout.below
        if below is None or not isinstance(below.of, str) or not below.of.startswith(OWN):
            return below
        return replace(below, of=getattr(self, below.of.removeprefix(OWN)))

    def _axes(self, layout: Layout) -> tuple[str | int, ...]:
        """Return the names of the axes of an array."""
        axes: tuple[str | int, ...] = (
            getattr(self, layout.axes) if isinstance(layout.axes, str) else layout.axes
        )
        return axes

    def _has(self, field: _Field) -> bool:
        """Return whether the array of a field is there."""
        where = field.layout.where
        there = attrgetter(where)(self) if where else True
        return bool(there) and getattr(self, field.name) is not None


_SCALARS = frozenset((*(np.dtype(name).type for name in C_TYPES), np.int64))
"""The types that elements of arrays may have; what is annotated otherwise stays as it is."""


@cache
def laid_fields(of_class: type[Any]) -> tuple[_Field, ...]:
    """Return the fields of a dataclass in order."""
    if not is_dataclass(of_class):
        return ()
    try:
        hints = get_type_hints(of_class, include_extras=True)
    except NameError as error:  # of a class from outside: only a type checker imports the name
        hints = {}
        if any(_may_be_laid(of_class, field) for field in fields(of_class)):
            reason = f"{error}, so the layouts of its arrays cannot be read"
            raise TypeError(f"{of_class.__name__}: {reason}: import it at run time") from error
    return tuple(_field_of(field.name, hints.get(field.name)) for field in fields(of_class))


def _may_be_laid(of_class: type[Any], field: Field[Any]) -> bool:
    """Return whether an annotation has a layout, or names one but cannot be read."""
    owner = next(
        one for one in of_class.__mro__ if field.name in vars(one).get("__annotations__", ())
    )
    alone = type("Alone", (), {"__annotations__": {field.name: field.type}})
    alone.__module__ = owner.__module__
    try:
        hint = get_type_hints(alone, include_extras=True)[field.name]
    except NameError:
        return "Layout(" in str(field.type)
    return _field_of(field.name, hint).is_laid


def _field_of(name: str, hint: Any) -> _Field:
    layout = None
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
        layout = next((extra for extra in extras if isinstance(extra, Layout)), None)
    kinds = [kind for kind in (hint, *get_args(hint)) if get_origin(kind) is np.ndarray]
    dtype = get_args(get_args(kinds[0])[1]) if len(kinds) == 1 else ()
    known = dtype and (dtype[0] in _SCALARS or (dtype[0] is Any and layout is not None))
    return _Field(name, layout or Layout(""), layout is not None, dtype[0] if known else None)

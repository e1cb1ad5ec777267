"""What an option for flight is: its values, and the options that it does not go with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kmcompile.request.options import Options
from kmcompile.request.values import flag, spelled


def _same(value: Any) -> Any:
    return value


def _any(value: Any) -> None:
    """Refuse no value."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Options that an option for flight does not go with.

    Parameters
    ----------
    others : tuple of str
        Fields of `Options`. A mode that follows from other options counts as if it was given.
    why : str
        The reason, in a phrase.
    values : tuple of str
        The values of them that are excluded; empty: every one.
    instead : str
        What the user may give for them; empty: nothing.
    but_in_mode : str
        A mode in which they go together; empty: there is none.
    """

    others: tuple[str, ...]
    why: str
    values: tuple[str, ...] = ()
    instead: str = ""
    but_in_mode: str = ""

    def given(self, options: Options) -> dict[str, str]:
        """Return the field and the spelling of each option that is given and excluded."""
        found: dict[str, str] = {}
        for name in self.others if options.mode_asked != self.but_in_mode else ():
            value = options.mode_asked if name == "mode" else getattr(options, name)
            if self.values:
                every = value if isinstance(value, tuple) else (value,)
                value = tuple(one for one in every if one in self.values) or None
            if value is None or value is False or value == "off":
                continue
            implied = name == "mode" and options.mode is None
            found[name] = spelled(name, value).removeprefix("--" if implied else "")
        return found


@dataclass(frozen=True, slots=True)
class FlightOption:
    """An option for flight, as far as it is known before a model is read.

    Parameters
    ----------
    name : str
        Of its field of `Options`.
    help : str
        What the command line says of it.
    words : mapping
        The type and the metavar of its value on the command line; empty: one of `CHOICES`.
    value : str
        The value by which it is asked for; empty: any.
    parse : callable
        Makes one value of every spelling of it.
    check : callable
        Raises UsageError for a value that it cannot have.
    needs : (str, str)
        A field of `Options` without which it cannot be, and what is said then; "" without any.
    excludes : tuple of Exclusion
        What it does not go with. Each pair of options is told once, by either.
    only_float32 : bool
        Whether `--format auto` is float32 with it.
    takes : tuple of str
        The budgets (`OverBudgetError.over`) of which a program takes less without it.
    """

    name: str
    help: str
    words: Mapping[str, Any] = field(default_factory=dict)
    value: str = ""
    parse: Callable[[Any], Any] = _same
    check: Callable[[Any], None] = _any
    needs: tuple[str, str] = ("", "")
    excludes: tuple[Exclusion, ...] = ()
    only_float32: bool = False
    takes: tuple[str, ...] = ()

    def is_asked(self, options: Options) -> bool:
        """Return whether the option is asked for."""
        value = getattr(options, self.name)
        return value == self.value if self.value else value not in (None, False)

    def said(self, options: Options) -> str:
        """Return the option as it is given."""
        return spelled(self.name, getattr(options, self.name))

    @property
    def asked(self) -> str:
        """What asks for it, without a value of the user's."""
        return f"{flag(self.name)} {self.value}".strip()

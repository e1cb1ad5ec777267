"""The early exits that the user asks for: `--stages`, `--require` and `--exclude`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmcompile.request.options import LISTS, Options

IMPLIED = ("exact_sum", "replay")
"""The stages behind the early exits; `--stages` may name them."""


@dataclass(frozen=True, slots=True)
class AskedStages:
    """The early exits that the user asks for, by their names.

    Parameters
    ----------
    listed : tuple of str or None
        The exits that the program has, in order; None: they are chosen by their cost.
    required, excluded : tuple of str
        The exits that the program must have, and those that it must not have.
    unpaid : tuple of str
        The exits that nobody has asked for and that did not pay in another number format.
    """

    listed: tuple[str, ...] | None = None
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    unpaid: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Options) -> AskedStages:
        """Return the stages that options ask for; `--stages` may name the implied last stages."""
        listed, required, excluded = (getattr(options, field) for field in LISTS)
        if listed is not None:
            listed = tuple(name for name in listed if name not in IMPLIED)
        return cls(listed, required or (), excluded or ())

    @property
    def are_free(self) -> bool:
        """Whether the user asks for no exit by name."""
        return self.listed is None and not self.named

    @property
    def needed(self) -> tuple[str, ...]:
        """The exits that the program must have, whatever they cost."""
        return self.required if self.listed is None else self.listed

    @property
    def named(self) -> tuple[str, ...]:
        """All exits that are named."""
        return (*self.needed, *self.excluded)

    def allows(self, name: str) -> bool:
        """Return whether the program may have the exit."""
        if name in self.excluded or name in self.unpaid:
            return False
        return self.listed is None or name in self.listed

    def are_met_by(self, names: Sequence[str]) -> bool:
        """Return whether a program with these early exits, in order, is what is asked for."""
        if self.listed is not None:
            return tuple(dict.fromkeys(names)) == self.listed
        return all(name in names for name in self.required) and all(map(self.allows, names))

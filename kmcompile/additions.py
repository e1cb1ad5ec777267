"""What a kernel, step or early exit from outside the package must be before it is registered."""

from __future__ import annotations

from collections.abc import Iterable


def check_addition(made: type, known: Iterable[type], attributes: Iterable[str]) -> None:
    """Refuse a class that lacks something, or that derives from a registered class.

    Parameters
    ----------
    made : type
    known : iterable of type
        The registered classes of its kind.
    attributes : iterable of str
        The class variables that its kind has without a default.

    Raises
    ------
    ValueError
        If a method or class variable is missing. Also if the class derives from a registered one:
        passes and early exits find that by `isinstance`, and would use its parent's formulas.
    """
    lacks = sorted(getattr(made, "__abstractmethods__", ()))
    lacks += [name for name in attributes if not hasattr(made, name)]
    if lacks:
        raise ValueError(f"{made.__name__} lacks {', '.join(lacks)}")
    parent = next((one for one in known if one is not made and issubclass(made, one)), None)
    if parent is not None:
        raise ValueError(
            f"{made.__name__} derives from {parent.__name__}, whose formulas would be used for it"
        )


def check_stored(made: type) -> None:
    """Refuse a class whose objects program.npz cannot hold with all their state.

    Raises
    ------
    ValueError
        If it is not decorated itself by `dataclass(frozen=True, slots=True, eq=False)`.
    """
    form = vars(made).get("__dataclass_params__")
    if form is None or not form.frozen or form.eq or "__slots__" not in vars(made):
        raise ValueError(f"{made.__name__} is no @dataclass(frozen=True, slots=True, eq=False)")

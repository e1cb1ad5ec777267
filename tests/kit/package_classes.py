"""The classes of the package that objects can be made of."""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import isabstract
from pkgutil import walk_packages
from typing import Any

from kmcompile import program


def concrete(base: type[Any]) -> set[type[Any]]:
    """Return the classes of `kmcompile.program` that are made from another and not abstract."""
    for module in walk_packages(program.__path__, f"{program.__name__}."):
        import_module(module.name)
    found, ahead = set(), [base]
    while ahead:
        kind = ahead.pop()
        ahead += kind.__subclasses__()
        # `dataclass(slots=True)` leaves a class without slots behind.
        is_own = getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
        if is_own and kind.__module__.startswith("kmcompile.") and not isabstract(kind):
            found.add(kind)
    return found

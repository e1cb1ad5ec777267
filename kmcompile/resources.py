"""The only place that knows where `templates/`, `targets/` and the manual are."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _root() -> Path:
    """Return the folder that holds templates/ and targets/: in the wheel, or the checkout's top."""
    packaged = _PACKAGE / "_resources"
    return packaged if packaged.is_dir() else _PACKAGE.parent


def templates_dir() -> Path:
    """Return the folder of the Jinja templates."""
    return _root() / "templates"


def targets_dir() -> Path:
    """Return the folder of the target descriptions."""
    return _root() / "targets"


def manual_dir() -> Path:
    """Return the folder of the manual's pages, which is the same in wheel and checkout."""
    return _PACKAGE / "manual"

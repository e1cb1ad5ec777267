"""The only place that knows where `templates/`, `targets/` and the manual are."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_registered: list[Path] = []


def _root() -> Path:
    """Return the folder that holds templates/ and targets/: in the wheel, or the checkout's top."""
    packaged = _PACKAGE / "_resources"
    return packaged if packaged.is_dir() else _PACKAGE.parent


def templates_dir() -> Path:
    """Return the folder of the Jinja templates."""
    return _root() / "templates"


def template_folders() -> tuple[Path, ...]:
    """Return the folders where a template of the C is looked for, in this order."""
    return (templates_dir(), *_registered)


def register_templates(folder: Path, *names: str) -> None:
    """Add a folder with templates of kernels, steps or stages that others define.

    A template lies where the package's own would, say `folder/kernels/NAME.c.j2`; one with the
    path of a template of the package is never read. Registering a folder twice changes nothing.

    Parameters
    ----------
    folder : Path
    *names : str
        Templates that have to be there, and in no folder before: "kernels/NAME.c.j2".

    Raises
    ------
    ValueError
        If there is no such folder, or one of the templates is missing or another's.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise ValueError(f"{folder}: no folder with templates is there")
    for name in names:
        if not (folder / name).is_file():
            raise ValueError(f"{folder / name}: no template is there")
        first = next((f for f in (*template_folders(), folder) if (f / name).is_file()), folder)
        if first != folder:
            raise ValueError(f"{folder / name}: another one with this name is in {first}")
    if folder not in _registered:
        _registered.append(folder)


def targets_dir() -> Path:
    """Return the folder of the target descriptions."""
    return _root() / "targets"


def manual_dir() -> Path:
    """Return the folder of the manual's pages, which is the same in wheel and checkout."""
    return _PACKAGE / "manual"

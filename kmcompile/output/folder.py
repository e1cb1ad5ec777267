"""Writing the output folder in one step: a reader sees the old or the new one, never a mixture.

The files go to a sibling folder, are synced to disk, and one rename puts the sibling in place.
Every name beside the folder is fixed and belongs to the holder of the lock:

- `.<name>.kmcompile-lock` : locked with flock while a run holds the folder; the kernel unlocks
  it when the run dies.
- `.<name>.kmcompile-new` : the files on their way, and after the exchange the old folder. Never
  anything to keep, so the next run deletes what a killed one left.
- `.<name>.kmcompile-old` : only where the system has no RENAME_EXCHANGE (not Linux, some network
  file systems): the old folder, between two renames. A run killed between them leaves no folder
  for the moment; the next run puts the old one back.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from kmcompile.errors import OutputError, UsageError
from kmcompile.output import lock

RECIPE = "recipe.json"
_FIXED_FILES = frozenset(
    {RECIPE, "program.npz", "queries.npz", "CMakeLists.txt", "report.json", "report.html"}
)
# Every release's recipe has these fields, so that another program's recipe.json is told apart.
_RECIPE_FIELDS = {"name": str, "sources": list, "sha256": dict}
_LISTS = ("sources", "package")  # lists of file names
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


@dataclass(frozen=True, slots=True)
class OutputFolder:
    """An output folder that this process has locked by `reserve`."""

    path: Path

    def write(self, files: Mapping[str, bytes]) -> None:
        """Replace the folder's content by these files, all at once.

        Parameters
        ----------
        files : mapping of path in the folder to content
            The complete content; paths use "/". The file `recipe.json` is required. It names the
            other files, by which the next run recognises a folder of kmcompile.

        Raises
        ------
        OutputError
            If the files cannot be written, or if the folder is not kmcompile's. Then the old
            content stays.
        """
        for name in files:
            _check_file_name(name)
        names = _recipe_names(files.get(RECIPE, b""))
        if names is None:
            raise ValueError(f"{RECIPE} must hold {', '.join(_RECIPE_FIELDS)}")
        unnamed = files.keys() - _FIXED_FILES - names
        if unnamed:
            raise ValueError(f"{RECIPE} does not name {', '.join(sorted(unnamed))}")
        try:
            self._replace(files)
        except OSError as error:
            raise _refused(self.path, error) from error

    def _replace(self, files: Mapping[str, bytes]) -> None:
        _check_replaceable(self.path)
        fresh = _sibling(self.path, "new")
        _remove(fresh)
        try:
            os.mkdir(fresh)
            for name, content in files.items():
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                _write_file(fresh / name, content)
            for folder in {(fresh / name).parent for name in files} | {fresh}:
                _sync_folder(folder)
            # Checked again: the folder may have changed while the files were written.
            _check_replaceable(self.path)
            _put_in_place(fresh, self.path)
            _sync_folder(self.path.parent)
        finally:
            # The old folder after the exchange, or the unfinished new one.
            with contextlib.suppress(OSError):
                _remove(fresh)


@contextlib.contextmanager
def reserve(path: Path) -> Iterator[OutputFolder]:
    """Lock the output folder for one run, from before the work until the folder is written.

    Parameters
    ----------
    path : Path
        The folder. Missing parents are made, and removed again if nothing is written.

    Yields
    ------
    OutputFolder

    Raises
    ------
    UsageError
        If the path has no name of its own (`.`, `..`, `/`).
    OutputError
        If another run holds the folder, if it is a symbolic link or not kmcompile's, or if its
        parent cannot be written.
    """
    if path.name in ("", ".."):
        raise UsageError(f"--out {str(path)!r} does not name a folder; give the folder's own name")
    made: list[Path] = []
    try:
        try:
            made = _make_parents(path.parent)
            # Resolved once: a later change of a symbolic link in the path has no effect.
            path = path.parent.resolve(strict=True) / path.name
            held = lock.acquire(_sibling(path, "lock"), path)
        except OSError as error:
            raise _refused(path, error) from error
        try:
            _recover(path)
            _check_replaceable(path)
            yield OutputFolder(path)
        finally:
            lock.release(held, _sibling(path, "lock"))
    finally:
        for parent in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(parent)  # refuses where something was written


def _check_file_name(name: str) -> None:
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in name or "\0" in name:
        raise OutputError(f"{name!r} is no plain file name; nothing was written")


def _recipe_names(recipe: bytes) -> set[str] | None:
    """Return the names of files in a recipe of kmcompile, or None if the text is no such recipe.

    `Recipe.from_json` does not serve here, because it refuses recipes of other releases.
    """
    try:
        content = json.loads(recipe)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    if not all(isinstance(content.get(key), kind) for key, kind in _RECIPE_FIELDS.items()):
        return None
    named = [content.get("harness"), *content["sha256"]]
    for key in _LISTS:
        listed = content.get(key)
        named += listed if isinstance(listed, list) else []
    return {name for name in named if isinstance(name, str)}


def _check_replaceable(path: Path) -> None:
    """Raise OutputError if replacing `path` would delete a file that is not kmcompile's."""
    if path.is_symlink():
        raise OutputError(f"{path} is a symbolic link; give the folder itself with --out")
    try:
        entries = sorted(os.listdir(path))
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise OutputError(f"{path} is a file; choose another --out") from error
    except OSError as error:
        raise _refused(path, error) from error
    if not entries:
        return
    names = _read_recipe(path / RECIPE)
    if names is None:
        raise OutputError(
            f"{path} exists and is not an output folder of kmcompile (no {RECIPE} of it)\n"
            "remove it or choose another --out"
        )
    foreign = _foreign(path, path, names | _FIXED_FILES)
    if foreign is not None:
        raise OutputError(
            f"{path} holds {foreign!r}, which kmcompile did not write and would delete\n"
            "move it or choose another --out"
        )


def _foreign(root: Path, folder: Path, names: Set[str]) -> str | None:
    """Return the first path in a folder that is not among the names; links are not followed."""
    for entry in sorted(os.listdir(folder)):
        path = folder / entry
        name = path.relative_to(root).as_posix()
        if path.is_dir() and not path.is_symlink():
            if not any(known.startswith(f"{name}/") for known in names):
                return name
            found = _foreign(root, path, names)
            if found is not None:
                return found
        elif name not in names:
            return name
    return None


def _read_recipe(path: Path) -> set[str] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            return _recipe_names(file.read())
    except OSError:
        return None


def _sibling(path: Path, role: str) -> Path:
    return path.with_name(f".{path.name}.kmcompile-{role}")


def _make_parents(parent: Path) -> list[Path]:
    """Make the missing parent folders; return the new ones, outermost first."""
    missing = [p for p in (parent, *parent.parents) if not p.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
    return missing[::-1]


def _recover(path: Path) -> None:
    """Clean up after a killed run. This process holds the lock, so no other run uses the files."""
    old = _sibling(path, "old")
    try:
        if os.path.lexists(old):
            if os.path.lexists(path):
                _remove(old)
            else:
                os.rename(old, path)
        _remove(_sibling(path, "new"))
    except OSError as error:
        raise _refused(path, error) from error


def _write_file(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_in_place(fresh: Path, path: Path) -> None:
    if not os.path.lexists(path):
        os.rename(fresh, path)
        return
    try:
        _exchange(fresh, path)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
        _swap_in_two_steps(fresh, path)


def _exchange(fresh: Path, path: Path) -> None:
    """Swap two names in one step: renameat2(RENAME_EXCHANGE), Linux 3.15 and glibc 2.28."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    names = os.fsencode(fresh), os.fsencode(path)
    if renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], ctypes.c_uint(_RENAME_EXCHANGE)):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _swap_in_two_steps(fresh: Path, path: Path) -> None:
    old = _sibling(path, "old")
    _remove(old)
    os.rename(path, old)
    try:
        os.rename(fresh, path)
    except BaseException:
        os.rename(old, path)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    """Delete a folder, a file or a link if it exists; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _refused(path: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error)
    return OutputError(f"{path} cannot be written: {reason}; choose another --out")

"""A process of the tests compiles the same C with the same flags once, and takes the object again.

A third of the compilations repeat another one: boot files, the harness and the model of a case that
several tests build. What a compiler makes depends on its own file, the flags, the source and the
headers that it can find by a relative name; where these are equal, so are the files that it writes.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from pathlib import Path

import pytest

from kmcompile.build.compiling import Compiling

_MOST = 400
"""Compilations that are kept: some 20 MB."""
_WRITTEN = (".o", ".su", ".ci")
_known: OrderedDict[str, dict[str, bytes]] = OrderedDict()


def install(patch: pytest.MonkeyPatch) -> None:
    """Let `kmcompile.build` look for what was compiled before it runs a compiler."""
    run = Compiling._run

    def run_once(self: Compiling, arguments: list[str], timeout_s: float, what: str) -> None:
        if "-c" not in arguments:
            return run(self, arguments, timeout_s, what)
        result = Path(arguments[-1])
        key = _key(self._command, arguments, self.work)
        if key in _known:
            _known.move_to_end(key)
            for suffix, content in _known[key].items():
                result.with_suffix(suffix).write_bytes(content)
            return None
        run(self, arguments, timeout_s, what)
        written = [result.with_suffix(suffix) for suffix in _WRITTEN]
        _known[key] = {path.suffix: path.read_bytes() for path in written if path.exists()}
        if len(_known) > _MOST:
            _known.popitem(last=False)
        return None

    patch.setattr(Compiling, "_run", run_once)


def _key(command: str, arguments: list[str], work: Path) -> str:
    """Return the hash of all that a compilation of one file depends on."""
    source = Path(arguments[arguments.index("-c") + 1])
    folders = [word[2:] for word in arguments if word.startswith("-I")]
    found = hashlib.sha256()
    compiler = os.stat(command)
    found.update(f"{os.path.realpath(command)} {compiler.st_mtime_ns} {compiler.st_size}".encode())
    paths = {str(source), arguments[-1], *(f"-I{folder}" for folder in folders)}
    found.update("\0".join(word for word in arguments if word not in paths).encode())
    for path in (source, *_headers([source.parent, *map(Path, folders), work])):
        found.update(f"\0{path.name}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _headers(folders: list[Path]) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.glob("*.h"))]

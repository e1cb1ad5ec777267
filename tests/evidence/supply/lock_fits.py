"""Say where a lock does not fit pyproject.toml, or what is installed does not fit a lock.

Usage: python lock_fits.py PYPROJECT.toml REQUIREMENTS.txt REQUIREMENTS-BUILD.txt
       python lock_fits.py --installed INSTALLED.txt REQUIREMENTS.txt

INSTALLED.txt is as `pip freeze` writes it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass
class Locked:
    """A version that a lock takes, where its marker holds."""

    requirement: Requirement
    hashes: list[str] = field(default_factory=list)
    direct: bool = False

    @property
    def name(self) -> str:
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        (specifier,) = self.requirement.specifier
        return specifier.version


def read_lock(text: str) -> list[Locked]:
    """Return what a lock takes; one that needs more than `==` and hashes is refused."""
    locked: list[Locked] = []
    for line in text.splitlines():
        words = line.strip().removesuffix("\\").strip()
        if words.startswith("--hash="):
            found = _HASH.fullmatch(words)
            assert found, f"{line}: no SHA-256"
            locked[-1].hashes.append(found.group(1))
        elif words.startswith("#"):
            # Behind each requirement uv says who asks for it.
            if re.search(r"\(pyproject\.toml\)|-r -", words):
                locked[-1].direct = True
        elif words:
            locked.append(Locked(Requirement(words)))
            assert [one.operator for one in locked[-1].requirement.specifier] == ["=="], line
    return locked


def faults(asked: list[str], lock: str) -> list[str]:
    """Return where a lock does not fit the requirements that are asked for."""
    locked = read_lock(lock)
    found = []
    for requirement in map(Requirement, asked):
        name = canonicalize_name(requirement.name)
        versions = [one.version for one in locked if one.name == name]
        if not versions:
            found.append(f"{requirement}: is not in the lock")
        found += [
            f"{requirement}: the lock has {version}"
            for version in versions
            if not requirement.specifier.contains(version, prereleases=True)
        ]
    names = {canonicalize_name(Requirement(one).name) for one in asked}
    found += [
        f"{one.name}: locked for pyproject.toml, which does not ask for it"
        for one in locked
        if one.direct and one.name not in names
    ]
    found += [f"{one.name}: has no hash" for one in locked if not one.hashes]
    return found


def all_faults(pyproject: Path, runtime: Path, build: Path) -> list[str]:
    """Return where either lock does not fit pyproject.toml."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    return [
        *faults(project["project"]["dependencies"], runtime.read_text(encoding="utf-8")),
        *faults(project["build-system"]["requires"], build.read_text(encoding="utf-8")),
    ]


def wanted_here(lock: str) -> list[Locked]:
    """Return what a lock takes on this machine and with this Python."""
    return [
        one
        for one in read_lock(lock)
        if not one.requirement.marker or one.requirement.marker.evaluate()
    ]


def other_versions(installed: str, lock: str) -> list[str]:
    """Return which versions that are installed are not those that a lock takes here."""
    lines = [line.split("==") for line in installed.splitlines() if "==" in line]
    versions = {canonicalize_name(name): version.strip() for name, version in lines}
    return [
        f"{one.name}: {versions.get(one.name, 'none')} is installed, {one.version} is locked"
        for one in wanted_here(lock)
        if versions.get(one.name) != one.version
    ]


def main() -> int:
    """Print what does not fit; return 1 if anything does not."""
    if sys.argv[1] == "--installed":
        told = other_versions(*(Path(one).read_text(encoding="utf-8") for one in sys.argv[2:]))
        print("\n".join(told) or "the installed versions are the locked ones")
    else:
        told = all_faults(*map(Path, sys.argv[1:]))
        print("\n".join(told) or "the locks fit pyproject.toml")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())

"""A bill of materials: what was made, its files, and what it was made of and with."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Final

# Source: SPDX 2.3, annex E ("Using SPDX short identifiers in source files").
_LICENCE_LINE: Final = re.compile(rb"SPDX-License-Identifier: ([A-Za-z0-9.+-]+)")
_HEAD_BYTES: Final = 2_000
OWNER: Final = "LicenseRef-Owner"
OWNER_TEXT: Final = (
    "The files that kmcompile writes into an output folder belong to the user who ran it. The "
    "authors of kmcompile claim no copyright in them, including the parts that come from the "
    "templates, and no notice of theirs has to go with them."
)


class Role(Enum):
    """What a part is to the thing that the bill is of."""

    DEPENDENCY = "dependency"
    MODEL = "model"
    GENERATOR = "generator"
    COMPILER = "compiler"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file and its digests.

    Parameters
    ----------
    path : str
        Relative, with `/`.
    sha1, sha256 : str
        Hexadecimal; SPDX 2.3 asks for SHA-1, too.
    named_licence : str or None
        What a line `SPDX-License-Identifier` in the file's head says.
    """

    path: str
    sha1: str
    sha256: str
    named_licence: str | None

    @classmethod
    def of(cls, path: str, content: bytes) -> FileEntry:
        """Return the entry of a file with this content.

        Examples
        --------
        >>> FileEntry.of("a.c", b"/* SPDX-License-Identifier: MIT */").named_licence
        'MIT'
        """
        found = _LICENCE_LINE.search(content[:_HEAD_BYTES])
        return cls(
            path,
            hashlib.sha1(content, usedforsecurity=False).hexdigest(),
            hashlib.sha256(content).hexdigest(),
            found.group(1).decode("ascii") if found else None,
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Something that the thing was made of or with.

    Parameters
    ----------
    name : str
        Unique in a bill, of letters, digits, `.`, `_`, `+` and `-`.
    version : str or None
    role : Role
    licence : str or None
        An SPDX expression; None where none is known.
    sha256 : str or None
        Of `file`, or of what `comment` says.
    file : str or None
        Name of the archive.
    purl : str or None
        Package URL.
    needs : tuple of str
        Names of other parts.
    comment : str
        One sentence.
    """

    name: str
    version: str | None
    role: Role
    licence: str | None = None
    sha256: str | None = None
    file: str | None = None
    purl: str | None = None
    needs: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Bill:
    """A bill of materials.

    Parameters
    ----------
    main : Part
        The thing that the bill is of; `needs` names its direct dependencies.
    parts : tuple of Part
    files : tuple of FileEntry
        Of the thing, by path.
    steps : tuple of (str, str)
        Name and command line of each step by which it is made.
    texts : mapping of str to str
        Text of each licence that the list of SPDX does not have, by its `LicenseRef-`.
    """

    main: Part
    parts: tuple[Part, ...]
    files: tuple[FileEntry, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def of_role(self, role: Role) -> tuple[Part, ...]:
        """Return the parts of a role."""
        return tuple(part for part in self.parts if part.role is role)

    def identifier(self) -> uuid.UUID:
        """Return a UUID made of all that the bill says: equal bills have the same one."""
        text = json.dumps(asdict(self), sort_keys=True, default=lambda role: role.value)
        return uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(text.encode()).hexdigest())


def to_bytes(document: object) -> bytes:
    """Return a document as JSON in ASCII, the same bytes for equal documents."""
    return (json.dumps(document, indent=2, allow_nan=False) + "\n").encode("ascii")

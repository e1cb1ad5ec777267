"""recipe.json: everything that building and running a model needs besides its C files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kmcompile.errors import InputError, UsageError
from kmcompile.request.prefix import check_prefix
from kmcompile.target import Target, target_from_dict

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)+\Z")
_KEYS = frozenset(
    (
        "name",
        "sources",
        "harness",
        "target",
        "input_words",
        "record_words",
        "package",
        "sha256",
    )
)


def sha256_of(contents: Mapping[str, str | bytes]) -> tuple[tuple[str, str], ...]:
    """Return (file name, SHA-256) of each file, by name.

    Examples
    --------
    >>> [(name, digest[:8]) for name, digest in sha256_of({"a.c": ""})]
    [('a.c', 'e3b0c442')]
    """
    return tuple(
        (name, hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest())
        for name, text in sorted(contents.items())
    )


@dataclass(frozen=True, slots=True)
class Recipe:
    """The recipe of a model's build, the only connection from emission to the build.

    Attributes
    ----------
    name : str
        The prefix of every identifier of the C.
    sources : tuple of str
        The C files of the model, relative to the folder.
    harness : str
        The C file with the functions that the runners call. Its memory is not measured.
    input_words, record_words : int
        Number of 32-bit words of one query and of one answer.
    sha256 : tuple of (str, str)
        Name and digest of each emitted file that the build reads, of the file of loop bounds, and
        of the model description.
    package : tuple of str
        Paths of the files of the framework package (`--package`), which the build does not read.
    """

    name: str
    sources: tuple[str, ...]
    harness: str
    target: Target
    input_words: int
    record_words: int
    sha256: tuple[tuple[str, str], ...]
    package: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the text of recipe.json; the same recipe gives the same bytes."""
        plain = {
            "name": self.name,
            "sources": list(self.sources),
            "harness": self.harness,
            "target": self.target.to_dict(),
            "input_words": self.input_words,
            "record_words": self.record_words,
            "package": list(self.package),
            "sha256": dict(self.sha256),
        }
        return json.dumps(plain, indent=2, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Read the text of recipe.json back.

        Raises
        ------
        InputError
            If the text is no recipe; the error names the field.
        """
        try:
            plain = json.loads(text)
        except ValueError as error:
            raise InputError(f"recipe.json: not JSON: {error}; compile the model again") from error
        _check(plain)
        try:
            target = target_from_dict(plain["target"], "recipe.json")
        except UsageError as error:
            raise InputError(str(error)) from error
        return cls(
            name=plain["name"],
            sources=tuple(plain["sources"]),
            harness=plain["harness"],
            target=target,
            input_words=plain["input_words"],
            record_words=plain["record_words"],
            sha256=tuple(sorted(plain["sha256"].items())),
            package=tuple(plain["package"]),
        )


def _check(plain: Any) -> None:
    """Refuse JSON that is no recipe, and file names that leave the folder."""
    if not isinstance(plain, dict) or plain.keys() != _KEYS:
        _refuse("fields", sorted(plain) if isinstance(plain, dict) else plain, sorted(_KEYS))
    try:
        check_prefix(plain["name"] if isinstance(plain["name"], str) else "")
    except UsageError as error:
        raise InputError(f"recipe.json: name is {plain['name']!r}, no C prefix") from error
    sources, digests = plain["sources"], plain["sha256"]
    if not isinstance(sources, list) or not sources:
        _refuse("sources", sources, "a list of file names")
    if not isinstance(digests, dict):
        _refuse("sha256", digests, "file names with their digests")
    for name in (*sources, plain["harness"], *digests):
        if not isinstance(name, str) or not _FILE_NAME.match(name):
            _refuse("file name", name, "a plain name without a path")
    package = plain["package"]
    if not isinstance(package, list):
        _refuse("package", package, "a list of paths")
    for path in package:
        if not isinstance(path, str) or not _PATH.match(path):
            _refuse("package", path, "paths inside the folder")
    for digest in digests.values():
        if not isinstance(digest, str) or not _SHA256.match(digest):
            _refuse("sha256", digest, "64 hexadecimal digits")
    for key in ("input_words", "record_words"):
        if type(plain[key]) is not int or not 0 < plain[key] < 1 << 20:
            _refuse(key, plain[key], "1 .. 1048575")


def _refuse(field: str, found: object, allowed: object) -> None:
    raise InputError(
        f"recipe.json: {field} is {found!r}, must be {allowed}; compile the model again"
    )

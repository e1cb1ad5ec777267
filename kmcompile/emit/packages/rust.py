"""A Rust crate without the standard library.

Sources: The Cargo Book, The Rust Reference ("Keywords", "Type layout"), the crate cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kmcompile.emit.packages.framework import Framework
from kmcompile.emit.packages.names import single_underscores
from kmcompile.emit.words import words_of
from kmcompile.program.program import Program
from kmcompile.program.workspace import workspace_bytes
from kmcompile.target import Target

_FILES: Mapping[str, str] = {
    "{own.crate}/Cargo.toml": "rust/Cargo.toml",
    "{own.crate}/README.md": "rust/README.md",
    "{own.crate}/build.rs": "rust/build.rs",
    "{own.crate}/src/lib.rs": "rust/lib.rs",
    "{own.crate}/src/ffi.rs": "rust/ffi.rs",
    "{own.crate}/tests/known_answers.rs": "rust/known_answers.rs",
    "{own.crate}/c/{name}.h": "{name}.h",
    "{own.crate}/c/{name}.c": "{name}.c",
    "{own.crate}/c/layout.c": "rust/layout.c",
}

_KEYWORDS = """abstract as async await become box break const continue crate do dyn else enum extern
false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return
self static struct super trait true try type typeof unsafe unsized use virtual where while yield"""
# Crates that come with the compiler, and the one that build.rs needs.
_CRATES = "alloc cc core proc_macro std test"
_TAKEN: Final = frozenset(f"{_KEYWORDS} {_CRATES}".split())

_STRING_COLUMNS = 80


def crate_name(name: str) -> str:
    """Return the name of a model's crate: the model's in snake case, if it is free in Rust.

    Examples
    --------
    >>> crate_name("iris"), crate_name("match"), crate_name("std"), crate_name("a__b_")
    ('iris', 'match_model', 'std_model', 'a_b')
    """
    snake_case = single_underscores(name)
    return f"{snake_case}_model" if snake_case in _TAKEN else snake_case


@dataclass(frozen=True, slots=True)
class RustView:
    """What only the templates of the crate know.

    Rust declares the caller's memory as words: its size is C's, and it is aligned at least as well.

    Attributes
    ----------
    crate, call : str
        The crate's name, and the method that answers.
    word : str
        The type of the workspace's words, which has its alignment.
    n_words, workspace_bytes : int
        Words and bytes of the workspace.
    done_offset, self_test_bytes : int
        Of the state of a self-test in steps: three words, a status and `done` follow the workspace.
    class_names : tuple of str
        String literals.
    """

    crate: str
    call: str
    word: str
    n_words: int
    workspace_bytes: int
    done_offset: int
    self_test_bytes: int
    class_names: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, target: Target) -> RustView:
        """Return the view; a workspace with 64-bit members has a multiple of 8 bytes."""
        n_bytes = workspace_bytes(program)
        align = 4 if n_bytes % 8 else 8
        n_words = -(-n_bytes // align)
        done = n_words * align + 16
        return cls(
            crate=crate_name(program.name),
            call=words_of(program).call,
            word=f"u{8 * align}",
            n_words=n_words,
            workspace_bytes=n_words * align,
            done_offset=done,
            self_test_bytes=(done // align + 1) * align,
            class_names=tuple(string_literal(str(label)) for label in program.classes),
        )


def string_literal(text: str) -> str:
    """Return text as a Rust string literal: printable ASCII stays, the rest is escaped.

    Text too long for a line becomes several literals in `concat!`.

    Examples
    --------
    >>> print(string_literal('a"b'), string_literal(chr(0xE9)))
    "a\\"b" "\\u{e9}"
    """
    lines = [""]
    # Half of a surrogate pair has no UTF-8 encoding: its name is written instead, as in the C.
    for character in text.encode("utf-8", errors="backslashreplace").decode("utf-8"):
        escaped = character
        if character in '"\\':
            escaped = "\\" + character
        elif not " " <= character <= "~":
            escaped = f"\\u{{{ord(character):x}}}"
        if len(lines[-1]) + len(escaped) > _STRING_COLUMNS:
            lines.append("")
        lines[-1] += escaped
    if len(lines) == 1:
        return f'"{lines[0]}"'
    return "concat!(\n        " + ",\n        ".join(f'"{line}"' for line in lines) + ",\n    )"


FRAMEWORK = Framework(_FILES, RustView.of)

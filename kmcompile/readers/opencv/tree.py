"""The tree that a file of OpenCV's FileStorage holds, and its values, each read with its checks.

A node is a dict (a map), a list (a sequence of nodes) or bytes: a word, a string or a sequence of
numbers, as they stand in the file with blanks between them. What a word means is asked by the
reader of the model alone, so that no text is expanded or converted before.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import ITEM_BYTES, current_budget
from kmcompile.readers.libsvm.text import integer, real
from kmcompile.readers.record import short_ascii

Node = dict[str, "Node"] | list["Node"] | bytes

MAX_DEPTH = 20
"""Deepest nesting: an SVM needs six levels."""

_NODE_BYTES = 5 * ITEM_BYTES
"""Cost of a node: it is matched, cut out and stored under its name."""

_COPIES = 3
"""Number of copies of a text: as it is cut out, without its commas, and while it is parted."""

_WORD_BYTES = 2 * ITEM_BYTES
"""Cost of a word of a sequence, which is matched and converted."""

_REMEDY = "the file was altered or damaged, save the model again"


def error_in_text(content: bytes, position: int, problem: str) -> InputError:
    """Return an error that starts with the number of the line at a position."""
    line = content.count(b"\n", 0, position) + 1
    return InputError(
        f"line {line}: {problem}; an OpenCV file must be as cv::FileStorage writes it, save the "
        "model again"
    )


def spend_node(n_bytes: int = 0) -> None:
    """Take the cost of a node and of the copies of its text out of the file's budget."""
    current_budget().spend(_NODE_BYTES + _COPIES * n_bytes, "the nodes of the file")


def add(
    names: dict[str, Node], name: bytes, value: Node, error: Callable[[str], InputError]
) -> None:
    """Put a value under its name; raise `error` of a text if the name is there already."""
    key = shown(name)
    if key in names:
        raise error(f"{key} again")
    names[key] = value


def shown(word: bytes) -> str:
    """Return a name or a word for a message, and a name for the tree."""
    return short_ascii(word.decode("ascii", "backslashreplace"))


class Branch:
    """A map of the tree; every error names the path, the value and what it must be.

    Parameters
    ----------
    path : str
        The names that lead to the map, for messages.
    node : Node
    """

    def __init__(self, path: str, node: Node) -> None:
        if not isinstance(node, dict):
            raise InputError(f"{path} is no map of names and values; {_REMEDY}")
        self.path = path
        self._node = node

    def has(self, name: str) -> bool:
        """Whether the name is there."""
        return name in self._node

    def error(self, name: str, found: str, allowed: str, remedy: str = _REMEDY) -> InputError:
        """Return the error of one name."""
        return InputError(f"{self.path}.{name} {found}, must be {allowed}; {remedy}")

    def branch(self, name: str) -> Branch:
        """Return the map under a name."""
        return Branch(f"{self.path}.{name}", self._get(name))

    def branches(self, name: str, count: int) -> Iterator[Branch]:
        """Yield the maps of a sequence of `count` maps."""
        for i, node in enumerate(self._sequence(name, count)):
            yield Branch(f"{self.path}.{name}[{i}]", node)

    def word(self, name: str) -> str:
        """Return a word."""
        text = self._get(name)
        if not isinstance(text, bytes):
            raise self.error(name, "is a collection", "a word")
        return shown(text.strip())

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """Return a word out of `allowed`."""
        word = self.word(name)
        if word not in allowed:
            raise self.error(name, f"is '{word}'", ", ".join(allowed))
        return word

    def integer(self, name: str, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""
        word = self.word(name)
        value = integer(word.encode(), low, high)
        if value is None:
            raise self.error(name, f"is '{word}'", f"an integer from {low} to {high}")
        return value

    def number(self, name: str) -> float:
        """Return a finite number."""
        return float(self.numbers(name, 1)[0])

    def numbers(self, name: str, count: int) -> Float64Array:
        """Return a sequence of `count` finite numbers."""
        return _numbers(f"{self.path}.{name}", self._get(name), count)

    def integers(self, name: str, count: int, low: int, high: int) -> NDArray[np.int64]:
        """Return a sequence of `count` integers from `low` to `high`."""
        values = self.numbers(name, count)
        if not np.all((values >= low) & (values <= high) & (values == np.floor(values))):
            raise self.error(name, "has other numbers", f"integers from {low} to {high}")
        return values.astype(np.int64)

    def rows(self, name: str, n_rows: int, n_columns: int) -> Float64Array:
        """Return a sequence of `n_rows` sequences of `n_columns` finite numbers."""
        nodes = self._sequence(name, n_rows)
        path = f"{self.path}.{name}"
        return np.stack([_numbers(f"{path}[{i}]", n, n_columns) for i, n in enumerate(nodes)])

    def _get(self, name: str) -> Node:
        if name not in self._node:
            raise InputError(f"{self.path}.{name} is missing; {_REMEDY}")
        return self._node[name]

    def _sequence(self, name: str, count: int) -> list[Node]:
        nodes = self._get(name)
        if not isinstance(nodes, list):
            raise self.error(name, "is no sequence of nodes", f"a sequence of {count}")
        if len(nodes) != count:
            raise self.error(name, f"has {len(nodes)} entries", str(count))
        return nodes


def _numbers(path: str, node: Node, count: int) -> Float64Array:
    if not isinstance(node, bytes):
        raise InputError(f"{path} is a collection, must be {count} numbers; {_REMEDY}")
    # A text of n bytes has at most (n + 1) / 2 words, whatever the count says.
    current_budget().spend(min(count + 1, len(node) // 2 + 1) * _WORD_BYTES, path)
    words = node.split(None, count)
    if len(words) != count:
        found = f"more than {count}" if len(words) > count else str(len(words))
        raise InputError(f"{path} has {found} numbers, must have {count}; {_REMEDY}")
    values = array("d")
    for word in words:
        value = real(word)
        if isinstance(value, str):
            raise InputError(f"{path} has '{shown(word)}', must be {value}; {_REMEDY}")
        values.append(value)
    return np.frombuffer(values)

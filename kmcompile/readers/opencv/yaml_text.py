"""OpenCV's YAML 1.0 and its JSON: block maps and sequences, flow maps and sequences, words.

JSON is what stands between braces in YAML. There are no anchors, aliases, multi-line texts or
conversions; tags, such as !!opencv-matrix, are passed over.
"""

from __future__ import annotations

import re

from kmcompile.errors import InputError
from kmcompile.readers.opencv.tree import MAX_DEPTH, Node, add, error_in_text, spend_node

YAML_START = (b"%YAML:1.", b"%YAML 1.")
_JSON_START = re.compile(rb"\s*\{")

_HEAD_BYTES = 1000
"""How much of a line is looked at for its name: the rest may be as long as the file."""

_NUMBERS = re.compile(rb"\[([^\[\]{}\":#]*)\]")
_TOKEN = re.compile(rb'\s*+(?:([\[\]{},:])|"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)"|([^\s\[\]{},:"]+))')
_SPACES = re.compile(rb" *")
_KEY = re.compile(rb'("[^"]*"|[^\s":#&*!|>%@`{}\[\],-][^\s":{}\[\],]*)[ ]*:(?:[ ]+|\Z)')
_TAG = re.compile(rb"!+(?:<[^<>\s]*>|[A-Za-z0-9_:.-]*)(?: +|(?=[\r\n])|\Z)")
_REST = re.compile(rb"[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")


def is_json(content: bytes) -> bool:
    """Whether the content begins as a JSON object; no pickle does."""
    return _JSON_START.match(content) is not None


def read_yaml(content: bytes) -> Node:
    """Return the tree of a YAML file of OpenCV.

    Raises
    ------
    InputError
        It is not what OpenCV writes; the message starts with the number of the line.
    """
    return _Reader(content).document()


def read_json(content: bytes) -> Node:
    """Return the tree of a JSON file of OpenCV, as `read_yaml` does."""
    reader = _Reader(content)
    node = reader.flow(0)
    if content[reader.position :].strip():
        raise reader.error("text behind the last brace")
    return node


class _Reader:
    """A position in a text that only goes forward."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 0

    def error(self, problem: str) -> InputError:
        """Return the error of the line at the position."""
        return error_in_text(self.content, self.position, problem)

    def document(self) -> Node:
        """Return the node of the first document, behind the line %YAML."""
        self.position = self.content.find(b"\n") + 1 or len(self.content)
        indent, text = self._line()
        if text == b"---":
            self.position = self._end_of_line()
            indent, text = self._line()
        node = self._block(indent, 0) if text else {}
        _, text = self._line()
        if text not in (b"", b"..."):
            raise self.error("a line that is indented as no other")
        if text and self.content[self._end_of_line() :].strip():
            raise self.error("text behind the end of the first document")
        return node

    def _line(self) -> tuple[int, bytes]:
        """Return the indent and the head of the next line that has text, and go to its start."""
        while self.position < len(self.content):
            end = self._end_of_line()
            indented = _SPACES.match(self.content, self.position, end)
            start = indented.end() if indented else self.position
            head = self.content[start : min(end, start + _HEAD_BYTES)].rstrip(b" \r\n")
            if head and not head.startswith(b"#"):
                return start - self.position, head
            spend_node()
            self.position = end
        return -1, b""

    def _end_of_line(self) -> int:
        end = self.content.find(b"\n", self.position)
        return len(self.content) if end < 0 else end + 1

    def _block(self, indent: int, depth: int) -> Node:
        """Return the map or sequence whose lines have this indent."""
        if depth > MAX_DEPTH:
            raise self.error("nested too deep")
        _, text = self._line()
        items: list[Node] = []
        names: dict[str, Node] = {}
        sequence = text == b"-" or text.startswith(b"- ")
        while True:
            found, text = self._line()
            if found < indent or text in (b"", b"..."):
                return items if sequence else names
            if found > indent:
                raise self.error("a line that is indented deeper than the one above")
            if sequence:
                if text != b"-" and not text.startswith(b"- "):
                    raise self.error("a line without '-' in a sequence")
                self.position += indent + (1 if text == b"-" else 2)
                items.append(self._value(indent, depth))
                continue
            key = _KEY.match(text)
            if key is None:
                raise self.error("a line that is no 'name: value'")
            self.position += indent + key.end()
            add(names, key[1].strip(b'"'), self._value(indent, depth), self.error)

    def _value(self, indent: int, depth: int) -> Node:
        """Return what stands behind a name or a '-', in this line or in those below."""
        spend_node()
        for pattern in (_SPACES, _TAG):
            match = pattern.match(self.content, self.position)
            self.position = match.end() if match else self.position
        if self.content.startswith((b"{", b"["), self.position):
            node = self.flow(depth)
            rest = _REST.match(self.content, self.position)
            if rest is None:
                raise self.error("text behind a collection")
            self.position = rest.end()
            return node
        start, self.position = self.position, self._end_of_line()
        spend_node(self.position - start)
        text = self.content[start : self.position].strip()
        if text and not text.startswith(b"#"):
            return text.strip(b'"')
        below, _ = self._line()
        return self._block(below, depth + 1) if below > indent else b""

    def flow(self, depth: int) -> Node:
        """Return the node at the position: a map, a sequence, a string or a word."""
        spend_node()
        if depth > MAX_DEPTH:
            raise self.error("nested too deep")
        kind, word = self._token()
        if kind == b"[":
            return self._flow_sequence(depth)
        if kind == b"{":
            return self._flow_map(depth)
        if kind:
            raise self.error("a value is missing")
        return word

    def _flow_sequence(self, depth: int) -> Node:
        numbers = _NUMBERS.match(self.content, self.position - 1)
        if numbers is not None:
            spend_node(len(numbers[1]))
            self.position = numbers.end()
            return numbers[1].replace(b",", b" ")
        items = []
        while True:
            items.append(self.flow(depth + 1))
            kind, _ = self._token()
            if kind == b"]":
                return items
            if kind != b",":
                raise self.error("a sequence without ',' or ']'")

    def _flow_map(self, depth: int) -> Node:
        names: dict[str, Node] = {}
        kind, name = self._token()
        while kind != b"}" or names:
            if kind or self._token()[0] != b":":
                raise self.error("a map without 'name: value'")
            add(names, name, self.flow(depth + 1), self.error)
            kind, _ = self._token()
            if kind == b"}":
                break
            if kind != b",":
                raise self.error("a map without ',' or '}'")
            kind, name = self._token()
        return names

    def _token(self) -> tuple[bytes, bytes]:
        """Return the next sign, or an empty one and the next word or string."""
        match = _TOKEN.match(self.content, self.position)
        if match is None:
            self.position = min(self.position, len(self.content))
            raise self.error("the file ends in a collection, or has a sign that is no YAML or JSON")
        self.position = match.end()
        sign, text, word = match.groups()
        if sign:
            return sign, b""
        found = text if text is not None else word
        spend_node(len(found))
        return b"", found

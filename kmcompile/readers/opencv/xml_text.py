"""OpenCV's XML: elements with text or elements in them, and nothing else of XML.

No declarations, processing instructions, entities or attributes have a meaning here. A document
type, in which entities would be declared, is refused.
"""

from __future__ import annotations

import re
from functools import partial

from kmcompile.readers.opencv.tree import MAX_DEPTH, Node, add, error_in_text, spend_node

_ROOT = b"opencv_storage"
_HEAD_BYTES = 2000
"""Where the root must begin; comments may stand before it."""

# Possessive, so that a tag without an end costs no more than its length.
_TAG = re.compile(rb"<(/?)([A-Za-z_][A-Za-z0-9_.-]*+)([^<>]*+)>")
_ITEM = b"_"


class _Element:
    """An element that is open: what has been found in it."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.text = b""
        self.items: list[Node] = []
        self.names: dict[str, Node] = {}

    def node(self) -> Node:
        """Return the node of the whole element."""
        return self.items or self.names or self.text


def is_xml(content: bytes) -> bool:
    """Whether the content begins as OpenCV's XML files do."""
    head = content[:_HEAD_BYTES]
    return head.lstrip().startswith(b"<?xml") and b"<" + _ROOT in head


def read_xml(content: bytes) -> Node:
    """Return the tree of the root's content.

    Raises
    ------
    InputError
        It is not what OpenCV writes; the message starts with the number of the line.
    """
    position = content.find(b"?>") + 2
    if position < 2:
        raise error_in_text(content, 0, "a declaration without an end")
    open_elements = [_Element(b"")]
    while True:
        start = content.find(b"<", position)
        text = content[position : start if start >= 0 else None]
        if text.strip():
            _put_text(content, position, open_elements[-1], text)
        if start < 0:
            break
        position = _past(content, start, open_elements)
    if len(open_elements) > 1:
        raise error_in_text(content, len(content), "the file ends here, cut short")
    root = open_elements[0].names.get(_ROOT.decode())
    if root is None or len(open_elements[0].names) > 1:
        raise error_in_text(content, len(content), "the root must be opencv_storage alone")
    return root


def _put_text(content: bytes, position: int, element: _Element, text: bytes) -> None:
    if element.items or element.names or element.text or not element.name:
        raise error_in_text(content, position, "text between elements")
    spend_node(len(text))
    element.text = text


def _past(content: bytes, start: int, open_elements: list[_Element]) -> int:
    """Return the position behind the tag or comment at `start`; open or close its element."""
    if content.startswith(b"<!--", start):
        spend_node()
        end = content.find(b"-->", start)
        if end < 0:
            raise error_in_text(content, start, "a comment without an end")
        return end + 3
    if content.startswith((b"<!", b"<?"), start):
        raise error_in_text(content, start, "declarations and entities are refused as unsafe")
    match = _TAG.match(content, start)
    if match is None:
        raise error_in_text(content, start, "a tag that OpenCV does not write")
    closing, name, attributes = match.groups()
    empty = attributes.endswith(b"/")
    if closing and attributes.strip():
        raise error_in_text(content, start, "a tag that OpenCV does not write")
    if not closing:
        spend_node()
        if open_elements[-1].text or len(open_elements) > MAX_DEPTH:
            raise error_in_text(content, start, "an element behind text, or nested too deep")
        open_elements.append(_Element(name))
    if closing or empty:
        element = open_elements.pop()
        if element.name != name or not open_elements:
            raise error_in_text(content, start, "it closes an element that is not open")
        _close(content, start, element, open_elements[-1])
    return match.end()


def _close(content: bytes, start: int, element: _Element, parent: _Element) -> None:
    if element.name == _ITEM:
        parent.items.append(element.node())
    else:
        add(parent.names, element.name, element.node(), partial(error_in_text, content, start))
    if parent.items and parent.names:
        raise error_in_text(content, start, "elements with and without names in one")

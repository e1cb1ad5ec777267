"""How many messages lie in a protobuf file, counted without making any of them.

A parsed message takes 80 times the two bytes that an empty one has in the file.

References
----------
protobuf.dev/programming-guides/encoding: a field is its number and wire type as a varint, then a
varint (0), 8 bytes (1), a length and so many bytes (2), or 4 bytes (5); 3 and 4 are out of use.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.errors import InputError

Nested = Mapping[str, Mapping[int, str]]
"""The fields of each kind of message that are messages, by number, and of which kind."""

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5


def count_fields(content: bytes, root: str, nested: Nested, most: int) -> int:
    """Return how many fields a message has, those of the messages in it included.

    Messages that hold no others are not looked into: their arrays may be long.

    Parameters
    ----------
    content : bytes
    root : str
        The kind of the whole content.
    nested : mapping of str to mapping of int to str
    most : int
        Counting ends behind it.

    Raises
    ------
    InputError
        The content is no protobuf message.
    """
    count = 0
    waiting = [(0, len(content), root)]
    while waiting:
        position, end, kind = waiting.pop()
        while position < end and count <= most:
            count += 1
            key, position = _varint(content, position)
            number, wire_type = key >> 3, key & 7
            start, position = _after(content, position, wire_type)
            if position > end:
                raise not_whole()
            inner = nested[kind].get(number)
            if wire_type == _LENGTH and inner is not None and nested[inner]:
                waiting.append((start, position, inner))
    return count


def not_whole() -> InputError:
    """Return the error for a file that is cut short or no ONNX model."""
    return InputError("not a whole ONNX model; save the model again")


def _after(content: bytes, position: int, wire_type: int) -> tuple[int, int]:
    """Return where a field's value starts, behind its length if it has one, and where it ends."""
    if wire_type == _VARINT:
        return position, _varint(content, position)[1]
    if wire_type == _LENGTH:
        length, position = _varint(content, position)
        return position, position + length
    if wire_type in (_EIGHT, _FOUR):
        return position, position + (8 if wire_type == _EIGHT else 4)
    raise not_whole()


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """Return a number of at most 10 bytes, and where it ends."""
    value = 0
    for shift, byte in enumerate(content[position : position + 10]):
        value |= (byte & 127) << 7 * shift
        if byte < 128:
            return value, position + shift + 1
    raise not_whole()

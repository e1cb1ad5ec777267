"""Counting of the fields in a protobuf file, without parsing it to objects.

An empty message has two bytes in the file, and takes 80 times as much when parsed.

References
----------
protobuf.dev/programming-guides/encoding: a field is its number and wire type as a varint, then a
varint (0), 8 bytes (1), a length and so many bytes (2), or 4 bytes (5); 3 and 4 are out of use.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmcompile.errors import InputError

Nested = Mapping[str, Mapping[int, str]]
"""Kind of message -> number of a field that is a message -> kind of that message."""

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5


def count_fields(content: bytes, root: str, nested: Nested, most: int) -> int:
    """Return the number of fields of a message, with those of messages inside it.

    Messages without messages inside are not read, because their arrays may be long.

    Parameters
    ----------
    content : bytes
    root : str
        The kind of the whole content.
    nested : mapping of str to mapping of int to str
    most : int
        Counting stops above this number.

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
    """Return the start of a field's value, behind its length if it has one, and its end."""
    if wire_type == _VARINT:
        return position, _varint(content, position)[1]
    if wire_type == _LENGTH:
        length, position = _varint(content, position)
        return position, position + length
    if wire_type in (_EIGHT, _FOUR):
        return position, position + (8 if wire_type == _EIGHT else 4)
    raise not_whole()


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """Return a varint of at most 10 bytes, and the position behind it."""
    value = 0
    for shift, byte in enumerate(content[position : position + 10]):
        value |= (byte & 127) << 7 * shift
        if byte < 128:
            return value, position + shift + 1
    raise not_whole()

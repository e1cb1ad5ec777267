"""reliability 45: pickles that name one part and use it again and again."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable


def packed(content):
    return zlib.compress(content, 9)


def text(content):
    return b"X" + struct.pack("<I", len(content)) + content


def integer(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def dtype(name, order=b"<"):
    """Return the code of a dtype; what numpy's own pickles have."""
    least = b"\xff\xff\xff\xff"
    state = b"(K\x03" + text(order) + b"NNNJ" + least + b"J" + least + b"K\x00t"
    return b"cnumpy\ndtype\n" + text(name) + b"\x89\x88\x87R" + state + b"b"


EMPTY_ARRAY = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
_BYTES = 2_000_000


def _often(one, other, again, n):
    """Return a list of n times the same code, which uses two parts as memo 0 and 1."""
    return packed(b"\x80\x05(" + one + b"q\x00" + other + b"q\x01" + again * n + b"l.")


def _raw(fill=b"\0"):
    return b"B" + struct.pack("<I", _BYTES) + fill * (_BYTES // len(fill))


def _state(length, content=b"h\x00"):
    """Return the code of an array of memo 1's dtype that is filled."""
    return EMPTY_ARRAY + b"(K\x01" + integer(length) + b"\x85h\x01\x89" + content + b"tb"


def _buffers():
    again = b"cnumpy._core.numeric\n_frombuffer\n(h\x00h\x01"
    again += integer(_BYTES // 8) + b"\x85" + text(b"C") + b"tR"
    return _often(b"\x96" + struct.pack("<Q", _BYTES) + bytes(_BYTES), dtype(b"f8"), again, 600)


def _object_arrays():
    items = b"(" + b"N" * 300_000 + b"l"
    return _often(items, dtype(b"O", b"|"), _state(300_000), 2000)


def _scalars():
    again = b"cnumpy.core.multiarray\nscalar\nh\x01h\x00\x86R"
    return _often(_raw(b"a\0\0\0"), dtype(b"U500000"), again, 600)


def _states():
    names = b"".join(text(b"%d" % n) + b"N" for n in range(50_000))
    return _often(b"}(" + names + b"u", b"csklearn.svm\nSVC\n", b"h\x01)\x81h\x00b", 3000)


def _encoded():
    again = b"h\x01h\x00" + text(b"latin1") + b"\x86R"
    return _often(text(b"a" * _BYTES), b"c_codecs\nencode\n", again, 600)


def _long_texts(opcode):
    """Return texts of ASCII but for one character, which take 4 bytes a character."""
    letters = b"a" * 90_000_000
    if opcode == b"V":
        return packed(b"\x80\x04V\\U0001f600" + letters + b"\n.")
    return packed(b"\x80\x04" + text(letters + "\U0001f600".encode()) + b".")


PICKLES: dict[str, Callable[[], bytes]] = {
    "a text that is encoded": _encoded,
    "arrays of the other byte order": lambda: _often(
        _raw(), dtype(b"f8", b">"), _state(_BYTES // 8), 600
    ),
    "arrays of text": lambda: _often(_raw(), dtype(b"U1"), _state(_BYTES // 4), 2000),
    "buffers": _buffers,
    "object arrays of one list": _object_arrays,
    "scalars of one text": _scalars,
    "states of many objects": _states,
    "a million objects": lambda: _often(b"N", b"csklearn.svm\nSVC\n", b"h\x01)\x81", 320_000),
    "a million dicts": lambda: _often(b"N", b"N", b"}", 990_000),
    "a text of wide characters": lambda: _long_texts(b"X"),
    "a line of wide characters": lambda: _long_texts(b"V"),
}
"""Each of some kilobytes."""

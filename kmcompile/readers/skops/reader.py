"""Read a `.skops` file as data: a zip archive of schema.json and a `.npy` an array.

schema.json is a tree of nodes. Each names a class (`__class__` of `__module__`), the node kind
that skops would load it with (`__loader__`) and usually its identity when it was saved
(`__id__`). Here a kind is a function of the table at the end of this file that builds plain
data; no name of the file is imported or called, and skops is not needed.

References
----------
skops 0.16, skops/io/_general.py, _numpy.py, _scipy.py, _sklearn.py: the kinds and their fields;
_audit.py: a node whose `__id__` was met before is the same object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.pickles.data_graph import MAX_DEPTH, check_nesting
from kmcompile.readers.pickles.globals import InertClass, forbidden, stand_in
from kmcompile.readers.record import Function, Record, short_ascii
from kmcompile.readers.sklearn.kernel_functions import is_kernel_function, refusal
from kmcompile.readers.skops.arrays import SkopsArrays
from kmcompile.readers.skops.fields import count, damaged, field, list_field, text_field
from kmcompile.readers.zip_members import read_members

SCHEMA = "schema.json"
"""The member by which the format is recognised among zip archives."""

NEWEST_PROTOCOL = 2

_MEMBERS = re.compile(r"schema\.json|[0-9a-f-]{1,64}\.(npy|npz|bin)")
_MAX_SCHEMA_BYTES = 50_000_000
_BYTES_PER_CHARACTER = 30
"""Cost of a character of the schema: Python needs 64 bytes for [] and 200 for {"":1}."""
_MAX_NODE_DEPTH = 2 * MAX_DEPTH
"""Largest depth of nodes. An object takes two: itself and the dict of its attributes."""

_DICTS = {
    ("builtins", "dict"),
    ("collections", "OrderedDict"),
    ("sklearn.utils._bunch", "Bunch"),
}
_KEY_TYPES = {"str", "int", "float", "bool", "int32", "int64", "float64"}

_MAX_KEY = 2**63
"""Python hashes integers modulo 2^61 - 1: larger keys could all collide."""

_UNFINISHED: Any = object()


def read_skops(content: bytes) -> Any:
    """Return the object that a `.skops` file holds, as data.

    Raises
    ------
    InputError
        A class or node kind is none that a model needs, the data is nested too deep, or the
        file is damaged.
    """
    members = read_members(content, _MEMBERS)
    root = _schema(members.pop(SCHEMA, b""))
    protocol = root.get("protocol")
    if type(protocol) is not int or not 0 <= protocol <= NEWEST_PROTOCOL:
        raise InputError(
            f"the skops protocol is {short_ascii(str(protocol))}, must be 0 to {NEWEST_PROTOCOL}; "
            "save the model with skops 0.16 or with joblib.dump"
        )
    value = _SkopsTree(members).value(root, 0)
    check_nesting(value)
    return value


def _schema(raw: bytes) -> dict[str, Any]:
    if len(raw) > _MAX_SCHEMA_BYTES:
        raise InputError(
            f"{SCHEMA} has {len(raw)} bytes, must be at most {_MAX_SCHEMA_BYTES}; "
            "a model for a microcontroller needs less"
        )
    current_budget().spend(_BYTES_PER_CHARACTER * len(raw), f"{len(raw)} bytes of {SCHEMA}")
    try:
        root = json.loads(raw)
    except (ValueError, RecursionError):
        raise damaged(f"{SCHEMA} is no JSON, or nested too deep") from None
    if type(root) is not dict:
        raise damaged(f"{SCHEMA} is no object")
    return root


class _SkopsTree:
    """Builds the values of nodes; nodes of one identity share one value."""

    def __init__(self, members: dict[str, bytes]) -> None:
        self.arrays = SkopsArrays(members)
        self.known: dict[int, Any] = {}

    def value(self, node: Any, depth: int) -> Any:
        """Return the value of a node."""
        if depth > _MAX_NODE_DEPTH:
            raise InputError(
                f"its data is nested more than {_MAX_NODE_DEPTH} deep; refused as unsafe"
            )
        kind = text_field(node, "__loader__")
        build = _KINDS.get(kind)
        if build is None:
            raise InputError(
                f"{SCHEMA} has a node of the kind {short_ascii(kind)}, which a model that can be "
                "compiled does not need;\nsave a plain scikit-learn estimator"
            )
        identity = node.get("__id__")
        if type(identity) is not int:
            return build(self, node, depth)
        if identity not in self.known:
            self.known[identity] = _UNFINISHED
            self.known[identity] = build(self, node, depth)
        if self.known[identity] is _UNFINISHED:
            raise InputError("its data contains itself; refused as unsafe")
        return self.known[identity]

    def object_node(self, node: Any, depth: int) -> Any:
        kind = _class(node)
        if not isinstance(kind, InertClass):
            raise damaged("a function has attributes")
        attributes = self.value(node["content"], depth + 1) if "content" in node else {}
        if not isinstance(attributes, dict):
            # Random generators; estimators have a dict, and without one count as not fitted.
            attributes = {"__state__": attributes}
        return Record(kind.module, kind.name, attributes)

    def name_node(self, node: Any, depth: int) -> Any:
        """Return a function or class by its name."""
        return _class(node)

    def unread_node(self, node: Any, depth: int) -> Any:
        """Return a record without attributes, for objects that no reader reads."""
        found = _class(node)
        return Record(found.module, found.name, {})

    def partial_node(self, node: Any, depth: int) -> Any:
        parts = field(node, "content")
        names = ("func", "args", "kwds", "namespace")
        state = tuple(self.value(field(parts, name), depth + 1) for name in names)
        return Record("functools", "partial", {"__state__": state})

    def list_node(self, node: Any, depth: int) -> Any:
        return [self.value(item, depth + 1) for item in list_field(node, "content")]

    def tuple_node(self, node: Any, depth: int) -> Any:
        if (text_field(node, "__module__"), text_field(node, "__class__")) != ("builtins", "tuple"):
            raise InputError(f"{SCHEMA} has a named tuple, which no model needs")
        return tuple(self.list_node(node, depth))

    def dict_node(self, node: Any, depth: int) -> Any:
        """Return a dict; JSON has only text as keys, their types lie beside them."""
        if (text_field(node, "__module__"), text_field(node, "__class__")) not in _DICTS:
            raise InputError(f"{SCHEMA} has a dict of an own class, which no model needs")
        content = field(node, "content")
        types = list_field(field(node, "key_types"), "content")
        if type(content) is not dict or len(types) != len(content):
            raise damaged("a dict has not one type a key")
        pairs = zip(content.items(), types, strict=True)
        return {_key(key, kind): self.entry(key, item, depth + 1) for (key, item), kind in pairs}

    def entry(self, key: str, node: Any, depth: int) -> Any:
        """Return a value of a dict; an unknown kernel function is refused as a kernel."""
        if key == "kernel" and field(node, "__loader__") == "FunctionNode":
            module, name = text_field(node, "__module__"), text_field(node, "__class__")
            if not is_kernel_function(module, name):
                raise refusal(Function(module, name))
        return self.value(node, depth)

    def json_node(self, node: Any, depth: int) -> Any:
        text = text_field(node, "content")
        current_budget().spend(_BYTES_PER_CHARACTER * len(text), "a text of a node")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise damaged("a value is no JSON") from None
        if not isinstance(value, str | int | float | None):
            raise damaged("a value is neither text nor a number")
        return value

    def slice_node(self, node: Any, depth: int) -> Any:
        parts = field(node, "content")
        return slice(*(count(parts, name) for name in ("start", "stop", "step")))

    def array_node(self, node: Any, depth: int) -> Any:
        if text_field(node, "type") == "json":
            shape = self.value(field(node, "shape"), depth + 1)
            return self.arrays.of_objects(self.list_node(node, depth), shape)
        return self.arrays.of_numbers(node)

    def sparse_node(self, node: Any, depth: int) -> Any:
        return self.arrays.sparse(node)


def _class(node: Any) -> InertClass | Function:
    module, name = text_field(node, "__module__"), text_field(node, "__class__")
    found = stand_in(module, name)
    if found is None:
        raise InputError(f"{forbidden(module, name)}\nsave a plain scikit-learn estimator")
    return found


def _key(key: str, kind: Any) -> str | int | float | bool:
    """Return a key of a dict in its own type."""
    name = text_field(kind, "__class__")
    if text_field(kind, "__loader__") != "TypeNode" or name not in _KEY_TYPES:
        raise damaged("the key of a dict is neither text nor a number")
    if name == "str":
        return key
    if name == "bool":
        return key == "true"
    try:
        value = float(key) if name.startswith("float") else int(key)
    except ValueError:
        raise damaged("the key of a dict is not of its type") from None
    if type(value) is int and abs(value) >= _MAX_KEY:
        raise damaged("the key of a dict is too large")
    return value


_Builder = Callable[[_SkopsTree, Any, int], Any]

_KINDS: dict[str, _Builder] = {
    "ObjectNode": _SkopsTree.object_node,
    "FunctionNode": _SkopsTree.name_node,
    "TypeNode": _SkopsTree.name_node,
    "PartialNode": _SkopsTree.partial_node,
    "RandomStateNode": _SkopsTree.unread_node,
    "RandomGeneratorNode": _SkopsTree.unread_node,
    "LossNode": _SkopsTree.unread_node,
    "MaskedArrayNode": _SkopsTree.unread_node,
    "ListNode": _SkopsTree.list_node,
    "TupleNode": _SkopsTree.tuple_node,
    "DictNode": _SkopsTree.dict_node,
    "JsonNode": _SkopsTree.json_node,
    "SliceNode": _SkopsTree.slice_node,
    "NdArrayNode": _SkopsTree.array_node,
    "SparseMatrixNode": _SkopsTree.sparse_node,
}

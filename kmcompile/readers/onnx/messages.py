"""The protobuf messages of an ONNX file: only the fields that a kernel machine needs.

The parser is protobuf's own; other fields are skipped, except those whose presence alone makes
a model unsuitable. Text is declared as bytes, so that damaged text is ours to refuse.

References
----------
onnx/onnx.proto3 of ONNX 1.16: names, numbers and types of the fields.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.onnx.wire import count_fields, not_whole

MAX_BYTES = 20_000_000
"""Largest file: five million numbers."""

_COPIES = 16
"""Copies of the file's bytes: an integer of one byte takes 8, in an array that doubles."""

_MAX_FIELDS = 100_000
"""Largest number of fields besides the numbers and texts of operators. An empty operator has two
bytes in the file, and 160 when parsed."""

_MAX_PARTS = 10_000
"""Largest number of operators, constants and inputs; a chain and its scores have some dozens."""

_PACKAGE = "kmcompile.onnx"

_MESSAGES: dict[str, tuple[tuple[str, int, str], ...]] = {
    "ModelProto": (
        ("ir_version", 1, "int64"),
        ("graph", 7, "GraphProto"),
        ("functions", 25, "bytes*"),
    ),
    "GraphProto": (
        ("node", 1, "NodeProto*"),
        ("initializer", 5, "TensorProto*"),
        ("input", 11, "ValueInfoProto*"),
        ("output", 12, "ValueInfoProto*"),
        ("sparse_initializer", 15, "bytes*"),
    ),
    "NodeProto": (
        ("input", 1, "bytes*"),
        ("output", 2, "bytes*"),
        ("op_type", 4, "bytes"),
        ("attribute", 5, "AttributeProto*"),
        ("domain", 7, "bytes"),
    ),
    "AttributeProto": (
        ("name", 1, "bytes"),
        ("f", 2, "float"),
        ("i", 3, "int64"),
        ("s", 4, "bytes"),
        ("floats", 7, "float*"),
        ("ints", 8, "int64*"),
        ("strings", 9, "bytes*"),
        ("type", 20, "int32"),
        ("ref_attr_name", 21, "bytes"),
    ),
    "TensorProto": (
        ("dims", 1, "int64*"),
        ("data_type", 2, "int32"),
        ("float_data", 4, "float*"),
        ("int32_data", 5, "int32*"),
        ("string_data", 6, "bytes*"),
        ("int64_data", 7, "int64*"),
        ("name", 8, "bytes"),
        ("raw_data", 9, "bytes"),
        ("double_data", 10, "double*"),
        ("uint64_data", 11, "uint64*"),
        ("external_data", 13, "bytes*"),
        ("data_location", 14, "int32"),
    ),
    "ValueInfoProto": (("name", 1, "bytes"), ("type", 2, "TypeProto")),
    "TypeProto": (("tensor_type", 1, "TensorType"),),
    "TensorType": (("elem_type", 1, "int32"), ("shape", 2, "TensorShapeProto")),
    "TensorShapeProto": (("dim", 1, "Dimension*"),),
    "Dimension": (("dim_value", 1, "int64"), ("dim_param", 2, "bytes")),
}
"""Field, number and type, `*` behind the type of a repeated field."""

_NESTED = {
    message: {n: kind.rstrip("*") for _, n, kind in fields if kind.rstrip("*") in _MESSAGES}
    for message, fields in _MESSAGES.items()
}
"""The fields of each message that are messages themselves, with their kinds."""


def parse_model(content: bytes) -> Any:
    """Return the ModelProto of a file.

    Raises
    ------
    InputError
        The file is too large, or no protobuf message of this kind.
    """
    if len(content) > MAX_BYTES:
        raise InputError(
            f"the ONNX model has {len(content)} bytes, must be at most {MAX_BYTES}; "
            "a model for a microcontroller needs less"
        )
    current_budget().spend(_COPIES * len(content), f"{len(content)} bytes of an ONNX model")
    if count_fields(content, "ModelProto", _NESTED, _MAX_FIELDS) > _MAX_FIELDS:
        raise InputError(
            f"the ONNX model has more than {_MAX_FIELDS} operators, attributes and constants; "
            "refused as unsafe"
        )
    model = _MODEL()
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise not_whole() from None
    for parts in (model.graph.node, model.graph.initializer, model.graph.input):
        if len(parts) > _MAX_PARTS:
            raise InputError(
                f"the ONNX model has {len(parts)} operators, constants or inputs, must be at most "
                f"{_MAX_PARTS}; refused as unsafe"
            )
    return model


def _message_class(name: str) -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="kmcompile/onnx.proto", package=_PACKAGE, syntax="proto2"
    )
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for field, number, kind in fields:
            _add_field(described, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, number: int, kind: str) -> None:
    types = descriptor_pb2.FieldDescriptorProto
    plain = kind.rstrip("*")
    field = message.field.add(name=name, number=number)
    field.label = types.LABEL_OPTIONAL if plain == kind else types.LABEL_REPEATED
    if plain in _MESSAGES:
        field.type = types.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{plain}"
    else:
        field.type = types.Type.Value(f"TYPE_{plain.upper()}")


_MODEL = _message_class("ModelProto")

"""The stored ONNX models, and a few lines to change them."""

from __future__ import annotations

from pathlib import Path

from model_files import refused, write

FOLDER = Path(__file__).parent / "stored_models" / "onnx"
FILES = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.onnx"))}


def node_of(model, operator):
    return next(node for node in model.graph.node if node.op_type == operator.encode())


def attribute_of(model, operator, name):
    return next(a for a in node_of(model, operator).attribute if a.name == name.encode())


def model_refused(tmp_path, model, *words):
    return refused(write(tmp_path, model.SerializeToString(), "model.onnx"), *words)

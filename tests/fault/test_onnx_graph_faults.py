"""reliability.md, items 8 and 12: ONNX constants and graphs that are not as they must be."""

from __future__ import annotations

import struct

import pytest
from model_files import write
from onnx_files import FILES, model_refused, node_of

from kmcompile.readers import load_model
from kmcompile.readers.onnx.messages import parse_model


def _external(tensor):
    tensor.data_location = 1


def _external_data(tensor):
    tensor.external_data.append(b"\n\x08location\x12\x0b/etc/passwd")


def _short(tensor):
    tensor.raw_data = tensor.raw_data[:-1]


def _other_dims(tensor):
    tensor.dims[0] += 1


def _negative_dims(tensor):
    tensor.dims[0] = -4


def _huge_dims(tensor):
    tensor.dims.extend([2**62, 2**62])


def _both_ways(tensor):
    tensor.float_data.extend([1.0] * 4)


def _other_type(tensor):
    tensor.data_type = 16


def _double(tensor):
    tensor.data_type, tensor.raw_data = 11, bytes(32)


def _not_finite(tensor):
    tensor.raw_data = struct.pack("<4f", 1, 1, float("inf"), 1)


TENSORS = {
    _external: "lie in another file, must be in this one",
    _external_data: "lie in another file, must be in this one",
    _short: "has 15 raw bytes",
    _other_dims: "has 16 raw bytes",
    _negative_dims: "malformed shape",
    _huge_dims: "has 16 raw bytes",
    _both_ways: "one of the two ways",
    _other_type: "has type 16, which is not supported",
    _double: "must be float (1) and of 1 or 4 values",
    _not_finite: "must be finite",
}


@pytest.mark.parametrize("change", TENSORS, ids=lambda change: change.__name__)
def test_constants_that_lie_elsewhere_or_do_not_fit_are_refused(change, tmp_path):
    """reliability 8: external data, raw length unlike its dims."""
    model = parse_model(FILES["sigmoid"])
    tensor = next(t for t in model.graph.initializer if list(t.dims) == [4])
    values = struct.pack("<4f", *tensor.float_data) if len(tensor.float_data) else tensor.raw_data
    del tensor.float_data[:]
    tensor.raw_data = values
    load_model(write(tmp_path, model.SerializeToString()))
    change(tensor)
    model_refused(tmp_path, model, TENSORS[change])


def _rename(operator, name):
    def change(model):
        node_of(model, operator).op_type = name

    return change


def _two_inputs(model):
    model.graph.input.add(name=b"more").type.tensor_type.elem_type = 1


def _double_input(model):
    model.graph.input[0].type.tensor_type.elem_type = 11


def _other_width(model):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 9


def _scores_first(model):
    model.graph.output[0].name = node_of(model, "SVMClassifier").output[1]


def _cycle(model):
    node_of(model, "Scaler").input[0] = node_of(model, "Scaler").output[0]


def _twice(model):
    model.graph.node.add().CopyFrom(node_of(model, "Scaler"))


def _no_output(model):
    del model.graph.output[:]


def _functions(model):
    model.functions.append(b"")


def _sparse(model):
    model.graph.sparse_initializer.append(b"")


def _squared(model):
    node = node_of(model, "Scaler")
    node.op_type, node.domain = b"Mul", b""
    del node.attribute[:]
    node.input.append(node.input[0])


def _no_constant(model):
    _squared(model)
    node_of(model, "Mul").input.pop()


def _other_domain(model):
    node_of(model, "Scaler").domain = b"com.example"


def _bad_name(model):
    node_of(model, "Scaler").op_type = b"\xff\x1b[2J"


def _fork(model):
    node_of(model, "SVMClassifier").input.append(b"more")


GRAPHS = {
    _rename("Scaler", b"Log"): "the operator ai.onnx.ml.Log is not supported here",
    _rename("SVMClassifier", b"TreeEnsembleClassifier"): "computes Scaler, ai.onnx.ml.Tree",
    _rename("Scaler", b"\x1b[2J"): "\\x1b[2J",
    _two_inputs: "must have one, a float tensor",
    _double_input: "must have one, a float tensor",
    _other_width: "with 9 features, must have 2 with 30",
    _scores_first: "comes by output 2 of SVMClassifier",
    _cycle: "is made by no operator, or by more than 50",
    _twice: "is made twice",
    _no_output: "has no output",
    _functions: "functions of its own",
    _sparse: "sparse constants",
    _squared: "which has 2 data inputs and 0 constants",
    _no_constant: "which has 1 data inputs and 0 constants",
    _other_domain: "com.example.Scaler",
    _bad_name: "no UTF-8",
    _fork: "which has 2 data inputs",
}


@pytest.mark.parametrize("change", GRAPHS, ids=GRAPHS.values())
def test_other_graphs_are_refused_naming_the_operator(change, tmp_path):
    """reliability 12: what is not supported says what is."""
    model = parse_model(FILES["cancer"])
    change(model)
    model_refused(tmp_path, model, GRAPHS[change])


def _reversed(operator):
    def change(model):
        node = node_of(model, operator)
        node.input[:] = list(node.input)[::-1]

    return change


def _constant(operator, position):
    """Return a change of a constant's dims or numbers."""

    def find(model):
        name = node_of(model, operator).input[position]
        return next(tensor for tensor in model.graph.initializer if tensor.name == name)

    return find


def _transposed(model):
    tensor = _constant("MatMul", 1)(model)
    tensor.dims[:] = list(tensor.dims)[::-1]


def _flat(model):
    tensor = _constant("MatMul", 1)(model)
    tensor.dims[:] = [tensor.dims[0] * tensor.dims[1]]


def _descending(model):
    low = _constant("Clip", 1)(model)
    low.ClearField("raw_data")
    low.float_data[:] = [2.0]


def _negative(model):
    factor = _constant("Mul", 1)(model)
    n_values = factor.dims[0]
    factor.ClearField("raw_data")
    factor.float_data[:] = [-1.0] * n_values


def _divided_by_zero(model):
    _negative(model)
    node_of(model, "Mul").op_type = b"Div"
    _constant("Div", 1)(model).float_data[0] = 0.0


def _one_clip(model):
    node_of(model, "Clip").input.pop()


def _open_clip(model):
    node_of(model, "Clip").input[1] = b""


CONSTANTS = {
    _reversed("Sub"): "Sub.first input is the constant",
    _reversed("MatMul"): "MatMul.first input is the constant",
    _transposed: "must be float (1) and a matrix of 5 columns",
    _flat: "must be float (1) and a matrix of 5 columns",
    _descending: "are 2.0 and 1.0, must be ascending",
    _negative: "Mul.constant gives the factor -1.0, must be > 0",
    _divided_by_zero: "Div.constant gives the factor",
    _one_clip: "which has 1 data inputs and 1 constants",
    _open_clip: "which has 2 data inputs and 1 constants",
}


@pytest.mark.parametrize("change", CONSTANTS, ids=CONSTANTS.values())
def test_constants_of_steps_that_do_not_fit_are_refused(change, tmp_path):
    """reliability 10: of PCA and of scalers that are not ONNX's Scaler."""
    model = parse_model(FILES["components"])
    change(model)
    model_refused(tmp_path, model, CONSTANTS[change])


def test_an_operator_behind_the_label_is_refused(tmp_path):
    model = parse_model(FILES["svr"])
    cast = model.graph.node[-1]
    cast.op_type = b"Exp"
    del cast.attribute[:]
    model_refused(tmp_path, model, "the operator Exp is not supported here")

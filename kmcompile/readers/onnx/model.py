"""ONNX models as kernel machines: a chain of operators from one float input to the first output.

Every operator between the input and the label is read. Operators on the machine's scores (ZipMap,
onnxruntime's one-vs-rest scores) do not change the label and are ignored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.readers.onnx.attributes import OnnxAttributes, text
from kmcompile.readers.onnx.machines import MACHINES, one_class
from kmcompile.readers.onnx.messages import parse_model
from kmcompile.readers.onnx.steps import FLOATS, N_CONSTANTS, STEPS, check_cast
from kmcompile.readers.onnx.tensors import Constants
from kmcompile.readers.record import short_ascii
from kmcompile.readers.size_limits import count_numbers, require_room, spend_steps
from kmcompile.steps import Projection, Step

START = b"\x08"
"""Field 1 of a ModelProto, ir_version, as a varint; no pickle starts with it."""

ROUNDED = "an ONNX model holds float32: its numbers were rounded when it was saved"
_SIGN_OF_ZERO = "where the decision is exactly 0 the label is -1 (ONNX's Sign gives 0)"

_SUPPORTED = f"supported: {', '.join(MACHINES)}, after {', '.join(STEPS)}"
_MAX_CHAIN = 50
_MAX_SHOWN = 8
_ML, _CORE = ("ai.onnx.ml",), ("", "ai.onnx")
"""Names of the domains that operators are of."""
_OF_ML = (*MACHINES, "Scaler", "Normalizer")
_FLOAT, _INT64, _STRING = 1, 7, 8
"""TensorProto.DataType."""


def read_onnx(content: bytes) -> KernelMachine:
    """Return the machine of an ONNX model: its float32 numbers in float64.

    Raises
    ------
    InputError
        The graph is no chain, has an operator that is not supported, or is damaged.
    """
    model = parse_model(content)
    if model.functions:
        raise InputError("the ONNX model has functions of its own, which are not supported")
    graph = model.graph
    constants = Constants(graph)
    source = _input(graph, constants)
    nodes = _chain(graph, constants, source.name)
    place = next((i for i, node in enumerate(nodes) if _operator(node) in MACHINES), None)
    if place is None:
        names = ", ".join(_operator(node) for node in nodes[:_MAX_SHOWN]) or "nothing"
        raise InputError(f"the ONNX model computes {names};\n{_SUPPORTED}")
    machine = MACHINES[_operator(nodes[place])](nodes[place])
    steps = _steps(nodes[:place], machine.n_features, constants)
    projections = [step for step in steps if isinstance(step, Projection)]
    n_features = projections[0].matrix.shape[1] if projections else machine.n_features
    _check_width(source, n_features)
    for node in nodes[place + 1 :]:
        machine = _after(node, machine)
    notes = (*machine.notes, ROUNDED)
    return replace(machine, n_features=n_features, preprocessing=steps, notes=notes)


def _steps(nodes: list[Any], width: int, constants: Constants) -> tuple[Step, ...]:
    """Return the steps of the operators before a machine of `width` features, read backwards."""
    steps: tuple[Step, ...] = ()
    for node in reversed(nodes):
        read = STEPS.get(_operator(node))
        if read is None:
            raise _refused(node)
        own = read(node, width, constants)
        spend_steps(own, "the operators before the machine")
        for step in own:
            width = step.matrix.shape[1] if isinstance(step, Projection) else width
        steps = own + steps
        require_room(count_numbers(steps), "the operators before the machine")
    return steps


def _input(graph: Any, constants: Constants) -> Any:
    """Return the only input that is no constant."""
    inputs = [value for value in graph.input if value.name not in constants]
    if len(inputs) != 1 or inputs[0].type.tensor_type.elem_type != _FLOAT:
        found = ", ".join(_shown(value.name) for value in inputs[:_MAX_SHOWN]) or "none"
        raise InputError(
            f"the ONNX model has the inputs {found}, must have one, a float tensor; "
            "convert it with one FloatTensorType"
        )
    return inputs[0]


def _chain(graph: Any, constants: Constants, source: bytes) -> list[Any]:
    """Return the operators between the input and the first output, in order."""
    makers: dict[bytes, tuple[Any, int]] = {}
    for node in graph.node:
        for position, name in enumerate(node.output):
            if name in makers or name == source or name in constants:
                raise InputError(f"tensor {_shown(name)} is made twice; save the model again")
            if name:
                makers[name] = (node, position)
    if not graph.output:
        raise InputError("the ONNX model has no output; save the model again")
    name = graph.output[0].name
    nodes: list[Any] = []
    while name != source:
        if name not in makers or len(nodes) == _MAX_CHAIN:
            raise InputError(
                f"tensor {_shown(name)} is made by no operator, or by more than {_MAX_CHAIN} in a "
                "row; save the model again"
            )
        node, position = makers[name]
        inputs = [given for given in node.input if given not in constants]
        n_constants = len(node.input) - len(inputs)
        if position or len(inputs) != 1 or n_constants != N_CONSTANTS.get(_operator(node), 0):
            raise InputError(
                f"the first output comes by output {position + 1} of {_operator(node)}, which has "
                f"{len(inputs)} data inputs and {n_constants} constants, must be a label or value "
                f"by a chain of operators;\n{_SUPPORTED}"
            )
        nodes.append(node)
        name = inputs[0]
    return nodes[::-1]


def _operator(node: Any) -> str:
    """Return the operator's name, with its domain unless that is the operator's usual one."""
    name, domain = short_ascii(text(node.op_type)), short_ascii(text(node.domain))
    expected = _ML if name in _OF_ML else _CORE
    return name if domain in expected else f"{domain}.{name}"


def _after(node: Any, machine: KernelMachine) -> KernelMachine:
    """Return the machine after an operator that keeps its answer or takes its sign."""
    operator = _operator(node)
    if operator == "Cast":
        check_cast(node, _answer_types(machine))
        return machine
    if operator == "Identity" or (operator == "Sign" and machine.task is Task.REGRESSION):
        OnnxAttributes(node, ())
        if operator == "Identity":
            return machine
        return one_class(replace(machine, notes=(*machine.notes, _SIGN_OF_ZERO)))
    raise _refused(node)


def _answer_types(machine: KernelMachine) -> tuple[int, ...]:
    """Return the types that hold every answer exactly."""
    if machine.task is Task.REGRESSION:
        return FLOATS
    if machine.task is Task.ONE_CLASS:
        return (*FLOATS, _INT64)
    return (_STRING,) if isinstance(machine.classes[0], str) else (_INT64,)


def _refused(node: Any) -> InputError:
    return InputError(f"the operator {_operator(node)} is not supported here;\n{_SUPPORTED}")


def _check_width(source: Any, n_features: int) -> None:
    """Check the declared shape of the input: (samples, n_features), either of them open."""
    dims = source.type.tensor_type.shape.dim
    width = dims[1].dim_value if len(dims) == 2 else 0
    if len(dims) not in (0, 2) or width not in (0, n_features):
        raise InputError(
            f"input {_shown(source.name)} has {len(dims)} dimensions with {width} features, must "
            f"have 2 with {n_features}; save the model again"
        )


def _shown(name: bytes) -> str:
    return f"'{short_ascii(text(name))}'"

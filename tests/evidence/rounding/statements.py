"""The floating-point statements of an emitted C function, one operation each, as Gappa reads them.

The C is parsed by pycparser. What it does to bit patterns is no arithmetic of Gappa's: such
statements are collected as text, and a proof says which it models and how.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast, c_generator, c_parser

_TYPES = """
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned char bool;
typedef union { float value; uint32_t bits; } k_bits_t;
"""
_FLOATS = {"float": "b32", "double": "b64"}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Operation:
    """One operation `name = left symbol right`, rounded; symbol "" only renames or rounds `left`.

    Parameters
    ----------
    name : str
    symbol : str
        "+", "-", "*", "/", or "".
    left, right : str
        Names or hexadecimal numbers.
    rounding : str
        "b32", "b64", or "" where nothing is rounded.
    """

    name: str
    symbol: str
    left: str
    right: str
    rounding: str

    def exact(self, names: Mapping[str, str]) -> str:
        """Return the operation without rounding, with operands renamed."""
        left, right = names.get(self.left, self.left), names.get(self.right, self.right)
        return f"{left} {self.symbol} {right}" if self.symbol else left

    def line(self) -> str:
        """Return the definition in Gappa's language."""
        text = self.exact({})
        return (
            f"{self.name} = {self.rounding}({text});" if self.rounding else f"{self.name} = {text};"
        )


@dataclass
class Function:
    """The float operations of a function on one path, and its statements on bit patterns.

    Parameters
    ----------
    operations : list of Operation
        In order; constants come first.
    constants : list of str
        Definitions of constants in Gappa's language.
    bits : list of str
        C of the statements that work on bit patterns or integers.
    result : str
        The name of the result.
    """

    operations: list[Operation] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    bits: list[str] = field(default_factory=list)
    result: str = ""

    def lines(self, first: str | None = None, last: str | None = None) -> list[str]:
        """Return constants, and the operations from the one named `first` to `last`."""
        return [*self.constants, *(one.line() for one in self.between(first, last))]

    def between(self, first: str | None = None, last: str | None = None) -> list[Operation]:
        """Return the operations from the one named `first` to the one named `last`."""
        names = [one.name for one in self.operations]
        start = names.index(first) if first else 0
        end = names.index(last) + 1 if last else len(names)
        return self.operations[start:end]

    def exact_lines(self, first: str | None = None, last: str | None = None) -> list[str]:
        """Return the operations without their roundings, under names with `x_` in front."""
        lines: list[str] = []
        names: dict[str, str] = {}
        for one in self.between(first, last):
            lines.append(f"x_{one.name} = {one.exact(names)};")
            names[one.name] = f"x_{one.name}"
        return lines

    def contracted(self) -> Function:
        """Return the function as a compiler contracts it: products that are only added are exact.

        Where both operands of a sum are such products, the left one is fused.
        """
        uses: dict[str, int] = {}
        for one in self.operations:
            for operand in (one.left, one.right):
                uses[operand] = uses.get(operand, 0) + 1
        products = {
            one.name for one in self.operations if one.symbol == "*" and uses.get(one.name) == 1
        }
        fused: set[str] = set()
        for one in self.operations:
            if one.symbol in ("+", "-") and one.rounding:
                fused |= set([name for name in (one.left, one.right) if name in products][:1])
        return Function(
            [
                Operation(one.name, one.symbol, one.left, one.right, "")
                if one.name in fused
                else one
                for one in self.operations
            ],
            self.constants,
            self.bits,
            self.result,
        )


class _Reader:
    """Walks through a function's body and writes down its operations."""

    def __init__(
        self, branches: Sequence[bool], calls: Mapping[str, str], start: str, integer: bool
    ) -> None:
        self.function = Function()
        self.integer = integer
        self.branches = list(branches)
        self.calls = calls
        self.text = c_generator.CGenerator()
        self.kinds: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.rounding = start

    def fresh(self, name: str) -> str:
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return name if count == 1 else f"{name}_{count}"

    def block(self, body: c_ast.Node | None) -> None:
        if body is None:
            return
        for item in body.block_items or [] if isinstance(body, c_ast.Compound) else [body]:
            self.statement(item)

    def statement(self, item: c_ast.Node) -> None:
        if isinstance(item, c_ast.Decl):
            self.declare(item)
        elif isinstance(item, c_ast.Assignment):
            self.assign(item)
        elif isinstance(item, c_ast.If):
            taken = self.branches.pop(0)
            self.block(item.iftrue if taken else item.iffalse)
        elif isinstance(item, c_ast.Return):
            if self.rounding:
                self.function.result = self.value(item.expr, "returned")
            elif self.integer:
                self.function.bits.append(self.text.visit(item))
        elif not isinstance(item, c_ast.EmptyStatement):
            self.function.bits.append(self.text.visit(item))

    def declare(self, item: c_ast.Decl) -> None:
        kind = getattr(item.type, "type", None)
        words = kind.names if isinstance(kind, c_ast.IdentifierType) else [""]
        self.kinds[item.name] = words[0]
        if words[0] not in _FLOATS:
            if item.init is not None:
                self.function.bits.append(self.text.visit(item))
            return
        if item.init is None:
            return
        if isinstance(item.init, c_ast.Constant):
            name = self.fresh(item.name)
            self.names[item.name] = name
            self.function.constants.append(f"{name} = {_number(item.init.value)};")
        else:
            self.names[item.name] = self.value(item.init, item.name)

    def assign(self, item: c_ast.Assignment) -> None:
        target = item.lvalue
        if isinstance(target, c_ast.StructRef):
            name, is_float = target.name.name, target.field.name == "value"
        else:
            name, is_float = target.name, self.kinds.get(target.name, "") in _FLOATS
        if not is_float:
            self.function.bits.append(self.text.visit(item))
            # What the bits now mean is for the proof to say, of a variable without a definition.
            self.names[name] = self.fresh(f"{name}_bits")
            return
        expression = item.rvalue
        if item.op != "=":
            expression = c_ast.BinaryOp(item.op[:-1], target, item.rvalue)
        self.names[name] = self.value(expression, name)

    def value(self, node: c_ast.Node, target: str) -> str:
        """Return the name or number of an expression; operations are written down."""
        if isinstance(node, c_ast.Constant):
            return _number(node.value)
        if isinstance(node, c_ast.ID):
            return self.names.get(node.name, node.name)
        if isinstance(node, c_ast.StructRef):
            return self.names.get(node.name.name, node.name.name)
        if isinstance(node, c_ast.TernaryOp):
            taken = self.branches.pop(0)
            return self.value(node.iftrue if taken else node.iffalse, target)
        if isinstance(node, c_ast.FuncCall):
            self.function.bits.append(self.text.visit(node))
            return self.calls[node.name.name]
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return self.write(target, "-", "0", self.value(node.expr, f"{target}_a"), "")
        if isinstance(node, c_ast.Cast):
            kind = node.to_type.type.type.names[0]
            inner = self.value(node.expr, target)
            return self.write(target, "", inner, "", _FLOATS[kind])
        if isinstance(node, c_ast.BinaryOp):
            left = self.value(node.left, f"{target}_a")
            right = self.value(node.right, f"{target}_b")
            return self.write(target, node.op, left, right, self.rounding)
        raise ValueError(f"no operation of floats: {self.text.visit(node)}")

    def write(self, target: str, symbol: str, left: str, right: str, rounding: str) -> str:
        name = self.fresh(target)
        self.function.operations.append(Operation(name, symbol, left, right, rounding))
        return name


def _number(text: str) -> str:
    return (
        text.rstrip("fFuUlL")
        if text.lower().startswith("0x") and "p" in text
        else text.rstrip("fF")
    )


def parse(code: str, name: str) -> c_ast.FuncDef:
    """Return a function of C code without directives."""
    tree = c_parser.CParser().parse(_TYPES + _COMMENT.sub(" ", code))
    for item in tree.ext:
        if isinstance(item, c_ast.FuncDef) and item.decl.name == name:
            return item
    raise ValueError(f"no function {name}")


def read_function(
    code: str,
    name: str,
    branches: Sequence[bool] = (),
    calls: Mapping[str, str] | None = None,
    bits: Sequence[str] = (),
    *,
    integer: bool = False,
) -> Function:
    """Return the operations of a function on one path.

    Parameters
    ----------
    code : str
        C with the function.
    name : str
    branches : sequence of bool
        Which branch of each `if` and each choice between floats is taken, in order.
    calls : mapping of str to str, optional
        The name that stands for the result of a call of each function.
    bits : sequence of str, optional
        The statements on bit patterns, and the calls, which the proof models.
    integer : bool, optional
        Whether the function has no floats, and what it returns is one of `bits`.

    Raises
    ------
    ValueError
        If the C has other statements on bit patterns, or other branches.
    """
    definition = parse(code, name)
    result = definition.decl.type.type.type.names[0]
    reader = _Reader(branches, calls or {}, _FLOATS.get(result, ""), integer)
    for parameter in definition.decl.type.args.params:
        reader.kinds[parameter.name] = parameter.type.type.names[0]
    reader.block(definition.body)
    if reader.branches:
        raise ValueError(f"{name}: {len(reader.branches)} branches are not in the C")
    if reader.function.bits != list(bits):
        raise ValueError(f"{name}: the C has other statements on bits: {reader.function.bits}")
    return reader.function

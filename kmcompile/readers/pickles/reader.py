"""Read a pickle as data: a machine for the opcodes that estimators need, and no others.

`opcodes` only parses; what an opcode does is the table at the end of this file.
No name of the file is ever imported or called (see pickle_globals), so that nothing can
run. Every object that is built is first spent from the file's budget.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import ITEM_BYTES, current_budget
from kmcompile.readers.pickles import joblib_arrays
from kmcompile.readers.pickles.data_graph import check_nesting
from kmcompile.readers.pickles.globals import Constructor, InertClass, resolve
from kmcompile.readers.pickles.numpy_values import Dtype, damaged, set_array_state, set_dtype_state
from kmcompile.readers.pickles.opcodes import opcodes
from kmcompile.readers.pickles.stream import PickleStream
from kmcompile.readers.record import Function, Record
from kmcompile.readers.sklearn.kernel_functions import refusal

MAX_OPCODES = 1_000_000
"""Largest number of opcodes. A pipeline has some hundreds, and one for each label and name."""

_OPCODE_BYTES = 4 * ITEM_BYTES
"""Cost of an opcode, which is parsed and whose result is read again."""

_MAX_KEY = 2**63
"""Python hashes integers modulo 2^61 - 1: larger keys could all collide."""


def read_pickle(content: bytes) -> Any:
    """Return the object that a pickle or an uncompressed joblib file holds, as data.

    Raises
    ------
    InputError
        A name is forbidden, the data is cyclic or nested too deep, or the file is damaged.
    """
    stream = PickleStream(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pickletools, for odd escapes in texts
        value = _PickleMachine(stream).run()
    rest_bytes = len(content) - stream.tell()
    if rest_bytes:
        raise InputError(f"{rest_bytes} bytes follow the model; save one model a file")
    check_nesting(value)
    return value


class _PickleMachine:
    """The stack, the marks and the memo of one pickle."""

    def __init__(self, stream: PickleStream, inside_joblib: bool = False) -> None:
        self.stream = stream
        self.inside_joblib = inside_joblib
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Go through the opcodes until STOP and return what is left on the stack."""
        found = opcodes(self.stream)
        budget = current_budget()
        for _ in range(MAX_OPCODES):
            budget.spend(_OPCODE_BYTES, "its opcodes")
            try:
                opcode, argument, position = next(found)
            except StopIteration:
                if len(self.stack) != 1 or self.marks:
                    raise damaged("it does not end with one object") from None
                return self.stack[0]
            except (ValueError, OverflowError):
                raise InputError(
                    "not a whole pickle or joblib file; save the model again with joblib.dump"
                ) from None
            action = _ACTIONS.get(opcode.name)
            if action is None:
                raise InputError(
                    f"opcode {opcode.name} at byte {position} is not one that an estimator "
                    "needs, refused as unsafe;\nsave the model again with protocol 4"
                )
            action(self, argument)
        raise InputError(f"more than {MAX_OPCODES} pickle opcodes; refused as unsafe")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        floor = self.marks[-1] if self.marks else 0
        if len(self.stack) <= floor:
            raise damaged("its stack is empty")
        return self.stack.pop()

    def top(self) -> Any:
        value = self.pop()
        self.push(value)
        return value

    def mark(self, _: Any) -> None:
        self.marks.append(len(self.stack))

    def pop_mark(self) -> list[Any]:
        if not self.marks:
            raise damaged("a mark is missing")
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def put(self, index: Any) -> None:
        if not 0 <= index < MAX_OPCODES:
            raise damaged("its memo is out of range")
        self.memo[index] = self.top()

    def memoize(self, _: Any) -> None:
        self.put(len(self.memo))

    def get(self, index: Any) -> None:
        if index not in self.memo:
            raise damaged("its memo misses an entry")
        self.push(self.memo[index])

    def tuple_of(self, length: int) -> None:
        items = [self.pop() for _ in range(length)]
        self.push(tuple(reversed(items)))

    def extend(self, items: list[Any]) -> None:
        target = self.top()
        if type(target) is not list:
            raise damaged("something is appended to what is no list")
        target.extend(items)

    def set_items(self, items: list[Any]) -> None:
        target = self.top()
        if type(target) is not dict or len(items) % 2:
            raise damaged("an entry is put into what is no dict")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[_checked_key(key)] = value

    def make_list(self, _: Any) -> None:
        self.push(self.pop_mark())

    def make_dict(self, _: Any) -> None:
        items = self.pop_mark()
        self.push({})
        self.set_items(items)

    def global_name(self, argument: Any) -> None:
        module, _, name = argument.partition(" ")
        self.resolve(module, name)

    def stack_global(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        if type(name) is not str or type(module) is not str:
            raise damaged("a name is no text")
        self.resolve(module, name)

    def refuse_inst(self, argument: Any) -> None:
        self.global_name(argument)
        raise damaged("it uses an opcode of Python 2")

    def resolve(self, module: str, name: str) -> None:
        try:
            self.push(resolve(module, name))
        except InputError:
            # The key that waits for its value tells what the function was meant for.
            if self.stack and type(self.stack[-1]) is str and self.stack[-1] == "kernel":
                raise refusal(Function(module, name)) from None
            raise

    def reduce(self, _: Any) -> None:
        arguments, function = self.pop(), self.pop()
        if type(arguments) is not tuple:
            raise damaged("arguments are no tuple")
        if isinstance(function, Constructor):
            self.push(function.build(arguments))
        elif isinstance(function, InertClass):
            self.push(Record(function.module, function.name, {}))
        else:
            raise damaged("what is called is no class")

    def new_object(self, _: Any) -> None:
        arguments, kind = self.pop(), self.pop()
        if type(arguments) is not tuple or not isinstance(kind, InertClass):
            raise damaged("what is called is no class")
        self.push(Record(kind.module, kind.name, {}))

    def build(self, _: Any) -> None:
        state, target = self.pop(), self.top()
        if isinstance(target, Dtype):
            set_dtype_state(target, state)
        elif isinstance(target, np.ndarray):
            set_array_state(target, state)
        elif isinstance(target, Record):
            _set_attributes(target, state)
            if joblib_arrays.is_wrapper(target):
                self.pop()
                self.push(self.joblib_array(target))
        else:
            raise damaged("a state is given to what is no object")

    def joblib_array(self, wrapper: Record) -> Any:
        if not joblib_arrays.holds_objects(wrapper):
            return joblib_arrays.read_array(wrapper, self.stream)
        if self.inside_joblib:
            raise damaged("a joblib array lies in another")
        return _PickleMachine(self.stream, inside_joblib=True).run()


def _checked_key(key: Any) -> Any:
    if type(key) is int and -_MAX_KEY <= key < _MAX_KEY:
        return key
    if isinstance(key, str | float | bool | np.generic | None):
        return key
    raise damaged("the key of a dict is neither text nor a number")


def _set_attributes(record: Record, state: Any) -> None:
    if type(state) is not dict:
        # Random generators; estimators have a dict, and without one count as not fitted.
        record.attributes["__state__"] = state
        return
    current_budget().spend_items(len(state), "the attributes of its objects")
    if not all(type(name) is str for name in state):
        raise damaged("the name of an attribute is no text")
    record.attributes.update(state)


_Action = Callable[[_PickleMachine, Any], None]

_ACTIONS: dict[str, _Action] = {
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "STOP": lambda machine, _: None,
    "MARK": _PickleMachine.mark,
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.pop_mark())),
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "LIST": _PickleMachine.make_list,
    "DICT": _PickleMachine.make_dict,
    "APPEND": lambda machine, _: machine.extend([machine.pop()]),
    "APPENDS": lambda machine, _: machine.extend(machine.pop_mark()),
    "SETITEM": lambda machine, _: machine.set_items([machine.pop(), machine.pop()][::-1]),
    "SETITEMS": lambda machine, _: machine.set_items(machine.pop_mark()),
    "GLOBAL": _PickleMachine.global_name,
    "STACK_GLOBAL": _PickleMachine.stack_global,
    "INST": _PickleMachine.refuse_inst,
    "REDUCE": _PickleMachine.reduce,
    "NEWOBJ": _PickleMachine.new_object,
    "BUILD": _PickleMachine.build,
    "PUT": _PickleMachine.put,
    "BINPUT": _PickleMachine.put,
    "LONG_BINPUT": _PickleMachine.put,
    "MEMOIZE": _PickleMachine.memoize,
    "GET": _PickleMachine.get,
    "BINGET": _PickleMachine.get,
    "LONG_BINGET": _PickleMachine.get,
}
_ACTIONS |= dict.fromkeys(
    ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    _PickleMachine.push,
)
_ACTIONS |= dict.fromkeys(
    ("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"), _PickleMachine.push
)
# Texts of Python 2, also where today's are bytes: `bytes_of` takes these.
_ACTIONS |= dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), _PickleMachine.push)
_ACTIONS |= dict.fromkeys(
    ("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"), _PickleMachine.push
)

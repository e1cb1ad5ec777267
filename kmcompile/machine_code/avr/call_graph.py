"""The call graph of an AVR image: frames and calls, found by following its instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kmcompile.errors import ToolError
from kmcompile.machine_code import elf
from kmcompile.machine_code.avr.instruction import STACK_HIGH, Instruction
from kmcompile.machine_code.call_graph import CallGraph
from kmcompile.machine_code.limits import drained

_RETURN_BYTES = 3
_KEPT_BY_CALLS = (*range(2, 18), 28, 29)
"""Registers that a function restores before it returns (avr-gcc's ABI)."""
_MOST_DEPTHS = 8
"""Largest number of stack depths of one instruction; with more, the function pushes in a loop."""
_Copies = tuple[tuple[int, tuple[str, int]], ...]

_Bytes = Mapping[int, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class _State:
    """The state of the stack and of registers before an instruction.

    Attributes
    ----------
    depth : int
        Bytes on the stack since the function was entered.
    copies : tuple of (int, (str, int))
        Register -> ("low" or "high", depth): the register holds the low or high byte of the stack
        pointer's value at this depth. ("borrowed", depth) is a low byte after SUBI, before SBCI of
        the high byte.
    high : int or None
        The depth whose high byte was written to the stack pointer.
    """

    address: int
    depth: int
    copies: _Copies = ()
    high: int | None = None


def read_avr_call_graph(image: Path, entries: Iterable[str]) -> CallGraph:
    """Return the frames and calls of the functions that the entries reach.

    A frame is the return address and the largest depth on any path through a function, with jumps
    into other functions. All paths are followed. PUSH and POP, calls whose return address makes
    room, and arithmetic on copies of the stack pointer that is written back change the depth.
    Where paths meet with equal depths, only the copies that they agree on are kept: a pointer that
    steps through an array on the stack is a copy that changes in each round.

    Raises
    ------
    ToolError
        If a function jumps or calls through a pointer, changes the stack pointer unexpectedly or
        leaves the code, or beyond the limits of `kmcompile.machine_code.limits`.
    """
    code, functions = elf.code_and_functions(image)
    named = {address: name for name, address in sorted(functions.items(), reverse=True)}
    frames: dict[str, int] = {}
    calls: dict[str, frozenset[str]] = {}
    to_do = [functions[entry] for entry in entries]
    tails = frozenset(to_do)
    for address in drained(to_do, "stack: the calls"):
        name = named.setdefault(address, f"code at {address:#x}")
        if name not in frames:
            frame, callees = _Function(name, code, tails).follow(address)
            frames[name] = _RETURN_BYTES + frame
            calls[name] = frozenset(named.setdefault(a, f"code at {a:#x}") for a in callees)
            to_do += callees
    for name, address in functions.items():
        if named[address] in frames:
            frames[name], calls[name] = frames[named[address]], calls[named[address]]
    return CallGraph(frames, calls)


class _Function:
    """All paths through one function; a jump to one of `tails` is a call at its end."""

    def __init__(self, name: str, code: bytes, tails: frozenset[int]) -> None:
        self._name, self._code, self._tails = name, code, tails
        self._callees: set[int] = set()

    def follow(self, entry: int) -> tuple[int, set[int]]:
        """Return the largest stack depth and the addresses of called functions."""
        seen: dict[int, dict[tuple[int, int | None], _Copies]] = {}
        to_do = [_State(entry, 0)]
        deepest = 0
        for state in drained(to_do, f"stack: {self._name}"):
            known, key = seen.setdefault(state.address, {}), (state.depth, state.high)
            copies = tuple(one for one in state.copies if one in known.get(key, state.copies))
            if copies == known.get(key):
                continue
            known[key] = copies
            if len(known) > _MOST_DEPTHS:
                raise self._unclear(state, "pushes in a loop")
            deepest = max(deepest, state.depth)
            to_do += self._next(replace(state, copies=copies))
        return deepest, self._callees

    def _at(self, address: int) -> Instruction:
        if not 0 <= address < len(self._code):
            raise ToolError(f"stack: {self._name} leaves the code, to {address:#x}")
        words = self._code[address : address + 4].ljust(4, b"\0")
        return Instruction(
            address,
            int.from_bytes(words[:2], "little"),
            int.from_bytes(words[2:], "little"),
        )

    def _next(self, state: _State) -> Iterator[_State]:
        """Yield the states that can follow an instruction."""
        one = self._at(state.address)
        if one.indirect is not None:
            raise self._unclear(state, f"goes to a computed address ({one.indirect})")
        if one.is_return:
            if state.depth != 0:
                raise self._unclear(state, f"returns with {state.depth} bytes on its stack")
        elif one.is_jump and one.destination in self._tails and state.depth == 0:
            self._callees.add(one.destination)
        elif one.is_jump:
            yield _State(one.destination, state.depth, state.copies, state.high)
        elif one.is_call:
            yield self._after_call(state, one)
        else:
            after = self._after(state, one)
            yield after
            if one.is_branch:
                yield _State(one.destination, state.depth, state.copies, state.high)
            if one.skips:
                behind = self._at(one.end).end
                yield _State(behind, state.depth, state.copies, state.high)

    def _after_call(self, state: _State, call: Instruction) -> _State:
        if call.destination == call.end:  # RCALL .+0: the return address makes room
            return _State(call.end, state.depth + _RETURN_BYTES, state.copies, state.high)
        self._callees.add(call.destination)
        kept = tuple(item for item in state.copies if item[0] in _KEPT_BY_CALLS)
        return _State(call.end, state.depth, kept)

    def _after(self, state: _State, one: Instruction) -> _State:
        """Return the state after an instruction that is no call, jump or return."""
        depth, high = state.depth + one.pushed, state.high
        output = one.stack_output
        known = dict(state.copies)
        if output is not None:
            register, port = output
            part = "high" if port == STACK_HIGH else "low"
            kind, written = known.get(register, ("", 0))
            if kind != part or (part == "low" and high != written):
                raise self._unclear(state, "writes what is not known to the stack pointer")
            high, depth = (written, depth) if part == "high" else (None, written)
        changed = _moved(one, known, state.depth)
        for register in one.written:
            known.pop(register, None)
        known |= changed
        if depth < 0:
            raise self._unclear(state, "pops what it has not pushed")
        return _State(one.end, depth, tuple(sorted(known.items())), high)

    def _unclear(self, state: _State, what: str) -> ToolError:
        return ToolError(f"stack: {self._name} {what}, at {state.address:#x}")


def _moved(one: Instruction, known: _Bytes, depth: int) -> dict[int, tuple[str, int]]:
    """Return the copies of the stack pointer that an instruction makes or moves."""
    if one.stack_input is not None:
        register, port = one.stack_input
        return {register: ("high" if port == STACK_HIGH else "low", depth)}
    if one.pair_moved is not None:
        to, source = one.pair_moved
        return {to + i: known[source + i] for i in (0, 1) if source + i in known}
    if one.word_added is not None:
        low, added = one.word_added
        return _added(known, low, added)
    if one.stepped is not None:  # of a high byte: avr-gcc makes room for 256 bytes by DEC
        high, added = one.stepped
        return _added(known, high - 1, added << 8)
    if one.subtracted is not None:
        register, constant, with_carry = one.subtracted
        kind, of = known.get(register, ("", 0))
        if not with_carry and kind == "low":
            return {register: (f"borrowed {constant}", of)}
        if not with_carry and kind == "high":
            return _added(known, register - 1, -((constant ^ 0x80) - 0x80) << 8)
        before, before_of = known.get(register - 1, ("", 0))
        if with_carry and kind == "high" and before.startswith("borrowed") and before_of == of:
            total = constant << 8 | int(before.split()[1])
            total -= (total & 0x8000) << 1
            return {register - 1: ("low", of + total), register: ("high", of + total)}
    return {}


def _added(known: _Bytes, low: int, added: int) -> dict[int, tuple[str, int]]:
    """Return a pair of registers after an addition; a stack that grows has lower addresses."""
    pair = known.get(low, ("", 0)), known.get(low + 1, ("", 0))
    if [kind for kind, _ in pair] != ["low", "high"] or pair[0][1] != pair[1][1]:
        return {}
    depth = pair[0][1] - added
    return {low: ("low", depth), low + 1: ("high", depth)}

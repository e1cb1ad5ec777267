"""Worst-case stack from the call graph that gcc writes with `-fcallgraph-info=su,da`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kmcompile.errors import ToolError
from kmcompile.machine_code.limits import check_nested

_NODE = re.compile(r'node: \{ title: "([^"]+)" label: "([^"]*)"')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
_FRAME = re.compile(r"(\d+) bytes \(([a-z,]+)\)")
_DYNAMIC_OBJECTS = re.compile(r"(\d+) dynamic objects")
# "bounded" and no dynamic object: the frame of vector registers is aligned when the function is
# entered, and the figure holds the most that this can take (gcc's manual, -fstack-usage).
_FIXED = ("static", "dynamic,bounded")
_INDIRECT = "__indirect_call"


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Functions with their frames and calls.

    Attributes
    ----------
    frames : mapping
        Function -> bytes of its frame, with the return address if the CPU puts it on the stack.
    calls : mapping
        Function -> the functions it calls.
    """

    frames: Mapping[str, int]
    calls: Mapping[str, frozenset[str]]

    def stack_bytes(self, entry: str, helpers: Mapping[str, int]) -> int:
        """Return the largest stack that a call of a function can take.

        Parameters
        ----------
        entry : str
            An external function.
        helpers : mapping
            Routine of the compiler's library -> worst-case stack bytes of a call.

        Raises
        ------
        ToolError
            If a function is recursive, calls through a pointer, or has no known frame, or if calls
            nest more than `kmcompile.machine_code.limits.MOST_NESTED` deep.
        """
        return self._worst(entry, helpers, (), {})

    def own_stack_bytes(self, entry: str) -> int:
        """Return the largest part of a call's stack that functions of this graph take."""
        elsewhere = {name for callees in self.calls.values() for name in callees} - set(self.frames)
        return self.stack_bytes(entry, dict.fromkeys(elsewhere | {entry}, 0))

    def with_calls(self, callees: Mapping[str, frozenset[str]]) -> CallGraph:
        """Return the graph with further calls, whose callers are named without a file.

        gcc leaves out calls that it writes with an instruction, such as those of Thumb-1's
        `__gnu_thumb1_case_uqi` for a switch.
        """
        calls = {
            caller: self.calls.get(caller, frozenset())
            | callees.get(caller.rpartition(":")[2], frozenset())
            for caller in self.frames
        }
        return CallGraph(self.frames, calls)

    def _worst(
        self,
        name: str,
        helpers: Mapping[str, int],
        path: tuple[str, ...],
        known: dict[str, int],
    ) -> int:
        if name in known:
            return known[name]
        check_nested(path, "stack: calls")
        if name in path:
            raise ToolError(f"stack: {name} is recursive, its stack has no bound")
        if name == _INDIRECT:
            raise ToolError(f"stack: {path[-1]} calls through a pointer, its stack has no bound")
        if name in self.frames:
            below = (
                self._worst(callee, helpers, (*path, name), known)
                for callee in sorted(self.calls.get(name, ()))
            )
            known[name] = self.frames[name] + max(below, default=0)
            return known[name]
        if name in helpers:
            return helpers[name]
        caller = f", which {path[-1]} calls," if path else ""
        raise ToolError(f"stack: the stack use of {name}{caller} is unknown")


def read_call_graph(paths: Iterable[Path]) -> CallGraph:
    """Read gcc's `.ci` files into one graph; calls between files are joined by name.

    Raises
    ------
    ToolError
        If a frame has no fixed size.
    """
    frames: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for title, label in _NODE.findall(text):
            frame = _FRAME.search(label)
            if frame is not None:  # other functions are defined elsewhere
                frames[title] = _fixed(title, label, frame)
        for caller, callee in _EDGE.findall(text):
            calls.setdefault(caller, set()).add(callee)
    return CallGraph(frames, {name: frozenset(callees) for name, callees in calls.items()})


def _fixed(title: str, label: str, frame: re.Match[str]) -> int:
    dynamic = _DYNAMIC_OBJECTS.search(label)
    if frame[2] not in _FIXED or (dynamic is not None and int(dynamic[1]) > 0):
        raise ToolError(f"stack: the frame of {title} has no fixed size")
    return int(frame[1])

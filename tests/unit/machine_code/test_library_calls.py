"""The stack of the compiler's library routines: chains of calls, circles, what is unknown."""

from __future__ import annotations

import pytest

from kmcompile.errors import ToolError
from kmcompile.machine_code.library_calls import LibraryCalls

FUNCTIONS = {
    1: frozenset({"entry"}),
    2: frozenset({"__aeabi_fcmplt", "__aeabi_fcmpgt"}),
    3: frozenset({"__ltsf2"}),
    4: frozenset({"__aeabi_fmul"}),
}
FRAMES = {"__aeabi_fcmplt": 8, "__aeabi_fcmpgt": 8, "__ltsf2": 12, "__aeabi_fmul": 32}


def calls(references, undefined=None):
    sets = {section: frozenset(others) for section, others in references.items()}
    return LibraryCalls(FUNCTIONS, sets, undefined or {})


def test_a_routine_is_charged_with_its_member_and_the_deepest_that_it_calls():
    stacks = calls({1: {2, 4}, 2: {3}}).stack_bytes(FRAMES)
    assert stacks["__aeabi_fcmplt"] == stacks["__aeabi_fcmpgt"] == 8 + 8 + 12
    assert stacks["__aeabi_fmul"] == 32


def test_the_model_is_known_to_call_what_its_code_refers_to():
    assert calls({1: {4}, 2: {3}}).callers(FRAMES) == {"entry": frozenset({"__aeabi_fmul"})}


def test_routines_that_call_each_other_in_a_circle_are_refused():
    with pytest.raises(ToolError, match=r"__ltsf2 of the compiler's library is recursive"):
        calls({3: {4}, 4: {3}}).stack_bytes({"__ltsf2": 12, "__aeabi_fmul": 32})


def test_a_routine_that_calls_something_else_is_refused():
    with pytest.raises(ToolError, match="__aeabi_fmul of the compiler's library calls entry"):
        calls({4: {1}}).stack_bytes(FRAMES)
    with pytest.raises(ToolError, match="calls memcpy"):
        calls({}, {4: frozenset({"memcpy"})}).stack_bytes(FRAMES)

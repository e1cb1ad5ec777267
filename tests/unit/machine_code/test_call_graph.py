"""The stack bound from gcc's call graph: sums, helpers, and what has no bound."""

from __future__ import annotations

import pytest

from kmcompile.errors import ToolError
from kmcompile.machine_code.call_graph import read_call_graph

GRAPH = r"""graph: { title: "m.c"
node: { title: "m.c:inner" label: "inner\nm.c:3:43\n8 bytes (static)\n0 dynamic objects" }
node: { title: "__aeabi_fmul" label: "__aeabi_fmul\n<built-in>" shape : ellipse }
edge: { sourcename: "m.c:inner" targetname: "__aeabi_fmul" }
node: { title: "leaf" label: "leaf\nm.c:4:1\n40 bytes (static)\n0 dynamic objects" }
node: { title: "entry" label: "entry\nm.c:7:7\n24 bytes (static)\n0 dynamic objects" }
edge: { sourcename: "entry" targetname: "m.c:inner" label: "m.c:7:113" }
edge: { sourcename: "entry" targetname: "leaf" }
}
"""


@pytest.fixture
def graph_of(tmp_path):
    def read(text):
        path = tmp_path / "m.ci"
        path.write_text(text, encoding="utf-8")
        return read_call_graph([path])

    return read


def test_the_deepest_path_counts(graph_of):
    assert graph_of(GRAPH).stack_bytes("entry", {"__aeabi_fmul": 16}) == 24 + 40
    assert graph_of(GRAPH).stack_bytes("entry", {"__aeabi_fmul": 36}) == 24 + 8 + 36


def test_a_call_that_gcc_leaves_out_can_be_added(graph_of):
    helpers = {"__aeabi_fmul": 0, "__gnu_thumb1_case_uqi": 48}
    calls = {"inner": frozenset(["__gnu_thumb1_case_uqi"])}
    assert graph_of(GRAPH).stack_bytes("entry", helpers) == 24 + 40
    assert graph_of(GRAPH).with_calls(calls).stack_bytes("entry", helpers) == 24 + 8 + 48


def test_what_a_graph_takes_itself_leaves_out_what_is_elsewhere(graph_of):
    assert graph_of(GRAPH).own_stack_bytes("entry") == 24 + 40
    assert graph_of(GRAPH.replace("40 bytes", "4 bytes")).own_stack_bytes("entry") == 24 + 8
    assert graph_of(GRAPH).own_stack_bytes("elsewhere") == 0


def test_an_unknown_function_is_refused(graph_of):
    with pytest.raises(ToolError, match=r"__aeabi_fmul, which m\.c:inner calls, is unknown"):
        graph_of(GRAPH).stack_bytes("entry", {})


def test_recursion_is_refused(graph_of):
    text = GRAPH + 'edge: { sourcename: "leaf" targetname: "entry" }\n'
    with pytest.raises(ToolError, match="entry is recursive"):
        graph_of(text).stack_bytes("entry", {"__aeabi_fmul": 0})


def test_a_call_through_a_pointer_is_refused(graph_of):
    text = GRAPH + 'edge: { sourcename: "leaf" targetname: "__indirect_call" }\n'
    with pytest.raises(ToolError, match="leaf calls through a pointer"):
        graph_of(text).stack_bytes("entry", {"__aeabi_fmul": 0})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"40 bytes (static)\n0 dynamic", r"40 bytes (static)\n1 dynamic"),
        ("40 bytes (static)", "40 bytes (dynamic)"),
        (r"40 bytes (static)\n0 dynamic", r"40 bytes (dynamic,bounded)\n1 dynamic"),
    ],
)
def test_a_frame_without_a_fixed_size_is_refused(graph_of, old, new):
    with pytest.raises(ToolError, match="the frame of leaf has no fixed size"):
        graph_of(GRAPH.replace(old, new))


def test_a_frame_that_is_aligned_on_entry_counts_with_its_padding(graph_of):
    text = GRAPH.replace("40 bytes (static)", "96 bytes (dynamic,bounded)")
    assert graph_of(text).stack_bytes("entry", {"__aeabi_fmul": 16}) == 24 + 96

"""`<name>.ffx`: the bounds of all loops for a worst-case execution time (WCET) tool, in XML.

The format is that of OTAWA (IRIT, Toulouse; source file `FlowFactLoader.cpp`, "Flow Fact XML
format"). `<loop source line maxcount totalcount/>` names a loop by the line of its head, which the
tool finds in the executable by the compiler's line numbers. `maxcount` bounds the iterations each
time the loop is entered, `totalcount` the iterations of the whole run. The loops are at the top
level and not in `<function>`, because the tool fails at a function that was inlined everywhere.
"""

from __future__ import annotations

from itertools import groupby

from kmcompile.machine_code.c_source.c_loops import without_tables
from kmcompile.machine_code.c_source.call_counts import most_calls
from kmcompile.machine_code.c_source.flow_facts import LoopFact, read_loop_facts

_HEAD = """\
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!-- Bounds of the loops of {name}.c, in the order of the file: compile it with line numbers (-g).
     totalcount holds where the analysed task calls one function of {name}.h, once. Of
     {name}_self_test, which calls {name}_self_test_step again and again, it holds for one step. -->
<flowfacts>
"""


def flow_fact_file(name: str, source: str, header: str) -> str:
    """Return the text of `<name>.ffx`; the same C gives the same text.

    Parameters
    ----------
    name : str
        The program's prefix.
    source, header : str
        `<name>.c` and `<name>.h`.
    """
    source = without_tables(source)
    facts = read_loop_facts(source, header)
    calls = most_calls(source, facts, without=[f"{name}_self_test"])
    parts = [_HEAD.format(name=name)]
    for function, loops in groupby(facts, key=lambda fact: fact.function):
        parts.append(f"  <!-- {function} -->\n")
        parts += [_loop(f"{name}.c", fact, calls[function]) for fact in loops]
    return "".join([*parts, "</flowfacts>\n"])


def _loop(file: str, fact: LoopFact, calls: int) -> str:
    total = "" if fact.total is None else f' totalcount="{fact.total * calls}"'
    place = f'source="{file}" line="{fact.line}"'
    return f'  <loop {place} maxcount="{fact.maximum}"{total}/>\n'

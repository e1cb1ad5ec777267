"""Emitted C that counts the turns of its own loops, and which loop of which template each is."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import jinja2
import numpy as np

from kit.emitted import Emitted
from kit.tools import HANGS_S, need, succeed
from kmcompile import resources
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.emit.emitter import emit
from kmcompile.emit.environment import environment
from kmcompile.machine_code.c_source.branch_facts import BranchFact, read_branch_facts
from kmcompile.machine_code.c_source.c_loops import defined_functions, find_calls
from kmcompile.machine_code.c_source.flow_facts import LoopFact, read_loop_facts

_HEAD = re.compile(r"^( *)((?:for|while) \(.*)$", re.MULTILINE)
_MARK = re.compile(r" /\*@(.*?)@\*/")
NOT_MODEL = (
    *("boot/", "package/", "plugin/", "runtime/", "evidence/", "harness.c.j2", "harness/"),
    *("telemetry/harness.c.j2", "image/"),
)
"""Templates of what is around the model's own C, and of models in images, whose tables are none of
the program's: what an image may ask of their loops is tested in `test_damaged_images.py`."""

_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <float.h>
#include <assert.h>
typedef struct { uint32_t turns, total, of_query, most, most_total, most_of_query; } count_t;
static count_t counts[@COUNTS@];
static bool is_query = true;  /* no self-test, one step of which asks for label and decisions */
static void count_query(void)
{
    for (unsigned k = 0U; k < @COUNTS@; ++k) counts[k].of_query = 0U;
}
static void count_call(unsigned first, unsigned end)
{
    for (unsigned k = first; k < end; ++k) counts[k].total = 0U;
}
static void count_turn(unsigned k)
{
    count_t *const c = &counts[k];
    ++c->turns;
    ++c->total;
    ++c->of_query;
    c->most = (c->turns > c->most) ? c->turns : c->most;
    c->most_total = (c->total > c->most_total) ? c->total : c->most_total;
    if (is_query && (c->of_query > c->most_of_query)) c->most_of_query = c->of_query;
}
/* Tables can be written. */
#define const
#include "iris.c"
#include "iris_harness.c"
typedef struct { void *start; size_t size; } table_t;
static table_t tables[] = { @TABLES@ };
static uint32_t inputs[@QUERIES@][@WORDS@], record[@RECORD@], noise = 1U;
static uint32_t draw(void)
{
    noise ^= noise << 13U;
    noise ^= noise >> 17U;
    noise ^= noise << 5U;
    return noise;
}
/* One bit, many bits, all of them; nothing but zeros or ones. */
static void damage(unsigned char *bytes, size_t n, unsigned round)
{
    if (round < 24U) {
        for (unsigned flips = 0U; flips <= round / 8U * 8U; ++flips) {
            bytes[draw() % n] ^= 1U << (draw() % 8U);
        }
    } else if (round < 30U) {
        for (size_t i = 0U; i < n; ++i) bytes[i] = draw() >> 8U;
    } else {
        memset(bytes, (round % 2U == 0U) ? 0 : 0xFF, n);
    }
}
int main(void)
{
    const size_t n_queries = fread(inputs, sizeof inputs[0], @QUERIES@, stdin);
    for (size_t q = 0U; q < n_queries; ++q) iris_harness_query(inputs[q], record);
    is_query = false;
    (void)iris_harness_self_test();
    is_query = true;
    for (size_t t = 0U; t < sizeof tables / sizeof tables[0]; ++t) {
        void *const kept = malloc(tables[t].size);
        memcpy(kept, tables[t].start, tables[t].size);
        for (unsigned round = 0U; round < 32U; ++round) {
            damage(tables[t].start, tables[t].size, round);
            for (unsigned n = 0U; n < 3U; ++n) {
                iris_harness_query(inputs[draw() % n_queries], record);
            }
            is_query = false;
            if (round == 0U) (void)iris_harness_self_test();  /* which repairs, with two copies */
            is_query = true;
            memcpy(tables[t].start, kept, tables[t].size);
        }
        free(kept);
    }
    for (unsigned k = 0U; k < @COUNTS@; ++k) {
        const count_t *const c = &counts[k];
        printf("%u %u", (unsigned)c->most, (unsigned)c->most_total);
        printf(" %u\\n", (unsigned)c->most_of_query);
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Counted:
    """A loop of emitted C, and how often it turned over all queries and damaged tables.

    Attributes
    ----------
    fact : LoopFact
    template : str
        Where it comes from: file and number of the line.
    most, most_total, most_of_query : int
        Turns each time it was entered, during one call of its function, and during one query, at
        most.
    """

    fact: LoopFact
    template: str
    most: int
    most_total: int
    most_of_query: int


@dataclass(frozen=True)
class Taken:
    """A bounded branch of emitted C, and how often its body ran in one query, at most."""

    fact: BranchFact
    most_of_query: int


SANITIZED = (
    "-fsanitize=address,undefined,bounds,float-cast-overflow",
    "-fno-sanitize-recover=all",
)
"""A call with damaged tables reads and writes nothing outside of an object."""


def template_loops() -> set[str]:
    """Return all loops of the templates of a model, as file and number of the line."""
    folder = resources.templates_dir()
    found = set()
    for path in sorted(folder.rglob("*.c.j2")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(NOT_MODEL):
            found |= {mark[1] for mark in _MARK.finditer(_marked(name, path.read_text()))}
    return found


def _marked(name: str, source: str) -> str:
    """Return a template that says behind the head of each loop where it stands."""

    def with_mark(head: re.Match[str]) -> str:
        number = source.count("\n", 0, head.start()) + 1
        return f"{head[0]} /*@{name}:{number}@*/"

    return _HEAD.sub(with_mark, source)


def _load(name: str) -> tuple[str, str, Callable[[], bool]]:
    """Return a template with its marks, as Jinja's loaders do."""
    return _marked(name, (resources.templates_dir() / name).read_text()), name, lambda: True


_MARKING = jinja2.FunctionLoader(_load)


@contextmanager
def marked_templates() -> Iterator[None]:
    """Let everything that is emitted meanwhile say of which template its loops are."""
    own = environment()
    loader = own.loader
    own.loader = _MARKING
    try:
        yield
    finally:
        own.loader = loader


def count_loops(
    emitted: Emitted, folder: Path, n_queries: int = 200
) -> tuple[list[Counted], list[Taken]]:
    """Run queries, the self-test and queries with damaged tables; return loops and branches."""
    need("gcc")
    with marked_templates():
        files = emit(emitted.program, emitted.target, "a command", "a model of the tests")
    templates = [mark[1] for mark in _MARK.finditer(files["iris.c"])]
    files = {name: _MARK.sub("", text) for name, text in files.items()}
    source = files["iris.c"]
    facts = read_loop_facts(source, files["iris.h"])
    branches = read_branch_facts(source, files["iris.h"])
    assert len(templates) == len(facts)
    inputs = emitted.inputs[:: -(-len(emitted.inputs) // n_queries)]
    tables = [table.name for table in emitted.program.tables() if f"iris_{table.name}" in source]
    parts = {
        "@COUNTS@": str(len(facts) + len(branches)),
        "@TABLES@": ", ".join(f"{{ &iris_{name}, sizeof iris_{name} }}" for name in tables),
        "@QUERIES@": str(len(inputs)),
        "@WORDS@": str(emitted.recipe.input_words),
        "@RECORD@": str(emitted.recipe.record_words),
    }
    main = _MAIN
    for place, text in parts.items():
        main = main.replace(place, text)
    own = {"iris.c": _counting(source, facts, branches), "main.c": main}
    for name, text in (files | own).items():
        (folder / name).write_text(text)
    flags = [*EXACT_FLAGS, *SANITIZED, "-O1", "-w", "-DIRIS_TABLE=", "-DIRIS_TABLES_IN_RAM"]
    succeed(["gcc", *flags, folder / "main.c", "-o", folder / "main"])
    lines = _answer(folder / "main", inputs).splitlines()
    loops = [
        Counted(fact, template, *map(int, line.split()))
        for fact, template, line in zip(facts, templates, lines[: len(facts)], strict=True)
    ]
    taken = [
        Taken(fact, int(line.split()[2]))
        for fact, line in zip(branches, lines[len(facts) :], strict=True)
    ]
    return loops, taken


def _answer(program: Path, inputs: np.ndarray) -> str:
    done = subprocess.run(
        [program], input=inputs.tobytes(), capture_output=True, timeout=HANGS_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def _counting(source: str, facts: tuple[LoopFact, ...], branches: tuple[BranchFact, ...]) -> str:
    """Return C whose loops and bounded branches count.

    They count at the entry, in each turn, and at the beginning of a call and of a query. Of the
    functions of the header only two call others: the self-test, and the one that counts its steps
    in the telemetry, which has no loop.
    """
    lines = source.split("\n")
    for number, fact in enumerate(facts):
        head = fact.line - 1
        lines[head] = f"counts[{number}].turns = 0U; {lines[head].strip()}"
        while not lines[head].endswith("{"):
            head += 1
        lines[head] += f" count_turn({number}U);"
    for number, branch in enumerate(branches, start=len(facts)):
        lines[branch.body_line - 1] += f" count_turn({number}U);"
    for function in dict.fromkeys(fact.function for fact in facts):
        numbers = [n for n, fact in enumerate(facts) if fact.function == function]
        start = facts[numbers[0]].line - 1
        while lines[start] != "{":
            start -= 1
        lines[start] += f" count_call({numbers[0]}U, {numbers[-1] + 1}U);"
    public = {one.name: one.body_start for one in defined_functions(source) if not one.is_static}
    callers = {caller for caller, called, _ in find_calls(source) if called in public}
    assert callers - {"iris_telemetry_step"} == {"iris_self_test"}
    for start in public.values():
        lines[source.count("\n", 0, start) + 1] += " count_query();"
    return "\n".join(lines)

"""The emitted C is one that a reviewer of flight software would sign."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from emitted_programs import (
    CASES,
    LONG_NAME,
    SOME,
    every_list,
    parameters,
    texts,
    texts_of,
    written,
)
from line_cover import kinds_of_lines

from kit import (
    additive,
    catalogue,
    certified,
    coded,
    coded_polynomials,
    images,
    input_tolerances,
    pairs,
    polynomials,
    ratios,
    regressions,
    watched,
)
from kit.covering import covering
from kit.emitted import emit_model
from kit.host_program import STRICT
from kit.tools import need, run, succeed
from kmcompile.build.compiling import EXACT_FLAGS

MISRA = {
    "script": str(Path(__file__).with_name("misra_addon.py")),
    "python": sys.executable,
    "ctu": True,
}

OF_CODES = [(case, "cortex-m7") for case in coded.CORE]

# What <float.h> says on the targets: cppcheck does not read the system's headers.
FLOAT_H = (
    *("FLT_EVAL_METHOD=0", "FLT_RADIX=2", "FLT_MANT_DIG=24", "FLT_MAX_EXP=128"),
    *("DBL_MANT_DIG=53", "DBL_MAX_EXP=1024"),
)

# Not wanted of clang-tidy: indices are 32-bit and below the length of a table, which the emitter
# checks; a list of tables has equal lengths; parameters of one type can be swapped.
NOT_TIDY = (
    "bugprone-implicit-widening-of-multiplication-result",
    "bugprone-branch-clone",
    "bugprone-easily-swappable-parameters",
)


every_program = pytest.mark.parametrize(("case", "target"), parameters(CASES), ids=str)


@pytest.mark.few
@every_program
def test_gcc_has_no_warning(case, target, tmp_path):
    need("gcc")
    read_by_gcc(written(case, target, tmp_path), "-O2")


def read_by_gcc(sources, optimisation="-O0"):
    for source in sources:
        succeed(["gcc", *EXACT_FLAGS, *STRICT, optimisation, "-S", source, "-o", "/dev/null"])


def read_by_clang(sources):
    """-Wpadded is left out: the members of the result and their order are the interface's."""
    flags = ["-Weverything", "-Wno-padded", "-Werror", "-O2", "-S", "-o", "/dev/null"]
    for source in sources:
        succeed(["clang", *EXACT_FLAGS, *flags, source])


def read_by_clang_tidy(sources):
    checks = ["-*", "bugprone-*", "cert-*", "clang-analyzer-*", *(f"-{c}" for c in NOT_TIDY)]
    command = ["clang-tidy", "--quiet", f"--checks={','.join(checks)}", "--warnings-as-errors=*"]
    succeed([*command, *sources, "--", "-std=c99"])


def read_by_cppcheck(sources):
    """Find no deviation from MISRA C but the listed ones."""
    found = ["--enable=warning,style,performance,portability", "--inconclusive"]
    deviations = sources[0].with_name(f"{sources[0].stem}_misra.txt")
    gate = ["--error-exitcode=1", f"--suppressions-list={deviations}"]
    succeed(cppcheck_misra(*found, *gate, *sources))


def cppcheck_misra(*arguments):
    command = ["cppcheck", "-q", f"--addon={json.dumps(MISRA)}", "--std=c99", "--platform=unix32"]
    return [*command, *(f"-D{macro}" for macro in FLOAT_H), *arguments]


READERS = {
    "gcc": read_by_gcc,
    "clang": read_by_clang,
    "clang-tidy": read_by_clang_tidy,
    "cppcheck": read_by_cppcheck,
}
PARTS = 8


@pytest.fixture(scope="module")
def chosen():
    """Return programs with every line of all programs; numbers count as equal."""
    lines = {
        (case, target): kinds_of_lines("".join(text for _, text in texts_of(case, target)))
        for case, target in CASES
    }
    return covering(lines)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("reader", READERS)
def test_no_tool_finds_anything_in_any_line(reader, part, chosen, tmp_path):
    need(reader)
    for case, target in chosen[part::PARTS]:
        READERS[reader](written(case, target, tmp_path / f"{case}-{target}"))


@pytest.mark.few
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("case", "target"), SOME, ids=str)
def test_no_tool_finds_anything_in_a_program_of_each_list(reader, case, target, tmp_path):
    """`make test-all` reads every line of all programs, above."""
    need(reader)
    READERS[reader](written(case, target, tmp_path))


def test_no_listed_deviation_is_out_of_date(tmp_path):
    need("cppcheck")
    catalogue.emitted(catalogue.CORE[0], "host").write(tmp_path)
    sources = [tmp_path / "iris.c", tmp_path / "iris_harness.c"]
    done = run(cppcheck_misra("--enable=style", "--template={id}", *sources))
    lines = (tmp_path / "iris_misra.txt").read_text().splitlines()
    listed = {line for line in lines if line.startswith("misra")}
    assert listed == set(done.stderr.split())


@every_list
@pytest.mark.parametrize("name", ["iris", LONG_NAME])
def test_lines_are_short_and_blank_ones_single(name, programs):
    for where, text in texts(programs, name):
        assert text.endswith("\n") and not text.endswith("\n\n"), where
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            assert len(line) <= 100, f"{where}:{number}: {line}"
            assert line == line.rstrip() and "\t" not in line, f"{where}:{number}"
        for number, (line, following) in enumerate(pairwise(lines), 1):
            assert line or following, f"{where}:{number}: two blank lines"
            assert not (line == "{" and not following), f"{where}:{number}: blank after brace"
            assert not (following == "}" and not line), f"{where}:{number}: blank before brace"


@every_list
def test_every_function_is_short_and_has_its_contract(programs):
    for where, text in texts(programs):
        if where.endswith(".h"):
            continue
        for function in re.finditer(r"^[a-z][^;={]*\([^;]*?\)\n\{\n.*?^\}$", text, re.M | re.S):
            name = re.search(r"(\w+)\(", function[0])[1]
            assert function[0].count("\n") < 60, f"{where}: {name}"
            assert text[: function.start()].endswith("*/\n"), f"{where}: {name} has no comment"


@every_list
def test_the_header_states_a_contract_for_each_function(programs):
    for where, text in texts(programs):
        if where.endswith(".h"):
            for declaration in re.finditer(r"^\w+_t \w+\([^;{]*\);", text, re.M):
                before = text[: declaration.start()]
                assert before.endswith("*/\n"), f"{where}: {declaration[0]}"


WATCHED = [(watched.CORE[1], "host")]
IN_IMAGES = [(images.CORE[1], "host"), (images.CORE[4], "host")]


@pytest.mark.few
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("optimisation", ["-O0", "-O2", "-O3", "-Os"])
@pytest.mark.parametrize(
    ("case", "target"),
    parameters([*CASES[:4], *OF_CODES, *CASES[-8:], *WATCHED, *IN_IMAGES]),
    ids=str,
)
def test_no_library_is_called_and_nothing_is_writable(
    case, target, compiler, optimisation, tmp_path
):
    """reliability 40: .data + .bss = 0, so any number of tasks may call at once."""
    need(compiler)
    catalogue.emitted(case, target).write(tmp_path)
    result = tmp_path / "iris.o"
    command = [compiler, *EXACT_FLAGS, "-fno-pic", optimisation, "-c", tmp_path / "iris.c"]
    succeed([*command, "-o", result])
    with result.open("rb") as file:
        elf = ELFFile(file)
        symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
        undefined = {s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF" and s.name}
        writable = sum(s["sh_size"] for s in elf.iter_sections() if s["sh_flags"] & 1)
        exported = {s.name for s in symbols if s["st_info"]["bind"] == "STB_GLOBAL"} - undefined
    assert undefined <= {"memcpy", "memset"}
    assert writable == 0
    if case in regressions.SIGNED:
        suffixes = ["", "_float"] if case.number_format == "int16" else [""]
        calls = [
            f"{call}{s}" for call in ("predict", "predict_within", "decision") for s in suffixes
        ]
        names = (*calls, "self_test", "self_test_step", "stage_names")
        assert exported == {f"iris_{name}" for name in names}
        return
    functions = ["classify", "decision", "self_test", "self_test_step"]
    if case in watched.CORE:
        functions += [f"telemetry_{name}" for name in ("reset", "count", "test", "step")]
        case = case.case
    if case in certified.EVERY or getattr(case, "exits", ()) is True:
        functions.append("classify_within")
    elif case in input_tolerances.CORE:
        # Without early exits there is nothing to limit or to watch.
        if case.kind == "value":
            calls = ("predict", "decision", "self_test", "self_test_step", "stage_names")
            assert exported == {f"iris_{name}" for name in calls}
            return
        if case.number_format == "int16":
            functions += ["classify_float", "decision_float"]
    elif case in ratios.CORE:
        functions += ["classify_within", "audit"]
    elif case in (*coded.CORE, *coded_polynomials.CORE):
        functions += ["classify_float", "decision_float"]
    elif case in images.CORE:
        functions.append("open")
        if "format" in dict(case.more):
            functions += ["classify_float", "decision_float"]
    elif case not in (*catalogue.CORE, *pairs.CORE, *polynomials.CORE, *additive.CORE):
        functions.append("audit")
    assert exported == {f"iris_{name}" for name in (*functions, "class_names", "stage_names")}


CALLER = """
#include <cstdio>
#include "iris.h"
#include "level.h"
int main()
{
    static_assert(IRIS_WORKSPACE_BYTES == sizeof(iris_workspace_t), "bytes");
    iris_workspace_t first;
    level_workspace_t second;
    iris_result_t a;
    level_result_t b;
    const float x[16] = { 0.25F, 0.5F };
    const int status = iris_classify(&first, x, &a) + level_classify(&second, x, &b)
        + iris_self_test() + level_self_test();
    std::printf("%d %s %s\\n", status, iris_class_names[a.label], level_class_names[b.label]);
}
"""


def test_two_models_link_into_one_program_of_c_plus_plus(tmp_path):
    need("gcc", "g++")
    emitted = [
        emit_model(catalogue.CORE[1].fitted(), "host", "iris"),
        emit_model(catalogue.CORE[5].fitted(), "host", "level"),
    ]
    for one in emitted:
        one.write(tmp_path)
        c, o = tmp_path / f"{one.name}.c", tmp_path / f"{one.name}.o"
        succeed(["gcc", *EXACT_FLAGS, "-c", c, "-o", o])
    (tmp_path / "main.cpp").write_text(CALLER)
    objects = [tmp_path / "iris.o", tmp_path / "level.o"]
    flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{tmp_path}"]
    succeed(["g++", *flags, tmp_path / "main.cpp", *objects, "-o", tmp_path / "both"])
    status, *labels = succeed([tmp_path / "both"]).split()
    assert status == "0"
    assert set(labels) <= {"0", "1", "2", "3"}


@pytest.mark.few
@pytest.mark.target
@pytest.mark.parametrize(
    ("case", "target"), parameters(c for c in CASES if c[1] == "cortex-m7"), ids=str
)
def test_the_cross_compiler_has_no_warning(case, target, tmp_path):
    need("arm-none-eabi-gcc")
    catalogue.emitted(case, target).write(tmp_path)
    cpu = ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-ffreestanding"]
    for source in (tmp_path / "iris.c", tmp_path / "iris_harness.c"):
        command = ["arm-none-eabi-gcc", *cpu, *EXACT_FLAGS, *STRICT, "-O2", "-S", source]
        succeed([*command, "-o", "/dev/null"])

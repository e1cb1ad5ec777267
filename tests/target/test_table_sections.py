"""`<PREFIX>_TABLE_SECTION` places every table of a model, and nothing else."""

from __future__ import annotations

import pytest
from elftools.elf.elffile import ELFFile

from kit import catalogue, coded, replays
from kit.emitted import Emitted
from kit.host_program import STRICT
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.target import load_target

CASES = (replays.CORE[0], coded.REPLAYED[2], catalogue.CORE[0])

# One image with two models, whose tables lie in sections of their own.
TWO_MODELS = """
#include "iris.h"
#include "wine.h"
int main(void)
{
    return ((iris_self_test() == IRIS_OK) && (wine_self_test() == WINE_OK)) ? 0 : 1;
}
"""

pytestmark = pytest.mark.target


def objects_by_section(path) -> dict[str, set[str]]:
    """Return the names of the objects of each section."""
    found: dict[str, set[str]] = {}
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            if symbol["st_info"]["type"] == "STT_OBJECT":
                section = elf.get_section(symbol["st_shndx"]).name
                found.setdefault(section, set()).add(symbol.name)
    return found


def table_names(emitted: Emitted) -> set[str]:
    names = {table.name for table in emitted.program.tables()} | {"checksums"}
    return {f"{emitted.name}_{name}" for name in names}


def section_flag(name: str, section: str) -> str:
    return f'-D{name.upper()}_TABLE_SECTION=__attribute__((section("{section}")))'


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("target", ["host", "cortex-m7"])
def test_a_section_holds_all_tables_and_only_tables(case, target, tmp_path):
    compiler = load_target(target).compiler
    need(compiler.command)
    emitted = catalogue.emitted(case, target)
    emitted.write(tmp_path)
    source, result = tmp_path / "iris.c", tmp_path / "iris.o"
    flags = [*compiler.flags, *EXACT_FLAGS, *STRICT, "-ffreestanding", "-O2"]
    flags += [section_flag("iris", ".tcm")]
    succeed([compiler.command, *flags, "-c", source, "-o", result])
    objects = objects_by_section(result)
    assert objects.pop(".tcm") == table_names(emitted)
    others = set().union(*objects.values())
    assert {"iris_class_names", "iris_stage_names"} <= others
    assert not others & table_names(emitted)


def test_two_models_of_one_image_have_sections_of_their_own(tmp_path):
    need("gcc")
    models = [CASES[1].emit("host", "iris"), CASES[2].emit("host", "wine")]
    sections = [".fast_tables", ".slow_tables"]
    flags = [section_flag(*pair) for pair in zip(("iris", "wine"), sections, strict=True)]
    for model in models:
        model.write(tmp_path)
    (tmp_path / "main.c").write_text(TWO_MODELS, encoding="ascii")
    sources = [tmp_path / name for name in ("iris.c", "wine.c", "main.c")]
    image = tmp_path / "image"
    succeed(["gcc", *EXACT_FLAGS, *STRICT, "-O2", *flags, *sources, "-o", image])
    objects = objects_by_section(image)
    for model, section in zip(models, sections, strict=True):
        assert objects[section] == table_names(model)
    succeed([image])

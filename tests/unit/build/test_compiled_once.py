"""The tests take an object again only where its source, its headers and its flags are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit import compiled_once
from kit.tools import need
from kmcompile.build.compiling import Compiling
from kmcompile.target import load_target
from kmcompile.tools import toolchain

SOURCE = '#include "part.h"\nint part(void);\nint part(void) { return PART; }\n'


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets what is compiled by a compiler."""
    need("gcc")
    done: list[str] = []
    usual = toolchain.run_tool

    def told(arguments, cwd, timeout_s, step):
        done.append(step)
        return usual(arguments, cwd, timeout_s, step)

    monkeypatch.setattr(toolchain, "run_tool", told)
    monkeypatch.setattr(compiled_once, "_known", type(compiled_once._known)())
    return done


def compiled(folder: Path, source: str = SOURCE, value: int = 1, flag: str = "-O0") -> bytes:
    """Return the object of a source, with its stack beside it."""
    folder.mkdir()
    work = folder / "work"
    (work / "parts").mkdir(parents=True)
    (folder / "part.c").write_text(source)
    (folder / "part.h").write_text(f"#define PART {value}\n")
    made = Compiling(load_target("host"), None, None, work)
    found = made.compile(folder / "part.c", (flag, f"-I{folder}"))
    assert "part" in found.with_suffix(".su").read_text()
    assert found.with_suffix(".ci").stat().st_size > 0
    return found.read_bytes()


def test_the_same_is_compiled_once_and_anything_else_again(run: list[str], tmp_path: Path) -> None:
    first = compiled(tmp_path / "a")
    assert compiled(tmp_path / "b") == first
    assert len(run) == 1
    others = [
        compiled(tmp_path / "c", source=SOURCE.replace("PART;", "PART + 1;")),
        compiled(tmp_path / "d", value=2),
        compiled(tmp_path / "e", flag="-O2"),
    ]
    assert len(run) == 4
    assert first not in others

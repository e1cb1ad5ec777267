"""`--package rust`: the crate builds with rustc, and a program of two crates answers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import kmcompile
from kit.packages import C, answer_text, packaged, queries, query_text
from kit.tools import need, succeed

STUBS = Path(__file__).parent / "stubs" / "rust"
RUSTC = ["rustc", "--edition", "2021", "-D", "warnings"]


def built(crate: Path, name: str, out: Path) -> list[str | Path]:
    """Build a crate into a folder, the C as build.rs asks cc to; return rustc's options for it."""
    script = (crate / "build.rs").read_text()
    assert '"-ffp-contract=off"' in script and '"-fno-short-enums"' in script
    sources = sorted((crate / "c").glob("*.c"))
    assert all(f'.file("c/{source.name}")' in script for source in sources)
    out.mkdir(exist_ok=True)
    objects = []
    for source in sources:
        objects.append(out / f"{name}_{source.stem}.o")
        succeed([*C, "-fno-short-enums", "-pedantic", "-c", source, "-o", objects[-1]])
    succeed(["ar", "rcs", out / f"libkmcompile_{name}.a", *objects])
    library = ["--crate-name", crate.name, "--crate-type", "rlib", crate / "src" / "lib.rs"]
    native = ["-L", out, "-l", f"static=kmcompile_{name}"]
    succeed([*RUSTC, *library, *native, "--out-dir", out])
    return ["-L", out, "--extern", f"{crate.name}={out / f'lib{crate.name}.rlib'}"]


def pass_own_tests(crate: Path, name: str, out: Path) -> None:
    """Run the crate's own tests."""
    used = built(crate, name, out)
    succeed([*RUSTC, "--test", crate / "tests" / "known_answers.rs", *used, "-o", out / "known"])
    assert "test result: ok. 3 passed" in succeed([out / "known"])
    native = ["-L", out, "-l", f"static=kmcompile_{name}"]
    unit = ["--crate-name", crate.name, "--test", crate / "src" / "lib.rs"]
    succeed([*RUSTC, *unit, *native, "-o", out / "unit"])
    assert "test result: ok. 1 passed" in succeed([out / "unit"])


@pytest.mark.parametrize("model", ["iris", "regression", "codes"])
def test_the_crate_passes_its_tests(model: str, tmp_path: Path) -> None:
    need("gcc", "ar", "rustc")
    pass_own_tests(packaged("rust", tmp_path / "o", model) / "iris", "iris", tmp_path / "b")


def test_a_program_of_two_crates_answers_as_the_c_does(tmp_path: Path) -> None:
    need("gcc", "ar", "rustc")
    models = {"iris": "iris", "m_2": "regression"}
    used, asked, expected = [], "", ""
    for name, model in models.items():
        crate = packaged("rust", tmp_path / name, model, name) / name
        used += built(crate, name, tmp_path / "b")
        X = queries(model)
        asked += query_text(X)
        expected += answer_text(tmp_path / name, X)
    succeed([*RUSTC, STUBS / "main.rs", *used, "-o", tmp_path / "program"])
    done = subprocess.run(
        [tmp_path / "program"], input=asked, capture_output=True, text=True, check=True
    )
    assert done.stdout == expected
    assert len(expected.splitlines()) == 600


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "crate_name"),
    [
        ("k", "k"),
        ("std", "std_model"),
        ("match", "match_model"),
        ("a__b_", "a_b"),
        ("a_name_of_20_letters", "a_name_of_20_letters"),
    ],
)
def test_every_name_gives_a_crate(name: str, crate_name: str, tmp_path: Path) -> None:
    need("gcc", "ar", "rustc")
    crate = packaged("rust", tmp_path / "o", name=name) / crate_name
    pass_own_tests(crate, name, tmp_path / "b")
    written = [path for path in crate.rglob("*.*") if path.stem != name]
    lines = [line for path in written for line in path.read_text().splitlines()[1:]]
    assert max(map(len, lines)) <= 100


def test_class_names_are_the_bytes_of_the_model(tmp_path: Path) -> None:
    need("gcc", "ar", "rustc")
    names = ['a "b" \\ {}', "\u00e9\n" * 60, "plain"]
    X, y = load_iris(return_X_y=True)
    model = SVC(gamma=0.5).fit(X, np.array(names)[y])
    options = {"mode": "exact", "verify": "none", "name": "iris", "package": "rust"}
    kmcompile.compile_model(model, out=tmp_path / "o", **options)
    used = built(tmp_path / "o" / "rust" / "iris", "iris", tmp_path / "b")
    (tmp_path / "main.rs").write_text('fn main() { print!("{}", iris::CLASS_NAMES.join("|")); }')
    succeed([*RUSTC, tmp_path / "main.rs", *used, "-o", tmp_path / "program"])
    assert succeed([tmp_path / "program"]) == "|".join(model.classes_)


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize("model", ["iris", "regression", "codes"])
def test_the_types_are_those_of_the_c_on_a_board_and_with_exits(model: str, tmp_path: Path) -> None:
    need("gcc", "ar", "rustc", "arm-none-eabi-gcc")
    crate = packaged("rust", tmp_path / "o", model, mode="certified") / "iris"
    unlinked = ["-fno-short-enums", "-c", crate / "c" / "layout.c", "-o", tmp_path / "layout.o"]
    succeed(["gcc", *unlinked])
    succeed(["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", *unlinked])
    pass_own_tests(crate, "iris", tmp_path / "b")

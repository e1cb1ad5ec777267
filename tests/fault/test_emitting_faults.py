"""What a hostile label, a small board or another environment must not do to the emitted C."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

import kmcompile
from kit.covering import some
from kit.emitted import emit_model
from kit.host_program import BATCH_MAIN, STRICT, build_program, run_batch
from kit.tools import HANGS_S, need, need_tools, succeed
from kmcompile import cli
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.emit.literals import bits_literal, comment_text, float32_literal, string_literal
from kmcompile.errors import InputError, UsageError
from kmcompile.request.prefix import check_prefix, prefix_from
from kmcompile.target import load_target

CHECKOUT = Path(kmcompile.__file__).parents[1]
NASTY = [
    "*/",
    "/*",
    '"',
    "\\",
    "??/",
    "\\\n",
    "\n",
    "\r",
    "\0",
    "\u202e",
    "%s",
    "//",
    "é",
    "\U0001f600",
]
nasty_text = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=8))).map("".join)
# What a label may be: no lone surrogates, which are no text in UTF-8.
labels = nasty_text.map(lambda text: text.encode("utf-8", "ignore").decode())


def few(n_examples):
    """Return settings: the same examples in every run, however slow the machine is."""
    return settings(
        max_examples=n_examples,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


def fitted(classes=("no", "yes"), gamma=0.5, n=40):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 3))
    return SVC(gamma=gamma).fit(X, np.array(classes, dtype=object)[(X[:, 0] > 0).astype(int)])


def without_names(text: str) -> list[str]:
    """Return the C without the model's hash and the labels' text."""
    start, end = text.index("_class_names["), text.index("_stage_names[")
    lines = (text[:start] + text[end:]).splitlines()
    return [line for line in lines if "SHA-256 of the model" not in line]


@pytest.mark.exhaustive
@few(12)
@given(st.lists(labels, min_size=2, max_size=2, unique=True))
def test_any_label_compiles_to_the_same_program(tmp_path_factory, classes):
    """reliability 20: label injection."""
    need("gcc")
    plain, emitted = emit_model(fitted()), emit_model(fitted(tuple(sorted(classes))))
    text = emitted.files["iris.c"].decode("ascii")
    assert without_names(text) == without_names(plain.files["iris.c"].decode("ascii"))
    assert all(len(line) <= 100 for line in text.splitlines())
    folder = tmp_path_factory.mktemp("labels")
    harness = ("iris.c", "iris_harness.c")
    program = build_program(emitted, folder, BATCH_MAIN, STRICT, sources=harness)
    records, self_test = run_batch(program, emitted, emitted.inputs)
    np.testing.assert_array_equal(records, plain.records)
    assert self_test == 0


TEXT_MAIN = """
#include <stdio.h>
static const char *const texts[] = {
%s
};
static const unsigned sizes[] = { %s };
int main(void)
{
    for (unsigned i = 0U; i < sizeof sizes / sizeof sizes[0]; ++i) {
        fwrite(texts[i], 1U, sizes[i], stdout);
    }
    return 0;
}
"""


@pytest.mark.exhaustive
@few(5)
@given(st.lists(labels, min_size=1, max_size=100))
def test_text_reads_back_equal_byte_for_byte(tmp_path_factory, texts):
    """reliability 20: escapes, with trigraphs on."""
    need("gcc")
    folder = tmp_path_factory.mktemp("texts")
    encoded = [text.encode() for text in texts]
    literals = ",\n".join(string_literal(text) for text in texts)
    main = TEXT_MAIN % (literals, ", ".join(f"{len(text)}U" for text in encoded))
    (folder / "main.c").write_text(main, encoding="ascii")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-trigraphs"]
    succeed(["gcc", *flags, folder / "main.c", "-o", folder / "main"])
    done = subprocess.run([folder / "main"], capture_output=True, timeout=HANGS_S, check=True)
    assert done.stdout == b"".join(encoded)


@few(60)
@given(st.lists(st.one_of(st.sampled_from(NASTY), st.text())).map("".join))
def test_text_cannot_leave_a_comment(text):
    """reliability 20: the model's file name is on line 1."""
    safe = comment_text(text)
    assert safe.isascii() and (safe.isprintable() or not safe)
    for bad in ("*/", "/*", "??", "\\", "\n"):
        assert bad not in safe


@few(60)
@given(st.lists(st.one_of(st.sampled_from(NASTY), st.text())).map("".join))
def test_a_prefix_made_of_any_text_is_valid(text):
    """reliability 20: name injection."""
    assert check_prefix(prefix_from(text))


@pytest.mark.parametrize(
    "name",
    ["", "9a", "Iris", "a b", "a-b", "int", "class", "_a", "é", "a;", "a/*", "a" * 25, "a\n"],
)
def test_a_name_that_is_no_prefix_exits_2(name):
    """reliability 20: name injection, C keywords."""
    with pytest.raises(UsageError, match="cannot prefix C names") as caught:
        check_prefix(name)
    assert caught.value.exit_code == 2


@pytest.mark.exhaustive
def test_a_hostile_file_name_gives_an_ordinary_folder(tmp_path, monkeypatch):
    """reliability 20: the command on line 1 of the C names the model's file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x *\\ '??' \u202e $(id);.pkl"
    path.write_bytes(pickle.dumps(fitted()))
    assert cli.run([path.name, "--verify", "host", "--quiet", "--out", "out"]) == 0
    (source,) = (p for p in (tmp_path / "out").glob("*.c") if "harness" not in p.name)
    first = source.read_text(encoding="ascii").splitlines()[0]
    assert first.startswith("/* kmcompile ") and first.endswith(" */")


def test_a_label_longer_than_a_c_string_may_be_is_refused():
    """reliability 20: C99 promises string literals of 4095 bytes."""
    assert emit_model(fitted(("a" * 4095, "b")))
    with pytest.raises(InputError, match="has a label of 4096 bytes, must be at most 4095"):
        emit_model(fitted(("é" * 2048, "b")))


ENVIRONMENTS = [
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "40"},
    {"PYTHONHASHSEED": "4711", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "OMP_NUM_THREADS": "3"},
    {"PYTHONHASHSEED": "random", "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "0", "OMP_NUM_THREADS": "1"},
]


@pytest.mark.exhaustive
def test_the_same_input_gives_the_same_bytes_in_every_environment(tmp_path):
    """reliability 24: hash seed, locale, time zone, folders, threads."""
    need("gcc")
    content, outputs = pickle.dumps(fitted()), []
    for number, environment in enumerate(ENVIRONMENTS):
        folder = tmp_path / f"folder {number}" / ("deeper" * number)
        temporary = tmp_path / f"temporary{number}"
        folder.mkdir(parents=True)
        temporary.mkdir()
        (folder / "m.pkl").write_bytes(content)
        out = tmp_path / f"out{number}"
        model = folder / "m.pkl" if number else Path("m.pkl")
        subprocess.run(
            [sys.executable, "-m", "kmcompile", model, "--verify", "host", "--out", out],
            cwd=folder,
            env={**os.environ, **environment, "PYTHONPATH": CHECKOUT, "TMPDIR": temporary},
            capture_output=True,
            timeout=HANGS_S,
            check=True,
        )
        outputs.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert len(outputs[0]) >= 9
    for output in outputs[1:]:
        assert output.keys() == outputs[0].keys()
        assert [name for name in output if output[name] != outputs[0][name]] == []


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.pkl").write_bytes(pickle.dumps(fitted()))
    return "m.pkl"


def check_boundary(model, words, option, needed, part, capsys):
    """Check that `needed` bytes are enough and one less exits 4 with the table of bytes."""
    assert cli.run([model, *words, option, str(needed), "--quiet", "--out", "fits"]) == 0
    assert Path("fits").is_dir()
    capsys.readouterr()
    assert cli.run([model, *words, option, str(needed - 1), "--quiet", "--out", "small"]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{needed:,} bytes" in err and f"may use {needed - 1:,}" in err
    assert part in err
    assert len(err.splitlines()) <= 3
    assert not Path("small").exists()


def test_tables_one_byte_larger_than_the_flash_exit_4(model, capsys, monkeypatch):
    """reliability 25: by the tables alone, where there is no cross-compiler."""
    monkeypatch.setattr("kmcompile.verify.verifier.shutil.which", lambda command: None)
    tables = emit_model(fitted(), "cortex-m7", "m").program.tables()
    words = ["--target", "cortex-m7", "--verify", "none", "--mode", "exact"]
    words += ["--format", "float32"]
    assert cli.run([model, *words, "--quiet", "--out", "first"]) == 0
    program = kmcompile.load("first").program
    assert len(program.tables()) == len(tables)
    check_boundary(model, words, "--max-flash", program.table_bytes, "bytes: ", capsys)


@pytest.mark.exhaustive
@pytest.mark.target
def test_certified_exits_that_do_not_fit_are_left_out(model):
    """reliability 25: the exact program and all that fits beside it is what there is."""
    need_tools(load_target("cortex-m7"))
    words = [model, "--target", "cortex-m7", "--format", "float32", "--quiet"]
    found = []
    for mode in ("exact", "certified"):
        assert cli.run([*words, "--mode", mode, "--out", mode]) == 0
        found.append(json.loads(Path(mode, "report.json").read_text())["memory"]["flash_bytes"])
    exact, certified = found
    for budget in (exact, (exact + certified) // 2, certified - 1):
        assert cli.run([*words, "--max-flash", str(budget), "--out", "o"]) == 0
        report = json.loads(Path("o/report.json").read_text())
        assert exact <= report["memory"]["flash_bytes"] <= budget
        assert report["options"]["mode"] == "certified"
    assert cli.run([*words, "--max-flash", str(exact - 1), "--out", "p"]) == 4


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize("option", some(["--max-flash", "--max-ram"], ("--max-flash",)))
def test_a_model_one_byte_larger_than_the_part_exits_4(option, model, capsys):
    """reliability 25: by the image: code, tables, workspace and stack."""
    need_tools(load_target("cortex-m7"))
    words = ["--target", "cortex-m7", "--mode", "exact", "--format", "float32"]
    assert cli.run([model, *words, "--quiet", "--out", "first"]) == 0
    memory = json.loads(Path("first/report.json").read_text())["memory"]
    needed = memory["flash_bytes"]
    part = "vectors "
    if option == "--max-ram":
        needed = memory["workspace_bytes"] + memory["stack_bytes"]
        part = f"workspace {memory['workspace_bytes']:,}, stack {memory['stack_bytes']:,}"
    check_boundary(model, words, option, needed, part, capsys)


finite_bits = st.integers(0, 0xFFFFFFFF).filter(lambda bits: bits & 0x7F800000 != 0x7F800000)


@few(1000)
@given(finite_bits)
def test_a_float_literal_names_its_value_exactly(bits):
    """reliability 26: no decimal rounding."""
    value = np.uint32(bits).view(np.float32)
    text = float32_literal(value)
    assert text.startswith(("0x", "-0x")) and text.endswith("f")
    assert np.float32(float.fromhex(text[:-1])).view(np.uint32) == bits


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_compiler_reads_every_float_literal_back_equal(compiler, tmp_path):
    """reliability 26: random bit patterns and the edges, subnormal numbers among them."""
    need(compiler)
    edges = [0, 1, 2, 0x007FFFFF, 0x00800000, 0x00800001, 0x3F7FFFFF, 0x3F800000, 0x7F7FFFFF]
    bits = np.random.default_rng(3).integers(0, 1 << 32, size=3000, dtype=np.uint32)
    bits = np.concatenate([np.array(edges, dtype=np.uint32), bits])
    bits = np.concatenate([bits, bits ^ np.uint32(0x80000000)])
    bits = bits[(bits & 0x7F800000) != 0x7F800000]
    lines = [
        f"{{ {{ {float32_literal(v)} }}, {bits_literal(int(v.view(np.uint32)))} }}"
        for v in bits.view(np.float32)
    ]
    main = (
        "#include <stdint.h>\n"
        "typedef union { float value; uint32_t bits; } number_t;\n"
        "static const struct { number_t number; uint32_t bits; } all[] = {\n"
        + ",\n".join(lines)
        + "\n};\nint main(void)\n{\n    for (unsigned i = 0U; i < sizeof all / sizeof all[0]; ++i)"
        " {\n        if (all[i].number.bits != all[i].bits) {\n            return 1;\n        }\n"
        "    }\n    return 0;\n}\n"
    )
    (tmp_path / "main.c").write_text(main, encoding="ascii")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    succeed([compiler, *flags, tmp_path / "main.c", "-o", tmp_path / "main"])
    succeed([tmp_path / "main"])


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_built_tables_hold_the_program_s_bytes(compiler, tmp_path):
    """reliability 26: every table, out of the object file."""
    need(compiler)
    emitted = emit_model(fitted())
    emitted.write(tmp_path)
    result = tmp_path / "iris.o"
    # Not optimised, so that every table stands there whole.
    succeed([compiler, *EXACT_FLAGS, "-O0", "-c", tmp_path / "iris.c", "-o", result])
    with result.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".symtab")
        for table in emitted.program.tables():
            (symbol,) = symbols.get_symbol_by_name(f"iris_{table.name}")
            data = elf.get_section(symbol["st_shndx"]).data()
            stored = data[symbol["st_value"] :][: symbol["st_size"]]
            assert stored == table.values.tobytes(), table.name

"""The small model as a library of the host: compilers, memory, records, faults of the build."""

from __future__ import annotations

import numpy as np
import pytest
import small_model

from kit.tools import need
from kmcompile.build import build
from kmcompile.errors import InputError, ToolError, UsageError
from kmcompile.run import HostRunner
from kmcompile.target import load_target

HOST = load_target("host")


@pytest.mark.parametrize("compiler", [None, "gcc", "clang"])
@pytest.mark.parametrize("optimisation", ["-O0", "-O2", "-O3"])
def test_every_compiler_gives_the_same_bits(tmp_path, compiler, optimisation):
    need(compiler or HOST.compiler.command)
    recipe = small_model.write_model(tmp_path, HOST)
    inputs = small_model.queries(1000)
    with build(recipe, tmp_path, HOST, compiler=compiler, optimisation=optimisation) as artifact:
        result = HostRunner().run(artifact, inputs)
    np.testing.assert_array_equal(result.records, small_model.expected_records(inputs))
    assert (result.self_test, result.instructions, result.painted_stack_bytes) == (0, None, None)
    assert (artifact.memory is None) == (compiler == "clang")


def test_memory_is_that_of_the_model_alone(tmp_path):
    """reliability 40: no mutable data."""
    need(HOST.compiler.command)
    recipe = small_model.write_model(tmp_path, HOST)
    with build(recipe, tmp_path, HOST, optimisation="-O0") as artifact:
        assert artifact.ram_bytes == 0
        assert artifact.memory.constants_bytes >= 2 * 3 * 4
        assert 0 < artifact.flash_bytes < 1000
        assert artifact.stack_bytes > 0


def test_a_mutable_global_counts_as_ram(tmp_path):
    need(HOST.compiler.command)
    text = small_model.MODEL_C + "static uint32_t calls[5];\nuint32_t *small_calls(void);\n"
    text += "uint32_t *small_calls(void) { return calls; }\n"
    recipe = small_model.write_model(tmp_path, HOST, text)
    with build(recipe, tmp_path, HOST) as artifact:
        assert artifact.ram_bytes == 20


def test_the_stack_is_unknown_where_the_c_library_is_called(tmp_path):
    need(HOST.compiler.command)
    text = small_model.MODEL_C.replace("float sum = 0.0f;", "float sum = small_other();", 1)
    text = text.replace('#include "small.h"', '#include "small.h"\nfloat small_other(void);')
    recipe = small_model.write_model(tmp_path, HOST, text)
    with build(recipe, tmp_path, HOST) as artifact:
        assert artifact.memory is not None
        assert artifact.stack_bytes is None


def test_the_folder_of_an_artifact_is_removed_with_it(tmp_path):
    need(HOST.compiler.command)
    recipe = small_model.write_model(tmp_path, HOST)
    with build(recipe, tmp_path, HOST) as artifact:
        assert artifact.path.is_file()
    assert not artifact.path.parent.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "small.c",
        "small.h",
        "small_harness.c",
    ]


def test_two_builds_of_one_name_do_not_mix(tmp_path):
    need(HOST.compiler.command)
    inputs = small_model.queries(1)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = small_model.write_model(tmp_path / "a", HOST)
    other = small_model.MODEL_C.replace("? 0U : 4U", "? 3U : 4U")
    second = small_model.write_model(tmp_path / "b", HOST, other)
    with build(first, tmp_path / "a", HOST) as one, build(second, tmp_path / "b", HOST) as two:
        answers = [HostRunner().run(artifact, inputs).self_test for artifact in (one, two, one)]
    assert answers == [0, 3, 0]


def test_no_query_at_all_is_no_error(tmp_path):
    need(HOST.compiler.command)
    recipe = small_model.write_model(tmp_path, HOST)
    with build(recipe, tmp_path, HOST) as artifact:
        result = HostRunner().run(artifact, small_model.queries(0))
    assert result.records.shape == (0, small_model.RECORD_WORDS)


def test_queries_of_another_shape_are_refused(tmp_path):
    need(HOST.compiler.command)
    recipe = small_model.write_model(tmp_path, HOST)
    with build(recipe, tmp_path, HOST) as artifact:
        for wrong in (np.zeros((2, 4), np.uint32), np.zeros((2, 3)), np.zeros(3, np.uint32)):
            with pytest.raises(UsageError, match="must be uint32 of shape"):
                HostRunner().run(artifact, wrong)


def test_an_absent_compiler_says_how_to_install_it(tmp_path, monkeypatch):
    """reliability 27: toolchain absent."""
    recipe = small_model.write_model(tmp_path, HOST)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"apt-get install .* gcc libc6-dev") as caught:
        build(recipe, tmp_path, HOST)
    assert caught.value.exit_code == 5


def test_a_compiler_that_fails_is_quoted(tmp_path):
    """reliability 27: toolchain wrong."""
    need(HOST.compiler.command)
    recipe = small_model.write_model(tmp_path, HOST, small_model.MODEL_C + "int x = y;\n")
    with pytest.raises(ToolError, match=r"compiling small\.c for host: gcc failed") as caught:
        build(recipe, tmp_path, HOST)
    assert "error:" in str(caught.value)
    assert str(caught.value).count("\n") < 3


def test_a_missing_source_is_named(tmp_path):
    recipe = small_model.write_model(tmp_path, HOST)
    (tmp_path / "small.c").unlink()
    with pytest.raises(InputError, match=r"small\.c: missing"):
        build(recipe, tmp_path, HOST)

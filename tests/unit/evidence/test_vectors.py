"""The program in C that asks the shipped vectors: what it finds in the header and the C file."""

from __future__ import annotations

import numpy as np
import pytest

from kit.catalogue import CORE
from kit.plans import plan_for
from kit.tools import need
from kmcompile import resources
from kmcompile.evidence.subject import Subject
from kmcompile.evidence.vectors.driver import inner_calls, tables
from kmcompile.evidence.vectors.inner import (
    UNITS,
    declared_functions,
    static_functions,
    transforms,
    units,
)
from kmcompile.evidence.vectors.scalars import scalars
from kmcompile.evidence.vectors.vectors import EXPECTED, Vectors
from kmcompile.output.files import save_queries
from kmcompile.verify.verifier import collect_queries

HEADER = """
/* Never a function: iris_status_t iris_other(void); */
iris_status_t iris_classify(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    uint32_t most,
    iris_result_t *result);
"""


@pytest.fixture(scope="module")
def subject():
    emitted = CORE[0].emit("host", "iris")
    queries = collect_queries(emitted.machine, emitted.program, plan_for(emitted.machine))
    files = {**emitted.files, "queries.npz": save_queries(queries)}
    return Subject("iris", emitted.program, emitted.target, files, {})


def test_prototypes_are_read_with_their_pointers():
    (found,) = declared_functions(HEADER, "iris").values()
    assert found.name == "iris_classify"
    assert [one.is_pointer for one in found.parameters] == [True, True, False, True]
    assert [one.length for one in found.parameters] == [None, "IRIS_N_FEATURES", None, None]
    assert found.parameters[1].c_type == "iris_input_t"


def test_every_table_of_the_program_is_damaged(subject):
    source = subject.files["iris.c"].decode()
    named = {one["name"].removeprefix("iris_") for one in tables(source)}
    assert named == {table.name for table in subject.program.tables()} | {"checksums"}


def test_inner_functions_are_called_with_what_they_take(subject):
    functions = static_functions(subject.files["iris.c"].decode(), "iris")
    calls = inner_calls(functions, "iris")
    assert calls["sum"]["call"] == "iris_sum(&workspace, &input, &result)"
    assert calls["accept"]["answers"]


def test_functions_inside_are_asked_where_they_take_what_is_given(subject):
    functions = static_functions(subject.files["iris.c"].decode(), "iris")
    asked = {own for own, function in units(functions).items() if function is not None}
    assert "sign" in asked
    assert "exact_sum" not in asked  # it takes no kernels that an exit has evaluated
    (step,) = [one for one in transforms(functions) if one["real"] == "float"]
    assert step["name"].startswith("iris_scale") and step["length"].endswith("U")


def test_every_function_that_is_asked_stands_in_some_template():
    paths = [
        path
        for folder in resources.template_folders()
        for path in folder.rglob("*.j2")
        if path.parent.name != "evidence"
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    for own in UNITS:
        assert f"_{own}(" in text or f"{own}.c.j2" in {path.name for path in paths}, own


def test_scalar_functions_get_arguments_of_all_sizes(subject):
    source = "static float iris_square_root(const float v)\n{\n    return v;\n}\n"
    (root,) = scalars(source, subject.program)
    assert root.arguments.dtype == np.float32
    assert (root.arguments < np.finfo(np.float32).smallest_normal).any()
    np.testing.assert_array_equal(root.words.view(np.float32), np.sqrt(root.arguments))


def test_every_word_agrees_and_a_changed_word_is_told(subject, tmp_path):
    need("gcc")
    vectors = Vectors.of(subject)
    vectors.write(tmp_path)
    vectors.record(tmp_path, "gcc")
    program = vectors.build(tmp_path, "gcc", ("-O2",))
    assert vectors.run(tmp_path, program)[0] == 0
    words = np.fromfile(tmp_path / EXPECTED, dtype=np.uint32)
    words[3] ^= 1
    words.tofile(tmp_path / EXPECTED)
    assert vectors.run(tmp_path, program) == (1, "differs: queries, word 3\n")

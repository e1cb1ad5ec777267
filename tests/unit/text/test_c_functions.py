"""The functions of emitted C are read whole, or not at all."""

from __future__ import annotations

import pytest
from emitted_hashes import ON_BOARDS, ON_HOST

from kmcompile.text.c_functions import functions_of, with_statements

EVERY = (*ON_BOARDS, *ON_HOST)

C = """
iris_status_t iris_open(void);

static inline const float *iris_row(
    const iris_model_t *const model, const float x[IRIS_N_FEATURES], uint32_t row)
{
    return &model->vectors[row];
}

static void iris_clear(float total[])
{
    total[0] = 0.0f;
}
"""


def test_functions_have_their_results_and_parameters():
    opened, row, clear = functions_of(C)
    assert [opened.is_defined, row.is_defined, clear.is_defined] == [False, True, True]
    assert [one.c_type for one in (opened, row, clear)] == ["iris_status_t", "float", "void"]
    assert row.answers and not clear.answers
    assert [one.length for one in row.parameters] == [None, "IRIS_N_FEATURES", None]
    assert [one.is_pointer for one in row.parameters] == [True, True, False]
    assert opened.parameters == ()
    (of_words,) = functions_of(
        "void iris_add(const float form[3U * IRIS_WORDS], /* row, or none */ uint32_t row);\n"
    )
    assert of_words.names == ("form", "row")
    assert [one.length for one in of_words.parameters] == ["3U * IRIS_WORDS", None]


def test_statements_are_replaced_between_the_braces():
    changed = with_statements(C, lambda one: f"    /* {one.name} */\n")
    assert "{\n    /* iris_clear */\n}\n" in changed
    assert changed.endswith("}\n") and "total[0]" not in changed


@pytest.mark.parametrize("head", ["static float (*iris_of(void))(float)", "int iris f(void)"])
def test_a_function_of_another_form_is_an_error(head):
    with pytest.raises(ValueError, match="unknown form"):
        list(functions_of(f"{C}\n{head}\n{{\n    return 0;\n}}\n"))


def test_a_parameter_of_another_form_is_an_error():
    (one,) = functions_of("void iris_f(unsigned long long x);\n")
    with pytest.raises(ValueError, match="unsigned long long x"):
        _ = one.names


@pytest.mark.parametrize("cases", [EVERY[::40], pytest.param(EVERY, marks=pytest.mark.exhaustive)])
def test_every_parameter_of_emitted_c_has_a_known_form(cases):
    for case in cases:
        for file, content in case.emit("host").files.items():
            if file.endswith((".c", ".h")):
                for one in functions_of(content.decode("ascii")):
                    assert len(one.names) == len(set(one.names)), (str(case), file, one.name)

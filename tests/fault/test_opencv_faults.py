"""reliability 3, 4, 5, 9, 12: OpenCV files that lie or broke, or have more of XML and YAML."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmcompile.errors import InputError
from kmcompile.readers.formats import read_model

FOLDER = Path(__file__).parent / "stored_models" / "opencv"
XML, YAML, JSON = ((FOLDER / f"c_svc-rbf.{end}").read_bytes() for end in ("xml", "yml", "json"))
THREE = (FOLDER / "c_svc-linear-three.xml").read_bytes()
REGRESSION = (FOLDER / "eps_svr-poly.xml").read_bytes()


def refused(content, *words):
    """Return the message of a refusal, which has these words."""
    with pytest.raises(InputError) as caught:
        read_model(content)
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert len(message.splitlines()) <= 3 and message.isascii()
    return message


@pytest.mark.parametrize("content", [XML, YAML, JSON], ids=["xml", "yaml", "json"])
def test_truncated_files_are_refused_at_every_byte(content):
    """reliability 4: but for the end of the last line and of YAML's last sequence."""
    whole = read_model(content).sha256
    for length in range(1, len(content)):
        try:
            machine = read_model(content[:length])
        except InputError:
            continue
        assert machine.sha256 == whole
        assert not content[length:].strip()


@pytest.mark.parametrize(
    "declaration",
    [
        b'<!DOCTYPE x [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;">]>',
        b'<!ENTITY a SYSTEM "file:///etc/passwd">',
        b"<![CDATA[1]]>",
        b"<?php echo 1 ?>",
    ],
)
def test_declarations_and_entities_are_refused(declaration):
    """reliability 1: nothing is expanded, and no file is opened."""
    for mark in (b"<opencv_storage>", b"<C>"):
        refused(XML.replace(mark, declaration + mark, 1), "refused as unsafe")


def test_references_are_words_that_are_no_numbers():
    refused(XML.replace(b"<gamma>0.5", b"<gamma>&#48;.5", 1), "gamma has '&#48;.5'")
    refused(XML.replace(b"C_SVC", b"C&#95;SVC", 1), "'C&#95;SVC', must be C_SVC")


YAML_SIGNS = [
    (b"   C: 3.", b"   C: &a 3.\n   nu: *a", None),
    (b"sv_total: ", b"sv_total: &a ", "sv_total is '&a"),
    (b"   kernel:\n", b"   <<: *a\n   kernel:\n", None),
    (b"   kernel:\n", b"   ? a\n   kernel:\n", "no 'name: value'"),
    (b"   kernel:\n", b"   kernel: |\n", "deeper"),
    (b"   kernel:\n", b"\tkernel:\n", "no 'name: value'"),
    (b"   kernel:\n", b"  kernel:\n", "deeper"),
    (b"   kernel:\n", b"   kernel: 1\n", "deeper"),
    (b"   kernel:\n", b"   C: 4\n   kernel:\n", "C again"),
    (b"iterations:10000 }", b"iterations:10000 } x", "text behind a collection"),
    (b"iterations:10000 }", b"iterations:10000 ", "map without"),
    (b"      - [", b"      [", "no 'name: value'"),
    (b"sv_total: ", b"sv_total: !!python/object/apply:os.system ", "is '!!python"),
]


@pytest.mark.parametrize(("old", "new", "words"), YAML_SIGNS, ids=lambda v: str(v)[:40])
def test_signs_of_yaml_that_opencv_does_not_write_have_no_meaning(old, new, words):
    assert old in YAML
    altered = YAML.replace(old, new, 1)
    if words:
        refused(altered, words)
    else:  # a text that nobody asks for, or a tag, which is passed over
        assert read_model(altered).sha256 == read_model(YAML).sha256


LIES = [
    (b"<svmType>C_SVC", b"<svmType>C_SVM", "svmType is 'C_SVM', must be C_SVC, NU_SVC"),
    (b"<type>RBF", b"<type>GAUSS", "kernel.type is 'GAUSS', must be LINEAR"),
    (b"<type>RBF", b"<type>SIGMOID", "kernel.coef0 is missing"),
    (b"<type>RBF</type>", b"", "kernel.type is missing"),
    (b"<gamma>", b"<gamma>-", "gamma is -0.5, must be > 0"),
    (b"<gamma>0", b"<gamma>nan 0", "gamma has more than 1 numbers, must have 1"),
    (b"<gamma>0.5", b"<gamma>.Nan", "must be a decimal number"),
    (b"<gamma>0.5", b"<gamma>0x1", "must be a decimal number"),
    (b"<gamma>0.5", b"<gamma>1e999", "must be finite"),
    (b"<var_count>3", b"<var_count>4", "has 3 numbers, must have 4"),
    (b"<var_count>3", b"<var_count>2", "has more than 2 numbers, must have 2"),
    (b"<var_count>3", b"<var_count>2000000000", "must have 2000000000"),
    (b"<var_count>3", b"<var_count>0", "must be an integer from 1"),
    (b"<var_count>3", b"<var_count>3.0", "must be an integer from 1"),
    (b"<sv_total>", b"<sv_total>1", "entries, must be 1"),
    (b"<sv_total>", b"<sv_total>-", "must be an integer from 1"),
    (b"<class_count>2", b"<class_count>3", "class_labels.data has 2 numbers, must have 3"),
    (b"<class_count>2", b"<class_count>1", "must be an integer from 2"),
    (b"-3 7</data>", b"7 7</data>", "a label twice"),
    (b"-3 7</data>", b"-3 7.5</data>", "must be integers"),
    (b"-3 7</data>", b"-3 4294967296</data>", "must be integers"),
    (b"<sv_count>", b"<sv_count>9", "sv_count is"),
    (b"<rho>", b"<rho>x", "decision_functions[0].rho has 'x"),
    (b"</rho>", b"</rho>1", "text between elements"),
    (b"<alpha>", b"<alpha>1 ", "alpha has more than"),
    (b"<index>\n        2 10", b"<index>\n        2 2", "a vector twice"),
    (b"<index>\n        2 10", b"<index>\n        2 11", "must be integers from 0 to"),
    (b"<kernel>", b"<kernel/><kernel>", "kernel again"),
    (b"<kernel>", b"<kernel><a>", "it closes an element that is not open"),
    (b"<kernel>", b"<kernel></x>", "it closes an element that is not open"),
    (b"<kernel>", b"<!-- <kernel>", "a comment without an end"),
    (b"<kernel>", b"<_/><kernel>", "elements with and without names in one"),
    (b"<kernel>", b"< kernel>", "a tag that OpenCV does not write"),
    (b"<opencv_storage>", b"<opencv_storage><b/></opencv_storage><opencv_storage>", "again"),
    (b"</opencv_storage>", b"</opencv_storage><b/>", "the root must be opencv_storage alone"),
    (b"</opencv_storage>", b"", "cut short"),
]


@pytest.mark.parametrize(("old", "new", "words"), LIES, ids=lambda v: str(v)[:40])
def test_files_that_lie_are_refused(old, new, words):
    """reliability 5, 12: counts that do not fit, names twice, unknown or missing."""
    assert old in XML, old
    refused(XML.replace(old, new, 1), words)


def test_decisions_of_a_regression_are_over_all_vectors():
    refused(REGRESSION.replace(b"<sv_count>", b"<sv_count>0<!-- -->", 1))
    total = int(re.search(rb"<sv_total>(\d+)", REGRESSION)[1])
    less = REGRESSION.replace(b"<sv_count>%d" % total, b"<sv_count>%d" % (total - 1))
    refused(less, f"must be an integer from {total} to {total}")


def test_machines_without_any_alpha_are_refused():
    refused(re.sub(rb"<alpha>\s*1.</alpha>", b"<alpha>0</alpha>", THREE), "all alpha are 0")


def test_a_vector_beyond_float32_is_refused():
    vector = re.search(rb"<_>\s*([0-9.]+)", XML)[1]
    refused(XML.replace(vector, b"1e39", 1), "support_vectors[0, 0] is inf, must be finite")


def test_two_svms_in_a_file_are_named():
    svm = re.search(rb"<opencv_ml_svm>.*</opencv_ml_svm>", XML, re.DOTALL)[0]
    both = XML.replace(svm, svm + svm.replace(b"opencv_ml_svm", b"second"))
    refused(both, "2 SVMs (opencv_ml_svm, second, ...), must be one")


@pytest.mark.parametrize(
    "content",
    [
        b'<?xml version="1.0"?><opencv_storage>' + b"<a>" * 5000,
        b"%YAML:1.0\n---\na: " + b"[" * 5000,
        b"%YAML:1.0\n---\n" + b"".join(b" " * n + b"a:\n" for n in range(300)),
        b'{"a":' * 5000,
    ],
    ids=["xml", "yaml flow", "yaml block", "json"],
)
def test_what_is_nested_deep_is_refused(content):
    """reliability 3: Python's stack is not used up."""
    refused(content, "nested too deep")


PIECES = st.sampled_from(
    [
        *(
            w
            for text in (XML, YAML, JSON, THREE)
            for w in re.split(rb"([\s<>{}\[\],:])", text)
            if w
        ),
        *(b"<!--", b"&lt;", b"\0", b"\xff", b"...", b"1e308", b"4294967297", b"- ", b"\r\n"),
    ]
)


@settings(max_examples=300)
@given(st.sampled_from([XML, YAML, JSON, THREE]), st.data())
def test_anything_near_the_grammar_is_a_machine_or_refused(content, data):
    """reliability 5: words moved, lost and doubled."""
    parts = re.split(rb"([\s<>{}\[\],:])", content)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(parts)))
        end = start + data.draw(st.integers(0, 3))
        parts[start:end] = data.draw(st.lists(PIECES, max_size=3))
    try:
        machine = read_model(b"".join(parts))
    except InputError as error:
        assert len(str(error).splitlines()) <= 3 and str(error).isascii()
    else:
        assert np.isfinite(machine.support_vectors).all()

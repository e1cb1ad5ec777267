"""The kept inputs of the fuzzer, read again: no defect that was found comes back."""

from __future__ import annotations

import pytest
from fuzz_targets import TARGETS, DefectError, Target, check, kept_inputs

from kmcompile.errors import InputError
from kmcompile.readers.formats import FORMATS


@pytest.mark.parametrize("name", TARGETS)
def test_every_kept_input_is_a_machine_or_refused(name):
    """reliability 1, 3, 5: also by the pickle reader, of whatever the fuzzer came up with."""
    outcomes = [check(TARGETS[name], content) for content in kept_inputs(TARGETS[name]).values()]
    assert any(outcomes)


def test_the_corpus_stays_small():
    assert sum(target.corpus.stat().st_size for target in TARGETS.values()) < 300_000


IN_OTHER_TESTS = {
    "npz": "tests/fault/test_npz_faults.py",
    "skops": "tests/fault/test_skops_faults.py",
    "onnx": "tests/fault/test_onnx_faults.py",
    "zip": "it is refused as a whole",
}
"""Formats whose contents have checksums or lengths all over, which a fuzzer does not get past."""


def test_every_format_is_fuzzed_or_tampered_with():
    first_words = {format.name.lower().replace("-", "").split()[0] for format in FORMATS}
    assert first_words == {*TARGETS, *IN_OTHER_TESTS}


@pytest.mark.parametrize("name", TARGETS)
def test_the_pieces_of_an_input_are_all_of_it(name):
    for content in kept_inputs(TARGETS[name]).values():
        if pieces := TARGETS[name].split(content):
            assert b"".join(pieces) == content


def _execute(content):
    exec("1 + 1")
    raise InputError("refused")


@pytest.mark.parametrize(
    ("read", "word"),
    [(_execute, "executed: exec"), (lambda _: eval("1"), "executed")],
    ids=["exec", "eval"],
)
def test_what_is_executed_is_a_defect(read, word):
    """The fuzzer would see it, even where the reader then refuses the file."""
    with pytest.raises(DefectError, match=word):
        check(Target("any", read, 1, (), lambda content: [content]), b"")

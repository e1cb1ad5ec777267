"""The header of a reduced machine: whose label is certified, and whose is not."""

from __future__ import annotations

import pytest
from sample_reduction import REDUCTION, UNCOUNTED, UNREDUCED

from kit import cascades, catalogue, regressions
from kmcompile.emit.emitter import emit
from kmcompile.report.reduction_text import reduction_text


def joined(case, text: str, file: str = "iris.h") -> str:
    """Return a file of the case, emitted with the text, with its comments' lines joined."""
    made = catalogue.emitted(case, "cortex-m7")
    files = emit(made.program, made.target, "kmcompile", "a model of the tests", reduced_text=text)
    assert max(map(len, files[file].splitlines())) <= 120
    return " ".join(files[file].replace("\n *", " ").split())


def test_sentences_name_both_machines_and_the_disagreements():
    assert reduction_text(REDUCTION) == (
        "Reduced: the program has 1,400 vectors (construction), which stand for the 5,355 of the "
        "trained model: another label than the trained model's for 31 of 2,000 samples, at most "
        "2.38 % at 99 % confidence."
    )
    assert "not counted: that takes samples" in reduction_text(UNCOUNTED)
    assert reduction_text(UNREDUCED) == ""
    assert "further than the tolerance" in reduction_text(REDUCTION, of_regression=True)


@pytest.mark.parametrize("file", ["iris.h", "iris.c"])
def test_both_files_say_how_many_vectors_the_trained_machine_had(file):
    text = joined(catalogue.CORE[0], reduction_text(REDUCTION), file)
    assert reduction_text(REDUCTION) in text


def test_certified_is_about_the_trained_model_and_other_labels_are_the_reduced_machines():
    text = joined(catalogue.CORE[0], reduction_text(REDUCTION))
    assert "|W_p - W^_p| sqrt(K(x, x)) + |b_p - b^_p|" in text
    assert "the label is proved to be the trained model's" in text
    assert "the label is the reduced machine's, and the trained model's may be another" in text


def test_exact_sums_and_the_audit_are_the_reduced_machines_and_the_promise_is_not():
    text = joined(cascades.CORE[0], reduction_text(REDUCTION))
    assert "a label may differ from the trained model's, rarely" in text
    assert "by which the reduced machine decides: no early exit is asked" in text
    assert "no difference from the trained model is counted" in text


def test_a_regression_says_what_its_bounds_hold():
    text = joined(regressions.CORE[0], reduction_text(REDUCTION, of_regression=True))
    assert "what is proved is proved of the trained model" in text
    assert "the trained model's value lies between lower and upper" in text


def test_the_header_of_a_machine_that_is_not_reduced_says_nothing_of_it():
    assert "reduced machine" not in joined(cascades.CORE[0], "")

"""Files of other programs: the error names what the file is, and what to do."""

from __future__ import annotations

import bz2
import gzip
import pickle

import pytest
from sklearn.svm import SVC

from kmcompile.errors import InputError
from kmcompile.manual.pages import find_page
from kmcompile.readers import foreign, load_model

PLAIN = b"<?xml version='1.0'?>\n"
FILES = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS", "lfs pull"),
    "html": (b"<!DOCTYPE html>\n<html>", "an HTML page", "download the raw file"),
    "html without a type": (b"\n<HTML><head>", "an HTML page", "download"),
    "matlab 5": (b"MATLAB 5.0 MAT-file, Platform: PCWIN64", "a MATLAB file", "recipes"),
    "matlab 7.3": (b"MATLAB 7.3 MAT-file, Platform: GLNXA64", "a MATLAB file", "recipes"),
    "rds": (gzip.compress(b"X\n\0\0\0\3\0\4\3\0"), "an R file", "recipes"),
    "rds in ascii": (b"A\n3\n262912\n", "an R file", "recipes"),
    "rdata": (bz2.compress(b"RDX3\nX\n\0\0\0\3"), "an R file", "recipes"),
    "weka": (b"\xac\xed\0\5sr\0\x21weka.classifiers.functions.SMO", "a Weka model", "recipes"),
    "java": (b"\xac\xed\0\5sr\0\x11java.util.HashMap", "a serialised Java object", "recipes"),
    "dlib": (b"\x81\x0a\x81\x01\x08", "a model of dlib", "recipes"),
    "pmml": (PLAIN + b"<PMML version='4.4'>", "a PMML model", "exports"),
    "xml": (PLAIN + b"<project>", "XML, and not of OpenCV", "recipes"),
    "core ml": (b"\x08\x01\x12\x05\n\x03\n\x01x", "a Core ML model", "exports"),
    "keras": (b"\x89HDF\r\n\x1a\n", "HDF5", "neural networks are not compiled"),
    "tflite": (b"\x1c\0\0\0TFL3", "TensorFlow Lite", "neural networks"),
    "json": (b'{"kernel": "rbf"}', "the file is JSON", "recipes"),
    "json list": (b"[1, 2]", "a JSON list", "recipes"),
    "yaml": (b"---\na: 1\n", "YAML, and not of OpenCV", "recipes"),
    "opencv yaml": (b"%YAML:1.0\n---\na: 1\n", "YAML of OpenCV", "save()"),
    "c": (b"// a model\nconst float sv[2];\n", "C source", "the trained model"),
    "python": (b"import numpy as np\n", "Python source", "joblib.dump"),
    "csv": (b"1.5,2,3\n", "text with numbers", "joblib.dump"),
    "svmlight samples": (b"+1 1:0.5 2:1\n", "text with numbers", "joblib.dump"),
    "arff": (b"% my data\n@RELATION iris\n", "ARFF", "joblib.dump"),
    "tar": (b"model.pkl" + b"\0" * 248 + b"ustar", "an archive", "unpack"),
    "pdf": (b"%PDF-1.4", "a PDF document", "joblib.dump"),
    "utf-16": ("svm_type".encode("utf-16"), "UTF-16", "ASCII"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_error_names_the_file_and_a_way_out(name, tmp_path):
    content, what, advice = FILES[name]
    path = tmp_path / "m.pkl"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_model(path)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("m.pkl: the file is ") and what in first
    assert len(rest) == 1 and advice in rest[0]


def test_every_row_has_a_file_here():
    """A few rows are in tests/fault/test_damaged_models.py: npy, lz4, joblib, the order mark."""
    elsewhere = {"a .npy array", "compressed with lz4", "of joblib before", "text with a byte"}
    said = {what for _, what, _ in FILES.values()} | elsewhere
    rows = [what for _, what, _ in foreign._FOREIGN]
    assert [row for row in rows if not any(words in row for words in said)] == []


@pytest.mark.parametrize("protocol", range(6))
def test_no_pickle_of_a_model_is_taken_for_a_foreign_file(protocol):
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    foreign.refuse_foreign(pickle.dumps(model, protocol))


def test_the_pages_that_errors_name_are_there():
    assert "manual recipes" in foreign._RECIPE
    assert find_page("recipes").title == "Models from other programs"
    assert "manual exports" in foreign._EXPORT
    assert find_page("exports").title == "Models exported as PMML or Core ML"

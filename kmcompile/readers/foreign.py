"""Files that are no models for kmcompile, told by their first bytes: what they are, and a way out.

No model that is read starts like one of these. Compressed files are told by their content.
"""

from __future__ import annotations

import re

from kmcompile.errors import InputError

_HEAD_BYTES = 2000
"""How much of a file is looked at."""

_RECIPE = "kmcompile manual recipes shows how its numbers become a model that is read"
_EXPORT = "give the estimator that was exported; without it, kmcompile manual exports shows a way"
_SAVE = "save the trained estimator with joblib.dump"

_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (
        rb"version https://git-lfs\.github\.com/",
        "a Git LFS pointer, not the model itself",
        "run git lfs pull",
    ),
    (
        rb"\s*<(!doctype\s+html|html|head|body)\b",
        "an HTML page, as a download that went wrong leaves it",
        "download the raw file",
    ),
    (rb"MATLAB [0-9.]+ MAT-file", "a MATLAB file", _RECIPE),
    (rb"(RD[ABX][23]\n)?[ABX]\n\x00\x00\x00[\x02\x03]\x00", "an R file (RDS or RData)", _RECIPE),
    (rb"RD[ABX][1-3]\n|A\n[23]\n[0-9]+\n", "an R file (RDS or RData)", _RECIPE),
    (rb"\xac\xed\x00\x05.{0,40}weka\.", "a Weka model (a serialised Java object)", _RECIPE),
    (rb"\xac\xed\x00\x05", "a serialised Java object", _RECIPE),
    (rb"(\x81.|\x82..|\x83...)(\x81.|\x82..)", "a model of dlib", _RECIPE),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<PMML\b", "a PMML model", _EXPORT),
    (rb"\x08[\x01-\x1f]\x12[\x80-\xff]*[\x00-\x7f]\n", "a Core ML model", _EXPORT),
    (
        rb"\x89HDF",
        "HDF5, as Keras and h5py write it",
        f"{_SAVE}; neural networks are not compiled",
    ),
    (rb".{4}TFL3", "a TensorFlow Lite model", "neural networks are not compiled"),
    (rb"\x93NUMPY", "a .npy array, not a model", _SAVE),
    (rb"\x04\x22\x4d\x18", "compressed with lz4", "save it with compress='zlib'"),
    (rb"ZF", "of joblib before 0.10", "save it again with a newer release"),
    (rb"\xef\xbb\xbf", "text with a byte order mark", "save it as ASCII"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", "save it as ASCII"),
    (rb"7z\xbc\xaf|Rar!|.{257}ustar", "an archive", "unpack it, and give the model in it"),
    (rb"%PDF", "a PDF document", _SAVE),
    (rb"\s*(@relation|%.*\n\s*@relation)", "a data set of Weka (ARFF), not a model", _SAVE),
    (rb"\s*<(\?xml(?!.*<opencv_storage)|[a-z])", "XML, and not of OpenCV", _RECIPE),
    (rb"\s*\[", "a JSON list", _RECIPE),
    (rb"---\s", "YAML, and not of OpenCV (%YAML:1.0)", _RECIPE),
    (
        rb"\s*(//|/\*|#\s*(include|ifndef|pragma|define)\b|(static|const|float|double|int)\b)",
        "C source, not a trained model",
        "give the file of the trained model",
    ),
    (
        rb"\s*(import|from|def|class)\s+[a-zA-Z_.]+",
        "Python source, not a trained model",
        f"run it, and {_SAVE}",
    ),
    (rb"[-+.]?[0-9][-+.0-9eE]*([,;:\t ]|\r?\n)", "text with numbers, as samples have it", _SAVE),
)
"""A regular expression of the first bytes, what the file is, and what to do."""


def refuse_foreign(content: bytes) -> None:
    """Raise InputError if the content is of a kind that cannot be read, and say what it is."""
    head = content[:_HEAD_BYTES]
    for start, what, advice in _FOREIGN:
        if re.match(start, head, re.DOTALL | re.IGNORECASE):
            raise InputError(f"the file is {what};\n{advice}")

"""reliability 45: small files that become large, or take long, when they are read."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable

import joblib
import numpy as np
import scipy.sparse
from hostile_pickles import PICKLES, packed
from sklearn.compose import ColumnTransformer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

SCALER = StandardScaler().fit(np.zeros((2, 1)))
SCALERS = Pipeline([(f"step {n}", SCALER) for n in range(99)])


def _linear(numbers):
    """Return a linear machine of one vector."""
    model = LinearSVC().fit([[0.0], [1.0]], [0, 1])
    model.coef_, model.n_features_in_ = numbers[None], len(numbers)
    return model


def _dumped(model):
    return packed(pickle.dumps(model, 4))


def _int8(n, dump=pickle.dumps):
    return dump(_linear(np.zeros(n, np.int8)))


def _joblib(model):
    joblib.dump(model, content := io.BytesIO(), compress=("zlib", 9))
    return content.getvalue()


def _columns(parts, n):
    """Return a ColumnTransformer of n columns with these parts, and a regressor behind it."""
    transformer = ColumnTransformer([("all", SCALER, slice(0, 1))]).fit(np.zeros((2, 1)))
    transformer.transformers_, transformer.n_features_in_ = parts, n
    transformer._transformer_to_input_indices = {}
    return _dumped(Pipeline([("columns", transformer), ("ridge", Ridge().fit([[0], [1]], [0, 1]))]))


def _one_vs_rest():
    row = Pipeline([*SCALERS.steps, ("svc", SVC(gamma=0.1))])
    model = OneVsRestClassifier(row).fit(np.arange(9.0)[:, None], np.arange(9) % 3)
    model.classes_, model.estimators_ = np.arange(4096), model.estimators_[:1] * 4096
    return _dumped(model)


def _labels():
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    model.classes_ = np.array(["a" * 1_000_000] * 4096, dtype=object)  # each the same text
    return _dumped(model)


def _support():
    model, n = SVR().fit([[0.0], [1.0]], [0, 1]), 15_000_000
    model.support_vectors_ = np.zeros((n, 1), np.int8)
    model.support_, model.shape_fit_ = np.zeros(n, np.int8), (n, 1)
    return _dumped(model)


def _narrow_vectors():
    model, n = KernelRidge().fit([[0.0], [1.0]], [0, 1]), 4_000_000
    model.X_fit_ = (np.arange(n) // 2 % 100).astype(np.int8)[:, None]
    model.dual_coef_ = np.zeros(n, np.int8)
    return _dumped(model)


def _cosine():
    model = KernelRidge(kernel="cosine").fit([[0.0], [1.0]], [0, 1])
    model.X_fit_, model.dual_coef_ = np.ones((1000, 12_000), np.int8), np.zeros(1000, np.int8)
    return _dumped(model)


def _sparse(shape, n_stored):
    matrix = scipy.sparse.csr_matrix((1, 1))
    matrix._shape = shape
    matrix.data = matrix.indices = np.zeros(n_stored, np.int8)
    matrix.indptr = np.array([0, *[n_stored] * shape[0]])
    model = SVR().fit(scipy.sparse.csr_matrix(np.eye(2)), [0, 1])
    model.support_vectors_ = matrix
    return _dumped(model)


def _many_classes(n_features):
    model = LinearSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    model.classes_, model.n_features_in_ = np.arange(4096), n_features
    model.coef_, model.intercept_ = np.zeros((4096, n_features)), np.zeros(4096)
    return model


def _sampler():
    """Return a map of a million features of which a thousand are taken."""
    sampler = RBFSampler(n_components=1).fit(np.zeros((2, 1)))
    n = sampler.n_components = 1_000_000
    sampler.random_weights_, sampler.random_offset_ = np.zeros((1, n), np.int8), np.zeros(n, "i1")
    columns = ColumnTransformer([("all", SCALER, slice(0, 1))]).fit(np.zeros((2, 1)))
    columns.transformers_ = [("some", "passthrough", slice(0, 1000)), ("d", "drop", slice(1000, n))]
    columns.n_features_in_, columns._transformer_to_input_indices = n, {}
    machine = _linear(np.zeros(1000, np.int8))
    return _dumped(Pipeline([("map", sampler), ("columns", columns), ("machine", machine)]))


def _wide_map():
    """Return a map whose numbers are as long integers, which are multiplied often."""
    n = 1_500
    sampler = Nystroem(n_components=1).fit(np.zeros((1, 1)))
    sampler.components_ = np.arange(n, dtype=np.float32)[:, None]
    sampler.normalization_ = np.full((n, n), 2.0**1000)
    sampler.normalization_[::2] = 2.0**-1000
    return _dumped(Pipeline([("map", sampler), ("machine", _linear(np.ones(n, np.int8)))]))


def archive(members, method=zipfile.ZIP_DEFLATED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method, compresslevel=9) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return content.getvalue()


def npy(array):
    np.save(content := io.BytesIO(), array)
    return content.getvalue()


def npy_of(header, raw=b""):
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + raw


def npz_model(**arrays):
    """Return a model in our own layout, some arrays of which are others or the bytes of members."""
    given = {"format_version": 1, "kind": "SVR", "task": "regression", "n_features": 1}
    given |= {"kernel": "linear", "support_vectors": np.zeros((1, 1)), "zero_is_positive": False}
    given |= {"dual_coef": np.zeros((1, 1)), "intercept": np.zeros(1), **arrays}
    members = {n: v if isinstance(v, bytes) else npy(np.asarray(v)) for n, v in given.items()}
    return archive({f"{name}.npy": member for name, member in members.items()})


def _long_headers():
    """Return an archive of headers as Python 2 wrote them, which numpy takes apart word by word."""
    words = "'shape': (1L,), " * 600
    header = "{'descr': '<f8', 'fortran_order': False, " + words[:9600] + "}"
    return npz_model(**{f"a{n}": npy_of(header, b"\0" * 8) for n in range(2_000)})


def _skops(kind, file, content, n, **node):
    common = {"__module__": "numpy", "__class__": kind, "type": "numpy", "file": file}
    nodes = [{**common, **node} for _ in range(n)]
    tree = {"protocol": 2, "__loader__": "ListNode", "content": nodes}
    return archive({"schema.json": json.dumps(tree), file: content})


def _skops_sparse():
    arrays = {"indices": np.zeros(2_000_000, "i1"), "indptr": np.zeros(2), "shape": np.ones(2, int)}
    members = {f"{name}.npy": npy(array) for name, array in arrays.items()}
    members |= {"data.npy": members["indices.npy"], "format.npy": npy(np.array(b"csr"))}
    return _skops("csr_matrix", "a.npz", archive(members), 120, __loader__="SparseMatrixNode")


def _skops_json(part):
    return archive({"schema.json": b'{"protocol": 2, "a": [' + part * 7_000_000 + b"0]}"})


def _field(number, body):
    length, key = len(body), bytes([number << 3 | 2])
    while length > 127:
        key, length = key + bytes([length & 127 | 128]), length >> 7
    return key + bytes([length]) + body


def _onnx(*numbers, body=b""):
    """Return a graph of nearly 20 MB whose field of these numbers is there as often as fits."""
    content = _field(numbers[-1], body) * (19_000_000 // (2 + len(body)))
    for number in reversed(numbers[:-1]):
        content = _field(number, content)
    return packed(b"\x08\x08" + _field(7, content))


_LIBSVM = "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv {}\nrho 0\nSV\n"


def _libsvm(line, n):
    return gzip.compress((_LIBSVM.format(n) + line * n).encode(), 6)


def _libsvm_rho():
    numbers = "0 " * 4_000_000
    start = "svm_type c_svc\nkernel_type linear\nnr_class 4096\ntotal_sv 1\n"
    return gzip.compress(f"{start}rho {numbers}\nprobA {numbers}\nSV\n".encode(), 6)


def _opencv(start, piece, n, end=b""):
    return gzip.compress(start + piece * n + end, 1)


_XML = b'<?xml version="1.0"?>\n<opencv_storage>'
_SVM = b"%%YAML:1.0\n---\na:\n   svmType: C_SVC\n   var_count: 1\n   sv_total: %d\n"
_SVM += b"   kernel: { type:LINEAR }\n   support_vectors:"


def _repeated(method):
    """Return 480 MB of zeros."""
    zeros = bytes(20_000_000)
    return b"".join([*(method.compress(zeros) for _ in range(24)), method.flush()])


MODELS: dict[str, Callable[[], bytes]] = {
    **PICKLES,
    "zeros in gzip": lambda: _repeated(zlib.compressobj(1, wbits=31)),
    "zeros in xz": lambda: _repeated(lzma.LZMACompressor(preset=0)),
    "int8 vectors in xz": lambda: _int8(
        60_000_000, lambda m: lzma.compress(pickle.dumps(m), preset=0)
    ),
    "int8 vectors that only just fit": lambda: _int8(10_000_000, _dumped),
    "int8 vectors of joblib": lambda: _int8(60_000_000, _joblib),
    "halves that are no numbers": lambda: _dumped(_linear(np.full(30_000_000, np.nan, "f2"))),
    "indices of int8": _support,
    "narrow vectors": _narrow_vectors,
    "vectors that are normalised": _cosine,
    "an empty sparse matrix": lambda: _sparse((6000, 10_000), 0),
    "a sparse matrix of int8": lambda: _sparse((1, 1_000), 60_000_000),
    "4096 classes": lambda: _dumped(_many_classes(1)),
    "4096 classes of 1000 features": lambda: _dumped(_many_classes(1000)),
    "4096 pipelines": _one_vs_rest,
    "99 scalers of one column": lambda: _columns(
        [("scaled", SCALERS, [0]), *([("rest", "passthrough", [0])] * 9_990)], 1
    ),
    "99 scalers beside a million columns": lambda: _columns(
        [("scaled", SCALERS, [0]), ("rest", "passthrough", slice(1, 999_000))], 999_000
    ),
    "a long name of 9,990 parts": lambda: _columns([("a" * 4_000_000, "drop", [0])] * 9_990, 1000),
    "a mask of 9,000 parts": lambda: _columns([("rest", "drop", [False] * 1000)] * 9_000, 1000),
    "long labels": _labels,
    "a map of a million": _sampler,
    "a map of wide numbers": _wide_map,
    "skops: scalars of one text": lambda: _skops(
        "str_", "a.npy", npy(np.array("a" * 125_000)), 6000, __loader__="NdArrayNode"
    ),
    "skops: a sparse matrix often": _skops_sparse,
    "skops: lists": lambda: _skops_json(b"[],"),
    "skops: dicts": lambda: _skops_json(b'{"":1},'),
    "npz: int8 vectors": lambda: npz_model(
        n_features=500_000, support_vectors=np.zeros((100, 500_000), np.int8)
    ),
    "npz: long headers": _long_headers,
    "ONNX: operators": lambda: _onnx(1),
    "ONNX: attributes": lambda: _onnx(1, 5),
    "ONNX: names": lambda: _onnx(1, 1),
    "ONNX: integers": lambda: _onnx(1, 5, 8, body=b"\1" * 18_000_000),
    "ONNX: dimensions": lambda: _onnx(5, 1, body=b"\1" * 18_000_000),
    "ONNX: dimensions of the input": lambda: _onnx(11, 2, 1, 2, 1),
    "LIBSVM: lines": lambda: _libsvm("1 1:1\n", 3_000_000),
    "LIBSVM: empty lines": lambda: _libsvm("1\n", 10_000_000),
    "LIBSVM: a long header": _libsvm_rho,
    "OpenCV: elements": lambda: _opencv(_XML, b"<_/>", 20_000_000),
    "OpenCV: comments": lambda: _opencv(_XML, b"<!---->", 12_000_000),
    "OpenCV: a tag without an end": lambda: _opencv(_XML + b"<", b"a", 90_000_000),
    "OpenCV: declarations": lambda: _opencv(_XML, b"<?xml?>", 12_000_000),
    "OpenCV: short lines": lambda: _opencv(b"%YAML:1.0\n---\n", b"- \n", 30_000_000),
    "OpenCV: blank lines": lambda: _opencv(b"%YAML:1.0\n", b"\n", 90_000_000),
    "OpenCV: a long string": lambda: _opencv(b'{"a":"', b"\\\\", 45_000_000),
    "OpenCV: tokens": lambda: _opencv(b'{"a":[["b"', b",1", 45_000_000),
    "OpenCV: short numbers": lambda: _opencv(
        _SVM % 1 + b"\n      - [ 0", b",0", 45_000_000, b" ]\n"
    ),
    "OpenCV: short vectors": lambda: _opencv(_SVM % 9_000_000, b"\n      - [ 0 ]", 5_500_000),
    "LIBLINEAR: lines": lambda: gzip.compress(
        b"solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 40000000\nbias -1\nw\n"
        + b"0\n" * 40_000_000,
        1,
    ),
    "SVM-light: lines": lambda: gzip.compress(
        b"SVM-light Version V6.02\n0\n1\n1\n1\n1\n#\n9\n1\n20000001\n0\n" + b"1 #\n" * 20_000_000,
        1,
    ),
}
"""Models by what they attack."""


def _lying():
    """Return an archive whose directory says 60,000 bytes, where the stream has 390 million."""
    content = archive({"X.npy": npy(np.zeros((500_000, 784), np.int8))}, zipfile.ZIP_LZMA)
    place = content.rindex(b"PK\1\2") + 24
    return content[:place] + struct.pack("<I", 60_000) + content[place + 4 :]


DATA: dict[str, tuple[Callable[[], bytes], int]] = {
    "npz of int8": (lambda: archive({"X.npy": npy(np.zeros((120_000, 784), np.int8))}), 784),
    "npz of halves that are no numbers": (
        lambda: archive({"X.npy": npy(np.full((25_000_000, 4), np.nan, "f2"))}),
        4,
    ),
    "npz of wide labels": (
        lambda: archive({"X.npy": npy(np.zeros((99, 1))), "y.npy": npy(np.zeros(99, "U1000000"))}),
        1,
    ),
    "npz that lies": (_lying, 784),
    "svmlight of many features": (lambda: b"1 1:1\n" * 3_000_000, 784),
    "svmlight of empty lines": (lambda: b"1 1:1\n" + b"1\n" * 2_000_000, 784),
    "svmlight of few features": (lambda: b"1 1:1\n" * 3_000_000, 4),
    "svmlight of one long line": (lambda: b"1" + b" 1:1" * 10_000_000 + b"\n", 1),
    "svmlight of one long number": (lambda: b"1 1:" + b"1" * 50_000_000 + b"\n", 1),
    "csv of a long label": (lambda: b"1," + b"a" * 100_000 + b"\n" + b"1,a\n" * 100_000, 1),
    "csv of one long line": (lambda: b"11," * 10_000_000 + b"\n", 1),
}
"""Samples by what they attack, and for how many features they are read."""

"""Make the kept corpus: seeds from small models, and what a fuzzer found, within a limit.

python tests/fuzz/fuzz_corpus.py [build/fuzz, or where else fuzz_run.py worked] [TARGETS]
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

for folder in (Path(__file__).parent, Path(__file__).parents[1]):
    sys.path.insert(0, str(folder))

import joblib  # noqa: E402  # after the path
import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402
from fuzz_targets import TARGETS, Target, check  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel  # noqa: E402
from sklearn.kernel_approximation import Nystroem, RBFSampler  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.linear_model import LogisticRegression, RidgeClassifier  # noqa: E402
from sklearn.metrics.pairwise import laplacian_kernel  # noqa: E402
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler  # noqa: E402
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM  # noqa: E402

from kit.libsvm_files import libsvm_text  # noqa: E402
from kit.svmlight_files import svmlight_text  # noqa: E402

LIMIT_BYTES, PICKLE_LIMIT_BYTES = 35_000, 140_000
"""Of a target's archive."""

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.5, 3.0], [3.0, 0.25], [1.5, 1.5]])
Y = [1, 5, 5, 7, 1, 7]
STORED = Path(__file__).parents[1] / "fault" / "stored_models"


def _libsvm_seeds() -> Iterator[bytes]:
    for kernel in ("linear", "poly", "rbf", "sigmoid"):
        for make in (SVC, NuSVC, OneClassSVM, SVR, NuSVR):
            yield libsvm_text(make(kernel=kernel).fit(X, Y), "%.8g")
    yield libsvm_text(SVC().fit(X[:3], Y[:3]))
    for path in (STORED / "libsvm-3.37").glob("*.model"):
        yield path.read_bytes()


def _estimators() -> Iterator[object]:
    """Small ones of every family that has a reader of its own."""
    steps = (StandardScaler(), MinMaxScaler(clip=True), PCA(1, whiten=True), Normalizer())
    columns = make_column_transformer((StandardScaler(), [1]), ("passthrough", [0]))
    two = np.arange(12) % 2
    yield SVC().fit(X[:3], ["a", "b", "b"])
    yield SVC(kernel="poly").fit(scipy.sparse.csr_matrix(X), Y)
    yield SVC(kernel=laplacian_kernel).fit(X, Y)
    yield LinearSVC().fit(X, Y)
    yield OneClassSVM().fit(X)
    yield SVR().fit(X, Y)
    yield KernelRidge(kernel="laplacian").fit(X, Y)
    yield GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel()).fit(X, Y)
    yield LogisticRegression().fit(X, Y)
    yield OneVsRestClassifier(SVC()).fit(X, Y)
    yield make_pipeline(*steps, SVC()).fit(X, Y)
    yield make_pipeline(columns, SVC()).fit(X, Y)
    yield make_pipeline(Nystroem(n_components=3), RidgeClassifier()).fit(X, Y)
    yield make_pipeline(RBFSampler(n_components=3), LinearSVC()).fit(X, Y)
    yield GridSearchCV(LinearSVC(), {"C": [1.0]}, cv=2).fit(np.tile(X, (2, 1)), two)
    calibrated = CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=2)
    yield calibrated.fit(np.tile(X, (2, 1)), two)
    yield FixedThresholdClassifier(LinearSVC(), threshold=0.5).fit(X, np.equal(Y, 7))


def _pickle_seeds() -> Iterator[bytes]:
    for model in _estimators():
        for protocol in (0, 4):
            yield pickle.dumps(model, protocol)
        joblib.dump(model, content := io.BytesIO())
        yield content.getvalue()
    for path in STORED.glob("sparse-*.pkl"):
        yield path.read_bytes()


def _liblinear_seeds() -> Iterator[bytes]:
    for path in sorted((STORED / "liblinear-2.50").glob("*.model")):
        yield path.read_bytes()


def _svmlight_seeds() -> Iterator[bytes]:
    for kernel in ("linear", "poly", "rbf", "sigmoid"):
        yield svmlight_text(SVC(kernel=kernel).fit(X[:3], Y[:3]), 2).encode()


def _opencv_seeds() -> Iterator[bytes]:
    for path in sorted((STORED / "opencv").iterdir()):
        if path.suffix in (".xml", ".yml", ".json") and path.name not in OPENCV_NO_SEEDS:
            yield path.read_bytes()


OPENCV_NO_SEEDS = ("predict.json", "c_svc-poly-fraction.xml")
SEEDS = {
    "libsvm": _libsvm_seeds,
    "liblinear": _liblinear_seeds,
    "svmlight": _svmlight_seeds,
    "opencv": _opencv_seeds,
    "pickle": _pickle_seeds,
}


def keep(target: Target, found: Iterable[bytes]) -> int:
    """Write the seeds, and of what was found the shortest as far as the limit allows."""
    seeds = list(SEEDS[target.name]())
    refused = [seed for seed in seeds if not check(target, seed)]
    if refused:
        raise SystemExit(f"{len(refused)} seeds of {target.name} are refused")
    content, names = io.BytesIO(), set()
    limit = PICKLE_LIMIT_BYTES if target.name == "pickle" else LIMIT_BYTES
    with zipfile.ZipFile(content, "w") as archive:
        for data in (*seeds, *sorted(found, key=lambda data: (len(data), data))):
            name = hashlib.sha256(data).hexdigest()[:16]
            # The directory comes last: 62 bytes an entry.
            full = content.tell() + 62 * len(names) > limit
            if name in names or len(data) > target.max_bytes or full:
                continue
            entry = zipfile.ZipInfo(name)  # of 1980: the same inputs give the same archive
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, compresslevel=9)
            names.add(name)
    target.corpus.write_bytes(content.getvalue())
    return len(names)


def minimised(target: Target, inputs: Path) -> list[bytes]:
    """Return as few of the inputs as cover what all of them cover; needs atheris."""
    harness = str(Path(__file__).parent / "fuzz_harness.py")
    again = shlex.join([sys.executable, harness, target.name])
    with tempfile.TemporaryDirectory() as folder:
        # To merge, libFuzzer runs itself by a single word.
        launcher, kept = Path(folder, "launcher"), Path(folder, "kept")
        launcher.write_text(f'#!/bin/sh\nexec {again} "$@"\n')
        launcher.chmod(0o755)
        kept.mkdir()
        options = ["-merge=1", f"-max_len={target.max_bytes}", str(kept), str(inputs)]
        environment = {**os.environ, "FUZZ_LAUNCHER": str(launcher)}
        subprocess.run(
            [launcher, *options], env=environment, check=True, capture_output=True, timeout=3600
        )
        return [path.read_bytes() for path in kept.iterdir()]


if __name__ == "__main__":
    for target in TARGETS.values():
        if sys.argv[2:] and target.name not in sys.argv[2:]:
            continue
        found = minimised(target, Path(sys.argv[1], target.name, "corpus")) if sys.argv[1:] else []
        print(target.name, keep(target, found), "inputs", target.corpus.stat().st_size, "bytes")

"""Write models of OpenCV, and what its predict answers, into the folder `opencv` beside this file.

python make_opencv.py, in an environment with opencv-python-headless 4.14.0.94; with 3.4.18.65 the
argument is 3.4.18, and only the files of this release are written.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import cv2
import numpy as np
from cv2 import ml

FOLDER = Path(__file__).parent / "opencv"
RNG = np.random.default_rng(41)
X = RNG.uniform(0.0, 2.0, size=(24, 3)).astype(np.float32)
TWO = np.where(X[:, 0] * X[:, 1] > 1.0, 7, -3).astype(np.int32)
THREE = (2 + (X.sum(axis=1) > 2.7) + (X.sum(axis=1) > 3.4)).astype(np.int32)
VALUES = (X[:, 0] - X[:, 1] * X[:, 2]).astype(np.float32)
QUERIES = RNG.uniform(0.0, 2.0, size=(12, 3)).astype(np.float32)

# Name of the file, type, kernel, degree, responses.
MODELS = [
    ("c_svc-rbf.xml", ml.SVM_C_SVC, ml.SVM_RBF, 0, TWO),
    ("c_svc-rbf.yml", ml.SVM_C_SVC, ml.SVM_RBF, 0, TWO),
    ("c_svc-rbf.json", ml.SVM_C_SVC, ml.SVM_RBF, 0, TWO),
    ("c_svc-rbf-three.yml", ml.SVM_C_SVC, ml.SVM_RBF, 0, THREE),
    ("c_svc-linear.yml", ml.SVM_C_SVC, ml.SVM_LINEAR, 0, TWO),
    ("c_svc-linear-three.xml", ml.SVM_C_SVC, ml.SVM_LINEAR, 0, THREE),
    ("c_svc-poly-three.json", ml.SVM_C_SVC, ml.SVM_POLY, 2, THREE),
    ("c_svc-poly-fraction.xml", ml.SVM_C_SVC, ml.SVM_POLY, 1.5, TWO),
    ("c_svc-chi2.yml", ml.SVM_C_SVC, ml.SVM_CHI2, 0, TWO),
    ("c_svc-inter.xml", ml.SVM_C_SVC, ml.SVM_INTER, 0, TWO),
    ("nu_svc-sigmoid.xml", ml.SVM_NU_SVC, ml.SVM_SIGMOID, 0, TWO),
    ("one_class-rbf.yml", ml.SVM_ONE_CLASS, ml.SVM_RBF, 0, np.zeros(24, np.int32)),
    ("eps_svr-poly.xml", ml.SVM_EPS_SVR, ml.SVM_POLY, 3, VALUES),
    ("nu_svr-linear.json", ml.SVM_NU_SVR, ml.SVM_LINEAR, 0, VALUES),
]
OLD_NAMES = [
    ("<opencv_ml_svm>", '<my_svm type_id="opencv-ml-svm">'),
    ("</opencv_ml_svm>", "</my_svm>"),
    ("  <format>3</format>\n", ""),
    ("svmType", "svm_type"),
    ("<var_count>3", "<var_all>3</var_all>\n  <var_count>3"),
]
"""What CvSVM::write of OpenCV 2 calls them; OpenCV 3 and 4 read these names, too."""


def trained(svm_type: int, kernel: int, degree: float, responses: np.ndarray) -> ml.SVM:
    """Return a trained machine."""
    svm = ml.SVM_create()
    svm.setType(svm_type)
    svm.setKernel(kernel)
    svm.setGamma(0.5)
    svm.setC(3.0)
    svm.setNu(0.4)
    svm.setP(0.1)
    svm.setDegree(degree)
    svm.setCoef0(1.0 if kernel == ml.SVM_POLY else -0.5)
    svm.setTermCriteria((cv2.TERM_CRITERIA_MAX_ITER, 10000, 1e-6))
    assert svm.train(X, ml.ROW_SAMPLE, responses)
    return svm


def answers(path: Path) -> dict[str, list[float]]:
    """Return what predict of the file answers, and its decisions where it gives them."""
    svm = ml.SVM_load(str(path))
    return {
        "labels": svm.predict(QUERIES)[1].ravel().tolist(),
        "raw": svm.predict(QUERIES, flags=ml.STAT_MODEL_RAW_OUTPUT)[1].ravel().tolist(),
    }


def main() -> None:
    """Write the files of one release."""
    FOLDER.mkdir(exist_ok=True)
    stored = FOLDER / "predict.json"
    release = sys.argv[1] if len(sys.argv) > 1 else "4.14.0"
    assert cv2.__version__.startswith(release), cv2.__version__
    known = json.loads(stored.read_text()) if release == "3.4.18" else {"X": QUERIES.tolist()}
    for name, *asked in MODELS:
        path = FOLDER / name
        if release == "3.4.18":
            if name not in ("c_svc-rbf-three.yml", "c_svc-linear-three.xml"):
                continue
            path = FOLDER / name.replace(".", "-3_4_18.")
        trained(*asked).save(str(path))
        known[path.name] = answers(path)
    if release != "3.4.18":
        for name in ("c_svc-rbf", "c_svc-linear-three"):
            text = (FOLDER / f"{name}.xml").read_text()
            for new, old in OLD_NAMES:
                assert new in text, new
                text = text.replace(new, old)
            path = FOLDER / f"{name}-opencv2.xml"
            path.write_text(text)
            known[path.name] = answers(path)
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in known.items())
    stored.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

"""Fitted scikit-learn estimators written as LIBSVM writes its models.

For tests of the reader of LIBSVM and for the fuzzers.
"""

from __future__ import annotations

import numpy as np

from kmcompile.readers.libsvm.model import KINDS

SVM_TYPES = {name: svm_type for svm_type, name in KINDS.items()}
KERNELS = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid"}


def libsvm_text(model, vector_format="%.17g", number_format="%.17g"):
    """Return the text that svm_save_model of LIBSVM 3.36 would write, `vector_format` aside."""
    classes = getattr(model, "classes_", None)
    lines = [f"svm_type {SVM_TYPES[type(model).__name__]}", f"kernel_type {KERNELS[model.kernel]}"]
    if model.kernel == "poly":
        lines.append(f"degree {model.degree}")
    if model.kernel != "linear":
        lines.append("gamma " + number_format % model._gamma)
    if model.kernel in ("poly", "sigmoid"):
        lines.append("coef0 " + number_format % model.coef0)
    lines.append(f"nr_class {2 if classes is None else len(classes)}")
    lines.append(f"total_sv {len(model.support_vectors_)}")
    lines.append("rho " + " ".join(number_format % -b for b in model._intercept_))
    if classes is not None:
        lines.append("label " + " ".join(str(int(label)) for label in classes))
        lines.append("nr_sv " + " ".join(map(str, model._n_support)))
    lines.append("SV")
    for coefficients, vector in zip(model._dual_coef_.T, model.support_vectors_, strict=True):
        words = [number_format % c for c in coefficients]
        words += [f"{j + 1}:{vector_format % vector[j]}" for j in np.flatnonzero(vector)]
        lines.append(" ".join(words) + " ")
    return ("\n".join(lines) + "\n").encode()

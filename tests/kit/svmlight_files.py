"""Fitted scikit-learn estimators written as SVM-light writes its models.

For tests of the reader of SVM-light and for the fuzzers.
"""

from __future__ import annotations

KERNELS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}


def svmlight_text(model, n_features=4, version="V6.02"):
    """Return the text that svm_learn would write of a fitted SVC of two classes."""
    lines = [
        f"SVM-light Version {version}",
        f"{KERNELS[model.kernel]} # kernel type",
        f"{model.degree} # kernel parameter -d ",
        f"{model._gamma:.8g} # kernel parameter -g ",
        f"{model._gamma:.8g} # kernel parameter -s ",
        f"{model.coef0:.8g} # kernel parameter -r ",
        "empty# kernel parameter -u ",
        f"{n_features} # highest feature index ",
        "150 # number of training documents ",
        f"{len(model.support_vectors_) + 1} # number of support vectors plus 1 ",
        f"{-model.intercept_[0]:.8g} # threshold b, each following line is a SV",
    ]
    for alpha, vector in zip(model.dual_coef_[0], model.support_vectors_, strict=True):
        pairs = " ".join(f"{j + 1}:{v:.8g}" for j, v in enumerate(vector) if v)
        lines.append(f"{alpha:.17g} {pairs} #")
    return "\n".join(lines) + "\n"

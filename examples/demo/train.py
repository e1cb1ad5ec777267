"""Train the SVMs of `make demo`: benign or malignant, and the digits.

    python examples/demo/train.py build/demo

writes `breast_cancer.pkl`, a fitted Pipeline of StandardScaler and SVC for 30 measurements of cell
nuclei, and `test.npz`, the samples that it did not see in training; and `digits.pkl`, an SVC for
images of 8 x 8 pixels, with `held_out.npz`, samples for `--data`, and `digits_test.npz`. The data
sets ship with scikit-learn.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def main(folder: Path) -> None:
    """Train, and write the models and the held-out samples."""
    folder.mkdir(parents=True, exist_ok=True)
    data = load_breast_cancer()
    labels = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, labels, test_size=0.3, random_state=0, stratify=labels
    )
    model = make_pipeline(StandardScaler(), SVC(kernel="rbf", C=1.0, gamma="scale"))
    model.fit(X_train, y_train)
    (folder / "breast_cancer.pkl").write_bytes(pickle.dumps(model))
    np.savez(folder / "test.npz", X=X_test, y=y_test.astype(str))
    print(
        f"trained on {len(X_train)} samples: {len(model[-1].support_)} support vectors, "
        f"{model.score(X_test, y_test):.1%} of {len(X_test)} held-out samples right"
    )

    X, y = load_digits(return_X_y=True)
    parts = {}
    for name, n in (("training", 500), ("held_out", 1000)):
        part, X, label, y = train_test_split(X, y, train_size=n, random_state=0, stratify=y)
        parts[name] = {"X": part / 16, "y": label}
    digits = SVC(C=10.0).fit(parts["training"]["X"], parts["training"]["y"])
    (folder / "digits.pkl").write_bytes(pickle.dumps(digits))
    np.savez(folder / "held_out.npz", **parts["held_out"])
    np.savez(folder / "digits_test.npz", X=X / 16, y=y)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Train the SVM of `make demo`: benign or malignant, from 30 measurements of cell nuclei.

    python examples/demo/train.py build/demo

writes `breast_cancer.pkl`, a fitted Pipeline of StandardScaler and SVC, and `test.npz`, the
samples that it did not see in training. The data set ships with scikit-learn.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def main(folder: Path) -> None:
    """Train, and write the model and the held-out samples."""
    data = load_breast_cancer()
    labels = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, labels, test_size=0.3, random_state=0, stratify=labels
    )
    model = make_pipeline(StandardScaler(), SVC(kernel="rbf", C=1.0, gamma="scale"))
    model.fit(X_train, y_train)

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "breast_cancer.pkl").write_bytes(pickle.dumps(model))
    np.savez(folder / "test.npz", X=X_test, y=y_test.astype(str))
    print(
        f"trained on {len(X_train)} samples: {len(model[-1].support_)} support vectors, "
        f"{model.score(X_test, y_test):.1%} of {len(X_test)} held-out samples right"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Train the machine of `kmcompile manual bench`, whose table goes over all targets.

    python examples/boards/satimage.py build/boards
    kmcompile bench build/boards/satimage_1.pkl --targets all --mode certified \\
        --data build/boards/calibration.npz --test-data build/boards/test.npz \\
        --out build/boards/bench

Class 1 (red soil) of satimage against the rest, an rbf machine on standardised features; C and
gamma are of a search on the training samples. A fifth of these is held out, to choose exits with.
The data set comes from `$KMCOMPILE_DATA` or `../shared/data`.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

DATA = Path(os.environ.get("KMCOMPILE_DATA", Path(__file__).parents[3] / "shared" / "data"))


def main(folder: Path) -> None:
    """Train, and write the model, the held-out samples and the test samples."""
    with np.load(DATA / "satimage.npz") as file:
        X, test = file["X_train"], file["X_test"]
        label = file["classes"].tolist().index("1")
        y, y_test = file["y_train"] == label, file["y_test"] == label
    order = np.random.default_rng(0).permutation(len(X))
    held_out, train = order[: len(X) // 5], order[len(X) // 5 :]
    model = make_pipeline(StandardScaler(), SVC(C=100, gamma=3 / 36))
    model.fit(X[train], y[train])

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "satimage_1.pkl").write_bytes(pickle.dumps(model))
    np.savez(folder / "calibration.npz", X=X[held_out])
    np.savez(folder / "test.npz", X=test, y=y_test)
    print(
        f"{len(model[-1].support_)} support vectors, "
        f"{model.score(test, y_test):.1%} of {len(test)} test samples right"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/boards"))

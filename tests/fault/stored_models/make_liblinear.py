"""Write models of LIBLINEAR, and what its predict answers, into `liblinear-2.50` beside this file.

python make_liblinear.py, in an environment with liblinear-official 2.50.0.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from liblinear import liblinearutil as ll

FOLDER = Path(__file__).parent / "liblinear-2.50"
RNG = np.random.default_rng(41)
X = RNG.normal(size=(40, 3)).round(3)
TWO = np.where(X @ [1.0, -2.0, 0.5] > 0.2, 3, -8)
THREE = 5 - (X[:, 0] > -0.4) - (X[:, 1] > 0.3)
QUERIES = RNG.normal(size=(20, 3)).round(3)

# Name, number of the solver, bias, responses.
MODELS = [
    ("logistic-two", 0, 1, TWO),
    ("logistic-three", 6, 0.3, THREE),
    ("svc-two", 2, 0.3, TWO),
    ("svc-three", 1, -1, THREE),
    ("joint-two", 4, 1, TWO),
    ("joint-three", 4, -1, THREE),
    ("regression", 11, 0.3, X @ [0.5, 1.0, -1.0] + 0.3),
    ("one-class", 21, -1, np.ones(40)),
]


def main() -> None:
    """Train, save, load and ask."""
    FOLDER.mkdir(exist_ok=True)
    known = {"X": QUERIES.tolist()}
    for name, solver, bias, responses in MODELS:
        options = f"-s {solver} -B {bias} -q" + (" -n 0.3" if solver == 21 else "")
        path = FOLDER / f"{name}.model"
        ll.save_model(str(path), ll.train(responses.tolist(), X.tolist(), options))
        model = ll.load_model(str(path))
        labels, _, decisions = ll.predict([], QUERIES.tolist(), model, "-q")
        known[name] = {"labels": labels, "decisions": decisions}
        if solver in (0, 6):
            known[name]["probabilities"] = ll.predict([], QUERIES.tolist(), model, "-b 1 -q")[2]
            known[name]["order"] = model.get_labels()
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in known.items())
    (FOLDER / "predict.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

"""Unequal costs: a missed tumour costs ten times as much as a false alarm.

    python examples/costs/costs.py [--target cortex-m7]

trains a calibrated SVM on scikit-learn's breast cancer data and compiles it twice: as it is, and
with the threshold on the probability of "malignant" at which both errors cost the same in
expectation. With the cost c_a of a false alarm and c_m of a missed tumour that is

    p c_m = (1 - p) c_a, so p = c_a / (c_a + c_m)

(C. Elkan, The foundations of cost-sensitive learning, 2001, eq. 2 with no cost of right answers).
Prints the errors of the C on samples that were not trained on, and their cost.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile

FALSE_ALARM, MISSED = 1, 10
THRESHOLD = FALSE_ALARM / (FALSE_ALARM + MISSED)


def main(target: str) -> None:
    """Train, compile with and without the threshold, and print what the C answers."""
    data = load_breast_cancer()
    labels = data.target_names[data.target]  # benign, malignant: the second is what is looked for
    X, X_test, y, y_test = train_test_split(
        data.data, labels, test_size=0.5, random_state=0, stratify=labels
    )
    classifier = make_pipeline(StandardScaler(), SVC(gamma=0.01))
    model = CalibratedClassifierCV(classifier, ensemble=False).fit(X, y)
    options = {"target": target, "test_data": X_test, "name": "tumour", "mode": "exact"}
    print(f"{'threshold':>9} {'missed':>6} {'false alarms':>12} {'cost':>4}")
    for threshold in (0.5, THRESHOLD):
        compiled = kmcompile.compile_model(model, threshold=threshold, **options)
        (_, alarms), (missed, _) = confusion_matrix(y_test, compiled.predict(X_test))
        cost = FALSE_ALARM * alarms + MISSED * missed
        print(f"{threshold:>9.4f} {missed:>6} {alarms:>12} {cost:>4}")
    told = compiled.predict_proba(X_test)
    largest = np.abs(told - model.predict_proba(X_test)).max()
    bound = compiled.report["verification"]["probabilities"]["max_bound"]
    print(f"largest difference from scikit-learn's probabilities {largest:.2g}, bound {bound:.2g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="host")
    main(parser.parse_args().target)

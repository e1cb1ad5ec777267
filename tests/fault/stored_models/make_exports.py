"""Write the stored PMML and Core ML models and the answers of scikit-learn, which trained them.

Needs sklearn2pmml (with Java), nyoka, coremltools 9 and scikit-learn 1.5.1, the last that it takes.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import coremltools
import numpy as np
import pandas as pd
from nyoka import skl_to_pmml
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn2pmml import sklearn2pmml
from sklearn2pmml.pipeline import PMMLPipeline

FOLDER = Path(__file__).parent / "exports"
COLUMNS = ["sepal_width", "petal_length", "petal_width"]
X, Y = load_iris(return_X_y=True)
X = X[:, 1:]
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]

warnings.simplefilter("ignore")
for word, kept in {"two": Y > 0, "three": Y >= 0}.items():
    samples = pd.DataFrame(X[kept], columns=COLUMNS)
    labels = pd.Series(NAMES[kept], name="species")
    svm = SVC(C=100, decision_function_shape="ovo")
    model = PMMLPipeline([("scaler", StandardScaler()), ("svm", svm)])
    model.fit(samples[::4], labels[::4])
    sklearn2pmml(model, str(FOLDER / f"jpmml_{word}.pmml"))
    if word == "two":
        skl_to_pmml(model, COLUMNS, "species", str(FOLDER / "nyoka_two.pmml"))
    exported = coremltools.converters.sklearn.convert(Pipeline(model.steps), COLUMNS, "species")
    exported.save(str(FOLDER / f"{word}.mlmodel"))
    decisions = model.decision_function(samples)
    np.savez_compressed(
        FOLDER / f"{word}.npz",
        X=X[kept],
        answer=model.predict(samples).astype(str),
        decisions=decisions.reshape(len(samples), -1),
    )

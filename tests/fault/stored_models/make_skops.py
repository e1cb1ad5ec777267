"""Write the stored .skops files, and the same models with joblib: needs skops 0.16."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED

import joblib
import numpy as np
import scipy.sparse
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM

HERE = Path(__file__).parent / "skops"
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"], dtype=object)


def models():
    """Yield name, fitted estimator and whether its file is compressed."""
    svc = SVC(random_state=np.random.RandomState(0), class_weight={"setosa": 2.0})
    steps = (StandardScaler(), MinMaxScaler(clip=True), svc)
    yield "pipeline", make_pipeline(*steps).fit(X[::5], NAMES[Y[::5]]), True
    yield "sparse", SVC(kernel="poly").fit(scipy.sparse.csr_matrix(X[::9]), Y[::9]), True
    yield "linear", LinearSVC(class_weight={0: 1.0, 1: 2.0, 2: 1.0}).fit(X, Y), False
    search = GridSearchCV(SVC(), {"C": [1, 10], "kernel": ["rbf", "poly"]}, cv=StratifiedKFold(2))
    yield "search", search.fit(X[::5], Y[::5]), True
    columns = ColumnTransformer([("scaled", StandardScaler(), [0, 3]), ("x", "passthrough", [1])])
    yield "columns", make_pipeline(columns, SVC(kernel=laplacian_kernel)).fit(X[::9], Y[::9]), True
    yield "one_class", OneClassSVM(nu=0.1).fit(X[::9]), True


for name, model, compressed in models():
    compression = ZIP_DEFLATED if compressed else 0
    skops.io.dump(model, HERE / f"{name}.skops", compression=compression)
    joblib.dump(model, HERE / f"{name}.joblib", compress=("zlib", 9))

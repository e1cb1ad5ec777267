"""The machines of the golden files and their inputs: written down, not trained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.kernels import Intersection, Linear, Poly, Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps import Affine

# Written down, not trained: a release of scikit-learn cannot change them.
MACHINES = {
    "rbf": KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(gamma=0.5),
        support_vectors=np.array([[-1.0, 0.5], [-0.5, -1.0], [1.0, 0.25]]),
        dual_coef=np.array([[-0.75, -0.5, 1.25]]),
        intercept=np.array([0.125]),
        classes=("cold", "hot"),
        n_features=2,
        preprocessing=(Affine(np.array([20.0, 1013.25]), np.array([0.1, 0.01])),),
    ),
    "linear": KernelMachine(
        kind="LinearSVC",
        task=Task.ONE_VS_REST,
        kernel=Linear(),
        support_vectors=np.array([[1.0, -0.5], [-0.25, 1.0], [-0.5, -0.75]]),
        dual_coef=np.eye(3),
        intercept=np.array([0.0, 0.25, -0.125]),
        classes=(-1, 0, 1),
        n_features=2,
        zero_is_positive=False,
    ),
}
MACHINES["cascade"] = MACHINES["certified"] = MACHINES["rbf"]
MACHINES["regression"] = KernelMachine(
    kind="SVR",
    task=Task.REGRESSION,
    kernel=Poly(gamma=0.5, coef0=1.0, degree=2),
    support_vectors=np.array([[-1.0, 0.5], [-0.5, -1.0], [1.0, 0.25]]),
    dual_coef=np.array([[-0.75, -0.5, 1.25]]),
    intercept=np.array([2.0]),
    classes=(),
    n_features=2,
)
MACHINES["pairs"] = KernelMachine(
    kind="SVC",
    task=Task.ONE_VS_ONE,
    kernel=Rbf(gamma=0.5),
    support_vectors=np.array([[-1.0, 0.0], [-1.5, 0.5], [1.0, 0.0], [1.5, 0.5], [0.0, 1.5]]),
    dual_coef=np.array([[0.75, 0.25, -0.5, -0.5, -1.0], [0.75, 0.25, 0.75, 0.25, -1.0]]),
    intercept=np.array([0.0, 0.125, -0.125]),
    classes=("left", "right", "top"),
    class_counts=(2, 2, 1),
    n_features=2,
)
MACHINES["polynomial"] = replace(MACHINES["pairs"], kernel=Poly(gamma=0.5, coef0=1.0, degree=3))
# Counts, as of a histogram.
MACHINES["additive"] = KernelMachine(
    kind="SVC",
    task=Task.ONE_VS_ONE,
    kernel=Intersection(),
    support_vectors=np.array([[6.0, 0.0], [4.0, 2.0], [0.0, 6.0], [2.0, 4.0], [2.0, 0.0]]),
    dual_coef=np.array([[0.5, 0.25, -0.5, -0.25, -0.75], [0.5, 0.25, 0.5, 0.25, -0.75]]),
    intercept=np.array([0.0, -0.5, -0.5]),
    classes=("left", "right", "none"),
    class_counts=(2, 2, 1),
    n_features=2,
)
MACHINES["table"] = MACHINES["additive"]
MACHINES["coded_polynomial"] = replace(
    MACHINES["additive"], kernel=Poly(gamma=0.125, coef0=1.0, degree=3)
)
# Numbers that float32 rounds, so that there are low parts.
MACHINES["replay"] = replace(
    MACHINES["rbf"],
    support_vectors=np.array([[-0.9, 0.4], [-0.6, -1.1], [1.1, 0.3]]),
    dual_coef=np.array([[-0.7, -0.5, 1.2]]),
)
# Vectors on a grid: with one factor for all features they are integers.
MACHINES["codes"] = replace(
    MACHINES["rbf"], preprocessing=(Affine(np.array([20.0, 1013.0]), np.array([0.125, 0.125])),)
)
INPUTS = {
    "codes": [[12.0, 1017.0], [28.0, 1015.0], [20.0, 1005.0], [20.25, 1013.0], [900.0, 1013.0]],
    "cascade": [[10.0, 1063.25], [30.0, 1038.25], [20.0, 913.25], [25.0, 1013.25], [2e4, 0.0]],
    "replay": [[10.0, 1063.25], [30.0, 1038.25]],
    "certified": [[10.0, 1063.25], [30.0, 1038.25], [20.0, 913.25], [25.0, 1013.25]],
    "regression": [[-1.0, 0.5], [1.0, 1.0], [0.0, 0.0]],
    "pairs": [[-1.0, 0.25], [1.0, 0.25], [0.0, 1.75], [-2.0, 0.0], [2.0, 0.0], [0.25, 2.0]],
    "polynomial": [[-1.0, 0.25], [1.0, 0.25], [0.0, 1.75], [-2.0, 0.0], [2.0, 0.0], [0.25, 2.0]],
    "additive": [[6.0, 1.0], [1.0, 6.0], [0.0, 0.0], [5.5, -1.0]],
    "table": [[6.0, 1.0], [1.0, 6.0], [0.0, 0.0], [255.0, 1.0]],
    "coded_polynomial": [[6.0, 1.0], [1.0, 6.0], [0.0, 0.0], [9.0, 1.0]],
    "rbf": [[10.0, 1063.25], [30.0, 1038.25], [20.0, 913.25], [25.0, 1013.25]],
    "linear": [[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0], [0.5, 0.5]],
}

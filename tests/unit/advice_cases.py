"""Commands that fail, and what their messages say: each proposes what to do instead."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) + np.repeat([[0.0], [1.0]], 30, axis=0)
Y = np.repeat([0, 1], 30)
MANY = RNG.normal(size=(400, 3))
MODELS: dict[str, Any] = {
    "rbf": lambda: SVC().fit(X, Y),
    "wide": lambda: SVC(gamma=1e30).fit(X, Y),
    "poly": lambda: SVC(kernel="poly").fit(X, Y),
    "sigmoid": lambda: SVC(kernel="sigmoid").fit(X, Y),
    "codes": lambda: SVC(kernel="sigmoid", gamma=0.001).fit(np.rint(9 * X), Y),
    "many": lambda: SVC().fit(MANY, MANY[:, 0] > 0),
    "rest": lambda: OneVsRestClassifier(SVC()).fit(X, np.arange(60) % 3),
    "steps": lambda: make_pipeline(FunctionTransformer(np.abs), SVC()).fit(X, Y),
    "three": lambda: SVC().fit(X, np.arange(60) % 3),
    "linear": lambda: LinearSVC().fit(X, Y),
    "unit": lambda: make_pipeline(Normalizer(), SVC()).fit(X, Y),
    "scaled": lambda: make_pipeline(StandardScaler(), SVC(kernel="poly")).fit(X, Y),
    "value": lambda: SVR().fit(X, X[:, 0]),
    "two": lambda: [SVC().fit(X, Y), SVC(C=9.0).fit(X, Y)],
    "laplacian": lambda: KernelRidge(kernel="laplacian").fit(X, X[:, 0]),
}
VALUES = {
    "--data": "samples.npz",
    "--entry": "1",
    "--loss": "0.05",
    "--max-flash": "500000",
    "--max-ram": "50000",
    "--out": "new",
    "--reduce": "9",
    "--risk": "0.05",
    "--tolerance": "0.5",
}
"""What stands for a word in capitals of a proposal, or for a larger number."""

# The model, the options, and what the message says, as it stands in the source.
CASES = [
    ("rbf", "--mode statistical", "--mode statistical needs calibration samples"),
    ("rbf", "--mode certified --data samples.npz --risk 0.05", "has no use for"),
    ("rbf", "--mode exact --data samples.npz --risk 0.05", "has no use for"),
    ("rbf", "--risk 0.05", "calibration samples are needed for"),
    ("rbf", "--data samples.npz --thresholds simple --risk 0.05", "promises nothing, so it does"),
    ("rbf", "--reduce 9 --replay float64", "brings a reduced machine no nearer"),
    ("rbf", "--mode exact --reduce auto", "--reduce auto counts disagreements on samples"),
    ("rbf", "--mode exact --data samples.npz --reduce auto --risk auto", "that is a number, so"),
    ("rbf", "--data samples.npz --risk 0.05 --loss 0.05", "a program keeps a risk or a loss"),
    ("rbf", "--data samples.npz --loss 0.05", "--data has no labels y, which say what"),
    ("value", "--data samples.npz --loss 0.05", "a loss is of right labels, and this model"),
    ("rbf", "--data samples.npz --window 3", "it belongs to the NSV paper's scheme"),
    ("rbf", "--window 3", "it belongs to the NSV paper's scheme"),
    ("rbf", "--data samples.npz --window 3 --thresholds simple", "--thresholds simple has no wi"),
    ("rbf", "--mode exact --require bound_sequence", "--mode exact has no early exits, so"),
    ("rbf", "--stages bound_sequence --exclude sign_map", "--stages lists all early exits, so"),
    ("rbf", "--require sign_map --exclude sign_map", "--require and --exclude both name"),
    ("rbf", "--mode exact --redundancy 3", "must be 2, a second copy of every table"),
    ("rbf", "--mode exact --redundancy 2 --package rust", "declares the self-test of one copy"),
    ("rbf", "--mode exact --monitor 0.05", "needs samples"),
    ("rbf", "--target avr --replay float64 --mode exact", "--replay float64: the C type double"),
    ("rbf", "--mode exact --capacity 90", "only an image has a capacity"),
    ("rbf", "--mode exact --tables image --capacity 3", "--capacity …: the model has …"),
    ("rbf", "--tables image --data samples.npz", "does not go with mode statistical"),
    ("rbf", "--tables image --format int16", "--tables image does not go with --format int16"),
    ("rbf", "--mode exact --tables image --step 900", "--tables image does not go with --step"),
    (
        "rbf",
        "--tables image --redundancy 2 --package rust --data samples.npz --step 90",
        "--redundancy 2 does not go with --package rust",
    ),
    ("rbf", "--tables image --format int8 --data samples.npz", "does not go with mode stat"),
    ("rbf", "--input-tolerance 0.01 --mode statistical --data samples.npz", "a risk is about sing"),
    ("laplacian", "--mode exact --tables image", "no image holds the … kernel, only …"),
    ("rbf", "--mode exact --tables image --target avr", "its tables lie in the memory of the"),
    ("rbf", "--mode exact --tolerance 0.1", "this model gives labels, not values"),
    ("value", "--data samples.npz --risk 0.05", "this model is a regression, whose exits are"),
    ("value", "--mode exact --replay float64", "no value of a regression is summed again"),
    ("value", "--mode exact --tolerance 0.1", "with --mode exact no stage stops at it"),
    ("value", "--data samples.npz --reduce auto", "needs to know which difference matters"),
    ("rbf", "--input-tolerance 0.01 --data samples.npz --risk 0.05", "is about single inputs, not"),
    ("rbf", "--input-tolerance 0.01 --replay float64", "sums in double leave as many labels open"),
    ("rbf", "--input-tolerance 0.01 --reduce 9", "its bounds are those of the trained machine"),
    ("unit", "--mode exact --input-tolerance 0.01", "before the kernel has no bound over a box"),
    ("linear", "--mode exact --reduce 9", "a linear machine is one product a decision"),
    ("sigmoid", "--mode exact --reduce 9", "machines are reduced for the kernels "),
    ("poly", "--mode exact --reduce 23", "vectors are no combinations of others"),
    ("linear", "--mode exact --format int16", "nothing tells how large the inputs of this linear"),
    ("poly", "--mode exact --format int16", "the support vectors are no integers that"),
    ("unit", "--mode exact --format int8", "integer formats are for machines whose preprocessing"),
    ("wide", "--mode exact --format int16", "gamma is"),
    ("codes", "--format int8 --mode exact --replay float64", "…\nuse --replay none"),
    ("rbf", "--mode certified --require linear_filter", "is a statistical exit, which mode certif"),
    ("rbf", "--data samples.npz --mode certified --require linear_filter", "is a statistical exit"),
    ("rbf", "--data few.npz --mode statistical", "usable samples"),
    ("rbf", "--data few.npz --risk 0.05 --risk-control expected", "usable samples"),
    ("rbf", "--data few.npz --mode certified --require bound_sequence", "usable samples"),
    ("rbf", "--data few.npz --mode exact --reduce 9", "usable samples"),
    ("rbf", "--data few.npz --thresholds maxsmoothed --window 3", "usable samples"),
    ("rbf", "--data some.npz --risk 0.05 --risk-control expected", "usable samples"),
    ("rbf", "--data few.npz --mode statistical --stages linear_filter", "usable samples"),
    ("value", "--data few.npz --tolerance 0.1 --mode certified", "usable samples"),
    ("rbf", "--mode exact --step 1", "and is not parted"),
    ("rbf", "--mode exact --replay float64 --step 30", "and is not parted"),
    ("three", "--target cortex-m4 --mode exact --format float32 --max-flash 1500", "of flash"),
    ("poly", "--target cortex-m4 --mode exact --max-flash 900", "bytes of flash"),
    ("rbf", "--mode exact --redundancy 2 --max-flash 2500", "bytes of flash"),
    ("rbf", "--stages bound_sequence --max-ram 30", "bytes of RAM"),
    ("rbf", "--mode exact --step 900 --max-ram 30", "bytes of RAM"),
    ("rbf", "--mode exact --redundancy 2 --max-flash 2KB --max-ram 30 --step 1", "and --step 1: "),
    (
        "poly",
        "--target cortex-m4 --mode exact --max-flash 900 --max-ram 7",
        "bytes of RAM, cortex-m4 may use 7",
    ),
    ("rbf", "--stages bound_sequence --risk 0.001 --data enough.npz --max-ram 30", "bytes of RAM"),
    ("rbf", "--require bound_sequence --replay none --step 10", "and is not parted"),
    ("rbf", "--mode exact --out taken", "exists and is not an output folder of kmcompile"),
    ("rbf", "--mode exact --out link", "is a symbolic link; give the folder itself with --out"),
    ("rbf", "--mode exact --out m.pkl", "is a file; choose another --out"),
    ("steps", "--mode exact", "pass --trust-pickle if you trust who made the file"),
    ("rbf", "--mode exact --name while", "cannot prefix C names: it"),
    ("rbf", "--mode exact --telemetry --name abcdefghijklmnopqrst", "--telemetry: the prefix"),
    ("rbf", "--mode exact --entry svc", "the file holds one object, …, so it has no entry …"),
    ("two", "--mode exact", "and it is not clear which are the model"),
    ("two", "--mode exact --entry 0,1", "the last one must be a machine, and the only one"),
]


# Those whose proposals fit statistical exits.
SLOW = [
    ("rbf", "--data samples.npz --risk 0.0001", "control samples of the"),
    ("rbf", "--data samples.npz --mode statistical", "control samples of the"),
    ("rbf", "--data samples.npz --risk 0.003 --generated 9", "control samples of the"),
    (
        "rbf",
        "--data samples.npz --risk 0.001 --require linear_filter --optimize worst",
        "control samples of the",
    ),
    ("rbf", "--mode exact --data samples.npz --reduce auto --risk 0.001", "control samples of the"),
    ("many", "--mode exact --data trained.npz --reduce 9", "--data holds the samples that the mod"),
    (
        "rbf",
        "--data samples.npz --thresholds simple --stages sign_map",
        "the paper's scheme is …, a",
    ),
    ("rest", "--data samples.npz --thresholds simple", "the paper's scheme is for pairs of cla"),
]

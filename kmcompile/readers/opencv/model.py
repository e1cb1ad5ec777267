"""OpenCV's cv::ml::SVM, and CvSVM of OpenCV 2, as kernel machines.

The names are those of SVMImpl::write and CvSVM::write, the meaning that of their predict:
modules/ml/src/svm.cpp of OpenCV 4.14 and 2.4. Both round the vectors to float32 when they read
them, and so does this reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels import Chi2, Intersection, Kernel, Linear, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.fields import MAX_CLASSES
from kmcompile.readers.libsvm.text import LARGEST_INT, require_short
from kmcompile.readers.opencv.pairs import Decision, one_vs_one_rows
from kmcompile.readers.opencv.tree import Branch, Node
from kmcompile.readers.opencv.xml_text import read_xml
from kmcompile.readers.opencv.yaml_text import read_json, read_yaml
from kmcompile.readers.sklearn.columns import MOST_COLUMNS
from kmcompile.steps import Selection, Step

_TYPE_NAMES = ("svmType", "svm_type")
"""The name of the type since OpenCV 3, and in OpenCV 2."""

_KINDS = MappingProxyType(
    {
        "C_SVC": "SVC",
        "NU_SVC": "NuSVC",
        "ONE_CLASS": "OneClassSVM",
        "EPS_SVR": "SVR",
        "NU_SVR": "NuSVR",
    }
)
"""scikit-learn's classes of OpenCV's types, both after LIBSVM's."""

_FLOAT32 = (
    "OpenCV computes kernel values in float32: where a decision is within their rounding of 0, "
    "OpenCV's own label can be another one than the C's"
)
_SIGMOID = (
    "the kernel is tanh, as OpenCV has computed it since 3.4.6 and 4.1.0; before it was -tanh, and "
    "the file does not tell which release trained it: compare some labels"
)
_OLD_SIGMOID = "the kernel is -tanh: OpenCV 2, whose file this is, computed it so"
_COPIES = 4
"""Number of copies of the vectors as float64: rows, the array, float32 and back."""


def read_opencv_xml(content: bytes) -> KernelMachine:
    """Return the machine of an XML file."""
    return _read(content, read_xml, "XML of OpenCV")


def read_opencv_yaml(content: bytes) -> KernelMachine:
    """Return the machine of a YAML file."""
    return _read(content, read_yaml, "YAML of OpenCV")


def read_opencv_json(content: bytes) -> KernelMachine:
    """Return the machine of a JSON file."""
    return _read(content, read_json, "JSON")


def _read(content: bytes, parse: Callable[[bytes], Node], what: str) -> KernelMachine:
    require_short(content)
    svm = _only_svm(parse(content), what)
    type_name = next(name for name in _TYPE_NAMES if svm.has(name))
    svm_type = svm.choice(type_name, tuple(_KINDS))
    width = svm.integer("var_count", 1, LARGEST_INT)
    n_sv = svm.integer("sv_total", 1, LARGEST_INT)
    kernel = _kernel(svm.branch("kernel"))
    vectors = _vectors(svm, n_sv, width)
    read = _classifier if svm_type in ("C_SVC", "NU_SVC") else _one_decision
    return read(svm, svm_type, kernel, vectors)


def _only_svm(root: Node, what: str) -> Branch:
    """Return the only SVM among the nodes of the file, under whatever name it was saved."""
    nodes = root if isinstance(root, dict) else {}
    found = [
        name
        for name, node in nodes.items()
        if isinstance(node, dict) and any(kind in node for kind in _TYPE_NAMES)
    ]
    if len(found) == 1:
        return Branch(found[0], nodes[found[0]])
    if found:
        raise InputError(
            f"the file holds {len(found)} SVMs ({found[0]}, {found[1]}, ...), must be one; "
            "save each in a file of its own"
        )
    raise InputError(
        f"the file is {what}, and no node of it is an SVM (cv::ml::SVM, which has svmType);\n"
        "save an SVM of OpenCV with its save(), others see kmcompile manual recipes"
    )


def _vectors(svm: Branch, n_sv: int, width: int) -> Float64Array:
    rows = svm.rows("support_vectors", n_sv, width)
    current_budget().spend(_COPIES * FLOAT_BYTES * rows.size, f"{n_sv} vectors")
    with np.errstate(over="ignore"):  # what is infinite then is refused with its place
        return rows.astype(np.float32).astype(np.float64)


def _decisions(svm: Branch, count: int, n_sv: int, indexed: bool) -> list[Decision]:
    """Return the decision functions; those of one class or a regression are over all vectors."""
    decisions = []
    for function in svm.branches("decision_functions", count):
        n = function.integer("sv_count", 0 if indexed else n_sv, n_sv)
        index = np.arange(n_sv)
        if indexed:
            index = function.integers("index", n, 0, n_sv - 1)
        if len(np.unique(index)) < n:
            raise function.error("index", "has a vector twice", "all different")
        decisions.append(Decision(function.number("rho"), function.numbers("alpha", n), index))
    return decisions


def _classifier(svm: Branch, svm_type: str, kernel: Kernel, vectors: Float64Array) -> KernelMachine:
    """Read a C_SVC or NU_SVC: f > 0 votes for the first class of a pair, f <= 0 for the second.

    The first of the classes with the most votes wins, as in LIBSVM. With two classes f is negated
    here, so that f >= 0 gives the second label.
    """
    n_classes = svm.integer("class_count", 2, MAX_CLASSES)
    labels = svm.branch("class_labels").integers("data", n_classes, -LARGEST_INT - 1, LARGEST_INT)
    classes = tuple(int(label) for label in labels)
    if len(set(classes)) < n_classes:
        raise svm.error("class_labels", "has a label twice", "all different")
    n_pairs = n_classes * (n_classes - 1) // 2
    decisions = _decisions(svm, n_pairs, len(vectors), indexed=True)
    preprocessing, n_features = _features(svm, vectors.shape[1])
    rho = np.array([one.rho for one in decisions])
    binary = n_classes == 2
    counts: tuple[int, ...] = ()
    if binary:
        dual_coef = np.zeros((1, len(vectors)))
        dual_coef[0, decisions[0].index] = -decisions[0].alpha
    else:
        taken, dual_coef, counts = one_vs_one_rows(decisions, n_classes, len(vectors))
        current_budget().spend(FLOAT_BYTES * len(taken) * vectors.shape[1], "its vectors")
        vectors = vectors[taken]
    return KernelMachine(
        kind=_KINDS[svm_type],
        task=Task.BINARY if binary else Task.ONE_VS_ONE,
        kernel=kernel,
        support_vectors=vectors,
        dual_coef=_sign(svm, kernel) * dual_coef,
        intercept=rho + 0.0 if binary else 0.0 - rho,
        classes=classes,
        n_features=n_features,
        class_counts=counts,
        preprocessing=preprocessing,
        zero_is_positive=True,
        notes=_notes(svm, kernel),
    )


def _one_decision(
    svm: Branch, svm_type: str, kernel: Kernel, vectors: Float64Array
) -> KernelMachine:
    """Read a ONE_CLASS, EPS_SVR or NU_SVR; the label of one class is 1 where f > 0, and 0 else."""
    (decision,) = _decisions(svm, 1, len(vectors), indexed=False)
    preprocessing, n_features = _features(svm, vectors.shape[1])
    one_class = svm_type == "ONE_CLASS"
    return KernelMachine(
        kind=_KINDS[svm_type],
        task=Task.ONE_CLASS if one_class else Task.REGRESSION,
        kernel=kernel,
        support_vectors=vectors,
        dual_coef=_sign(svm, kernel) * decision.alpha[None, :],
        intercept=np.array([0.0 - decision.rho]),
        classes=(0, 1) if one_class else (),
        n_features=n_features,
        preprocessing=preprocessing,
        zero_is_positive=False,
        notes=_notes(svm, kernel),
    )


def _features(svm: Branch, width: int) -> tuple[tuple[Step, ...], int]:
    """Return the choice of features that OpenCV 2 could train on, and the number of all."""
    if not svm.has("var_idx"):
        return (), width
    n_features = svm.integer("var_all", width, MOST_COLUMNS)
    columns = svm.branch("var_idx").integers("data", width, 0, n_features - 1)
    return (Selection(tuple(int(c) for c in columns), n_features),), n_features


def _sign(svm: Branch, kernel: Kernel) -> float:
    """Return the sign of the kernel: a sigmoid was -tanh in OpenCV 2 (opencv/opencv#13621)."""
    return -1.0 if isinstance(kernel, Sigmoid) and svm.has(_TYPE_NAMES[1]) else 1.0


def _notes(svm: Branch, kernel: Kernel) -> tuple[str, ...]:
    if not isinstance(kernel, Sigmoid):
        return (_FLOAT32,)
    if _sign(svm, kernel) < 0:
        return (_FLOAT32, _OLD_SIGMOID)
    # Releases with -tanh refused a negative coef0.
    return (_FLOAT32,) if kernel.coef0 < 0 else (_FLOAT32, _SIGMOID)


def _kernel(kernel: Branch) -> Kernel:
    return _KERNELS[kernel.choice("type", tuple(_KERNELS))](kernel)


def _gamma(kernel: Branch) -> float:
    gamma = kernel.number("gamma")
    if gamma <= 0:
        raise kernel.error("gamma", f"is {gamma}", "> 0", "retrain the model")
    return gamma


def _poly(kernel: Branch) -> Kernel:
    degree = kernel.number("degree")
    if not 0 < degree <= LARGEST_INT or degree != int(degree):
        raise kernel.error(
            "degree",
            f"is {degree}",
            f"a whole number from 1 to {LARGEST_INT}: the C multiplies, it takes no roots",
            "retrain with a whole degree",
        )
    return Poly(_gamma(kernel), kernel.number("coef0"), int(degree))


def _intersection(kernel: Branch) -> Kernel:
    _gamma(kernel)  # the file has one, the kernel none
    return Intersection()


_KERNELS: Mapping[str, Callable[[Branch], Kernel]] = MappingProxyType(
    {
        "LINEAR": lambda kernel: Linear(),
        "POLY": _poly,
        "RBF": lambda kernel: Rbf(_gamma(kernel)),
        "SIGMOID": lambda kernel: Sigmoid(_gamma(kernel), kernel.number("coef0")),
        "CHI2": lambda kernel: Chi2(_gamma(kernel)),
        "INTER": _intersection,
    }
)

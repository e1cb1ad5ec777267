"""LIBSVM's `.model` text files as kernel machines, ThunderSVM's where they are the same.

The grammar is that of svm_save_model, the meaning that of svm_predict, svm.cpp of LIBSVM 3.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kmcompile.kernels import Kernel, Linear, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.fields import MAX_CLASSES
from kmcompile.readers.libsvm.header import Header
from kmcompile.readers.libsvm.sv_lines import SupportVectors
from kmcompile.readers.libsvm.text import LARGEST_INT, Lines, few_digits
from kmcompile.readers.platt import Platt, platt_of

KINDS = MappingProxyType(
    {
        "c_svc": "SVC",
        "nu_svc": "NuSVC",
        "one_class": "OneClassSVM",
        "epsilon_svr": "SVR",
        "nu_svr": "NuSVR",
    }
)
"""scikit-learn's classes of LIBSVM's svm_types."""

_N_MARKS = 10
"""Number of densities of a one-class model: svm_one_class_probs."""

_FROM_0 = "the features of the file count from 0"


def read_libsvm(content: bytes) -> KernelMachine:
    """Return the machine of a LIBSVM model.

    Raises
    ------
    InputError
        It is damaged or cannot be compiled; the message starts with the number of the line.
    """
    lines = Lines(content)
    header = Header(lines)
    svm_type = header.choice("svm_type", tuple(KINDS))
    kernel = _kernel(header)
    read = _read_classifier if svm_type in ("c_svc", "nu_svc") else _read_one_row
    return read(KINDS[svm_type], kernel, header, lines)


def first_index(machine: KernelMachine) -> int:
    """Return the index of the first feature in the file of a machine: 0 or 1."""
    return 0 if any(note.startswith(_FROM_0) for note in machine.notes) else 1


def _read_classifier(kind: str, kernel: Kernel, header: Header, lines: Lines) -> KernelMachine:
    """Read a c_svc or nu_svc: f > 0 votes for the first label of a pair, f <= 0 for the second.

    With two classes f is negated here, so that f >= 0 gives the second label.
    """
    n_classes = header.integer("nr_class", 1, MAX_CLASSES)
    if n_classes == 1:
        raise header.error("nr_class", "is 1, must be 2 or more", "retrain with two classes")
    n_pairs = n_classes * (n_classes - 1) // 2
    rho = np.array(header.numbers("rho", n_pairs))
    labels = header.integers("label", n_classes, -LARGEST_INT - 1)
    if len(set(labels)) < n_classes:
        raise header.error("label", "has a label twice, must be all different")
    n_sv = _total_sv(header)
    counts = header.integers("nr_sv", n_classes, 0)
    if sum(counts) != n_sv:
        raise header.error("nr_sv", f"adds up to {sum(counts)}, must be {n_sv}, as total_sv says")
    platt, of_platt = _probabilities(header, n_pairs)
    vectors = SupportVectors(lines, n_sv, n_classes - 1)
    binary = n_classes == 2
    return KernelMachine(
        kind=kind,
        task=Task.BINARY if binary else Task.ONE_VS_ONE,
        kernel=kernel,
        support_vectors=vectors.vectors,
        dual_coef=-vectors.coefficients if binary else vectors.coefficients,
        intercept=_intercept(-rho if binary else rho),
        classes=labels,
        n_features=vectors.vectors.shape[1],
        class_counts=() if binary else counts,
        zero_is_positive=True,
        platt=platt,
        notes=_notes(kernel, header, vectors) + of_platt,
    )


def _read_one_row(kind: str, kernel: Kernel, header: Header, lines: Lines) -> KernelMachine:
    """Read a one_class, epsilon_svr or nu_svr model; their nr_class is 2, and means nothing.

    R's e1071 writes label and nr_sv, too, as zeros.
    """
    one_class = kind == "OneClassSVM"
    header.integer("nr_class", 2, 2)
    for key in ("label", "nr_sv"):
        if header.has(key) and any(header.integers(key, 2, -LARGEST_INT - 1)):
            header.refuse(key, "must not be, or be 0 0: only c_svc and nu_svc have it")
    rho = np.array(header.numbers("rho", 1))
    _check_densities(header, one_class)
    vectors = SupportVectors(lines, _total_sv(header), 1)
    return KernelMachine(
        kind=kind,
        task=Task.ONE_CLASS if one_class else Task.REGRESSION,
        kernel=kernel,
        support_vectors=vectors.vectors,
        dual_coef=vectors.coefficients,
        intercept=_intercept(rho),
        classes=(-1, 1) if one_class else (),
        n_features=vectors.vectors.shape[1],
        zero_is_positive=False,
        notes=_notes(kernel, header, vectors),
    )


def _total_sv(header: Header) -> int:
    n_sv = header.integer("total_sv", 0, LARGEST_INT)
    if n_sv == 0:
        raise header.error("total_sv", "is 0, must be 1 or more", "retrain the model")
    return n_sv


def _intercept(rho: Float64Array) -> Float64Array:
    """Return -rho, with 0 in place of -0, as scikit-learn stores it."""
    return 0.0 - rho


def _kernel(header: Header) -> Kernel:
    name = header.choice("kernel_type", tuple(_KERNELS))
    for key in ("gamma", "coef0"):
        if header.has(key):
            header.number(key)  # also where the kernel does not use it
    return _KERNELS[name](header)


def _poly(header: Header) -> Kernel:
    degree = header.integer("degree", 0, LARGEST_INT)
    return Poly(_gamma(header), header.number("coef0"), degree)


def _gamma(header: Header) -> float:
    gamma = header.number("gamma")
    if gamma <= 0:
        raise header.error("gamma", f"is {gamma}, must be > 0", "retrain the model")
    return gamma


def _precomputed(header: Header) -> Kernel:
    remedy = (
        "give the vectors and the kernel by hand:\n"
        "kmcompile.precomputed_machine, or the .npz layout of kmcompile.save_model"
    )
    found = "is precomputed: the kernel values of new inputs are not in the model"
    raise header.error("kernel_type", found, remedy)


_KERNELS: Mapping[str, Callable[[Header], Kernel]] = MappingProxyType(
    {
        "linear": lambda header: Linear(),
        "polynomial": _poly,
        "rbf": lambda header: Rbf(_gamma(header)),
        "sigmoid": lambda header: Sigmoid(_gamma(header), header.number("coef0")),
        "precomputed": _precomputed,
    }
)


def _probabilities(header: Header, n_pairs: int) -> tuple[Platt | None, tuple[str, ...]]:
    """Return the sigmoid of a model that was trained with -b 1, and the notes on it."""
    header.refuse("prob_density_marks", "must not be: only one_class has it")
    found = [header.numbers(key, n_pairs) for key in ("probA", "probB") if header.has(key)]
    if len(found) < 2:  # svm-predict asks for both
        return None, ()
    return platt_of(*found)


def _check_densities(header: Header, one_class: bool) -> None:
    for key in ("probA", "probB"):
        if header.has(key):
            header.numbers(key, 1)
    if not one_class:
        header.refuse("prob_density_marks", "must not be: only one_class has it")
    elif header.has("prob_density_marks"):
        header.numbers("prob_density_marks", _N_MARKS)


def _notes(kernel: Kernel, header: Header, vectors: SupportVectors) -> tuple[str, ...]:
    width = vectors.vectors.shape[1]
    # An inner product with a shorter vector leaves out the features beyond its end.
    later = "ignores later ones, as the C does"
    if kernel.of_distance:
        later = "adds later ones to the distances, the C does not look at them"
    last = width - 1 + vectors.first_index
    notes = [
        f"a LIBSVM file does not tell the number of features: {last} is the largest index of its "
        f"support vectors; svm-predict {later}"
    ]
    if vectors.first_index == 0:
        notes.append(f"{_FROM_0}: the C takes {width}, in the order of their indices")
    if header.has("prob_density_marks"):
        notes.append(
            "the densities of the model are left out: the label is svm-predict's without -b 1"
        )
    groups = {
        "support vectors": vectors.vector_digits,
        "coefficients": vectors.coefficient_digits,
        "rho and kernel parameters": header.digits,
    }
    notes += few_digits(groups)
    return tuple(notes)

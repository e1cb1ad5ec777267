"""SVM-light's model files as kernel machines.

The grammar is that of write_model, the meaning that of classify_example, svm_common.c of SVM-light
6.02. The file does not tell whether svm_learn has trained a classifier, a regression or a ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels import Kernel, Linear, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.readers.libsvm.sv_lines import SupportVectors
from kmcompile.readers.libsvm.text import LARGEST_INT, Lines, few_digits, integer, real, shown

START = b"SVM-light Version "

_NOTE = (
    "an SVM-light file does not tell what was trained: this is read as a classifier, whose label "
    "is 1 where svm_classify prints a value above 0, and -1 elsewhere"
)


class _Lines(Lines):
    """Lines up to the comments that SVM-light writes behind each of them."""

    def words(self, expected: str) -> list[bytes]:
        """Return the words before the comment."""
        words = super().words(expected)
        comments = (i for i, word in enumerate(words) if word.startswith(b"#"))
        return words[: next(comments, len(words))]

    def read_word(self, what: str) -> bytes:
        """Return the only word of the next line."""
        words = self.words(what)
        if len(words) != 1:
            raise self.error(f"has {len(words)} values, must be {what}; save the model again")
        return words[0]

    def read_number(self, what: str) -> float:
        """Return the only number of the next line."""
        word = self.read_word(what)
        value = real(word)
        if isinstance(value, str):
            raise self.error(f"{what} is {shown(word)}, must be {value}; save the model again")
        return value

    def read_integer(self, what: str, low: int) -> int:
        """Return the only integer of the next line."""
        word = self.read_word(what)
        value = integer(word, low, LARGEST_INT)
        if value is None:
            found = f"{what} is {shown(word)}"
            raise self.error(f"{found}, must be an integer from {low} to {LARGEST_INT}")
        return value


def read_svmlight(content: bytes) -> KernelMachine:
    """Return the machine of an SVM-light model.

    Raises
    ------
    InputError
        It is damaged or cannot be compiled; the message starts with the number of the line.
    """
    lines = _Lines(content)
    lines.words("the version of SVM-light")
    kernel = _kernel(lines)
    n_features = lines.read_integer("the highest feature index", 1)
    lines.read_integer("the number of training documents", 0)
    n_sv = lines.read_integer("the number of support vectors plus 1", 1) - 1
    if n_sv == 0:
        raise lines.error("no support vectors; retrain the model")
    threshold = lines.read_number("the threshold b")
    vectors = SupportVectors(lines, n_sv, 1, n_features)
    if vectors.first_index == 0:
        raise InputError("a vector has index 0, must be 1 or more; save the model again")
    with np.errstate(over="ignore"):  # what is infinite then is refused with its place
        rounded = vectors.vectors.astype(np.float32).astype(np.float64)  # as svm_classify does
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=rounded,
        dual_coef=vectors.coefficients,
        intercept=np.array([0.0 - threshold]),
        classes=(-1, 1),
        n_features=rounded.shape[1],
        zero_is_positive=False,
        notes=(_NOTE, *few_digits({"coefficients": vectors.coefficient_digits})),
    )


def _kernel(lines: _Lines) -> Kernel:
    kind = lines.read_integer("the kernel type", 0)
    if kind not in _KERNELS:
        raise lines.error(
            f"the kernel type is {kind}, must be 0 to 3: a kernel of your own is not in the file;\n"
            "give the vectors and the kernel by hand: the .npz layout of kmcompile.save_model"
        )
    degree = lines.read_integer("parameter -d", 0)
    gamma, factor, constant = (
        lines.read_number(f"parameter {name}") for name in ("-g", "-s", "-r")
    )
    lines.words("parameter -u")
    scale = gamma if kind == _RBF else factor
    if scale <= 0 and kind != _LINEAR:
        raise lines.error(
            f"parameter {'-g' if kind == _RBF else '-s'} is {scale}, must be > 0; retrain the model"
        )
    return _KERNELS[kind](scale, constant, degree)


_LINEAR, _RBF = 0, 2

_KERNELS: Mapping[int, Callable[[float, float, int], Kernel]] = MappingProxyType(
    {
        _LINEAR: lambda scale, constant, degree: Linear(),
        1: Poly,
        _RBF: lambda scale, constant, degree: Rbf(scale),
        3: lambda scale, constant, degree: Sigmoid(scale, constant),
    }
)
"""The kernels of `svm_learn -t`."""

"""KernelMachine: the trained machine in float64."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kmcompile import kernels
from kmcompile.kernels.kernel import Kernel
from kmcompile.model.canonical import canonical_parts, described_steps
from kmcompile.model.log_odds import is_compiled
from kmcompile.model.requirements import (
    n_out_of,
    require,
    require_finite,
    require_nonnegative,
    require_registered,
)
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array, frozen
from kmcompile.steps.step import Step

Label = str | int | float | bool


class Task(StrEnum):
    """The rule that turns decision values into a label or a value."""

    BINARY = "binary"
    ONE_VS_ONE = "one-vs-one"
    ONE_VS_REST = "one-vs-rest"
    ONE_CLASS = "one-class"
    REGRESSION = "regression"

    @property
    def has_one_sign(self) -> bool:
        """Whether the label is the sign of the only decision value."""
        return self in (Task.BINARY, Task.ONE_CLASS)

    @property
    def has_signs(self) -> bool:
        """Whether the label depends on the signs of the decision values alone, ties aside."""
        return self.has_one_sign or self is Task.ONE_VS_ONE


@dataclass(frozen=True, slots=True, eq=False)
class ReducedFrom:
    """The machine that a reduced machine stands for.

    |f_p(x) - f^_p(x)| <= distance_p sqrt(K(x, x)) + offset_p, by the Cauchy-Schwarz inequality in
    feature space (RSS 2004, section 3.2). In a routed machine each leaf has a distance and an
    offset of its own.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine.
    distance : ndarray of shape (n_decisions,) or (n_leaves, n_decisions), float64
        Upper bounds on |W_p - W^_p|.
    offset : ndarray of the shape of `distance`, float64
        Upper bounds on |b_p - b^_p|.
    """

    machine: KernelMachine
    distance: Float64Array
    offset: Float64Array

    def __post_init__(self) -> None:
        for name in ("distance", "offset"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


@dataclass(frozen=True, slots=True, eq=False)
class KernelMachine:
    """A trained kernel machine, immutable, in float64.

    The decision values are f_p(x) = sum_i beta_pi K(s_i, x') + b_p with x' the preprocessed
    input.

    Parameters
    ----------
    kind : str
        The estimator's class, "SVC" for example.
    task : Task
    kernel : Kernel
    support_vectors : ndarray of shape (n_sv, n_kernel_features), float64
        For a linear model: its weight vectors.
    dual_coef : ndarray of shape (n_rows, n_sv), float64
        beta. Binary and one-class: one row, f > 0 is `classes[1]`. Regression: one row, f is the
        value. One-vs-one: LIBSVM's layout,
        n_classes - 1 rows; the coefficients of pair (i, j), i < j, are row j - 1 over the
        vectors of class i and row i over those of class j, and f > 0 votes for class i. In a
        routed one-vs-one machine a row a pair. One-vs-rest: a row a class.
    intercept : ndarray of shape (n_decisions,), float64
        b: a single one; in one-vs-one one for each pair, in the order (0, 1), (0, 2), ...; in
        one-vs-rest one for each class.
    classes : tuple of labels
        scikit-learn's `classes_`: (-1, 1) in a one-class machine, empty in a regression.
    class_counts : tuple of int
        One-vs-one: the number of support vectors of each class, which stand class by class.
        Otherwise, and in a routed machine, empty.
    n_features : int
        Features of the raw input.
    preprocessing : tuple of Step
    zero_is_positive : bool
        Whether f = 0 gives `classes[1]` (SVC) or `classes[0]` (LinearSVC, OneClassSVM).
    last_of_equal : bool
        One-vs-rest: whether the last of equal largest decisions wins (OneVsRestClassifier before
        scikit-learn 1.8) or the first.
    log_odds : bool
        Binary and one-vs-rest: whether 1 / (1 + exp(-f)) is a calibrated probability: of
        `classes[1]`, or of each class before the probabilities are scaled to the sum 1. In a
        machine with a threshold the probability is 1 / (1 + exp(-f - threshold)).
    platt : tuple of two floats, optional
        Binary: the slope a and offset b of Platt's sigmoid, where the model has one beside its
        decision: the probability of `classes[1]` is 1 / (1 + exp(-a (f + threshold) - b)). The
        label is still the sign of f.
    threshold : float
        Binary and one-class: the threshold that was subtracted from the trained intercept, so that
        f is the trained decision minus the threshold (`kmcompile.passes.move_threshold`).
    break_ties : bool
        One-vs-one: ties between votes are broken by the summed confidences.
    decision_function_shape : str
        "ovr" or "ovo": the shape that scikit-learn's `decision_function` has.
    trained_classes : tuple of labels
        Where the classes have names of their own (`--labels`), the labels of the training data in
        the order of `classes`; otherwise empty. Not a part of the model.
    feature_names : tuple of str
        The names of the raw features in the training data, or empty. Not a part of the model.
    notes : tuple of str
        Remarks for the user on how the model was read.
    reduced_from : ReducedFrom, optional
        The trained machine that a machine of fewer vectors stands for, and how far it is away. A
        certified label is then the label of the trained machine.
    routing : Routing, optional
        A tree whose leaves share out the support vectors; the decisions of a query are those of
        its leaf.
    rounded_vectors : bool
        Whether the reader has computed the support vectors from trained ones, and rounded them: two
        that are equal may stand for two that are not.
    intercept_error : float
        Bound on what the intercepts have lost where a reader or a pass has computed them from
        trained numbers and rounded them. Every bound on a decision counts it.
    """

    kind: str
    task: Task
    kernel: Kernel
    support_vectors: Float64Array
    dual_coef: Float64Array
    intercept: Float64Array
    classes: tuple[Label, ...]
    n_features: int
    class_counts: tuple[int, ...] = ()
    preprocessing: tuple[Step, ...] = ()
    zero_is_positive: bool = True
    last_of_equal: bool = False
    log_odds: bool = False
    platt: tuple[float, float] | None = None
    threshold: float = 0.0
    break_ties: bool = False
    decision_function_shape: str = "ovr"
    trained_classes: tuple[Label, ...] = ()
    feature_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reduced_from: ReducedFrom | None = None
    routing: Routing | None = None
    rounded_vectors: bool = False
    intercept_error: float = 0.0

    def __post_init__(self) -> None:
        for name in ("support_vectors", "dual_coef", "intercept"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        _validate(self)

    @property
    def n_classes(self) -> int:
        """The number of labels."""
        return len(self.classes)

    @property
    def n_decisions(self) -> int:
        """The number of decision values: 1, the pairs, or the classes."""
        return len(self.intercept)

    @property
    def n_support_vectors(self) -> int:
        """The number of kernel evaluations of one exact decision."""
        return len(self.support_vectors)

    @property
    def shares_rows(self) -> bool:
        """Whether the pairs of classes share rows of `dual_coef`, in LIBSVM's layout."""
        return self.task is Task.ONE_VS_ONE and self.routing is None

    @property
    def description(self) -> str:
        """The preprocessing, the kind, the kernel and the support vectors in one line."""
        parameters = "".join(
            f", {key} {value:g}" for key, value in self.kernel.parameters().items()
        )
        steps = "".join(f"{step} -> " for step in self.preprocessing)
        leaves = "" if self.routing is None else f" in {self.routing.n_leaves} leaves"
        return (
            f"{steps}{self.kind}, {self.kernel.name} kernel{parameters}, {self.n_support_vectors} "
            f"support vectors of {self.support_vectors.shape[1]} features{leaves}"
        )

    def prepare(self, X: Float64Array) -> Float64Array:
        """Return the preprocessed rows, shape (n_queries, n_kernel_features)."""
        for step in self.preprocessing:
            X = step.apply(X)
        return X

    def canonical_bytes(self) -> bytes:
        """Return the bytes that the SHA-256 covers: a header, then the arrays, little-endian."""
        return b"".join(self._canonical_parts())

    def _canonical_parts(self) -> Iterator[bytes | memoryview]:
        """Return the parts of `canonical_bytes` in order, without a copy of the large arrays."""
        arrays = [("support_vectors", self.support_vectors), ("dual_coef", self.dual_coef)]
        arrays.append(("intercept", self.intercept))
        header: dict[str, object] = {
            "kind": self.kind,
            "task": self.task.value,
            "kernel": {"name": self.kernel.name, **self.kernel.parameters()},
            "classes": [[type(label).__name__, label] for label in self.classes],
            "class_counts": self.class_counts,
            "n_features": self.n_features,
            "zero_is_positive": self.zero_is_positive,
            "break_ties": self.break_ties,
            "decision_function_shape": self.decision_function_shape,
        }
        for name in ("last_of_equal", "log_odds", "platt", "threshold"):
            if getattr(self, name):
                header[name] = getattr(self, name)
        header["preprocessing"], of_steps = described_steps(self.preprocessing)
        arrays += of_steps
        if self.routing is not None:
            arrays += ((f"routing.{name}", own) for name, own in self.routing.arrays())
        return canonical_parts(header, arrays)

    @property
    def sha256(self) -> str:
        """SHA-256 of the canonical bytes, hexadecimal; of a reduced machine the trained one's."""
        if self.reduced_from is not None:
            return self.reduced_from.machine.sha256
        digest = hashlib.sha256()
        for part in self._canonical_parts():
            digest.update(part)
        return digest.hexdigest()


def _validate(machine: KernelMachine) -> None:
    """Raise InputError unless the fields are finite and fit each other."""
    n_sv = machine.n_support_vectors
    regression = machine.task is Task.REGRESSION
    require(
        (machine.n_classes == 0) if regression else (machine.n_classes >= 2),
        f"{machine.n_classes} classes, must be {'none' if regression else '2 or more'}",
    )
    require_registered(machine.kernel, kernels.CATALOGUE, "kernel")
    require(machine.n_features >= 1, "no features")
    require(n_sv >= 1, "no support vectors")
    require(machine.support_vectors.ndim == 2, "support_vectors must have two dimensions")
    for name in ("support_vectors", "dual_coef", "intercept"):
        require_finite(name, getattr(machine, name))
    for name, value in machine.kernel.parameters().items():
        require(bool(np.isfinite(value)), f"{name} is {value}, must be finite")
    _validate_answers(machine)
    if machine.kernel.requires_nonnegative:
        require_nonnegative(machine.kernel.name, machine.support_vectors)
    _validate_shapes(machine)
    n_kernel_features = n_out_of(machine.preprocessing, machine.n_features)
    width = machine.support_vectors.shape[1]
    require(
        width == n_kernel_features,
        f"support vectors have {width} features, the input after preprocessing {n_kernel_features}",
    )
    if machine.routing is not None:
        require(machine.task is not Task.ONE_CLASS, f"a {machine.task.value} machine has leaves")
        machine.routing.validate(n_sv, width, machine.n_decisions)
        require(
            machine.kernel.is_gaussian or not machine.routing.has_widths,
            f"a machine with a {machine.kernel.name} kernel has several gammas",
        )
        require(
            machine.kernel.is_gaussian or not machine.routing.has_pairs,
            f"a machine with a {machine.kernel.name} kernel has products of kernels",
        )


def _validate_answers(machine: KernelMachine) -> None:
    """Raise InputError unless probabilities and the threshold are those of such a machine."""
    require(
        not machine.log_odds or machine.task in (Task.BINARY, Task.ONE_VS_REST),
        f"a {machine.task.value} machine has no log odds",
    )
    if machine.platt is not None:
        require(
            machine.task is Task.BINARY and not machine.log_odds,
            f"a {machine.task.value} machine of decisions or log odds has no sigmoid of its own",
        )
        require(
            is_compiled(machine.platt),
            f"platt is {machine.platt}, must be of magnitudes that float32 can take",
        )
    require(math.isfinite(machine.threshold), f"threshold is {machine.threshold}, must be finite")
    require(
        machine.threshold == 0 or machine.task.has_one_sign,
        f"a {machine.task.value} machine has a threshold",
    )


def _validate_shapes(machine: KernelMachine) -> None:
    n_classes, n_sv = machine.n_classes, machine.n_support_vectors
    decisions = {
        Task.BINARY: 1,
        Task.ONE_CLASS: 1,
        Task.REGRESSION: 1,
        Task.ONE_VS_ONE: n_classes * (n_classes - 1) // 2,
        Task.ONE_VS_REST: n_classes,
    }[machine.task]
    rows = n_classes - 1 if machine.shares_rows else decisions
    shape = machine.dual_coef.shape
    require(shape == (rows, n_sv), f"dual_coef has shape {shape}, expected {(rows, n_sv)}")
    shape = machine.intercept.shape
    require(shape == (decisions,), f"intercept has shape {shape}, expected {(decisions,)}")
    if machine.task.has_one_sign:
        require(n_classes == 2, f"{n_classes} classes in a {machine.task.value} machine")
    if machine.shares_rows:
        counts = machine.class_counts
        require(
            len(counts) == n_classes and min(counts) >= 0 and sum(counts) == n_sv,
            f"class_counts {counts} do not add up to {n_sv} support vectors",
        )

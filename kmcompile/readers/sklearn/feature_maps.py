"""scikit-learn's Nystroem and RBFSampler before a linear machine: together a kernel machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.kernels import Fourier, Kernel
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.exact import Exact
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.passes.merge_duplicate_vectors import first_of_equal
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.fields import Fields
from kmcompile.readers.record import Record, describe
from kmcompile.readers.sklearn.classes import version_notes
from kmcompile.readers.sklearn.kernels import pairwise_kernel, through
from kmcompile.steps import Affine, Extension, Projection, Selection, Step

_SUM_BYTES = 8
"""Cost of a multiply-add of short integers, which takes about a sixth of a microsecond."""

_BITS_OF_A_BYTE = 4000
"""Product of the bits of two integers for which their multiply-add costs a byte more."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMap:
    """x -> matrix (K(s_1, x'), .., K(s_n, x')) with x' behind the steps.

    Parameters
    ----------
    name : str
        The class.
    n_features : int
    steps : tuple of Step
    kernel : Kernel
    vectors : ndarray of shape (n_vectors, n_kernel_features), float64
    first : ndarray of shape (n_vectors,), int
        For each vector the first one that is the same component.
    matrix : ndarray of shape (n_out, n_vectors), float64
        The matrix, or the diagonal of a diagonal matrix, of shape (n_vectors,).
    notes : tuple of str
    """

    name: str
    n_features: int
    steps: tuple[Step, ...]
    kernel: Kernel
    vectors: Float64Array
    first: NDArray[np.intp]
    matrix: Float64Array
    notes: tuple[str, ...]

    @property
    def n_out(self) -> int:
        """The number of features that leave the map."""
        return len(self.matrix)

    def coefficients(self, weights: Exact) -> Exact:
        """Return the coefficients of the kernel values for weights of the map's result."""
        return _product(weights, _exact(self.matrix))


def read_feature_map(record: Record) -> FeatureMap:
    """Return a fitted Nystroem or RBFSampler.

    Raises
    ------
    InputError
        It is not fitted or damaged, or its kernel cannot be compiled.
    """
    fields = Fields(record, prefix=f"{record.name}.")
    notes = version_notes(record)
    fields.require_fitted("n_features_in_")
    n_features = fields.integer("n_features_in_", 1, 2**31 - 1)
    return MAP_READERS[record.name](fields, n_features, notes)


def _nystroem(fields: Fields, n: int, notes: tuple[str, ...]) -> FeatureMap:
    """normalization_ K(components_, x): sklearn/kernel_approximation.py.

    gamma, coef0 and degree count before `kernel_params`; what neither has is the default of
    sklearn.metrics.pairwise.
    """
    fields.require_fitted("components_")
    components = fields.array("components_", (None, n))
    size = len(components)
    if size == 0:
        raise fields.error("components_", "is empty", "1 row or more", "retrain the model")
    matrix = fields.array("normalization_", (size, size))
    given = fields.get("kernel_params")
    if given is not None and not isinstance(given, dict):
        raise fields.error("kernel_params", f"is {describe(given)}", "None or a dict")
    parameters = {name: (given or {}).get(name) for name in ("gamma", "coef0", "degree")}
    for name in parameters:
        if fields.get(name) is not None:
            parameters[name] = fields.get(name)
    kernel_name = fields.get("kernel")
    steps, kernel = pairwise_kernel(kernel_name, n, **parameters, prefix=fields.prefix)
    vectors, first = through(steps, components), first_of_equal(components)
    return FeatureMap(fields.record.name, n, steps, kernel, vectors, first, matrix, notes)


def _rbf_sampler(fields: Fields, n: int, notes: tuple[str, ...]) -> FeatureMap:
    """sqrt(2 / D) cos(x random_weights_ + random_offset_): sklearn/kernel_approximation.py.

    The offset becomes one more feature of the vectors; the inputs get a feature 1 for it.
    """
    fields.require_fitted("random_weights_")
    weights = fields.array("random_weights_", (n, None))
    size = weights.shape[1]
    if size == 0:
        raise fields.error("random_weights_", "is empty", "1 column or more", "retrain the model")
    fields.integer("n_components", size, size)
    offset = fields.array("random_offset_", (size,))
    vectors = np.column_stack([weights.T, offset])
    factor = np.full(size, (2.0 / size) ** 0.5)
    steps = (Extension(1.0, n + 1),)
    first = first_of_equal(vectors)
    return FeatureMap(fields.record.name, n, steps, Fourier(), vectors, first, factor, notes)


MAP_READERS: Mapping[str, Callable[[Fields, int, tuple[str, ...]], FeatureMap]] = MappingProxyType(
    {"Nystroem": _nystroem, "RBFSampler": _rbf_sampler}
)


def behind_map(machine: KernelMachine, feature_map: FeatureMap) -> KernelMachine:
    """Return the kernel machine of a map and a linear machine of its result.

    With z = M k the map's result and w, b of the linear machine: <w, z> + b = <M^T w, k> + b is a
    sum over kernel values. Scalers and projections between the two are parts of w and b: for
    z' = (z - o) f it is w f and b - <w f, o>, for z' = P z it is P^T w. A map of near vectors has
    large numbers that cancel, so the sums are exact, of the factors and offsets that the steps
    have. Each coefficient and each b is rounded once, when those of equal components have been
    added: the bounds of the sums count this rounding.

    Parameters
    ----------
    machine : KernelMachine
        A linear machine whose preprocessing stands between the map and itself.
    feature_map : FeatureMap

    Raises
    ------
    InputError
        The machine is not linear, or a step between is not.
    """
    both = f"{feature_map.name} before {machine.kind}"
    if not machine.kernel.is_linear:
        raise InputError(
            f"{both} with the {machine.kernel.name} kernel is a kernel of kernels, must be before "
            f"a linear machine; retrain without {feature_map.name} or with LinearSVC"
        )
    if machine.task is Task.ONE_VS_ONE:
        raise InputError(
            f"{both} has weights for pairs of classes, must have them for classes; "
            "retrain with LinearSVC"
        )
    weights = _product(_exact(decision_coefficients(machine)), _exact(machine.support_vectors))
    intercept = _exact(machine.intercept)
    for step in reversed(machine.preprocessing):
        if isinstance(step, Affine):
            weights = _product(weights, _exact(step.factor))
            shift = _product(weights, _exact(step.offset[:, None]))
            intercept = intercept - Exact(shift.integers[:, 0], shift.exponent)
        elif isinstance(step, Projection):
            weights = _product(weights, _exact(step.matrix))
        elif isinstance(step, Selection):
            current_budget().spend(weights.n_bytes, f"{step.n_in} features")
            weights = weights.added(np.array(step.columns, dtype=np.intp), step.n_in)
        else:
            raise InputError(
                f"{both} has a step between that is not linear ({step}), must be scalers without "
                "clipping, PCA or none; put it before the map or leave it out"
            )
    rounded = intercept.rounded()
    n = len(feature_map.vectors)
    coefficients = feature_map.coefficients(weights)
    kept = np.unique(feature_map.first)
    text = (
        f"{both} is one machine: a sum of {len(kept)} kernel values with coefficients made of both"
    )
    return replace(
        machine,
        kernel=feature_map.kernel,
        support_vectors=feature_map.vectors[kept],
        rounded_vectors=bool(feature_map.steps),
        dual_coef=coefficients.added(feature_map.first, n).taken(kept).rounded(),
        intercept=rounded,
        intercept_error=UNIT_ROUNDOFF_64 * float(np.abs(rounded).max()),
        n_features=feature_map.n_features,
        preprocessing=feature_map.steps,
        notes=(*feature_map.notes, *machine.notes, text),
    )


def _exact(values: Float64Array) -> Exact:
    """Return numbers as they are; their memory is taken out of the budget before."""
    current_budget().spend(Exact.bytes_of(values), f"{values.size} numbers")
    return Exact.of(values)


def _product(left: Exact, right: Exact) -> Exact:
    """Return the product of two matrices, or of each number and its counterpart in a row.

    Its result and its time are taken out of the budget before.
    """
    inner, *columns = right.integers.shape
    n_sums = len(left.integers) * inner * (columns[0] if columns else 1)
    sum_bytes = _SUM_BYTES + left.bits * right.bits / _BITS_OF_A_BYTE
    n_bytes = left.n_bytes + right.n_bytes + n_sums * sum_bytes
    current_budget().spend(n_bytes, f"{n_sums} products")
    return left @ right if columns else left * right

"""Warnings on machines that give one answer only: to every input, or to all samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.passes.sum_linear import sum_linear
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.steps import Affine, Projection

_AT_ONCE = 256
_ENOUGH = 20
"""Samples of one label that are told of: of two equally likely labels one in a million would be."""
_SEED = 20030717


def one_answer_warnings(
    machine: KernelMachine, program: Program, samples: Sequence[Float32Array]
) -> tuple[str, ...]:
    """Return a warning if the answer does not depend on the input, or samples have one label.

    Inliers are what most samples of a one-class machine should be: only outliers are told of.

    Parameters
    ----------
    machine : KernelMachine
        The machine as it was trained.
    program : Program
    samples : sequence of ndarray of shape (n, n_features), float32
        The calibration and the test samples.
    """
    if not depends_on_input(machine):
        return (
            "the model gives every input the same answer: the coefficients of its decisions are 0, "
            "or cancel each other; check that it was trained",
        )
    if machine.task is Task.REGRESSION:
        return ()
    label, n = _only_label(program, np.concatenate(samples))
    if n < _ENOUGH or (machine.task is Task.ONE_CLASS and label == 1):
        return ()
    return (
        f"all {n:,} samples get the label {machine.classes[label]}; check that they are in the "
        "units that the model was trained with, and of more than one class",
    )


def depends_on_input(machine: KernelMachine) -> bool:
    """Return whether some decision is other for other inputs, by more than rounding."""
    for step in machine.preprocessing:
        factor = step.factor if isinstance(step, Affine) else np.ones(1)
        if not (step.matrix if isinstance(step, Projection) else factor).any():
            return False
    routing = machine.routing
    if routing is not None:
        choices = (routing.pair_coef, routing.leaf_weights, np.diff(routing.intercepts, axis=0))
        if any(part.any() for part in choices):
            return True
    steps = machine.preprocessing
    varying = machine.support_vectors.shape[1] - (steps[-1].n_constant if steps else 0)
    if machine.kernel.is_linear and routing is None:
        weights, error = sum_linear(machine)
        return bool((np.abs(weights[:, :varying]) > error[:, None]).any())
    used = machine.support_vectors[(decision_coefficients(machine) != 0).any(axis=0), :varying]
    return bool(used.any() if machine.kernel.of_inner_product else used.size)


def _only_label(program: Program, samples: Float32Array) -> tuple[int, int]:
    """Return the label of all accepted samples and their number; 0 if there are more labels."""
    labels: set[int] = set()
    n = 0
    order = np.random.default_rng(_SEED).permutation(len(samples))  # a file may be sorted by class
    for start in range(0, len(order), _AT_ONCE):
        rows = np.ascontiguousarray(samples[order[start : start + _AT_ONCE]])
        results = interpret(program, rows).results
        accepted = results["label"][results["status"] == Status.OK]
        labels.update(accepted.tolist())
        n += len(accepted)
        if len(labels) > 1:
            return 0, 0
    return (labels.pop(), n) if labels else (0, 0)

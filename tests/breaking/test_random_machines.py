"""No certified label is wrong, whatever the scales of a machine are."""

from __future__ import annotations

import numpy as np
import pytest
from attack import attack_target
from random_machines import random_machine
from subjects import Target, programs_of

from kit.covering import some
from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine, Task

N_MACHINES = 60
N_QUERIES = 2500


@pytest.mark.parametrize("seed", some(range(N_MACHINES), ("20",)))
def test_no_certified_label_of_a_random_machine_is_wrong(seed, record_figures):
    machine, samples = random_machine(seed)
    _attack(machine, samples, record_figures)


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", some([1e-12, 1e-8, 1e-4, 1e4, 1e8], ("1e-12", "100000000.0")))
def test_no_certified_label_is_wrong_where_features_are_tiny_or_large(size, record_figures):
    """The terms of an expansion in a power of x grow as fast as that power shrinks."""
    rng = np.random.default_rng(81)
    X = size * rng.normal(size=(8, 1))
    machine = KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(2.0 / size**2),
        support_vectors=X,
        dual_coef=rng.normal(size=(1, 8)),
        intercept=np.array([0.1]),
        classes=(0, 1),
        n_features=1,
    )
    samples = X[rng.integers(8, size=300)] + 0.1 * size * rng.normal(size=(300, 1))
    _attack(machine, samples.astype(np.float32), record_figures)


def _attack(machine: KernelMachine, samples: np.ndarray, record_figures) -> None:
    programs = programs_of(machine, samples, lanes=4)
    table = attack_target(Target(None, machine, programs, samples), N_QUERIES)
    record_figures("random machines", table)
    assert all(figures.is_clean for figures in table.values())

"""Codes of a linear machine reach what its support vectors tell of inputs, and little more."""

from __future__ import annotations

import numpy as np
import pytest

from kit.chain_models import fitted
from kmcompile import readers
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.kernel_machine import Task
from kmcompile.program.interpreter import interpret
from kmcompile.target import load_target

LEAST_SHARE = {"int16": 0.95, "int8": 0.85}


@pytest.mark.parametrize("number_format", LEAST_SHARE)
@pytest.mark.parametrize("task", Task)
def test_without_samples_most_fresh_inputs_are_certified(task, number_format):
    model, fresh = fitted(task, "linear", "few", False)
    machine = readers.load_model(model)
    program = lower_in_format(machine, load_target("cortex-m0"), "m", number_format).program
    certified = interpret(program, fresh).results["certified"]
    assert np.mean(certified) >= LEAST_SHARE[number_format]

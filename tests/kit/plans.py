"""Plans for tests of single steps, for the host and with arrays of samples instead of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.request.options import Options
from kmcompile.request.plan import Plan, Request


def plan_for(
    machine: KernelMachine,
    samples: np.ndarray | None = None,
    test_samples: np.ndarray | None = None,
    **options: Any,
) -> Plan:
    """Return the plan for a machine, with options as in `compile_model`."""
    plan = Request.of(Path("model.pkl"), Options(**options)).plan(machine)
    return replace(
        plan,
        samples=plan.samples if samples is None else samples,
        test_samples=plan.test_samples if test_samples is None else test_samples,
    )

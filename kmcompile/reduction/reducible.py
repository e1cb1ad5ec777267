"""Which machines have a reduced machine."""

from __future__ import annotations

from kmcompile import kernels
from kmcompile.errors import InputError, UsageError
from kmcompile.lower.reduced import require_self_value
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.leaves import leaf_machines
from kmcompile.request.plan import Plan


def require_reducible(machine: KernelMachine, plan: Plan) -> None:
    """Raise an error unless the machine can be reduced as `--reduce` asks.

    Raises
    ------
    InputError
        If the machine has no vectors to reduce, or a kernel whose K(x, x) the C does not bound.
    UsageError
        If `auto` lacks the tolerance of a regression.
    """
    auto = plan.options.reduce == "auto"
    if machine.kernel.is_linear:
        raise InputError(
            "a linear machine is one product a decision: there are no vectors to reduce\n"
            "leave out --reduce"
        )
    if machine.routing is not None:
        _require_leaves(machine)
    require_self_value(machine)
    if auto and machine.task is Task.REGRESSION and plan.tolerance is None:
        raise UsageError(
            "--reduce auto of a regression needs to know which difference matters\n"
            "give --tolerance T"
        )


def leaves_reducible(machine: KernelMachine) -> bool:
    """Return whether the leaves of a routed machine can be reduced."""
    try:
        _require_leaves(machine)
    except InputError:
        return False
    return True


def _require_leaves(machine: KernelMachine) -> None:
    if machine.kernel.self_value is None:
        raise InputError(
            "leaves are reduced for the kernels "
            f"{kernels.names_of(lambda one: one.self_value is not None)}; this machine's is "
            f"{machine.kernel.name}\n"
            "leave out --reduce, or train with an rbf kernel"
        )
    try:
        leaf_machines(machine)
    except InputError as error:
        raise InputError(f"{error}: they are not reduced\nleave out --reduce") from error

"""Targets: the boards and machines that C is compiled for, one TOML file of `targets/` each."""

from kmcompile.target.description import (
    Boot,
    Compiler,
    Cost,
    Emulator,
    OperationCost,
    Part,
    ProgramForm,
    Region,
    Target,
)
from kmcompile.target.loading import (
    chosen_targets,
    list_parts,
    list_targets,
    load_target,
    target_from_dict,
)
from kmcompile.target.timing import Timing

__all__ = [
    "Boot",
    "Compiler",
    "Cost",
    "Emulator",
    "OperationCost",
    "Part",
    "ProgramForm",
    "Region",
    "Target",
    "Timing",
    "chosen_targets",
    "list_parts",
    "list_targets",
    "load_target",
    "target_from_dict",
]

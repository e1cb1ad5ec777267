"""Which software routines for double a built model calls."""

from __future__ import annotations

import re
from pathlib import Path

from kmcompile.build.artifact import Artifact, BuiltModel
from kmcompile.machine_code import elf

# AEABI names (dadd, cdcmple, i2d, f2d), else libgcc's (adddf3).
_DOUBLE_HELPER = re.compile(r"__aeabi_(c?d[a-z0-9]+|[a-z]+2d)\Z|__[a-z]*df[a-z0-9]*\Z")


def double_helpers(artifact: Artifact, model: BuiltModel) -> set[str]:
    """Return the software routines for double that the objects of a model call."""
    parts = artifact.path.parent / "parts"
    objects = [parts / f"{Path(name).stem}.o" for name in model.recipe.sources]
    used = {name for part in objects for name in elf.undefined_symbols(part)}
    return {name for name in used if _DOUBLE_HELPER.match(name)}

"""kmcompile with its plain options: it chooses number format and early exits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peer import Place, Written, answer

import kmcompile
from kmcompile.build.recipe import Recipe

ANSWER = """
#include "ours.h"

uint32_t peer_classify(const float x[N_FEATURES])
{
    static ours_workspace_t workspace;
    ours_result_t result;

    if (ours_classify_float(&workspace, x, &result) != OURS_OK) {
        return N_CLASSES;
    }
    return (uint32_t)result.label;
}
"""
# More than the parts have: what a machine takes is measured also where it would not fit.
MAX_FLASH, MAX_RAM = 16 << 20, 1 << 20


def write(svc: Any, folder: Path, place: Place, **options: Any) -> Written:
    """Compile; the C may not use fused multiply-adds."""
    out = folder / "out"
    if place.target != "host":
        options |= {"max_flash": MAX_FLASH, "max_ram": MAX_RAM}
    kmcompile.compile_model(
        svc, name="ours", target=place.target, out=out, verify="none", **options
    )
    recipe = Recipe.from_json((out / "recipe.json").read_text())
    sources = tuple(out / name for name in recipe.sources)
    flags = ("-std=c99", "-ffp-contract=off", f"-I{out}")
    return Written((answer(folder, ANSWER), *sources), flags)

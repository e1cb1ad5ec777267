"""The plain float32 C of a machine, written into a folder with the recipe that builds it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from kmcompile.build.recipe import Recipe
from kmcompile.emit.environment import render
from kmcompile.emit.literals import float32_literal
from kmcompile.numeric.scalar import exp_negative
from kmcompile.target import Target

HERE = Path(__file__).resolve().parent


def write_plain(model: Any, target: Target, folder: Path) -> Recipe:
    """Write plain.c with the tables of an rbf SVC, or of a pipeline of a scaler and one.

    The exponential is that of the emitted C. For two classes scikit-learn turns the signs of
    libsvm's sums around: here a sum > 0 is a vote for the first class of the pair.

    Parameters
    ----------
    model : fitted SVC, or Pipeline of StandardScaler and SVC
    folder : Path
        Exists.
    """
    svc, scaler = (model[-1], model[0]) if hasattr(model, "steps") else (model, None)
    n_vectors, n_features = svc.support_vectors_.shape
    sign = -1 if len(svc.classes_) == 2 else 1
    (folder / "plain.h").write_text(
        "#include <stdint.h>\n"
        f"#define N_FEATURES {n_features}U\n"
        f"#define N_VECTORS {n_vectors}U\n"
        f"#define N_CLASSES {len(svc.classes_)}U\n"
        f"#define IS_SCALED {int(scaler is not None)}\n"
        "uint32_t plain_classify(const float input[N_FEATURES]);\n"
    )
    exponential = render("scalar/exp_negative.c.j2", name="plain", scalar=exp_negative)
    (folder / "plain_exp.h").write_text(
        f"typedef union {{ float value; uint32_t bits; }} plain_bits_t;\n{exponential}"
    )
    starts = ", ".join(f"{start}U" for start in (0, *np.cumsum(svc.n_support_)))
    tables = [
        f"#define GAMMA {float32_literal(np.float32(svc._gamma))}\n",
        f"static const uint32_t starts[] = {{ {starts} }};\n",
        _table("vectors[][N_FEATURES]", svc.support_vectors_),
        _table("coefficients[][N_VECTORS]", sign * svc.dual_coef_),
        _table("intercepts[]", sign * svc.intercept_),
    ]
    if scaler is not None:
        tables += [_table("mean[]", scaler.mean_), _table("scale[]", scaler.scale_)]
    (folder / "plain_tables.h").write_text("".join(tables))
    for name in ("plain.c", "plain_harness.c"):
        shutil.copy(HERE / name, folder)
    return Recipe("plain", ("plain.c",), "plain_harness.c", target, n_features, 1, ())


def _table(declaration: str, values: np.ndarray) -> str:
    numbers = np.asarray(values, dtype=np.float32)
    rows = [", ".join(map(float32_literal, row)) for row in np.atleast_2d(numbers)]
    content = rows[0] if numbers.ndim == 1 else ",\n".join(f"{{ {row} }}" for row in rows)
    return f"static const float {declaration} = {{ {content} }};\n"

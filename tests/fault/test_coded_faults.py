"""Damaged tables of integer formats: the self-test finds every bit, no call goes astray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emitted import Emitted, emit_in_format
from host_program import build_program, failures
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from test_c_call_faults import FLIP_MAIN

from kmcompile.interpret import Status

SANITIZED = (
    "-g",
    "-fsanitize=address,undefined,bounds,float-cast-overflow",
    "-fno-sanitize-recover=all",
)


def bytes_of_three() -> Any:
    """Bytes, three classes."""
    X = np.random.default_rng(1).integers(0, 256, size=(14, 5))
    return SVC(gamma=2e-5, C=10).fit(X.astype(float), np.arange(14) % 3)


def rare_bytes() -> Any:
    """Bytes of which nearly all are 0: only fours that are not all 0 are stored."""
    rng = np.random.default_rng(2)
    X = rng.integers(1, 256, size=(24, 24)) * (rng.random((24, 24)) < 0.06)
    return SVC(gamma=2e-5, C=10).fit(X.astype(float), np.arange(24) % 2)


def real() -> Any:
    """Real data, standardised."""
    X = np.random.default_rng(3).normal(size=(12, 3)) * [1, 10, 0.1]
    return make_pipeline(StandardScaler(), SVC(gamma=0.2, C=10)).fit(X, X[:, 0] > 0)


def polynomial() -> Any:
    """Small integers and a polynomial."""
    X = np.random.default_rng(4).integers(-20, 20, size=(12, 3))
    return SVC(kernel="poly", gamma=0.01, coef0=1.0).fit(X.astype(float), X[:, 0] > 0)


CASES = {
    "three": (bytes_of_three, "int8", None),
    "rare": (rare_bytes, "int8", None),
    "real": (real, "int16", None),
    "real-replay": (real, "int16", False),
    "real-replay-low": (real, "int16", True),
    "polynomial": (polynomial, "int8", None),
}


def coded_flip_main(emitted: Emitted) -> str:
    """Return `FLIP_MAIN` of a program in an integer format: both entries, two queries of each."""
    program, codes = emitted.program, emitted.codes
    assert codes is not None
    tables = [(table.name, table.n_bytes) for table in program.tables()]
    tables.append(("checksums", 4 * len(tables)))
    accepted = emitted.answers_of_codes.results["status"] == Status.OK
    array = "static const iris_input_t codes[][IRIS_N_FEATURES]"
    main = FLIP_MAIN.replace(
        "static const float queries[]",
        f"{array} = {{ {_rows(codes[accepted][:4])} }};\nstatic const float queries[]",
    )
    for entry in ("classify", "decision"):
        main = main.replace(f"iris_{entry}(", f"iris_{entry}_float(")
    main = main.replace(
        "        require(!canary_died(), name, number);\n",
        "        (void)iris_classify(&workspace.value, codes[q], &result.value);\n"
        "        (void)iris_decision(&workspace.value, codes[q], sums.value);\n"
        "        require(!canary_died(), name, number);\n",
    )
    floats = ", ".join(
        "{ " + ", ".join(f"{v!r}f" for v in row) + " }" for row in emitted.queries[:2].tolist()
    )
    parts = {
        "@TABLES@": "\n".join(f'    {{ "{n}", &iris_{n}, sizeof iris_{n} }},' for n, _ in tables),
        "@INPUTS@": floats,
        "@BITS@": str(8 * sum(size for _, size in tables)),
    }
    for place, text in parts.items():
        main = main.replace(place, text)
    return main


def _rows(values: np.ndarray) -> str:
    return ", ".join("{ " + ", ".join(str(v) for v in row) + " }" for row in values.tolist())


@pytest.mark.parametrize(
    ("target", "more"),
    [
        ("host", ()),
        ("host", SANITIZED),
        ("cortex-m0", SANITIZED),
        ("cortex-m7", SANITIZED),
        ("cortex-m55", SANITIZED),
    ],
    ids=["plain", "host", "cortex-m0", "cortex-m7", "cortex-m55"],
)
@pytest.mark.parametrize("case", CASES)
def test_every_flipped_bit_of_every_table_is_found_and_no_call_goes_astray(
    case: str, target: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    """reliability 37: the layouts of every board, through both entries."""
    made, number_format, low_parts = CASES[case]
    emitted = emit_in_format(made(), number_format, target, low_parts=low_parts)
    flags = ["-O2", "-Wno-discarded-qualifiers", *more]
    program = build_program(emitted, tmp_path, coded_flip_main(emitted), flags, sources=())
    assert failures(program) == []

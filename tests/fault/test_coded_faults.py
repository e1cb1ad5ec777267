"""Damaged tables of integer formats: the self-test finds every bit, no call goes astray."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guarded_calls import FLIP_MAIN, flip_main
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from test_cascade_faults import MAIN, most_kernels

from kit import catalogue, integer_exits
from kit.coded_polynomials import CodedPolynomial
from kit.covering import every_nth, every_pair
from kit.emitted import Emitted, emit_in_format
from kit.host_program import build_program, failures
from kit.tools import need, succeed
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.interpreter import Status

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
MULTIPLIED_OUT = {
    "cubic": CodedPolynomial("binary", 3, "int8", n_samples=20),
    "squares": CodedPolynomial("one_vs_one", 2, "few", n_features=3, n_samples=20),
}
"""Polynomials in integers instead of vectors."""


def emitted_of(case: str, target: str) -> Emitted:
    """Return the C of a case for a target."""
    if case in MULTIPLIED_OUT:
        return MULTIPLIED_OUT[case].emit(target)
    made, number_format, low_parts = CASES[case]
    return emit_in_format(made(), number_format, target, low_parts=low_parts)


def coded_flip_main(emitted: Emitted) -> str:
    """Return `FLIP_MAIN` of a program in an integer format: both entries, two queries of each."""
    codes = emitted.codes
    assert codes is not None
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
    return flip_main(emitted, main)


def _rows(values: np.ndarray) -> str:
    return ", ".join("{ " + ", ".join(str(v) for v in row) + " }" for row in values.tolist())


@pytest.mark.exhaustive
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
@pytest.mark.parametrize("case", [*CASES, *MULTIPLIED_OUT])
def test_every_flipped_bit_of_every_table_is_found_and_no_call_goes_astray(
    case: str, target: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    """reliability 37: the layouts of every board, through both entries."""
    emitted = emitted_of(case, target)
    flags = ["-O2", "-Wno-discarded-qualifiers", *more]
    program = build_program(emitted, tmp_path, coded_flip_main(emitted), flags, sources=())
    assert failures(program) == []


WORDS = (0, ~0, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF, 1, 0x80, 0x8000, 0x80000000)
DOUBLES = (0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FEFFFFFFFFFFFFF)


def damage_main(emitted: Emitted, entry: str) -> str:
    """Return `MAIN` of the cascades' faults for one entry of a program in an integer format."""
    text = emitted.files["iris.c"].decode()
    tables = [
        f"    {{ &iris_{table.name}, sizeof iris_{table.name}, {table.values.itemsize}U }},"
        for table in emitted.program.tables()
        if f"iris_{table.name}" in text and not table.name.startswith("known_")
    ]
    damages = ", ".join(f"0x{word & (1 << 64) - 1:016X}ULL" for word in (*WORDS, *DOUBLES))
    main = MAIN.replace("kept[4]", "kept[8]")
    main = re.sub(
        r"uint32_t damages\[\] = \{.*?\};", "uint64_t damages[] = { @D@ };", main, flags=re.S
    )
    # A damaged scaler takes an input out of the scale.
    corrupt = "status == IRIS_ERROR_CORRUPT"
    main = main.replace(corrupt, f"({corrupt}) || (status == IRIS_ERROR_RANGE)")
    asked, exact = queries(emitted, entry), emitted.program.ends.exact
    if entry == "classify":
        main = main.replace("static const float queries", "static const iris_input_t queries")
    parts = {
        "@TABLES@": "\n".join(tables),
        "@D@": damages,
        "@QUERIES@": asked,
        "@MOST@": str(most_kernels(emitted.program) + getattr(exact, "n_slots", 0)),
        "iris_classify(": f"iris_{entry}(",
    }
    for place, part in parts.items():
        main = main.replace(place, part)
    return main


def queries(emitted: Emitted, entry: str) -> str:
    """Return two queries of each stage as C initialisers."""
    of_floats = entry == "classify_float"
    answers = emitted.answers if of_floats else emitted.answers_of_codes
    inputs = emitted.queries if of_floats else emitted.codes
    assert inputs is not None
    results = answers.results
    accepted = results["status"] == Status.OK
    rows = []
    for stage in np.unique(results["stage"][accepted]):
        rows += inputs[np.flatnonzero(accepted & (results["stage"] == stage))[[0, -1]]].tolist()
    suffix = "f" if of_floats else ""
    return ", ".join("{ " + ", ".join(f"{v!r}{suffix}" for v in row) + " }" for row in rows)


def damaged(emitted: Emitted, entry: str, folder: Path) -> str:
    """Return what the program says that damages one element after the other."""
    emitted.write(folder)
    text = emitted.files["iris.c"].decode()
    (folder / "iris.c").write_text(
        re.sub(
            r"^static const ((?:float|double|u?int\d+_t) iris_\w+\[|union \{)",
            r"static \1",
            text,
            flags=re.M,
        )
    )
    (folder / "main.c").write_text(damage_main(emitted, entry))
    options = [*EXACT_FLAGS, "-O1", *SANITIZED, folder / "main.c", "-o", folder / "main"]
    succeed(["gcc", *options])
    return succeed([folder / "main"])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("case", "target", "entry"),
    every_pair(
        [*CASES, *MULTIPLIED_OUT],
        ["host", "cortex-m0", "cortex-m7", "cortex-m55"],
        ["classify", "classify_float"],
    ),
)
def test_no_damage_of_a_table_leads_a_call_astray(
    case: str, entry: str, target: str, tmp_path: Path
) -> None:
    """reliability 37: zeros, ones, infinities, NaN and the extremes in the place of elements."""
    need("gcc")
    emitted = emitted_of(case, target)
    (line,) = damaged(emitted, entry, tmp_path).splitlines()
    assert int(line.split()[0]) > 1_000


@pytest.mark.exhaustive
@pytest.mark.parametrize("entry", ["classify", "classify_float"])
@pytest.mark.parametrize("case", every_nth(integer_exits.CORE, 4))
def test_no_damage_of_a_table_of_early_exits_leads_a_call_astray(
    case: Any, entry: str, tmp_path: Path
) -> None:
    need("gcc")
    (line,) = damaged(catalogue.emitted(case, "host"), entry, tmp_path).splitlines()
    assert int(line.split()[0]) > 4_000

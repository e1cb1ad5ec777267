"""The C's audit checks the queries that Python says, on the host and on a board."""

from __future__ import annotations

import re
from dataclasses import replace

import cffi
import numpy as np
import pytest

from kit import cascades, catalogue
from kit.emitted import Emitted
from kit.host_program import STRICT
from kit.tools import need, need_tools, succeed
from kmcompile.build import build
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.program.audit import Audit, audited
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.stages import Nonzeros, RangeGate
from kmcompile.run import QemuRunner
from kmcompile.target import load_target

SETTINGS = [
    Audit(),
    Audit(period=3, state=7),
    Audit(unlike_period=1, state=1),
    Audit(unlike_period=40),
    Audit(period=5, unlike_period=16, state=0xFFFFFFFF),
    Audit(unlike_period=0xFFFFFFFF, state=3),
    Audit(unlike_period=2, unlike_checked=0xFFFFFFFF, unlike_differences=9),
]


def library(folder, emitted: Emitted):
    """Return cffi and the library of the emitted C."""
    need("gcc")
    emitted.write(folder)
    flags = [*EXACT_FLAGS, *STRICT, "-O1", "-fPIC", "-shared"]
    succeed(["gcc", *flags, folder / "iris.c", "-o", folder / "model.so"])
    header = emitted.files["iris.h"].decode()
    types = re.findall(r"^typedef (?:enum|struct) \{.*?^\} \w+;$", header, re.M | re.S)
    text = re.sub(r"/\*.*?\*/", "", "\n".join(types), flags=re.S)
    ffi = cffi.FFI()
    ffi.cdef(re.sub(r"\[(\d+)UL?\]", r"[\1]", text))
    ffi.cdef(
        "iris_status_t iris_audit(iris_workspace_t *, const float *, iris_result_t *, "
        "iris_audit_t *);"
    )
    return ffi, ffi.dlopen(str(folder / "model.so"))


def sums_of(emitted: Emitted) -> np.ndarray:
    """Return the results of the program without early exits."""
    lists = tuple(stage for stage in emitted.program.exits if isinstance(stage, Nonzeros))
    return classify(replace(emitted.program, mode="exact", exits=lists), emitted.queries)[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [cascades.CORE[0], cascades.CORE[2]], ids=str)
def test_the_host_checks_what_python_says_and_counts_the_same(case, tmp_path):
    emitted = catalogue.emitted(case, "host")
    ffi, lib = library(tmp_path, emitted)
    workspace, result = ffi.new("iris_workspace_t *"), ffi.new("iris_result_t *")
    early, sums = emitted.answers.results, sums_of(emitted)
    for before in SETTINGS:
        given = {name: getattr(before, name) for name in Audit.__slots__}
        audit = ffi.new("iris_audit_t *", given)
        expected = audited(emitted.program, emitted.queries, before)
        checked = expected.by_period | expected.by_dissimilarity
        for x, drawn, quick, slow in zip(emitted.queries, checked, early, sums, strict=True):
            status = lib.iris_audit(workspace, ffi.from_buffer("float[]", x), result, audit)
            assert status == quick["status"]
            if status == Status.OK:
                answer = slow if drawn else quick
                assert result.label == answer["label"]
                assert result.kernel_evals == answer["kernel_evals"]
                assert np.float32(result.lower) == answer["lower"]
        after = {name: getattr(audit, name) for name in Audit.__slots__}
        assert Audit(**after) == expected.audit


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize("case", [cascades.CORE[0], cascades.CORE[2]], ids=str)
def test_cortex_m7_checks_what_python_says_and_counts_the_same(case, tmp_path):
    """The harness asks `audit` in the place of `classify`, and gives its counters as decisions."""
    target = load_target("cortex-m7")
    need_tools(target)
    emitted = catalogue.emitted(case, "cortex-m7")
    emitted.write(tmp_path)
    before = Audit(period=7, unlike_period=2, state=77)
    expected = audited(emitted.program, emitted.queries, before)
    path = tmp_path / "iris_harness.c"
    path.write_text(auditing(path.read_text(), before))
    with build(emitted.recipe, tmp_path, target) as artifact:
        records = QemuRunner().run(artifact, emitted.inputs).records
    checked = expected.by_period | expected.by_dissimilarity
    accepted = emitted.answers.results["status"] == Status.OK
    labels = np.where(checked, sums_of(emitted)["label"], emitted.answers.results["label"])
    np.testing.assert_array_equal(records[accepted, 1].view(np.int32), labels[accepted])
    after, last = expected.audit, np.flatnonzero(accepted)[-1]
    assert int(records[last, 4]) == after.unlike_checked + 1000 * after.checked
    assert int(records[last, 5]) == after.unlike_differences + 1000 * after.differences
    assert after.unlike_checked and after.checked and after.unlike_differences


def auditing(harness: str, before: Audit) -> str:
    """Return the harness with one audit over all queries, whose counters are in each record."""
    call = "status = iris_classify(&workspace, x, &result);\n"
    assert harness.count(call) == 1
    given = ", ".join(f"{getattr(before, name)}U" for name in Audit.__slots__)
    harness = harness.replace(
        call, f"static iris_audit_t audit = {{ {given} }};\n{call}".replace("classify(", "audit(")
    )
    harness = harness.replace("x, &result);", "x, &result, &audit);", 1)
    evals = "record[IRIS_HARNESS_EVALS] = result.kernel_evals;"
    stage = "record[IRIS_HARNESS_STAGE] = result.stage;"
    assert harness.count(evals) == harness.count(stage) == 1
    harness = harness.replace(evals, evals.replace("result.kernel_evals", _both("checked")))
    return harness.replace(stage, stage.replace("result.stage", _both("differences")))


def _both(counter: str) -> str:
    return f"audit.unlike_{counter} + (1000U * audit.{counter})"


def test_a_program_that_tells_no_dissimilarity_has_no_such_counters():
    """Behind a Normalizer every |x|^2 is 1."""
    case = cascades.CORE[4]
    emitted = catalogue.emitted(case, "host")
    gate = next(stage for stage in emitted.program.exits if isinstance(stage, RangeGate))
    assert gate.divided and not len(gate.usual)
    header = emitted.files["iris.h"].decode()
    assert "iris_audit_t" in header and "unlike_period" not in header
    assert "iris_dissimilarity" not in emitted.files["iris.c"].decode()
    checked = audited(emitted.program, emitted.queries, Audit(unlike_period=1))
    assert not checked.by_dissimilarity.any()

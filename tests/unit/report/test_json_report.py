"""report.json: complete, null only with a reason, the same bytes every time."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from cascade_report import reported
from sample_reduction import reduced_report
from sample_report import SCHEMA, fields_in_order, make_report

from kmcompile.errors import InputError
from kmcompile.report import json_report
from kmcompile.report.json_report import to_dict

CONTRACT = {
    "": "tool options model stages memory cost verification risk target not_available",
    "model": "kind kernel n_features n_classes n_support_vectors sha256",
    "memory": "flash_bytes ram_bytes stack_bytes workspace_bytes",
    "cost": "exact_ops mean_ops p99_ops max_ops max_ops_with_replay speedup_ops "
    "kernel_evals_mean speedup_kernels",
    "verification": "queries_source exact bounded certified",
    "verification.exact": "host target",
    "verification.exact.host": "queries mismatches",
    "verification.exact.target": "queries mismatches",
    "verification.bounded": "queries sign_disagreements max_error max_bound",
    "verification.certified": "queries certified_share wrong",
    "target": "name emulator instructions",
    "target.instructions": "exact mean p99 max queries",
}


def _at(report: dict[str, Any], path: str) -> Any:
    value: Any = report
    for key in filter(None, path.split(".")):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@pytest.mark.parametrize("section", CONTRACT)
def test_every_field_of_the_contract_is_there(report, section):
    assert set(CONTRACT[section].split()) <= _at(report, section).keys()


def _paths(value: Any, path: str = "") -> list[str]:
    items = value.items() if isinstance(value, dict) else []
    return [p for k, v in items for p in (f"{path}.{k}".strip("."), *_paths(v, f"{path}.{k}"))]


FREE = ("options.", "files.", "not_available.", "model.parameters.")  # their keys are data
FIXED_PATHS = [p for p in _paths(to_dict(make_report())) if not p.strip(".").startswith(FREE)]


@pytest.mark.few
@pytest.mark.parametrize("path", [p.strip(".") for p in FIXED_PATHS])
def test_a_field_left_out_is_refused(report, path):
    parent, _, key = path.rpartition(".")
    del _at(report, parent)[key]
    with pytest.raises(ValueError, match="required property"):
        json_report.validate(report)


@pytest.mark.parametrize(
    "path", ["memory", "target.instructions", "stages.1", "verification.bounded", ""]
)
def test_a_field_that_the_schema_does_not_know_is_refused(report, path):
    _at(report, path)["surprise"] = 1
    with pytest.raises(ValueError, match="surprise"):
        json_report.validate(report)


@pytest.mark.parametrize(
    "path", ["memory.stack_bytes", "cost", "target.instructions", "verification.exact.target"]
)
def test_null_without_a_reason_is_refused(report, path):
    parent, _, key = path.rpartition(".")
    _at(report, parent)[key] = None
    with pytest.raises(ValueError, match=f"no reason for {path}"):
        json_report.validate(report)
    inside = [name for name in report["not_available"] if name.startswith(path + ".")]
    for name in inside:
        del report["not_available"][name]
    report["not_available"][path] = "not measured"
    json_report.validate(report)


def test_null_of_a_stage_has_its_reason_under_the_stage_s_name(report):
    report["stages"][1]["decided"] = None
    with pytest.raises(ValueError, match=r"no reason for stages\.exact_sum\.decided"):
        json_report.validate(report)


def test_a_reason_for_a_field_that_is_there_is_refused(report):
    report["not_available"]["memory.ram_bytes"] = "for no reason"
    with pytest.raises(ValueError, match=r"a reason for memory\.ram_bytes"):
        json_report.validate(report)


def test_an_option_that_was_not_given_has_its_reason(report):
    assert report["not_available"]["options.data"] == "not given"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("verification.exact.host.queries", 0),
        ("memory.flash_bytes", -1),
        ("memory.flash_bytes", 1.5),
        ("verification.certified.certified_share", 1.01),
        ("model.sha256", "abc"),
        ("verification.queries_source", "guessed"),
        ("stages.1.exit", "perhaps"),
        ("model.kind", 3),
        ("verification.bounded.max_error", float("nan")),
        ("verification.bounded.max_bound", float("inf")),
    ],
)
def test_an_impossible_value_is_refused(report, path, value):
    parent, _, key = path.rpartition(".")
    _at(report, parent)[key] = value
    with pytest.raises(ValueError, match=r"\S"):
        json_report.validate(report)


def test_stages_of_one_name_are_refused(report):
    report["stages"].append(copy.deepcopy(report["stages"][1]))
    with pytest.raises(ValueError, match="must differ"):
        json_report.validate(report)


@pytest.mark.parametrize(
    "made",
    [lambda: to_dict(make_report()), lambda: to_dict(reduced_report()), lambda: reported().report],
)
def test_a_report_has_the_schemas_fields_in_the_schemas_order(made):
    fields_in_order(SCHEMA, made())


def test_the_bytes_read_back_equal_and_end_with_a_newline(report):
    content = json_report.dumps(report)
    assert json_report.parse(content, "report.json") == report
    assert content.endswith(b"}\n") and not content.endswith(b"\n\n")


def test_floats_are_the_shortest_that_read_back_equal(report):
    report["verification"]["bounded"]["max_error"] = 0.1
    assert b'"max_error": 0.1,' in json_report.dumps(report)


def test_numpy_scalars_become_plain_numbers():
    memory = {**make_report()["memory"], "stack_bytes": np.int64(312)}
    stack_bytes = to_dict(make_report(memory=memory))["memory"]["stack_bytes"]
    assert type(stack_bytes) is int and stack_bytes == 312


def test_text_that_reorders_text_is_escaped(report):
    report["model"]["classes"][0] = chr(0x202E) + "gnp"
    assert b"\\u202egnp" in json_report.dumps(report)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"tool": NaN}']
)
def test_bytes_that_are_no_report_are_an_input_error(content):
    with pytest.raises(InputError, match=r"report\.json is no report"):
        json_report.parse(content, "report.json")

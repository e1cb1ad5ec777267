"""The telemetry in report.json and report.html."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kmcompile
from kit.packages import fitted
from kmcompile.errors import UsageError


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("o") / "iris-host"
    return kmcompile.compile_model(
        fitted("iris"), mode="exact", name="iris", telemetry=True, out=folder, verify="host"
    )


def test_the_report_has_every_word_with_its_offset(watched: Any) -> None:
    section = watched.report["telemetry"]
    assert section["file"] == "iris_telemetry.xml" in watched.report["files"]
    assert [word["offset"] for word in section["words"]] == list(range(0, section["bytes"], 4))
    types = {word["name"]: word["type"] for word in section["words"]}
    assert types["by_stage_exact_sum"] == "uint32" and types["smallest_margin"] == "float32"
    assert watched.report["options"]["telemetry"] is True
    assert watched.report["tool"]["command"].endswith(" --telemetry")
    assert "by_label_2" in (watched.folder / "report.html").read_text()
    assert watched.report["verification"]["exact"]["host"]["mismatches"] == 0


def test_a_folder_with_telemetry_is_verified_again_and_answers(watched: Any) -> None:
    from kmcompile.pipeline import verify_folder

    found = verify_folder(watched.folder, None, None)
    assert found["verification"]["exact"]["host"]["mismatches"] == 0
    X = [[5.0, 3.0, 1.5, 0.25]]
    again = kmcompile.load(watched.folder)
    assert again.predict(X) == fitted("iris").predict(X)
    assert again.decision_function(X).shape == fitted("iris").decision_function(X).shape


def test_without_it_the_report_says_how_to_get_it(tmp_path: Path) -> None:
    plain = kmcompile.compile_model(fitted("iris"), mode="exact", name="iris", verify="none")
    assert plain.report["telemetry"] is None
    assert "--telemetry" in plain.report["not_available"]["telemetry"]
    assert plain.report["options"]["telemetry"] is False
    assert "telemetry" not in plain.report["tool"]["command"]


@pytest.mark.parametrize("given", [1, "yes", None])
def test_it_is_true_or_false(given: Any) -> None:
    with pytest.raises(UsageError, match="must be True or False"):
        kmcompile.compile_model(fitted("iris"), telemetry=given)


def test_a_long_prefix_is_refused_because_c99_would_mix_up_the_functions() -> None:
    name = "a_name_of_20_letters"
    with pytest.raises(UsageError, match="must have 19 at most") as told:
        kmcompile.compile_model(fitted("iris"), name=name, telemetry=True)
    assert str(told.value).endswith("give a shorter --name, such as a_name_of_20_letter")
    functions = ("reset", "count", "test", "step", "differences")
    heads = {f"{name[:19]}_telemetry_{function}"[:31] for function in functions}
    assert len(heads) == len(functions)

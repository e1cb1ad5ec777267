"""The stack that packages ask for: that of the built image, or an estimate that covers it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kmcompile
from kit.packages import packaged
from kit.tools import need
from kmcompile.emit.packages.stack import Stack


@pytest.mark.target
@pytest.mark.parametrize("target", ["cortex-m3", "cortex-m7"])
@pytest.mark.parametrize("model", ["iris", "codes", "regression"])
@pytest.mark.parametrize("mode", ["exact", "certified"])
def test_the_estimate_covers_the_image(mode: str, model: str, target: str, tmp_path: Path) -> None:
    need("arm-none-eabi-gcc")
    packaged("zephyr", tmp_path / "o", model, target=target, mode=mode)
    compiled = kmcompile.load(tmp_path / "o")
    memory = compiled.report["memory"]
    n_features = compiled.program.n_features
    estimate = Stack.of(memory["workspace_bytes"], n_features, None)
    assert memory["stack_bytes"] <= estimate.bytes
    assert "estimate" in estimate.source


def test_the_packages_state_the_stack_of_the_image(tmp_path: Path) -> None:
    need("gcc")
    folder = packaged("zephyr", tmp_path / "o")
    stack_bytes = kmcompile.load(tmp_path / "o").report["memory"]["stack_bytes"]
    assert f"{stack_bytes} bytes of stack" in (folder / "iris" / "README.rst").read_text()
    assert "estimate" not in (folder / "iris" / "README.rst").read_text()

"""Builds the small model for any target."""

from __future__ import annotations

import pytest
import small_model

from kit.tools import need_tools
from kmcompile.build import build


@pytest.fixture
def built(tmp_path):
    """Build a model for a target and close it after the test."""
    artifacts = []

    def build_model(target, text=small_model.MODEL_C, optimisation=None):
        need_tools(target)
        recipe = small_model.write_model(tmp_path, target, text)
        artifacts.append(build(recipe, tmp_path, target, optimisation=optimisation))
        return artifacts[-1]

    yield build_model
    for artifact in artifacts:
        artifact.close()

"""Registers the made-up kernel and step, and takes them out again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import kmcompile
from kit import additions
from kit.additions.cauchy import Cauchy
from kit.additions.cube import Cube
from kmcompile import kernels, resources, steps

TEMPLATES = Path(additions.__file__).parent / "templates"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is forgotten when it ends."""
    monkeypatch.setattr(resources, "_registered", [])
    before = [(kinds, list(kinds)) for kinds in (kernels.CATALOGUE, steps.CATALOGUE)]
    yield
    for kinds, own in before:
        kinds[:] = own


@pytest.fixture
def registered(registry: None) -> None:
    """Cauchy and Cube are known."""
    kmcompile.register_kernel(Cauchy, TEMPLATES)
    kmcompile.register_step(Cube, TEMPLATES)

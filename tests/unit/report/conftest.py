"""Fixtures of the report's tests."""

from __future__ import annotations

from typing import Any

import pytest
from sample_report import make_report

from kmcompile.report.json_report import to_dict


@pytest.fixture
def report() -> dict[str, Any]:
    return to_dict(make_report())

"""Options of the tests."""

from __future__ import annotations

import pytest

collect_ignore_glob = [
    "conftest.py",
    "*/conftest.py",
    "fault/stored_models/make_*.py",
    "unit/emit/misra_addon.py",
]
"""What is not collected for doctests: modules of one name, files for other packages or programs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files in tests/golden/ instead of comparing with them",
    )

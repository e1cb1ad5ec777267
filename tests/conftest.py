"""Options of the tests."""

from __future__ import annotations

import pytest

collect_ignore_glob = ["conftest.py", "*/conftest.py"]
"""Two of them cannot be collected for doctests: they have one name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files in tests/golden/ instead of comparing with them",
    )

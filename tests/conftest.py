"""Options of the tests, and which of them `make test` takes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from kit import compiled_once
from kit.covering import cover

# No limit in seconds, which a busy machine would miss; the same examples in every run.
settings.register_profile(
    "kmcompile",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("kmcompile")

_STARTED = time.monotonic()

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
    parser.addoption(
        "--minutes",
        type=float,
        metavar="N",
        help="after N minutes start no other test: those that are left are skipped and counted",
    )
    parser.addoption(
        "--every-test",
        action="store_true",
        help="what `make test` takes, and of each test that it leaves out the first case",
    )


@pytest.fixture(scope="session", autouse=True)
def compiling_once() -> Iterator[None]:
    """The same C with the same flags is compiled once in a process."""
    with pytest.MonkeyPatch.context() as patch:
        compiled_once.install(patch)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    minutes = item.config.getoption("--minutes")
    if minutes is not None and time.monotonic() - _STARTED > 60 * minutes:
        pytest.skip(f"not run: {minutes:g} minutes are over")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what only `make test-all` takes, and select what `--every-test` takes.

    With `--minutes` tests that `make test` leaves out as a whole come before further cases of the
    others.
    """
    whole = [item for item in items if item.get_closest_marker("exhaustive") is not None]
    _mark_exhaustive(items)
    if config.getoption("--minutes") is not None:
        known = set(whole)
        others = [item for item in items if item not in known]
        items[:] = [*whole, *others]
    if config.getoption("--every-test"):
        items[:] = _every_test(items)


def _mark_exhaustive(items: list[pytest.Item]) -> None:
    """Mark of each test all but a cover of its parameters.

    Of a test that is marked `few`, all but three of the cover: the first, the middle, the last.
    """
    functions: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec") and item.get_closest_marker("exhaustive") is None:
            functions[str(item.path), item.originalname].append(item)
    for cases in functions.values():
        taken = sorted(cover([item.callspec.params for item in cases]))
        if cases[0].get_closest_marker("few") is not None:
            taken = [taken[0], taken[len(taken) // 2], taken[-1]]
        for n, item in enumerate(cases):
            if n not in taken:
                item.add_marker(pytest.mark.exhaustive)


def _every_test(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases that are not exhaustive, or else the first one of a test."""
    functions: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        functions[str(item.path), getattr(item, "originalname", item.name)].append(item)
    taken = []
    for cases in functions.values():
        quick = [item for item in cases if item.get_closest_marker("exhaustive") is None]
        taken += quick or cases[:1]
    return taken

"""The tables of what goes with what are those of the options for flight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from documents import section

from kmcompile.request.flight import FLIGHT
from kmcompile.request.flight_option import Exclusion, FlightOption
from kmcompile.request.values import flag
from kmcompile.resources import manual_dir

PAGE = manual_dir() / "flight.md"


def lines(rows: Iterable[Iterable[str]]) -> str:
    head, *others = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, f"|{' --- |' * (head.count('|') - 1)}", *others])


def go_together(one: FlightOption, other: FlightOption) -> bool:
    pairs = {
        frozenset((option.name, name))
        for option in FLIGHT
        for exclusion in option.excludes
        for name in exclusion.others
    }
    return frozenset((one.name, other.name)) not in pairs


def together() -> Iterator[list[str]]:
    """Yield the head, and a row for each option with those that go with it, and others."""
    yield ["option", "goes with", "does not go with"]
    for option in FLIGHT:
        others: dict[bool, list[str]] = {True: [], False: []}
        for other in FLIGHT:
            if other is not option:
                others[go_together(option, other)].append(f"`{other.asked}`")
        yield [f"`{option.asked}`", ", ".join(others[True]), ", ".join(others[False]) or "-"]


def others_of(exclusion: Exclusion) -> str:
    """Return the options that are excluded, with their values."""
    values = " ".join(f"`{value}`" for value in exclusion.values)
    but = f", except in mode `{exclusion.but_in_mode}`" if exclusion.but_in_mode else ""
    return ", ".join(f"`{flag(name)}` {values}".strip() for name in exclusion.others) + but


def reasons() -> Iterator[list[str]]:
    yield ["option", "does not go with", "because"]
    for option in FLIGHT:
        for exclusion in option.excludes:
            yield [f"`{option.asked}`", others_of(exclusion), exclusion.why]


def test_the_tables_are_those_of_the_options() -> None:
    for heading, rows in (
        ("What goes with what", together()),
        ("What does not, and why", reasons()),
    ):
        assert f"\n{lines(rows)}\n" in section(PAGE, heading), lines(rows)


def test_the_page_has_every_option() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## ")[0]
    assert all(f"| `{option.asked}" in text for option in FLIGHT)

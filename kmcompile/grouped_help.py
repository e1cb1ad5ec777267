"""The help of a command with many options: the most used first, the others under headings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Most used": (
            *("target", "data", "test_data", "before", "risk", "loss", "optimize"),
            *("max_flash", "max_time", "max_instructions", "package", "out", "name"),
        ),
        "The model": ("labels", "entry", "threshold", "trust_pickle"),
        "What the program may be made of": (
            *(
                "mode",
                "format",
                "replay",
                "reduce",
                "max_ram",
                "clock",
                "stages",
                "require",
                "exclude",
            ),
        ),
        "How answers are promised": (
            *("risk_control", "generated", "tolerance", "input_tolerance"),
        ),
        "In flight": ("monitor", "telemetry", "step", "redundancy", "tables", "capacity"),
        "The thresholds of the NSV paper": ("thresholds", "window", "dimensions"),
        "What is run and shown": (
            "verify",
            "as_json",
            "quiet",
            "verbose",
            "version",
            "help",
        ),
    }
)
"""Heading -> the parameters of options under it."""


class GroupedCommand(click.Command):
    """A command whose help has its options under the headings of `GROUPS`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, as click writes them under one."""
        told = {_name(one): one.get_help_record(ctx) for one in self.get_params(ctx)}
        for heading, names in GROUPS.items():
            rows = [row for name in names if (row := told.get(name)) is not None]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _name(parameter: click.Parameter) -> str | None:
    """Return a parameter's name; that of the help differs among releases of click."""
    return "help" if "--help" in parameter.opts else parameter.name

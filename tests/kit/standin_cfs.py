"""Builds and runs cFS apps on the stand-in in tests/package/stubs/cfs."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.tools import HANGS_S
from kmcompile.emit.packages.cfs import app_of

STUBS = Path(__file__).parents[1] / "package" / "stubs" / "cfs"
Order = tuple[str, str, int, str] | str | None


@dataclass(frozen=True)
class Core:
    """An image of the stand-in with its apps."""

    folder: Path
    start_up: tuple[str, ...]

    def talk(
        self, orders: Sequence[Order], names: Sequence[str] | None = None, fails: str = ""
    ) -> list[str]:
        """Start the apps, give orders; return what the stand-in prints.

        Parameters
        ----------
        orders : sequence
            A line for the stand-in; or model, topic, function code and payload of a command; or
            None: let the apps work.
        names : sequence of str, optional
            The models to start, or all.
        fails : str
            Function and number of the call that fails.
        """
        chosen = None if names is None else {app_of(name).name for name in names}
        lines = [f"app {line}" for line in self.start_up if not chosen or line.split()[0] in chosen]
        lines.append("run")
        for order in orders:
            if order is None:
                lines.append("run")
            elif isinstance(order, str):
                lines.append(order)
            else:
                model, topic, code, payload = order
                mid = 0x1800 | dict(app_of(model).topics)[topic]
                lines.append(f"send {mid:X} {code:X} {payload}")
        done = subprocess.run(
            [self.folder / "core"],
            input="\n".join([*lines, "run", ""]),
            cwd=self.folder,
            env={**os.environ, "STANDIN_FAILS": fails},
            capture_output=True,
            text=True,
            timeout=HANGS_S,
            check=True,
        )
        return done.stdout.splitlines()

    def sent(
        self, lines: Sequence[str], model: str, topic: str, payload: struct.Struct
    ) -> list[tuple[Any, ...]]:
        """Return the payloads of a model's telemetry."""
        start = f"sent {0x0800 | dict(app_of(model).topics)[topic]:04X} "
        found = [line.removeprefix(start) for line in lines if line.startswith(start)]
        return [payload.unpack(bytes.fromhex(text)) for text in found]


def built(
    apps: Sequence[Path],
    folder: Path,
    release: str,
    definitions: Path | None = None,
    table: Path | None = None,
) -> Core:
    """Build apps and the stand-in with CMake.

    Raises
    ------
    CalledProcessError
        If the build fails; `stderr` says why.
    """
    options = {
        "APPS": ";".join(map(str, apps)),
        "RELEASE": release,
        "MISSION_DEFS": str(definitions or folder / "none"),
        "TABLE": str(table or ""),
    }
    defined = [f"-D{key}={value}" for key, value in options.items()]
    for command in ["cmake", "-S", STUBS, "-B", folder, *defined], ["cmake", "--build", folder]:
        subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S, check=True)
    return Core(folder, tuple(_start_up_line(app) for app in apps))


def _start_up_line(app: Path) -> str:
    """Return file, entry and name of an app, of its README's line for the start-up script."""
    found = re.search(r"^ +CFE_APP, (\w+), +(\w+), +(\w+), ", (app / "README.md").read_text(), re.M)
    assert found
    return " ".join(found.groups())

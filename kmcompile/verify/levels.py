"""On which machines the C is run: what was asked for, and what is installed."""

from __future__ import annotations

from kmcompile.errors import ToolError
from kmcompile.target import Target
from kmcompile.tools.toolchain import host_compiler, install_command, is_ready


def why_no_target(target: Target, level: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the reason why the target is not run, or an empty text, and warnings.

    Raises
    ------
    ToolError
        If level is "target" and its tools are missing.
    """
    if target.emulator is None:
        return "the target is the host", ()
    if level in ("none", "host"):
        return f"--verify {level}", ()
    if is_ready(target):
        return "", ()
    packages = (*target.compiler.packages, *target.emulator.packages)
    reason = f"the tools of {target.name} are not here: {install_command(packages)}"
    if level == "target":
        raise ToolError(reason)
    return reason, (f"not verified on {target.name}; {reason}",)


def why_no_host(level: str | None, is_needed: bool) -> str:
    """Return the reason why the host is not run, or an empty text.

    Parameters
    ----------
    level : {"none", "host", "target"} or None
    is_needed : bool
        Whether no other machine is run. Then a missing compiler is an error of the build.
    """
    if level == "none":
        return "--verify none"
    if not is_needed and host_compiler() is None:
        return "there is no C compiler for the host here"
    return ""

"""External programs: doctor, timeouts, missing and failing ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kmcompile
from kmcompile.errors import FullError, ToolError
from kmcompile.target import list_targets, load_target
from kmcompile.tools import toolchain

# Starts a grandchild that sleeps, writes its number and sleeps too.
SLEEPER = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pid", "w").write(str(child.pid))
time.sleep(600)
"""


def test_without_tools_doctor_names_one_command_for_a_target(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    (diagnosis,) = toolchain.diagnose([load_target("cortex-m7")])
    assert not diagnosis.ready
    assert diagnosis.install_command == (
        "sudo apt-get install --no-install-recommends "
        "gcc-arm-none-eabi qemu-system-arm gcc libc6-dev"
    )
    assert [tool.path for tool in diagnosis.tools] == [None, None, None]


def test_doctor_finds_programs_and_their_versions(monkeypatch, tmp_path):
    for name in ("arm-none-eabi-gcc", "qemu-system-arm", "cc"):
        (tmp_path / name).write_text("#!/bin/sh\necho $0 1.2.3\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    (diagnosis,) = toolchain.diagnose([load_target("cortex-m7")])
    assert diagnosis.ready
    assert (diagnosis.missing_packages, diagnosis.install_command) == ((), None)
    assert diagnosis.tools[0].version == f"{tmp_path}/arm-none-eabi-gcc 1.2.3"


def test_doctor_looks_at_every_target():
    assert [d.target for d in toolchain.diagnose(list_targets())] == [
        target.name for target in list_targets()
    ]


def test_a_missing_program_says_how_to_install_it(monkeypatch, tmp_path):
    """reliability 27: toolchain absent."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"apt-get install .* qemu-system-arm") as caught:
        toolchain.find("qemu-system-arm", ("qemu-system-arm",))
    assert caught.value.exit_code == 5


def test_a_failing_program_tells_its_first_errors(tmp_path):
    """reliability 27: toolchain wrong."""
    script = "print('note: x\\nm.c: error: one\\nm.c: error: two\\nm.c: error: three'); exit(3)"
    with pytest.raises(ToolError) as caught:
        toolchain.run_tool([sys.executable, "-c", script], tmp_path, 60.0, "compiling m.c")
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("compiling m.c: python")
    assert first.endswith("failed with exit code 3")
    assert rest == ["m.c: error: one", "m.c: error: two"]


@pytest.mark.parametrize("said", ["/tmp/cc1.s: No space left on device", "Disk quota exceeded"])
def test_a_program_without_space_for_its_temporary_files_ends_with_6(tmp_path, said):
    command = [sys.executable, "-c", f"print({said!r}); exit(3)"]
    with pytest.raises(FullError, match="TMPDIR") as caught:
        toolchain.run_tool(command, tmp_path, 60.0, "compiling m.c")
    assert caught.value.exit_code == 6


def test_a_program_that_cannot_start_is_no_traceback(tmp_path):
    """reliability 27: toolchain wrong."""
    broken = tmp_path / "gcc"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    with pytest.raises(ToolError, match="cannot start"):
        toolchain.run_tool([str(broken)], tmp_path, 60.0, "compiling")


def test_a_hanging_program_ends_with_its_children(tmp_path):
    """reliability 28: timeout, own process group ended."""
    with pytest.raises(ToolError, match="did not end within 2 s") as caught:
        toolchain.run_tool([sys.executable, "-c", SLEEPER], tmp_path, 2.0, "running")
    assert caught.value.exit_code == 5
    grandchild = int((tmp_path / "pid").read_text(encoding="ascii"))
    while _runs(grandchild):
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Return whether a process runs; one that ended and was not collected does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
            return stream.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return os.path.exists(f"/proc/{pid}")


def test_a_program_ends_with_the_process_that_started_it():
    """An emulator of a board that cannot end it must not outlive a killed run."""
    if shutil.which("setpriv") is None:
        pytest.skip("needs util-linux")
    script = (
        "import subprocess, sys\n"
        "from kmcompile.tools import toolchain\n"
        "p = subprocess.Popen(toolchain.ending_with_this_process([sys.argv[1], '60']))\n"
        "print(p.pid, flush=True)\n"
        "sys.stdin.readline()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, shutil.which("sleep")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(kmcompile.__file__).parents[1])},
    )
    status = Path(f"/proc/{int(parent.stdout.readline())}/status")
    while "sleep" not in status.read_text():  # setpriv is still on its way
        pass
    parent.kill()
    parent.wait()
    while status.exists() and "(zombie)" not in status.read_text():
        pass
    parent.stdin.close()
    parent.stdout.close()

"""reliability 21, 22, 23: the output folder under attack, faults and races."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import output_writer
import pytest

from kit.output_folders import write_folder
from kit.tools import HANGS_S
from kmcompile.errors import OutputError
from kmcompile.output.folder import reserve

WRITER = Path(output_writer.__file__)


def _run(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": f"{WRITER.parents[2]}:{WRITER.parents[1]}"}
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    )


def _outcomes(*arguments: str) -> list[list[str]]:
    with _run(str(WRITER), *arguments) as process:
        lines, _ = process.communicate(timeout=HANGS_S)
    assert process.returncode == 0
    outcomes = [line.split() for line in lines.splitlines()]
    assert outcomes[-1][1] == "finished" and len(outcomes) > 20
    return outcomes


@pytest.mark.parametrize("start", ["none", "old"])
def test_killed_at_any_call_the_folder_is_the_old_or_the_new_one(tmp_path, start):
    """reliability 22: kill -9 at each write."""
    outcomes = _outcomes("kill", str(tmp_path / "iris"), start)
    assert {end for _, end, *_ in outcomes[:-1]} == {str(-signal.SIGKILL)}
    assert {left for _, _, left, *_ in outcomes} == {start, "new"}


@pytest.mark.parametrize("start", ["none", "old"])
def test_interrupted_at_any_call_the_folder_is_the_old_or_the_new_one(tmp_path, start):
    """reliability 22: Ctrl-C."""
    outcomes = _outcomes("interrupt", str(tmp_path / "iris"), start)
    assert {left for _, _, left, *_ in outcomes} == {start, "new"}


@pytest.mark.parametrize("start", ["none", "old"])
def test_with_the_disk_full_at_any_call_the_folder_is_the_old_or_the_new_one(tmp_path, start):
    """reliability 22: ENOSPC at each call; the run exits 6."""
    outcomes = _outcomes("disk_full", str(tmp_path / "iris"), start)
    assert {left for _, _, left, *_ in outcomes} == {start, "new"}
    assert {"refused"} <= {end for _, end, *_ in outcomes[:-1]} <= {"refused", "survived"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", ["kill", "interrupt", "disk_full"])
def test_without_exchange_the_next_run_finds_the_old_or_the_new_folder(tmp_path, fault):
    """reliability 22: the fallback has a moment without a folder; the next run puts it back."""
    outcomes = _outcomes(fault, str(tmp_path / "iris"), "old", "no-exchange")
    assert {left for _, _, left, *_ in outcomes} <= {"old", "new", "none"}
    assert {recovered for _, _, _, recovered, *_ in outcomes} == {"old", "new"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", ["kill", "interrupt", "disk_full"])
def test_the_next_run_leaves_nothing_behind(tmp_path, fault):
    """reliability 22: leftovers of a killed run are cleaned."""
    for _, _, _, _, after, beside in _outcomes(fault, str(tmp_path / "iris"), "old"):
        assert (after, beside) == ("new", "iris")


def test_a_file_beyond_the_size_limit_leaves_the_old_folder(tmp_path):
    """reliability 22: a write that the system cuts short."""
    folder = tmp_path / "iris"
    write_folder(folder, output_writer.files("old"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OutputError, match="File too large"):
            write_folder(folder, {**output_writer.files("new"), "iris.c": bytes(20_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert output_writer.state(folder) == "old"
    assert os.listdir(tmp_path) == ["iris"]


def test_a_full_file_system_leaves_the_old_folder(tmp_path):
    """reliability 22: a small tmpfs."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, timeout=HANGS_S).returncode:
        pytest.skip("mounting a tmpfs needs root")
    try:
        folder = tmp_path / "iris"
        write_folder(folder, output_writer.files("old"))
        with pytest.raises(OutputError, match="No space left on device"):
            write_folder(folder, {**output_writer.files("new"), "iris.c": bytes(100_000)})
        assert output_writer.state(folder) == "old"
        assert os.listdir(tmp_path) == ["iris"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True, timeout=HANGS_S)


def test_a_parent_that_cannot_be_written_is_refused():
    """reliability 22: exit 6; root may write anywhere, so the child becomes somebody else."""
    script = (
        "import os, sys; from pathlib import Path\n"
        "from kit.output_folders import write_folder\n"
        "from kmcompile.errors import OutputError\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try: write_folder(Path(sys.argv[1]), {'recipe.json': b''})\n"
        "except OutputError as error: print(error)\n"
    )
    with tempfile.TemporaryDirectory() as parent:
        os.chmod(parent, 0o555)
        with _run("-c", script, f"{parent}/iris") as process:
            text, _ = process.communicate(timeout=HANGS_S)
        assert "Permission denied" in text
        assert os.listdir(parent) == []


def test_of_two_runs_at_once_the_second_is_refused(tmp_path):
    """reliability 23: the first has the folder from before its work until it is written."""
    script = (
        "import sys; from pathlib import Path; import output_writer\n"
        "from kit.output_folders import write_folder\n"
        "from kmcompile.errors import KmcompileError\n"
        "try: write_folder(Path(sys.argv[1]), output_writer.files('old'))\n"
        "except KmcompileError as error: print(error); sys.exit(error.exit_code)\n"
    )
    folder = tmp_path / "iris"
    with reserve(folder) as reserved:
        script = f"import sys; sys.path.insert(0, {str(WRITER.parent)!r})\n{script}"
        with _run("-c", script, str(folder)) as process:
            text, _ = process.communicate(timeout=HANGS_S)
        assert process.returncode == 6
        assert "another run of kmcompile" in text
        reserved.write(output_writer.files("new"))
    assert output_writer.state(folder) == "new"


def test_many_runs_at_once_leave_one_whole_folder(tmp_path, monkeypatch):
    """reliability 23: whoever wins, the folder is that run's and whole."""
    folder = tmp_path / "iris"
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # slow, and not what is tested
    children = []
    for number in range(6):
        child = os.fork()
        if child == 0:
            os._exit(_write_often(folder, "new" if number % 2 else "old"))
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert set(codes) == {0}
    assert output_writer.state(folder) in ("old", "new")
    assert os.listdir(tmp_path) == ["iris"]


def _write_often(folder: Path, text: str) -> int:
    """Write many times; a refusal is fine, anything else is not."""
    try:
        for _ in range(40):
            try:
                write_folder(folder, output_writer.files(text))
            except OutputError as error:
                if "another run" not in str(error):
                    return 1
    except BaseException:
        return 2
    return 0


@pytest.mark.parametrize(
    "name", ["../iris.c", "/tmp/iris.c", "..", "a/../b.c", "a//b.c", "", "a\0b", "..\\a"]
)
def test_a_file_name_that_leaves_the_folder_is_refused(tmp_path, name):
    """reliability 21: path traversal."""
    with pytest.raises(OutputError, match="no plain file name"):
        write_folder(tmp_path / "iris", {**output_writer.files("new"), name: b"evil"})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_as_output_is_refused(tmp_path, exists):
    """reliability 21: symlinked output, also a dangling one."""
    elsewhere = tmp_path / "elsewhere"
    if exists:
        write_folder(elsewhere, output_writer.files("old"))
    (tmp_path / "iris").symlink_to(elsewhere)
    with pytest.raises(OutputError, match="symbolic link"):
        write_folder(tmp_path / "iris", output_writer.files("new"))
    assert (tmp_path / "iris").is_symlink()
    assert output_writer.state(elsewhere) == ("old" if exists else "none")


def test_links_inside_the_old_folder_are_not_followed(tmp_path):
    """reliability 21: a link of a known name is replaced, what it points to stays."""
    folder, secret = tmp_path / "iris", tmp_path / "secret"
    write_folder(folder, output_writer.files("old"))
    secret.write_text("keep")
    (folder / "iris.c").unlink()
    (folder / "iris.c").symlink_to(secret)
    write_folder(folder, output_writer.files("new"))
    assert output_writer.state(folder) == "new"
    assert secret.read_text() == "keep"


@pytest.mark.parametrize("role", ["new", "old", "lock"])
def test_links_beside_the_folder_are_not_followed(tmp_path, role):
    """reliability 21: somebody planted a link where kmcompile works."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "keep").write_text("keep")
    (tmp_path / f".iris.kmcompile-{role}").symlink_to(victim)
    (tmp_path / "iris").mkdir()
    try:
        write_folder(tmp_path / "iris", output_writer.files("new"))
    except OutputError:
        assert role == "lock"
    assert (victim / "keep").read_text() == "keep"
    assert os.listdir(victim) == ["keep"]

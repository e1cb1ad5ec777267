"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import threading

import pytest

from kmcompile.errors import OutputError, UsageError
from kmcompile.whole_file import check_free, write_whole


def test_a_new_file_has_the_permissions_of_the_user_and_an_older_one_keeps_its_own(tmp_path):
    path = tmp_path / "a.bin"
    before = os.umask(0o077)
    try:
        write_whole(path, b"one")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    write_whole(path, b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_into(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"content")
    reader.join()
    assert read == [b"content"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["no/folder/a.bin", "a\0b"])
def test_a_path_that_cannot_be_written_says_so(name, tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        write_whole(tmp_path / name, b"")
    assert not list(tmp_path.iterdir())


def test_a_link_to_what_is_read_is_not_free(tmp_path):
    given, link = tmp_path / "model.pkl", tmp_path / "out.bin"
    given.write_bytes(b"")
    link.symlink_to(given)
    check_free(tmp_path / "other.bin", [given])
    with pytest.raises(UsageError, match="would be overwritten"):
        check_free(link, [given])

"""The output folder: what is written, replaced, refused and left as it was."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from kit.output_folders import write_folder
from kmcompile.errors import OutputError, UsageError
from kmcompile.output import folder as output_folder
from kmcompile.output.folder import reserve


def _files(text: str) -> dict[str, bytes]:
    recipe = {
        "name": "iris",
        "sources": ["iris.c"],
        "sha256": {"iris.c": "0", "iris.h": "0"},
        "target": {"program": {"number_format": "float32"}},
    }
    return {
        "iris.c": text.encode(),
        "iris.h": text.encode(),
        "report.json": b"{}",
        "recipe.json": json.dumps(recipe).encode(),
    }


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_file_is_written_with_its_content(tmp_path):
    write_folder(tmp_path / "iris", _files("new"))
    assert _content(tmp_path / "iris") == _files("new")


def test_nothing_is_left_beside_the_folder(tmp_path):
    write_folder(tmp_path / "iris", _files("old"))
    write_folder(tmp_path / "iris", _files("new"))
    assert os.listdir(tmp_path) == ["iris"]


def test_an_old_folder_of_ours_is_replaced_whole(tmp_path):
    write_folder(tmp_path / "iris", {**_files("old"), "program.npz": b"old"})
    write_folder(tmp_path / "iris", _files("new"))
    assert _content(tmp_path / "iris") == _files("new")


def test_missing_parents_are_made(tmp_path):
    write_folder(tmp_path / "build" / "a" / "iris", _files("new"))
    assert _content(tmp_path / "build" / "a" / "iris") == _files("new")


def test_parents_made_for_nothing_are_removed(tmp_path):
    with pytest.raises(ZeroDivisionError), reserve(tmp_path / "build" / "a" / "iris"):
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "iris").mkdir()
    write_folder(tmp_path / "iris", _files("new"))
    assert _content(tmp_path / "iris") == _files("new")


def test_modes_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_folder(tmp_path / "iris", _files("new"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "iris").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "iris" / "iris.c").stat().st_mode) == 0o640


def test_a_relative_path_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_folder(Path("iris"), _files("new"))
    assert _content(tmp_path / "iris") == _files("new")


@pytest.mark.parametrize("recipe", [None, b"{}", b"not json", b"[]", b'{"name": "x"}', b"[" * 9999])
def test_a_folder_that_is_not_ours_is_refused_and_kept(tmp_path, recipe):
    folder = tmp_path / "iris"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    if recipe is not None:
        (folder / "recipe.json").write_bytes(recipe)
    before = _content(folder)
    with pytest.raises(OutputError, match="not an output folder of kmcompile"):
        write_folder(folder, _files("new"))
    assert _content(folder) == before


@pytest.mark.parametrize("name", ["notes.txt", "main.c", "build", "float32", "iris"])
def test_something_of_the_user_s_in_our_folder_is_refused_and_kept(tmp_path, name):
    folder = tmp_path / "iris"
    write_folder(folder, _files("old"))
    (folder / name).mkdir() if name == "build" else (folder / name).write_text("mine")
    with pytest.raises(OutputError, match=f"{name}.*did not write"):
        write_folder(folder, _files("new"))
    assert (folder / name).exists()
    assert (folder / "iris.c").read_bytes() == b"old"


def test_something_put_there_while_the_run_works_is_kept(tmp_path):
    folder = tmp_path / "iris"
    with reserve(folder) as reserved:
        folder.mkdir()
        (folder / "mine").write_text("mine")
        with pytest.raises(OutputError, match="not an output folder"):
            reserved.write(_files("new"))
    assert _content(folder) == {"mine": b"mine"}


def test_a_file_of_that_name_is_refused_and_kept(tmp_path):
    (tmp_path / "iris").write_text("a file")
    with pytest.raises(OutputError, match="is a file"):
        write_folder(tmp_path / "iris", _files("new"))
    assert (tmp_path / "iris").read_text() == "a file"


def test_a_parent_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_folder(tmp_path / "file" / "iris", _files("new"))


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(OutputError, match="File name too long"):
        write_folder(tmp_path / ("i" * 250), _files("new"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", [".", "..", "/", "a/..", ""])
def test_a_path_without_a_name_is_a_usage_error(path):
    with pytest.raises(UsageError, match="does not name a folder"):
        write_folder(Path(path), _files("new"))


def test_files_without_a_recipe_are_a_defect(tmp_path):
    with pytest.raises(ValueError, match=r"recipe\.json"):
        write_folder(tmp_path / "iris", {"iris.c": b""})
    assert os.listdir(tmp_path) == []


def test_a_file_that_the_recipe_does_not_name_is_a_defect(tmp_path):
    # The next run would take it for the user's and refuse the folder.
    with pytest.raises(ValueError, match=r"does not name main\.c"):
        write_folder(tmp_path / "iris", {**_files("new"), "main.c": b""})
    assert os.listdir(tmp_path) == []


def test_reserving_writes_nothing(tmp_path):
    write_folder(tmp_path / "iris", _files("old"))
    with reserve(tmp_path / "iris"):
        pass
    assert _content(tmp_path / "iris") == _files("old")
    assert os.listdir(tmp_path) == ["iris"]


@pytest.fixture
def no_exchange(monkeypatch):
    def refuse(fresh: Path, path: Path) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(output_folder, "_exchange", refuse)


@pytest.mark.usefixtures("no_exchange")
def test_without_exchange_the_folder_is_replaced_too(tmp_path):
    write_folder(tmp_path / "iris", _files("old"))
    write_folder(tmp_path / "iris", _files("new"))
    assert _content(tmp_path / "iris") == _files("new")
    assert os.listdir(tmp_path) == ["iris"]


def test_a_folder_lost_between_two_renames_comes_back(tmp_path):
    write_folder(tmp_path / "iris", _files("old"))
    os.rename(tmp_path / "iris", tmp_path / ".iris.kmcompile-old")
    with reserve(tmp_path / "iris"):
        assert _content(tmp_path / "iris") == _files("old")
    assert os.listdir(tmp_path) == ["iris"]


def test_leftovers_of_a_killed_run_are_removed(tmp_path):
    for role in ("new", "old"):
        (tmp_path / f".iris.kmcompile-{role}").mkdir()
        (tmp_path / f".iris.kmcompile-{role}" / "iris.c").write_text("half")
    (tmp_path / ".iris.kmcompile-lock").write_text("")
    (tmp_path / "iris").mkdir()
    write_folder(tmp_path / "iris", _files("new"))
    assert os.listdir(tmp_path) == ["iris"]
    assert _content(tmp_path / "iris") == _files("new")

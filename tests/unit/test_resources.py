"""Templates are found in the package and in the folders that others register."""

from pathlib import Path

import pytest

from kmcompile import resources
from kmcompile.emit.environment import environment, render


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder of templates; none is registered, nor is one afterwards."""
    monkeypatch.setattr(resources, "_registered", [])
    return tmp_path


def test_template_of_a_registered_folder_is_found(folder: Path) -> None:
    (folder / "kernels").mkdir()
    (folder / "kernels" / "mine.c.j2").write_text("{{ x | u32 }}\n")
    resources.register_templates(folder)
    assert render("kernels/mine.c.j2", x=3) == "3U\n"


def test_template_of_the_package_is_not_replaced(folder: Path) -> None:
    (folder / "misra.txt.j2").write_text("mine")
    resources.register_templates(folder)
    loaded = environment().get_template("misra.txt.j2").filename
    assert loaded == str(resources.templates_dir() / "misra.txt.j2")


def test_folder_registered_twice_counts_once(folder: Path) -> None:
    resources.register_templates(folder)
    resources.register_templates(folder)
    assert resources.template_folders()[1:] == (folder,)


def test_folder_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="no folder with templates"):
        resources.register_templates(folder / "none")

"""Every emitted source says in its head whose it is, for tools that read licences."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import kmcompile
from kit.packages import fitted, packaged
from kmcompile.emit.packages.package import KINDS

LINE = "SPDX-License-Identifier: LicenseRef-Owner"
# Forms without comments, pages for people, and what is measured and not a source.
WITHOUT = {".json", ".md", ".rst", ".html", ".npz", ".bin", ".ffx", ".properties"}
NAMES_WITHOUT = {"LICENSE", "package.xml", "keywords.txt", "iris_misra.txt"}


def sources(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in WITHOUT and path.name not in NAMES_WITHOUT
    ]


def check(folder: Path) -> None:
    found = sources(folder)
    assert found
    for path in found:
        lines = path.read_text(encoding="ascii").splitlines()
        (n,) = [n for n, line in enumerate(lines) if LINE in line]
        assert n <= 2, path  # behind the command, and what XML begins with
        if path.suffix in (".c", ".h") and n == 1:
            assert lines[0].startswith("/* kmcompile ") and lines[1] == f"/* {LINE} */"


@pytest.mark.few
@pytest.mark.parametrize("kind", KINDS)
def test_sources_of_a_package_name_their_licence(kind: str, tmp_path: Path) -> None:
    packaged(kind, tmp_path / "o")
    check(tmp_path / "o")


@pytest.mark.parametrize("options", [{"target": "avr"}, {"telemetry": True}, {"tables": "image"}])
def test_sources_of_every_kind_name_their_licence(options: dict, tmp_path: Path) -> None:
    asked = {"mode": "exact", "verify": "none", "name": "iris", **options}
    kmcompile.compile_model(fitted("iris"), out=tmp_path / "o", **asked)
    check(tmp_path / "o")


def test_manifests_of_ros2_name_the_same_licence(tmp_path: Path) -> None:
    manifests = list(packaged("ros2", tmp_path / "o").rglob("package.xml"))
    assert len(manifests) == 3
    for manifest in manifests:
        root = ElementTree.parse(manifest).getroot()
        assert root.findtext("license") == LINE.rpartition(" ")[2]


def test_model_says_what_the_licence_stands_for(tmp_path: Path) -> None:
    packaged("rust", tmp_path / "o")
    for name in ("iris.c", "iris.h"):
        assert "LicenseRef-Owner: whoever ran the command owns this file" in (
            tmp_path / "o" / name
        ).read_text(encoding="ascii")

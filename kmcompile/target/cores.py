"""Open cores whose logic comes as a package: where its files are and how they are read."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Core:
    """The logic of a core.

    Attributes
    ----------
    package : str
        The package of PyPI that has it.
    folders : tuple of str
        Where modules are found by name, below the package's `system_verilog`.
    files : tuple of str
        What is read first, in this order: declarations, or a list with all files.
    options : tuple of str
        Of Verilator.
    is_protected : bool
        Whether it has the protection of memory that the image sets.
    """

    package: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    options: tuple[str, ...]
    is_protected: bool

    def folder(self) -> Path | None:
        """Return the folder of the logic, or None if the package is not installed."""
        found = importlib.util.find_spec(self.package.replace("-", "_"))
        if found is None or not found.submodule_search_locations:
            return None
        return Path(found.submodule_search_locations[0]) / "system_verilog"

    def sources(self, folder: Path) -> list[str]:
        """Return the arguments of Verilator that name the files."""
        files: list[str] = []
        for name in self.files:
            if name.endswith(".flist"):
                text = (folder / name).read_text(encoding="utf-8")
                lines = text.replace("${DESIGN_RTL_DIR}", str(folder / "rtl")).split("\n")
                files += [line for line in map(str.strip, lines) if line and line[:2] != "//"]
            else:
                files.append(str(folder / name))
        return [*(f"-I{folder / name}" for name in self.folders), *files]


_PRIMITIVES: Final = "vendor/lowrisc_ip/ip/prim/rtl"
CORES: Final = {
    # RVFI tells of each instruction that retires.
    "ibex": Core(
        package="pythondata-cpu-ibex",
        folders=(
            "rtl",
            _PRIMITIVES,
            "vendor/lowrisc_ip/ip/prim_generic/rtl",
            "vendor/lowrisc_ip/dv/sv/dv_utils",
            "dv/uvm/core_ibex/common/prim",
        ),
        files=(
            "dv/uvm/core_ibex/common/prim/prim_pkg.sv",
            f"{_PRIMITIVES}/prim_ram_1p_pkg.sv",
            f"{_PRIMITIVES}/prim_secded_pkg.sv",
            f"{_PRIMITIVES}/prim_mubi_pkg.sv",
            f"{_PRIMITIVES}/prim_util_pkg.sv",
            f"{_PRIMITIVES}/prim_count_pkg.sv",
            f"{_PRIMITIVES}/prim_cipher_pkg.sv",
            "rtl/ibex_pkg.sv",
        ),
        options=("-DRVFI",),
        is_protected=True,
    ),
    # Elements of an array are written in one of two ways each, which Verilator 5.006 takes as both.
    "cv32e40p": Core(
        package="pythondata-cpu-cv32e40p",
        folders=(),
        files=("cv32e40p_fpu_manifest.flist",),
        options=("-Wno-WIDTHCONCAT", "-Wno-BLKANDNBLK"),
        is_protected=False,
    ),
}
"""By the name that a target's `time.logic` gives."""
SIMAVR: Final = "simavr"
"""The simulator of the AVR, which counts cycles."""
MACHINES: Final = (SIMAVR, *CORES)
"""What C may run on instead of a target's emulator, as `--on` names it."""

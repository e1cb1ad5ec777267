"""Building a peer's C: a library and a program of the host, or an image of an emulated board."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench_models import Model
from peer import Written

from kmcompile.build.artifact import Artifact, BuiltModel
from kmcompile.build.image import render_image
from kmcompile.build.recipe import Recipe
from kmcompile.machine_code import elf
from kmcompile.target import Target, load_target

HERE = Path(__file__).resolve().parent
SECTIONS = ("-ffunction-sections", "-fdata-sections")
NO_UNWIND = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
BOOT_FLAGS = ("-O2", "-fno-tree-loop-distribute-patterns")
IMAGE_RESERVE_BYTES = 65536  # flash of start-up code and C library
TIMEOUT_S = 1800.0


class NotBuiltError(Exception):
    """The compiler or the linker refuses the peer's C; the text is what it says first."""


@dataclass(frozen=True)
class Compiler:
    """Compiles and links in a folder.

    Parameters
    ----------
    command : str
        The C compiler; a file of C++ is compiled by the same name with g++ at its end.
    flags : tuple of str
        Of the CPU.
    """

    command: str
    flags: tuple[str, ...]
    folder: Path

    def compile(self, source: Path, flags: tuple[str, ...], name: str = "") -> Path:
        """Return the object of a source."""
        result = self.folder / f"{name}{source.stem}.o"
        command = self.command
        if source.suffix == ".cpp":
            command = command.removesuffix("gcc") + "g++"
            flags = tuple(flag for flag in flags if flag != "-std=c99")
        self.run(command, *self.flags, "-w", *flags, "-c", str(source), "-o", str(result))
        return result

    def link(self, *words: str | Path, command: str = "") -> None:
        """Link; `command` stands for the C compiler."""
        self.run(command or self.command, *self.flags, *map(str, words))

    def run(self, *words: str) -> None:
        """Run a command; raise NotBuiltError with the first error of a failure."""
        try:
            done = subprocess.run(
                words, cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            raise NotBuiltError(f"not compiled within {TIMEOUT_S:.0f} s") from error
        if done.returncode != 0:
            lines = done.stderr.splitlines()
            first = next(
                (x for x in lines if re.search("error:|undefined|overflowed", x)), lines[-1]
            )
            raise NotBuiltError(first.replace(str(self.folder), "."))


def write_header(model: Model, folder: Path) -> None:
    """Write `peer.h`, the sizes of the model."""
    (folder / "peer.h").write_text(
        f"#define N_FEATURES {model.X.shape[1]}U\n#define N_CLASSES {len(model.svc.classes_)}U\n"
    )


def host_files(written: Written, folder: Path) -> tuple[Path, Path]:
    """Build for the host; return the shared library and the program."""
    gcc = Compiler("gcc", ("-fPIC", f"-I{folder}"), folder)
    objects = [gcc.compile(source, ("-O2", *written.flags)) for source in written.files]
    objects.append(gcc.compile(HERE / "harness.c", ("-O2",), "bench_"))
    main = gcc.compile(HERE / "host_main.c", ("-O2",), "bench_")
    library, program = folder / "peer.so", folder / "peer"
    has_cpp = any(source.suffix == ".cpp" for source in written.files)
    linker = "g++" if has_cpp else "gcc"
    gcc.link("-shared", *objects, "-lm", "-o", library, command=linker)
    gcc.link(main, *objects, "-lm", "-o", program, command=linker)
    return library, program


def board_image(written: Written, model: Model, target: Target, folder: Path) -> Artifact:
    """Build an image of a board, whose C library is unpacked beside the folders of the models.

    Raises
    ------
    NotBuiltError
    """
    newlib = folder.parents[2] / "newlib" / "usr"
    gcc = Compiler(
        target.compiler.command,
        (*target.compiler.flags, f"-I{folder}", f"-isystem{newlib / 'include' / 'newlib'}"),
        folder,
    )
    flags = ("-O2", *SECTIONS, *NO_UNWIND)
    recipe = Recipe("peer", (), "", target, model.X.shape[1], 1, ())
    objects = [gcc.compile(source, (*flags, *written.flags)) for source in written.files]
    gcc.link("-r", "-nostdlib", *objects, "-o", folder / "model.o")
    assert target.boot is not None
    is_large = elf.sizes(folder / "model.o").flash_bytes + IMAGE_RESERVE_BYTES
    is_large = target.boot.tables is not None and is_large > target.boot.flash.bytes
    boot = folder / "boot"
    boot.mkdir()
    render_image([recipe], target, target.boot, "tables" if is_large else "flash", boot)
    others = [
        gcc.compile(boot / f"{name}.c", (*BOOT_FLAGS, *SECTIONS, *NO_UNWIND), "boot_")
        for name in ("memory_functions", "startup", "exchange", "main")
    ]
    others += [gcc.compile(HERE / name, flags, "bench_") for name in ("harness.c", "board_heap.c")]
    image = folder / "image.elf"
    libraries = newlib / "lib" / "arm-none-eabi" / "newlib" / _multilib(gcc)
    script = ("-nostdlib", "-static", "-Wl,--gc-sections", "-T", boot / "image.ld")
    parts = ("model.o", *others, f"-L{libraries}", "-lm", "-lc", "-lnosys", "-lgcc")
    # Groups: the C library and its system calls need each other.
    gcc.link(*script, "-Wl,--start-group", *parts, "-Wl,--end-group", "-o", image)
    holder = tempfile.TemporaryDirectory(prefix="kmcompile-")
    return Artifact(image, (BuiltModel(recipe, None, 0, 0),), target, None, holder)


def empty_image(model: Model, target: Target, folder: Path) -> Artifact:
    """Build the image of a function that does nothing: what no peer is charged for."""
    text = '#include <stdint.h>\n#include "peer.h"\nuint32_t peer_classify(const float *x)\n'
    (folder / "answer.c").write_text(text + "{\n    (void)x;\n    return 0U;\n}\n")
    return board_image(Written((folder / "answer.c",)), model, target, folder)


def _multilib(gcc: Compiler) -> str:
    words = [gcc.command, *gcc.flags, "-print-multi-directory"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def is_here(target: str, bench: Path) -> bool:
    """Return whether a place can be measured."""
    return target == "host" or ((bench / "newlib" / "usr").is_dir() and bool(load_target(target)))

"""The kinds of attack: queries to certified programs, damaged model files, flipped bits."""

from __future__ import annotations

import io
import math
import random
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from attack import Table, attack_target
from attack import attack as attack_subject
from fuzz_targets import TARGETS, DefectError, check, kept_inputs
from fuzz_targets import Target as Reader
from model_files import mutated
from random_machines import random_machine
from subjects import SUBJECTS, Subject, Target, programs_of

from kit.emitted import Emitted
from kit.every_target import FEW, GROUPS
from kit.host_program import STRICT
from kit.tools import need
from kmcompile.build.compiling import EXACT_FLAGS
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.program import Program
from kmcompile.program.redundancy import checksum_bytes
from kmcompile.readers.formats import FORMATS, read_model
from kmcompile.readers.npz.writer import npz_model
from kmcompile.readers.sklearn.container import read_objects

_STORED = Path(__file__).resolve().parents[1] / "fault" / "stored_models"


@dataclass(frozen=True)
class Found:
    """What a piece found: how many were asked, and a line for each that was wrong."""

    asked: int
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Kind:
    """A kind of attack.

    Parameters
    ----------
    claim, unit, defect : str
        The claim's identifier, what is counted, and what it must not do.
    wanted : callable
        Returns how many to ask.
    piece : callable
        Takes a piece's number.
    n_pieces : callable
        Returns how many pieces there are; infinity where each number has one.
    """

    claim: str
    unit: str
    defect: str
    wanted: Callable[[], int]
    piece: Callable[[int], Found]
    n_pieces: Callable[[], float] = lambda: math.inf


N_QUERIES = 10_000
N_OF_RANDOM = 2_500
N_FILES = {"libsvm": 10_000, "pickle": 2_000, "npz": 500, "skops": 500, "onnx": 500}
_SEED = 20260101


def _of_tables(subject: object, table: Table) -> Found:
    wrong = [
        f"{subject}: {stage}: {f.wrong} labels, {f.outside} intervals, {f.unclear} unclear"
        for stage, f in table.items()
        if not f.is_clean
    ]
    return Found(sum(figures.certified for figures in table.values()), wrong)


@cache
def _turns() -> list[Subject]:
    """Return the subjects whose data are here, those of more weight more often."""
    here = [subject for subject in SUBJECTS if subject.is_here]
    return [s for s in here for _ in range(max(1, math.ceil(s.weight)))]


def certified_piece(number: int) -> Found:
    """Attack one machine; only answers that the C certified are counted."""
    subject = _turns()[number % len(_turns())]
    table = attack_subject(subject, N_QUERIES, _SEED + number)
    return _of_tables(subject, table)


def random_piece(number: int) -> Found:
    """Attack a machine with numbers that nobody trained."""
    machine, samples = random_machine(_SEED + number)
    programs = programs_of(machine, samples, lanes=4)
    table = attack_target(Target(None, machine, programs, samples), N_OF_RANDOM, _SEED + number)
    return _of_tables(f"random machine {_SEED + number}", table)


def _read_format(name: str) -> Callable[[bytes], object]:
    read = next(one for one in FORMATS if one.name == name).read

    def read_machine(content: bytes) -> KernelMachine:
        found = read(content)
        return found if isinstance(found, KernelMachine) else read_objects(found)

    return read_machine


@cache
def _reader(name: str) -> tuple[Reader, list[bytes]]:
    """Return what reads a format, and whole files of it."""
    if name in TARGETS:
        return TARGETS[name], list(kept_inputs(TARGETS[name]).values())
    if name == "npz":
        stored = sorted(_STORED.rglob("*.skops")) + sorted(_STORED.rglob("*.onnx"))
        files = [npz_model(read_model(path.read_bytes())) for path in stored]
        read = _read_format("npz")
    else:
        files = [path.read_bytes() for path in sorted(_STORED.rglob(f"*.{name}"))]
        read = _read_format({"onnx": "ONNX"}.get(name, name))
    return Reader(name, read, 1 << 20, (), lambda content: []), files


def damaged(reader: Reader, files: list[bytes], rng: random.Random) -> bytes:
    """Return a file with changed bytes, with pieces moved, or with pieces of another file.

    An archive's members are changed as often as the archive itself.
    """
    content = rng.choice(files)
    if content.startswith(b"PK") and rng.random() < 0.75:
        return _other_member(content, rng)
    pieces = reader.split(content) if rng.random() < 0.5 else []
    if not pieces:
        return mutated(content, rng)
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(pieces) + 1)
        end = min(len(pieces), start + rng.randrange(6))
        match rng.randrange(3):
            case 0:
                first = rng.randrange(len(pieces) + 1)
                pieces[start:end] = pieces[first : first + rng.randrange(6)]
            case 1:
                pieces[start:end] = [rng.choice(reader.words) + b" "]
            case 2:
                donor = reader.split(rng.choice(files)) or [b""]
                first = rng.randrange(len(donor))
                pieces[start:end] = donor[first : first + rng.randrange(6)]
    return b"".join(pieces)[: reader.max_bytes]


def _other_member(content: bytes, rng: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    match rng.randrange(8):
        case 0:
            del members[name]
        case 1:
            members[name] = members[rng.choice(sorted(members))]
        case _:
            members[name] = mutated(members[name], rng)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data)  # of 1980: without today's time
    return made.getvalue()


def files_piece(name: str, number: int) -> Found:
    """Read damaged files of a format: each is a machine, or refused in one to three lines."""
    reader, files = _reader(name)
    rng = random.Random(f"{_SEED} {name} {number}")
    wrong = []
    for n in range(N_FILES[name]):
        content = damaged(reader, files, rng)
        try:
            check(reader, content)
        except DefectError as defect:
            wrong.append(f"file {n}: {defect}")
        except Exception as error:
            wrong.append(f"file {n}: {type(error).__name__}: {error}")
    return Found(N_FILES[name], wrong)


@cache
def _models() -> list[object]:
    return [model for group, own in GROUPS.items() if group != FEW for model in own]


N_BITS = 100_000
"""Bits of a piece: of one model, which has several pieces if it has more."""
_FLIPS = r"""
#include "@NAME@.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* The self-test fails where what answers is damaged; its steps tell of the second copies, too. */
static const struct {
    const char *name; const volatile void *start; size_t size; int fails;
} tables[] = {
@TABLES@
};
@FINDS@
int main(int argc, char **argv)
{
    const size_t first = (argc > 1) ? (size_t)atol(argv[1]) : 0U;
    const size_t last = (argc > 2) ? (size_t)atol(argv[2]) : 0U;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    size_t bit = 0U;
    if (@NAME@_self_test() != @UPPER@_OK) { return 1; }
    for (size_t t = 0U; t < sizeof tables / sizeof tables[0]; ++t) {
        const uintptr_t from = (uintptr_t)tables[t].start & ~(page - 1U);
        if (mprotect((void *)from, (uintptr_t)tables[t].start + tables[t].size - from,
                PROT_READ | PROT_WRITE) != 0) { return 1; }
        for (size_t own = 0U; own < 8U * tables[t].size; ++own, ++bit) {
            volatile uint8_t *const byte = (volatile uint8_t *)tables[t].start + own / 8U;
            if ((bit < first) || (bit >= last)) { continue; }
            *byte ^= (uint8_t)(1U << (own % 8U));
            if (!(tables[t].fails ? (@NAME@_self_test() == @UPPER@_ERROR_CORRUPT) : finds())) {
                printf("%s bit %zu\n", tables[t].name, own);
            }
            *byte ^= (uint8_t)(1U << (own % 8U));
        }
    }
    return 0;
}
"""


_FINDS = r"""
static int finds(void)
{
    @NAME@_self_test_t state;
    int found = 0;
    memset(&state, 0, sizeof state);
    while (!state.done && !found) {
        (void)@NAME@_self_test_step(&state);
        found = state.block.first_damaged || state.block.second_damaged
            || state.block.checksum_damaged;
    }
    return found;
}
"""
_FINDS_NOTHING = "static int finds(void) { return 0; }"


@cache
def _emitted(n: int) -> Emitted:
    return _models()[n].emit("host", f"model_{n}")  # type: ignore[attr-defined]


def _stored(program: Program) -> list[tuple[str, int, bool]]:
    """Return the name and the bytes of each table and copy, and whether the self-test fails."""
    own = [(table.name, table.n_bytes, True) for table in program.tables()]
    if program.redundancy == 1:
        return [*own, ("checksums", 4 * len(own), True)]
    half = checksum_bytes(program) // 2
    return [
        *own,
        *((f"second_{name}", size, False) for name, size, _ in own),
        ("block_checksums", half, False),
        ("second_block_checksums", half, False),
    ]


def _n_bits(program: Program) -> int:
    return 8 * sum(size for _, size, _ in _stored(program))


@cache
def _bits() -> list[tuple[int, int]]:
    """Return the model and the first bit of each piece."""
    counts = [_n_bits(_emitted(n).program) for n in range(len(_models()))]
    return [(n, bit) for n, count in enumerate(counts) for bit in range(0, count, N_BITS)]


def bits_piece(number: int) -> Found:
    """Flip each of some bits of a model's tables and checksums; the self-test must find it."""
    n, first = _bits()[number]
    emitted = _emitted(n)
    last = min(first + N_BITS, _n_bits(emitted.program))
    name = emitted.name
    rows = [
        f'    {{ "{own}", &{name}_{own}, sizeof {name}_{own}, {int(fails)} }},'
        for own, _, fails in _stored(emitted.program)
    ]
    finds = _FINDS if emitted.program.redundancy > 1 else _FINDS_NOTHING
    text = _FLIPS.replace("@TABLES@", "\n".join(rows)).replace("@FINDS@", finds)
    text = text.replace("@NAME@", name)
    need("gcc")
    with tempfile.TemporaryDirectory() as holder:
        folder = emitted.write(Path(holder))
        (folder / "flips.c").write_text(text.replace("@UPPER@", name.upper()))
        flags = [*EXACT_FLAGS, *(flag for flag in STRICT if flag != "-Wcast-qual"), "-O2"]
        flags.append("-Wno-discarded-qualifiers")
        command = ["gcc", *flags, "-I", str(folder), str(folder / "flips.c"), "-o"]
        subprocess.run([*command, str(folder / "flips")], check=True)
        asked = [str(folder / "flips"), str(first), str(last)]
        said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    return Found(last - first, [f"{_models()[n]}: {line}" for line in said.splitlines()])


def all_bits() -> int:
    """Return how many bits there are to flip."""
    return sum(_n_bits(_emitted(n).program) for n in range(len(_models())))


def _files(name: str, wanted: int) -> Kind:
    unit, piece = f"damaged {name} files", partial(files_piece, name)
    return Kind("bad-files-are-refused", unit, "crashed or ran", lambda: wanted, piece)


_LABELS, _WRONG = "certified-labels-are-the-models", "wrong labels or intervals"
KINDS = {
    "certified": Kind(_LABELS, "certified answers", _WRONG, lambda: 5_000_000, certified_piece),
    "random": Kind(
        _LABELS, "certified answers of random machines", _WRONG, lambda: 500_000, random_piece
    ),
    "bits": Kind(
        "self-test-finds-every-flipped-bit",
        "bits of tables",
        "missed",
        cache(all_bits),
        bits_piece,
        lambda: len(_bits()),
    ),
    "libsvm": _files("libsvm", 1_000_000),
    "pickle": _files("pickle", 200_000),
    "npz": _files("npz", 20_000),
    "skops": _files("skops", 20_000),
    "onnx": _files("onnx", 20_000),
}

"""Target: the description of a board or machine, read from its TOML file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from kmcompile.numeric.width import WIDTHS
from kmcompile.target.timing import Timing

Ways = tuple[tuple[int, ...], ...]
"""For each way that a call may go, the rounds of each loop."""


@dataclass(frozen=True, slots=True)
class ProgramForm:
    """The form of a target's programs: number format, loops and memory, for lowering and emission.

    Attributes
    ----------
    memory_space : str
        The address space of the tables: "data", or "program" on CPUs whose data pointers cannot
        address the flash.
    arithmetic : str
        A template of C that replaces float operations in which the compiler's library departs from
        IEEE 754; usually none.
    square_root : str
        The core's instruction for the square root of a float, correctly rounded; "" if it has none.
    replay : str
        The arithmetic of a replay of an rbf machine: "float64", or "integers" of 64 bits.
    """

    number_format: str
    lanes: int
    unroll_lanes: bool
    feature_tile: int
    code_layout: str
    multiplies_long: bool
    double_bits: int
    size_bits: int = 32
    memory_space: str = "data"
    arithmetic: str = ""
    square_root: str = ""
    replay: str = "float64"


@dataclass(frozen=True, slots=True)
class Part:
    """A real part; its sizes are the default budgets."""

    name: str
    flash_bytes: int
    ram_bytes: int


@dataclass(frozen=True, slots=True)
class Compiler:
    """The C compiler of a target, with the flags that choose CPU and ABI.

    Attributes
    ----------
    helper_stack_bytes : tuple of (str, int)
        Name and stack frame of each routine of the compiler's library that has no call frame
        information.
    helper_loops : tuple of (str, tuple of tuple of int)
        Name of a routine of the compiler's library and, for each way that a call of it may go, the
        largest number of jumps back to the start of each loop, in the order of addresses. A single
        number holds for every loop of the routine.
    calls_from : str
        The source of the call graph: "compiler", which writes the graph while it compiles, or
        "avr instructions", which are followed in the image.
    """

    command: str
    flags: tuple[str, ...]
    optimisation: str
    link_flags: tuple[str, ...]
    libraries: tuple[str, ...]
    packages: tuple[str, ...]
    helper_stack_bytes: tuple[tuple[str, int], ...]
    helper_loops: tuple[tuple[str, Ways], ...]
    calls_from: str = "compiler"


@dataclass(frozen=True, slots=True)
class OperationCost:
    """Instructions of one counted operation in a number format, measured on emitted C.

    Attributes
    ----------
    product : float
        A multiply-add of an inner product or a distance.
    other : float
        Any other operation: kernel functions, weighted sums, final steps.
    """

    product: float
    other: float


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of operations, by which all programs and early exits are compared.

    Attributes
    ----------
    float32, int16, int8 : OperationCost
    float64, integers : float
        Instructions of one multiply-add of a replay, its kernel functions included: of one in
        float64, and of one whose sums are in integers of 64 bits.
    pair_sum : OperationCost or None
        Of a pair sum; None: as float32.
    inner, listed : float or None
        Instructions of a multiply-add of an inner product in float32, and of one over a list of
        features that are not 0; None: as one of a distance.
    label : float or None
        Instructions of an operation of the label; None: as another operation of the sum.
    query : float
        Instructions of every query, beside those of its operations.
    stages : tuple of (str, float)
        Names of stages, and the instructions of an operation of each: of early exits in float32, of
        sums without vectors, and of what stands before them.
    worst : Cost or None
        The costs in the static worst case, which follows every loop and branch to its end; None: as
        in the mean.
    """

    float32: OperationCost
    int16: OperationCost
    int8: OperationCost
    float64: float
    integers: float
    pair_sum: OperationCost | None = None
    inner: float | None = None
    listed: float | None = None
    label: float | None = None
    query: float = 0.0
    stages: tuple[tuple[str, float], ...] = ()
    worst: Cost | None = None

    def of_stage(self, name: str) -> float:
        """Return the instructions of an operation of a stage that is not a sum over vectors.

        Parameters
        ----------
        name : str
            The name of the stage's template. One that was not fitted costs as products of the sum.
        """
        return dict(self.stages).get(name, self.float32.product)

    def float_weight(self, width: str) -> int:
        """Return the cost of a float32 product in integer products of this width, at least 1."""
        return max(1, round(self.float32.product / self.of_width(width).product))

    def of_width(self, width: str) -> OperationCost:
        """Return the costs of sums of codes of a width: "int16", "int8" or "uint8"."""
        own: OperationCost = getattr(self, WIDTHS[width].number_format)
        return own

    def replay_weight(self, number_format: str, in_integers: bool = False) -> int:
        """Return the cost of a replay's operation in products of a number format, at least 1.

        It is 1 where the cost of a replay is not known.

        Parameters
        ----------
        number_format : str
        in_integers : bool
            Whether it is an operation of sums in integers, not in float64.
        """
        own = self.of_width(number_format) if number_format in WIDTHS else self.float32
        replayed = self.integers if in_integers else self.float64
        return max(1, round(replayed / own.product))


@dataclass(frozen=True, slots=True)
class Region:
    """A piece of the emulated board's address space."""

    origin: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Boot:
    """How a bare-metal image starts and exchanges queries, and the emulated board's memory.

    Attributes
    ----------
    exchange : str
        "semihosting", files that the emulator opens; "serial", messages of its serial port, which
        is the emulator's standard input and output; or "loaded", queries that the emulator loads
        into memory and answers over the serial port.
    queries : Region or None
        The memory that holds loaded queries; None for the other exchanges.
    """

    startup: str
    exchange: str
    stack_bytes: int
    flash: Region
    ram: Region
    tables: Region | None
    queries: Region | None


@dataclass(frozen=True, slots=True)
class Emulator:
    """The emulator that runs the image."""

    command: str
    machine: str
    arguments: tuple[str, ...]
    packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A board or machine that C is emitted, built and run for.

    Attributes
    ----------
    stands_for : str
        Names of the boards or flight parts that this target represents.
    not_shown : tuple of str
        Properties of the real part that the emulator does not show.
    byte_order : str
        "little" or "big": of the CPU, and of the files that an emulated image reads and writes.
    part, boot, emulator
        None in the target `host`, the machine that runs kmcompile.
    time : Timing or None
        None where nothing is known, as of the host.
    """

    name: str
    description: str
    stands_for: str
    not_shown: tuple[str, ...]
    byte_order: str
    program: ProgramForm
    cost: Cost
    part: Part | None
    compiler: Compiler
    boot: Boot | None
    emulator: Emulator | None
    time: Timing | None = None

    @property
    def number_format(self) -> str:
        """Return the default number format."""
        return self.program.number_format

    @property
    def lanes(self) -> int:
        """Return the number of support vectors whose sums are computed side by side."""
        return self.program.lanes

    @property
    def unroll_lanes(self) -> bool:
        """Return whether the C has a scalar variable for each lane instead of an array."""
        return self.program.unroll_lanes

    @property
    def feature_tile(self) -> int:
        """Return the number of features that one iteration of the inner loop handles."""
        return self.program.feature_tile

    @property
    def code_layout(self) -> str:
        """Return how integer support vectors are stored (`kmcompile.program.stages.CodeTable`)."""
        return self.program.code_layout

    @property
    def multiplies_long(self) -> bool:
        """Return whether the CPU has an instruction for the 64-bit product of two 32-bit words."""
        return self.program.multiplies_long

    @property
    def double_bits(self) -> int:
        """Return the size of the C type double in bits."""
        return self.program.double_bits

    @property
    def tables_apart(self) -> bool:
        """Return whether tables lie in the program's address space instead of the data's."""
        return self.program.memory_space == "program"

    @property
    def tables_end(self) -> int | None:
        """Return the address below which all tables must lie, or None if there is no such limit.

        avr-gcc reads tables of `__flash` with addresses of 16 bits, from the first 64 KB of flash.
        """
        return 0x10000 if self.tables_apart else None

    @property
    def largest_object_bytes(self) -> int:
        """Return the largest size of an array in bytes: half the range of the C type size_t.

        A difference of two pointers into the array must fit ptrdiff_t, which is signed.
        """
        return int(2 ** (self.program.size_bits - 1)) - 1

    @property
    def flash_bytes(self) -> int | None:
        """Return the real part's flash in bytes, or None on the host."""
        return self.part.flash_bytes if self.part else None

    @property
    def ram_bytes(self) -> int | None:
        """Return the real part's RAM in bytes, or None on the host."""
        return self.part.ram_bytes if self.part else None

    @property
    def emulated_flash_bytes(self) -> int | None:
        """Return the largest flash budget, in bytes, that the emulated board can check."""
        if self.boot is None:
            return None
        return max(region.bytes for region in (self.boot.flash, self.boot.tables) if region)

    @property
    def emulated_ram_bytes(self) -> int | None:
        """Return the largest RAM budget, in bytes, that the emulated board can check."""
        return self.boot.ram.bytes if self.boot else None

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain JSON data; `loading.target_from_dict` reads it back."""
        plain = json.loads(json.dumps(asdict(self)))
        for table in ("helper_stack_bytes", "helper_loops"):
            plain["compiler"][table] = dict(plain["compiler"][table])
        plain["cost"] = _plain_cost(plain["cost"])
        boot = plain["boot"]
        if boot is not None:
            plain["boot"] = {key: value for key, value in boot.items() if value is not None}
        if self.time is not None:
            plain["time"] = self.time.to_dict()
        return {key: value for key, value in plain.items() if value is not None}


def _plain_cost(cost: dict[str, Any]) -> dict[str, Any]:
    """Return costs as a target's file has them: what is not given is left out."""
    worst = None if cost["worst"] is None else _plain_cost(cost["worst"])
    plain = cost | {"stages": dict(cost["stages"]), "worst": worst}
    return {key: value for key, value in plain.items() if value}

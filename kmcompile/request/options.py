"""The options of one compilation, as the command line and Python give them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kmcompile.request.sizes import in_bytes, in_units

DEFAULT_RISK = 1e-3
DEFAULT_GENERATED = 500

LISTS = ("stages", "require", "exclude")
"""The options that are lists of early exits."""

NAMES = (*LISTS, "package", "entry")
"""The options that are lists of names."""

COUNTS = (
    "generated",
    "window",
    "dimensions",
    "redundancy",
    "step",
    "capacity",
)
"""The options that are whole numbers; Python may give them as text, as the command line does."""

SIZES = ("max_flash", "max_ram")
"""The options that are sizes in bytes; their texts may have units."""

MEASURES = ("max_time", "clock")
"""The options that are seconds or hertz; their texts may have units."""

_NOT_OF_THE_C = frozenset(
    ("package", "out", "verify", "trust_pickle", "test_data", "n_jobs", "max_time", "clock")
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options that the user gave; the command line's help has their defaults.

    `None` stands for a default that depends on the model, the target or the machine.
    `stages`, `require` and `exclude` are names of early exits, `package` those of frameworks, as a
    sequence or as one text with commas; they are kept as tuples, and so are `entry`, names of the
    objects in the model's file, and `before`, files. `n_jobs` is joblib's number of
    parallel jobs in calibration. None means one thread, or the number that `joblib.parallel_config`
    sets. `n_jobs` changes no byte of the output.
    """

    target: str = "host"
    data: Path | None = None
    test_data: Path | None = None
    before: str | Path | Sequence[str | Path] | None = None
    labels: Path | None = None
    entry: str | Sequence[str] | None = None
    threshold: float | None = None
    mode: str | None = None
    risk: float | str | None = None
    loss: float | str | None = None
    risk_control: str | None = None
    thresholds: str | None = None
    generated: int | None = None
    window: int | None = None
    dimensions: int | None = None
    stages: str | Sequence[str] | None = None
    require: str | Sequence[str] | None = None
    exclude: str | Sequence[str] | None = None
    format: str | None = None
    replay: str | None = None
    optimize: str | None = None
    reduce: str | None = None
    tolerance: float | None = None
    tables: str | None = None
    capacity: int | None = None
    monitor: float | None = None
    input_tolerance: float | Path | str | None = None
    package: str | Sequence[str] | None = None
    max_flash: int | None = None
    max_ram: int | None = None
    max_instructions: int | None = None
    max_time: float | str | None = None
    clock: float | str | None = None
    step: int | None = None
    out: Path | None = None
    name: str | None = None
    trust_pickle: bool = False
    verify: str | None = None
    telemetry: bool = False
    redundancy: int | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        for field in NAMES:
            object.__setattr__(self, field, _names(getattr(self, field)))
        object.__setattr__(self, "before", _paths(self.before))
        if self.labels is not None:
            object.__setattr__(self, "labels", Path(self.labels))
        for field in COUNTS:
            object.__setattr__(self, field, _whole(getattr(self, field)))
        for field in SIZES:
            object.__setattr__(self, field, in_bytes(getattr(self, field)))
        for field in MEASURES:
            object.__setattr__(self, field, in_units(getattr(self, field)))

    @property
    def mode_asked(self) -> str:
        """The mode: the given one, otherwise statistical with calibration samples or certified.

        With an input tolerance it is certified: no promise of a risk is about a box of inputs.
        """
        proves = self.data is None or self.input_tolerance is not None
        return self.mode or ("certified" if proves else "statistical")

    @property
    def replay_asked(self) -> str:
        """The replay of the exact sum: the given one, otherwise float64 in mode certified."""
        replays = self.mode_asked == "certified" and self.input_tolerance is None
        return self.replay or ("float64" if replays else "none")

    @property
    def in_image(self) -> bool:
        """Whether the tables lie in an image instead of the code."""
        return self.tables == "image"

    @property
    def copies(self) -> int:
        """The copies of every table in the C."""
        return self.redundancy or 1

    def canonical_command(self, model_name: str) -> str:
        """Return the canonical command, line 1 of the C: fixed order, no paths, no defaults.

        Options that do not change the C are left out: those for the output folder, the
        verification and its test samples.

        Examples
        --------
        >>> Options(target="cortex-m7", max_flash=4194304).canonical_command("a.pkl")
        'kmcompile a.pkl --target cortex-m7 --max-flash 4194304'
        """
        words = ["kmcompile", model_name]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _NOT_OF_THE_C or value is None or value is False:
                continue
            words.append("--" + field.name.replace("_", "-"))
            if value is not True:
                words.append(text_of(value))
        return shlex.join(words)


def text_of(value: object) -> str:
    """Return the value of an option as the command line takes it; a file by its name only.

    Examples
    --------
    >>> text_of(("linear_filter", "bound_sequence"))
    'linear_filter,bound_sequence'
    """
    if isinstance(value, Path):
        return value.name
    return ",".join(map(text_of, value)) if isinstance(value, tuple) else str(value)


def _whole(given: Any) -> Any:
    """Return the digits of a text as a number; anything else as it is, for `check_options`."""
    if isinstance(given, str) and given.isascii() and given.isdigit():
        return int(given)
    return given


def _paths(given: str | Path | Sequence[str | Path] | None) -> tuple[Path, ...] | None:
    """Return files given as a sequence, or as one text with commas; None if none are given."""
    if isinstance(given, str):
        given = given.split(",")
    return tuple(map(Path, (given,) if isinstance(given, Path) else given or ())) or None


def _names(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names given as a sequence or as one text with commas; None if none are given."""
    names = given.split(",") if isinstance(given, str) else given or ()
    return tuple(str(name).strip() for name in names) or None

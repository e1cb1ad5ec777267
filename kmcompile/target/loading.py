"""Loading of targets: one TOML file of `targets/` becomes one Target.

A part whose core is a target names it as `core`. What its file has stands for what the core's has,
a table as a whole. The parts with names of their own are in `targets/parts/`.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kmcompile import json_schema, resources
from kmcompile.errors import UsageError
from kmcompile.numeric.width import FORMATS
from kmcompile.target.description import (
    Boot,
    Compiler,
    Cost,
    Emulator,
    OperationCost,
    Part,
    ProgramForm,
    Region,
    Target,
    Ways,
)
from kmcompile.target.rules import broken_rule
from kmcompile.target.timing import Timing

_OF_A_PART = ("stands_for", "part", "time")
"""What the file of a part must have: none of it is known from the core."""


def target_from_dict(description: Mapping[str, Any], origin: str) -> Target:
    """Check a description against `targets/schema.json` and return it as a Target.

    Parameters
    ----------
    description : mapping
        The content of a TOML file, or `Target.to_dict()`.
    origin : str
        The description's name in error messages, such as a file name.

    Raises
    ------
    UsageError
        If the description breaks the schema or a rule of `kmcompile.target.rules`; the text names
        the field, the value and the rule.
    """
    fault = json_schema.fault(_schema_path(), description)
    if fault is not None:
        field, message = fault
        raise UsageError(
            f"{origin}: {field or 'the top level'}: {message}\nsee {_schema_path()} for the fields"
        )
    broken = broken_rule(description)
    if broken is not None:
        raise UsageError(f"{origin}: {broken[0]} must be {broken[1]}")
    boot, emulator, part = (description.get(key) for key in ("boot", "emulator", "part"))
    return Target(
        name=description["name"],
        description=description["description"],
        stands_for=description["stands_for"],
        not_shown=tuple(description["not_shown"]),
        byte_order=description["byte_order"],
        program=ProgramForm(**description["program"]),
        cost=_cost(description["cost"]),
        part=Part(**part) if part else None,
        compiler=_compiler(description["compiler"]),
        boot=_boot(boot) if boot else None,
        emulator=Emulator(**_tuples(emulator)) if emulator else None,
        time=Timing(**description["time"]) if "time" in description else None,
    )


def _cost(table: dict[str, Any]) -> Cost:
    """Return the costs of operations; a float64 product costs two of float32 unless it is given.

    Nor does one of a replay in integers cost less than one in float64 unless it is given.
    """
    own = {key: OperationCost(**table[key]) for key in FORMATS}
    float64 = table.get("float64", 2 * own["float32"].product)
    pair_sum = OperationCost(**table["pair_sum"]) if "pair_sum" in table else None
    return Cost(
        **own,
        float64=float64,
        integers=table.get("integers", float64),
        pair_sum=pair_sum,
        inner=table.get("inner"),
        listed=table.get("listed"),
        label=table.get("label"),
        query=table.get("query", 0.0),
        worst=_cost(table["worst"]) if "worst" in table else None,
        stages=tuple(sorted(table.get("stages", {}).items())),
    )


def load_target(name_or_path: str | Path, others: Sequence[str] = ()) -> Target:
    """Return the target that has this name, or that this TOML file describes.

    An error names `others`, too: what else may stand in the place of a name.

    Raises
    ------
    UsageError
        If no target has this name (the text suggests the nearest name), or if the TOML file is
        wrong.

    Examples
    --------
    >>> load_target("cortex-m7").flash_bytes
    2097152
    """
    text = str(name_or_path)
    if text.endswith(".toml"):
        return _read(Path(text))
    files = _files("*.toml") | _files("parts/*.toml")
    if text in files:
        return _shipped(files[text])
    names = [*files, *others]
    near = difflib.get_close_matches(text.lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"there is no target {text!r}\n{hint}the targets are {', '.join(names)}")


def chosen_targets(names: str, others: Sequence[str] = ()) -> tuple[Target, ...]:
    """Return the targets named by a list such as "cortex-m7,leon3", or every core for "all".

    Errors are those of `load_target`.

    Raises
    ------
    UsageError
        If no target has one of these names.

    Examples
    --------
    >>> [target.name for target in chosen_targets("cortex-m7, host")]
    ['cortex-m7', 'host']
    """
    if names.strip() == "all":
        return list_targets()
    given = dict.fromkeys(names.replace(" ", "").split(","))
    return tuple(load_target(name, others) for name in given)


def list_targets() -> tuple[Target, ...]:
    """Return every core that ships with kmcompile, sorted by name, with the host first.

    Raises
    ------
    UsageError
        If one of the TOML files is wrong.
    """
    targets = [_shipped(path) for path in _files("*.toml").values()]
    return tuple(sorted(targets, key=lambda target: (target.boot is not None, target.name)))


def list_parts() -> tuple[Target, ...]:
    """Return every part that has a name of its own, sorted by name.

    Raises
    ------
    UsageError
        If one of the TOML files is wrong.
    """
    return tuple(_shipped(path) for path in _files("parts/*.toml").values())


def _files(pattern: str) -> dict[str, Path]:
    """Return the TOML files of the pattern by the names of their targets, sorted."""
    return {path.stem: path for path in sorted(resources.targets_dir().glob(pattern))}


@cache
def _shipped(path: Path) -> Target:
    """Read a file of the package, which does not change while a process runs, once."""
    return _read(path)


def _read(path: Path) -> Target:
    description = _description(path)
    target = target_from_dict(description, path.name)
    if target.name != path.stem:
        raise UsageError(f"{path.name}: name is {target.name!r}, must be {path.stem!r}")
    return target


def _description(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; what a part does not have is its core's."""
    try:
        description = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; give a target's name or its TOML") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from error
    if "core" not in description:
        return description
    core, files = description.pop("core"), _files("*.toml")
    if not isinstance(core, str) or core not in files:
        raise UsageError(f"{path.name}: core: is {core!r}, must be one of {', '.join(files)}")
    missing = [name for name in _OF_A_PART if name not in description]
    if missing:
        raise UsageError(
            f"{path.name}: {missing[0]} is missing; memory and clock of a part are not its core's"
        )
    return _description(files[core]) | description


def _boot(table: Mapping[str, Any]) -> Boot:
    places = ("flash", "ram", "tables", "queries")
    regions = {key: Region(**table[key]) if key in table else None for key in places}
    return Boot(**{**table, **regions})


def _compiler(table: Mapping[str, Any]) -> Compiler:
    frames = tuple(sorted(table.get("helper_stack_bytes", {}).items()))
    loops = tuple(
        (name, _ways(ways)) for name, ways in sorted(table.get("helper_loops", {}).items())
    )
    return Compiler(**{**_tuples(table), "helper_stack_bytes": frames, "helper_loops": loops})


def _ways(found: list[Any]) -> Ways:
    """Return the rounds of a routine's loops for each way; plain numbers are the only way."""
    ways = found if found and isinstance(found[0], list) else [found]
    return tuple(tuple(way) for way in ways)


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a TOML table with tuples for its lists, so that the dataclass is immutable."""
    return {key: tuple(v) if isinstance(v, list) else v for key, v in table.items()}


def _schema_path() -> Path:
    return resources.targets_dir() / "schema.json"

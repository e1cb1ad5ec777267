"""Choice of the number format by the instructions and flash of its program, with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kmcompile.choice.format_shares import Share, shares_of
from kmcompile.errors import InputError
from kmcompile.lower.formats import Lowered, lower_unchecked
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.width import FORMATS, WIDTHS
from kmcompile.program.estimate import CODE_BYTES, EQUAL, Estimate, estimate
from kmcompile.program.wanted import Wanted
from kmcompile.target import Target
from kmcompile.text.figures import ratio_text, share_text

BALANCED = Wanted()

NO_REASONS: Mapping[str, str] = MappingProxyType({})

_UNFIT = "does not fit"

_DEARER = 4.0
"""A format whose sum takes so many times the instructions of the cheapest sum is not tried with
early exits: these would have to save more than exits do that every format may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """A lowered program with its early exits and its replay.

    Parameters
    ----------
    speedup : float
        Gain of the early exits in operations.
    estimate : Estimate
    """

    speedup: float
    estimate: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class FormatCandidate:
    """A number format in the comparison for `--format auto`.

    Parameters
    ----------
    number_format : str
    lowered : Lowered or None
        The lowered program; None if there is none in this format.
    speedup : float or None
        Gain of early exits; None if the format was rejected before exits were tried.
    estimate : Estimate or None
        Estimated instructions and flash, without exits if the format was rejected before these were
        tried; None if there is no program.
    chosen : bool
    reason : str
        Why the format was chosen or rejected.
    warning : str
        What the flash budget has changed, where this format was taken because another does not fit.
    """

    number_format: str
    lowered: Lowered | None
    speedup: float | None
    estimate: Estimate | None
    chosen: bool
    reason: str
    warning: str = ""


def choose_format(
    original: KernelMachine,
    target: Target,
    name: str,
    flash_bytes: int | None,
    samples: Float32Array | None = None,
    with_exits: Callable[[Lowered], Tried] | None = None,
    wanted: Wanted = BALANCED,
    unfit: Mapping[str, str] = NO_REASONS,
) -> tuple[Lowered, tuple[FormatCandidate, ...]]:
    """Return the exact program in the best format for the target, and all compared formats.

    The formats are compared by the estimates of their programs with early exits (`Wanted.best`).
    Their tables must fit the flash, their scale must reach every input that is measured, and they
    must be lossless or certify 97 % of the inputs that float32 certifies. If float32 does not fit,
    the formats that certify most are compared, and none that certifies too little is taken. Of a
    reduced machine the inputs count that are answered as in float32.

    Parameters
    ----------
    original : KernelMachine
    target : Target
    name : str
        Prefix of the C names.
    flash_bytes : int or None
        The flash budget; None is no limit.
    samples : ndarray of shape (n, n_features), float32, optional
        Samples for measuring certified shares and operations, by default ordinary inputs. They must
        not be the samples of a promised risk, because choosing a program by these would break the
        promise.
    with_exits : callable, optional
        Takes a lowered program, returns what it takes with early exits. Called for each format that
        is not rejected before. By default the exact programs are compared.
    wanted : Wanted
    unfit : mapping of str to str
        Formats that are not tried, with the reason.

    Raises
    ------
    InputError
        If the machine has no program in float32.
    """
    found, reasons = _lowered(original, target, name, samples, unfit)
    sums = {key: estimate_of_sum(lowered, target) for key, lowered in found.items()}
    shares = shares_of(original, found, samples)
    reasons |= _unsuited(found, shares, flash_bytes)
    usable = {key: lowered for key, lowered in found.items() if key not in reasons}
    good = _certifying_enough(usable, shares)
    if with_exits is not None:
        dear = _too_dear({key: sums[key] for key in good})
        reasons |= dear
        good = [key for key in good if key not in dear]
    tried = {key: with_exits(usable[key]) for key in good} if with_exits else {}
    costs = sums | {key: one.estimate for key, one in tried.items()}
    compared = {key: costs[key] for key in sorted(good, key=lambda key: key == "float32")}
    chosen = wanted.best(compared) if compared else _smallest(found, reasons)
    warning = _crowded_out(chosen, sums, shares, reasons, flash_bytes, wanted)
    reasons |= _comparison(found, shares, costs, chosen, reasons)
    candidates = tuple(
        FormatCandidate(
            key,
            found.get(key),
            tried[key].speedup if key in tried else None,
            costs.get(key),
            key == chosen,
            reasons[key],
            warning if key == chosen else "",
        )
        for key in FORMATS
    )
    return found[chosen], candidates


def _lowered(
    original: KernelMachine,
    target: Target,
    name: str,
    samples: Float32Array | None,
    unfit: Mapping[str, str],
) -> tuple[dict[str, Lowered], dict[str, str]]:
    """Return the exact program in each format that the machine has, and why it has no others."""
    found: dict[str, Lowered] = {}
    reasons: dict[str, str] = {}
    for number_format in FORMATS:
        if number_format in unfit:
            reasons[number_format] = f"not for this machine: {unfit[number_format]}"
            continue
        try:
            lowered = lower_unchecked(original, target, name, number_format, samples)
        except InputError as error:
            if number_format == "float32":
                raise
            reasons[number_format] = f"not for this machine: {str(error).splitlines()[0]}"
            continue
        found[number_format] = lowered
    return found, reasons


def estimate_of_sum(lowered: Lowered, target: Target) -> Estimate:
    """Return the estimate of an exact program without early exits."""
    program, operations = lowered.program, lowered.measured.operations
    return estimate(program, program, operations, 1.0, 0.0, target.cost)


def _too_dear(sums: Mapping[str, Estimate]) -> dict[str, str]:
    """Return the reason for each format whose sum takes too many instructions to be tried."""
    least = min(sums, key=lambda key: sums[key].mean, default="")
    return {
        key: f"its sum takes {ratio_text(one.mean / sums[least].mean)} the instructions of "
        f"{least}'s, and early exits save it no more"
        for key, one in sums.items()
        if one.mean > _DEARER * sums[least].mean
    }


def _unsuited(
    found: Mapping[str, Lowered], shares: Mapping[str, Share], flash_bytes: int | None
) -> dict[str, str]:
    """Return the reason for each format that is rejected without its cost."""
    reasons = {}
    for key, lowered in found.items():
        needed = lowered.program.table_bytes
        if shares[key].is_too_little:
            reasons[key] = f"not for this machine: {shares[key].too_little}"
        elif flash_bytes is not None and needed + CODE_BYTES > flash_bytes:
            reasons[key] = (
                f"{_UNFIT}: its tables take {needed:,} of {flash_bytes:,} bytes, "
                f"the code about {CODE_BYTES:,}"
            )
        elif _accepted(lowered) < _accepted(found["float32"]):
            refused = share_text(1 - _accepted(lowered))
            reasons[key] = f"its scale does not reach {refused} of {lowered.measured.inputs}"
        elif lowered.coded and (narrow := WIDTHS[lowered.coded.width].number_format) != key:
            reasons[key] = (
                f"{narrow} holds the support vectors without loss: its program is the same"
            )
    return reasons


def _accepted(lowered: Lowered) -> float:
    return lowered.measured.accepted_share


def _certifying_enough(usable: Mapping[str, Lowered], shares: Mapping[str, Share]) -> list[str]:
    """Return the formats that certify enough, or without float32 the formats that certify most."""
    if "float32" in usable:
        return [key for key in usable if shares[key].is_enough]
    lossless = [key for key, low in usable.items() if low.coded and low.coded.lossless]
    most = max((shares[key].kept for key in usable), default=0.0)
    return lossless or [key for key in usable if shares[key].kept == most]


def _smallest(found: Mapping[str, Lowered], reasons: Mapping[str, str]) -> str:
    """Return the format with the smallest tables of those that only do not fit, for the error."""
    large = [key for key in found if reasons[key].startswith(_UNFIT)]
    return min(large, key=lambda key: found[key].program.table_bytes)


def _crowded_out(
    chosen: str,
    sums: Mapping[str, Estimate],
    shares: Mapping[str, Share],
    reasons: Mapping[str, str],
    flash_bytes: int | None,
    wanted: Wanted,
) -> str:
    """Return the warning that a format is taken because a better one does not fit, or no text."""
    suited = {
        key: one
        for key, one in sums.items()
        if shares[key].is_enough and reasons.get(key, _UNFIT).startswith(_UNFIT)
    }
    first = wanted.best(suited)
    if first == chosen or first not in reasons:
        return ""
    return (
        f"{first} does not fit {flash_bytes:,} bytes of flash: the format is {chosen}, which "
        f"{shares[chosen].does}"
    )


def _comparison(
    found: Mapping[str, Lowered],
    shares: Mapping[str, Share],
    costs: Mapping[str, Estimate],
    chosen: str,
    known: Mapping[str, str],
) -> dict[str, str]:
    """Return the reasons why the chosen format is best and the other usable ones are not."""
    reasons = {}
    for key, lowered in found.items():
        if key == chosen:
            reasons[key] = _reason_chosen(lowered, shares[key], known, len(found) == 1)
        elif key not in known and not shares[key].is_enough:
            reasons[key] = shares[key].missing
        elif key not in known:
            reasons[key] = _behind(costs[key], costs[chosen], chosen)
    return reasons


def _behind(one: Estimate, taken: Estimate, chosen: str) -> str:
    """Return where an estimate is behind that of the chosen format."""
    texts = {
        f"the instructions of {chosen}": one.mean / taken.mean,
        f"the worst case of {chosen}": one.worst / taken.worst,
        f"the flash of {chosen}": one.flash_bytes / taken.flash_bytes,
    }
    behind = [f"{ratio_text(ratio)} {text}" for text, ratio in texts.items() if ratio > EQUAL]
    return ", ".join(behind) or f"about what {chosen} takes"


def _reason_chosen(lowered: Lowered, share: Share, known: Mapping[str, str], alone: bool) -> str:
    """Return the reason why a format was chosen."""
    number_format = lowered.program.number_format
    if number_format in known:
        return known[number_format]
    if alone:
        return "no other format is for this machine"
    lossless = lowered.coded is not None and lowered.coded.lossless
    if known.get("float32", "").startswith(_UNFIT) and number_format != "float32":
        kept = "it certifies most of the rest"
        if lossless:
            kept = "the support vectors are stored without loss"
        return f"float32 does not fit; {kept}"
    if lossless:
        return "the best estimate, and the support vectors are stored without loss"
    return f"the best estimate among formats that {share.group}"

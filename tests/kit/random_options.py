"""Options of a compilation at random, for the host and without verification."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.statistical.fits import statistical_fits
from kmcompile.request.option_values import CHOICES

Rng = np.random.Generator

_CERTIFIED = [fit.kind.template for fit in certified_fits()]
_STATISTICAL = [fit.kind.template for fit in statistical_fits()]


def random_options(rng: Rng, X: np.ndarray, is_regression: bool, is_linear: bool) -> dict[str, Any]:
    """Return options as `compile_model` takes them; most of them go together.

    `max_instructions` is not among them: nobody counts instructions of the host.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64
        Inputs like those of the model; samples are mixtures of them.
    is_regression, is_linear : bool
        What the model is.
    """
    options = _drawn(rng, X)
    return options if rng.random() < 0.2 else _agreeing(options, is_regression, is_linear)


def _agreeing(options: dict[str, Any], is_regression: bool, is_linear: bool) -> dict[str, Any]:
    """Return the options without the most frequent contradictions."""
    out = {"threshold"} if is_regression else {"tolerance"}
    promise = {"risk", "risk_control", "thresholds", "generated", "window", "dimensions"}
    statistical = options.get("mode") == "statistical"
    if is_regression:
        out |= promise | ({"mode"} if statistical else set())
        out |= set() if "tolerance" in options else {"replay"}
    if is_linear:
        out |= {"reduce", "stages", "require"}
        out |= {"format"} if str(options.get("format")).startswith("int") else set()
    if options.get("tables") == "image":
        out |= promise | {"reduce", "package", "redundancy", "step", "monitor", "require", "stages"}
        out |= {"mode"} if statistical else set()
        if options.get("mode") != "exact":
            out |= {"format"}
            options["mode"] = "certified"
    if "input_tolerance" in options:
        out |= promise | {"replay", "reduce"} | ({"mode"} if statistical else set())
    if "reduce" in options:
        out |= {"replay", *(promise - {"risk"})}
    return {name: value for name, value in options.items() if name not in out}


def _drawn(rng: Rng, X: np.ndarray) -> dict[str, Any]:
    options: dict[str, Any] = {"target": "host", "verify": "none", "name": "m"}
    has_data = rng.random() < 0.45
    if has_data:
        options["data"] = _samples(rng, X, int(rng.choice([1, 60, 60, 250, 700])))
    if rng.random() < 0.25:
        options["test_data"] = _samples(rng, X, int(rng.choice([1, 30, 300])))
    mode = None
    if rng.random() < 0.6:
        mode = str(rng.choice(["exact", "certified", "certified", "statistical"]))
        if mode == "statistical" and not has_data and rng.random() < 0.9:
            mode = "certified"
        options["mode"] = mode
    statistical = has_data and mode in (None, "statistical")
    if statistical and rng.random() < 0.6:
        options |= _promise(rng)
    if mode != "exact" and rng.random() < 0.3:
        _name_exits(rng, options, [*_CERTIFIED, *(_STATISTICAL if statistical else [])])
    if rng.random() < 0.6:
        options["format"] = str(rng.choice(CHOICES["format"]))
    for name, share in (("replay", 0.3), ("optimize", 0.2), ("package", 0.15)):
        if rng.random() < share:
            options[name] = str(rng.choice(CHOICES[name]))
    if rng.random() < 0.12:
        options["threshold"] = float(rng.normal() * 10.0 ** rng.uniform(-3, 3))
    if rng.random() < 0.12:
        options["tolerance"] = float(10.0 ** rng.uniform(-6, 3))
    if has_data and rng.random() < 0.15:
        options["monitor"] = float(rng.choice([0.01, 0.05, 0.3]))
    _add_what_excludes_much(rng, options, X, has_data)
    if rng.random() < 0.15:
        options["telemetry"] = True
    if rng.random() < 0.15:
        options["redundancy"] = 2
    for name, least, most in (("max_flash", 3, 7), ("max_ram", 2, 6)):
        if rng.random() < 0.06:
            options[name] = int(10.0 ** rng.uniform(least, most))
    return options


def _promise(rng: Rng) -> dict[str, Any]:
    """Return options of the promise of mode statistical."""
    if rng.random() < 0.25:
        scheme: dict[str, Any] = {"thresholds": str(rng.choice(["maxsmoothed", "simple"]))}
        if rng.random() < 0.5:
            scheme["dimensions"] = int(rng.integers(1, 6))
        if scheme["thresholds"] == "maxsmoothed" and rng.random() < 0.5:
            scheme["window"] = int(rng.integers(0, 5))
        return scheme
    made: dict[str, Any] = {}
    if rng.random() < 0.8:
        made["risk"] = rng.choice(np.array(["auto", 0.3, 0.1, 0.02, 1e-3], dtype=object))
    if rng.random() < 0.3:
        made["risk_control"] = str(rng.choice(CHOICES["risk_control"]))
    if rng.random() < 0.2:
        made["generated"] = int(rng.choice([0, 10, 500]))
    return made


def _name_exits(rng: Rng, options: dict[str, Any], names: list[str]) -> None:
    """Add one or two of the three lists of early exits."""
    order = [str(name) for name in rng.permutation(names)]
    if rng.random() < 0.5:
        options["stages"] = tuple(order[: int(rng.integers(1, 4))])
        return
    if rng.random() < 0.6:
        options["require"] = tuple(order[: int(rng.integers(1, 3))])
    if rng.random() < 0.6:
        options["exclude"] = tuple(order[3 : int(rng.integers(4, len(order) + 1))])


def _add_what_excludes_much(
    rng: Rng, options: dict[str, Any], X: np.ndarray, has_data: bool
) -> None:
    """Add at most one of the options that go with few others."""
    draw = rng.random()
    if draw < 0.15:
        options["reduce"] = "auto" if has_data and rng.random() < 0.5 else int(rng.integers(1, 12))
    elif draw < 0.32:
        size = float(np.abs(X).max()) or 1.0
        options["input_tolerance"] = float(size * 10.0 ** rng.uniform(-6, 3))
        if rng.random() < 0.3:
            options["input_tolerance"] = rng.random(X.shape[1]) * options["input_tolerance"]
    elif draw < 0.45:
        options["tables"] = "image"
        if rng.random() < 0.5:
            options["capacity"] = int(rng.integers(1, 300))
    elif draw < 0.58:
        options["step"] = int(10.0 ** rng.uniform(1, 5))


def _samples(rng: Rng, X: np.ndarray, n: int) -> np.ndarray:
    """Return n samples: mixtures of two inputs, some of them moved; sometimes all the same."""
    a, b = X[rng.integers(len(X), size=(2, n))]
    share = rng.random((n, 1)) * rng.choice([0.0, 1.0, 1.0])
    noise = rng.normal(size=(n, X.shape[1])) * X.std(axis=0) * rng.choice([0.0, 0.1, 1.0])
    found: np.ndarray = a + share * (b - a) + noise
    return np.repeat(found[:1], n, axis=0) if rng.random() < 0.05 else found

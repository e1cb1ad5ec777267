"""Rebuild decisions from a model description alone, in 50 digits, and compare answers with them.

Usage: python rebuild.py NAME.mld.json ANSWERS.json

It imports nothing from kmcompile, and follows the formulas that are written in the description.
ANSWERS.json has inputs ("X"), float64 decisions of another program with bounds on their rounding
("decisions", "error"), and answers of the C ("label", "lower", "upper", "certified", "proved").
It prints one line of JSON, and ends with 1 if an answer is refuted. With a kernel or a step from
outside of kmcompile, whose formula it does not have, it ends with 3.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from mpmath import cos, exp, fdot, fsum, mp, mpf, sqrt, tanh

DIGITS = 50
Vector = list[Any]
"""Numbers of mpmath."""


class Machine:
    """A trained machine as its description says it.

    Parameters
    ----------
    path : Path
        The description; the file of its long arrays is beside it.
    """

    def __init__(self, path: Path) -> None:
        mp.dps = DIGITS
        self.folder = path.parent
        self.plain = json.loads(path.read_text())["model"]
        self.steps = [self._step(step) for step in self.plain["preprocessing"]]
        kernel = self.plain["kernel"]
        self.kernel = kernel["name"]
        self.parameters = {key: mpf(value) for key, value in kernel["parameters"].items()}
        self.vectors = self._rows(self.plain["support_vectors"])
        self.dual_coef = self._rows(self.plain["dual_coef"])
        self.intercept = self._flat(self.plain["intercept"])
        self.n_classes = len(self.plain["classes"])
        self.pairs = list(combinations(range(self.n_classes), 2))
        self.threshold = mpf(self.plain["decisions"]["threshold"])
        routing = self.plain["routing"]
        self.routing = routing and {name: self._flat(routing[name]) for name in routing}

    def _flat(self, array: dict[str, Any]) -> Vector:
        """Return the numbers of an array in row-major order."""
        if "values" in array:
            return [mpf(value) for value in array["values"]]
        content = (self.folder / array["file"]).read_bytes()
        part = content[array["offset"] : array["offset"] + array["bytes"]]
        if hashlib.sha256(part).hexdigest() != array["sha256"]:
            raise SystemExit(f"{array['file']}: is not what the description says")
        letter = {"float64": "d", "int64": "q"}[array["type"]]
        return [mpf(value) for value in struct.unpack(f"<{len(part) // 8}{letter}", part)]

    def _rows(self, array: dict[str, Any]) -> list[Vector]:
        """Return the rows of an array of two dimensions."""
        n, width = array["shape"]
        flat = self._flat(array)
        return [flat[row * width : (row + 1) * width] for row in range(n)]

    def _step(self, step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        own: dict[str, Any] = {}
        for name, value in step["fields"].items():
            if not isinstance(value, dict):
                own[name] = value
            elif len(value["shape"]) == 2:
                own[name] = self._rows(value)
            else:
                own[name] = self._flat(value)
        return step["step"], own

    def prepared(self, x: Sequence[float]) -> Vector:
        """Return the input after all steps."""
        y = [mpf(value) for value in x]
        for name, own in self.steps:
            y = _STEPS[name](y, own)
        return y

    def value(self, s: Vector, x: Vector, width: Any = 1) -> Any:
        """Return K(s, x), with gamma times `width`."""
        return _KERNELS[self.kernel](s, x, {**self.parameters, "width": width})

    def decisions(self, x: Sequence[float]) -> Vector:
        """Return the decisions of an input."""
        y = self.prepared(x)
        rule = self.plain["decisions"]["rule"]
        if rule == "leaves":
            return self._of_leaf(y)
        values = [self.value(s, y) for s in self.vectors]
        if rule == "rows":
            rows = zip(self.dual_coef, self.intercept, strict=True)
            return [fdot(row, values) + b for row, b in rows]
        return list(self._of_pairs(values))

    def _of_pairs(self, values: Vector) -> Iterator[Any]:
        """Yield the decision of each pair of classes."""
        ends = [0]
        for count in self.plain["class_counts"]:
            ends.append(ends[-1] + count)
        for p, (a, b) in enumerate(self.pairs):
            own_a, own_b = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
            yield (
                fdot(self.dual_coef[b - 1][own_a], values[own_a])
                + fdot(self.dual_coef[a][own_b], values[own_b])
                + self.intercept[p]
            )

    def _leaf(self, y: Vector) -> int:
        """Return the leaf of a prepared input."""
        tree, node = self.routing, 0
        while True:
            first = int(tree["node_ends"][node - 1]) if node else 0
            choices = range(first, int(tree["node_ends"][node]))
            n = len(y)
            best = max(
                choices,
                key=lambda c: fdot(tree["weights"][c * n : c * n + n], y) - tree["offsets"][c],
            )
            target = int(tree["targets"][best])
            if target < 0:
                return -1 - target
            node = target

    def _of_leaf(self, y: Vector) -> Vector:
        """Return the decisions of a leaf."""
        tree, leaf = self.routing, self._leaf(y)
        ends = [0, *(int(end) for end in tree["leaf_ends"])]
        own = range(ends[leaf], ends[leaf + 1])
        values = [self.value(self.vectors[i], y, tree["relative_gamma"][i]) for i in own]
        n_decisions, n = len(self.intercept), len(y)
        n_pairs = self.plain["routing"]["pair_coef"]["shape"][1]
        first = sum((b - a) * (b - a + 1) // 2 for a, b in pairwise(ends[: leaf + 1]))
        result = []
        for p in range(n_decisions):
            f = fdot([self.dual_coef[p][i] for i in own], values)
            f += tree["intercepts"][leaf * n_decisions + p] + self.intercept[p]
            if tree["leaf_weights"]:
                start = (leaf * n_decisions + p) * n
                f += fdot(tree["leaf_weights"][start : start + n], y)
            if n_pairs:
                products = [u * v for i, u in enumerate(values) for v in values[i:]]
                start = p * n_pairs + first
                f += fdot(tree["pair_coef"][start : start + len(products)], products)
            result.append(f)
        return result

    def label(self, f: Vector) -> int:
        """Return the index of the label that decisions give; -1 in a regression."""
        rule = self.plain["label"]["rule"]
        if rule == "value":
            return -1
        if rule.startswith("sign"):
            return int(f[0] >= 0 if rule == "sign-zero-positive" else f[0] > 0)
        if rule.startswith("largest"):
            best = [k for k, value in enumerate(f) if value == max(f)]
            return best[-1 if rule == "largest-last" else 0]
        confident = rule == "votes-confident"
        votes, sums = [mpf(0)] * self.n_classes, [mpf(0)] * self.n_classes
        for (a, b), value in zip(self.pairs, f, strict=True):
            votes[a if value > 0 or (confident and value == 0) else b] += 1
            sums[a] += value
            sums[b] -= value
        if confident:
            votes = [v + c / (3 * (abs(c) + 1)) for v, c in zip(votes, sums, strict=True)]
        return votes.index(max(votes))

    def probabilities(self, f: Vector) -> Vector:
        """Return the probability of each class; none if the model has none."""
        if self.plain["probability"] is None:
            return []
        if self.plain["probability"]["rule"] in ("logistic", "platt"):
            slope, offset = map(mpf, self.plain["probability"].get("platt", (1, 0)))
            second = 1 / (1 + exp(-slope * (f[0] + self.threshold) - offset))
            return [1 - second, second]
        each = [1 / (1 + exp(-value)) for value in f]
        return [share / fsum(each) for share in each]

    def contains(self, f: Vector, label: int, lower: float, upper: float) -> bool:
        """Return whether the decision that lower and upper are about lies between them."""
        if len(f) == 1:
            meant = f
        elif self.plain["task"] == "one-vs-rest":
            meant = [f[label]]
        elif lower == upper == 0:  # the label has won no pair
            return True
        else:
            meant = [value for pair, value in zip(self.pairs, f, strict=True) if label in pair]
        return any(mpf(lower) <= value <= mpf(upper) for value in meant)


def _normalized(x: Vector, own: dict[str, Any]) -> Vector:
    magnitudes = [abs(value) for value in x]
    size = {
        "l1": lambda: fsum(magnitudes),
        "l2": lambda: sqrt(fsum(value * value for value in x)),
        "max": lambda: max(magnitudes),
    }[own["norm"]]()
    return x if size < 10 * mpf(2) ** -52 else [value / size for value in x]


_STEPS: dict[str, Any] = {
    "Affine": lambda x, own: [
        (v - o) * k for v, o, k in zip(x, own["offset"], own["factor"], strict=True)
    ],
    "Clip": lambda x, own: [min(max(v, mpf(own["low"])), mpf(own["high"])) for v in x],
    "Projection": lambda x, own: [fdot(row, x) for row in own["matrix"]],
    "Normalization": _normalized,
    "Nonnegative": lambda x, own: [max(v, mpf(0)) for v in x],
    "Selection": lambda x, own: [x[int(c)] for c in own["columns"]],
    "SeenFeatures": lambda x, own: [x[int(c)] for c in own["columns"]],
    "Extension": lambda x, own: [*x, mpf(own["value"])],
}


def _chi2(s: Vector, x: Vector) -> Any:
    # What rounding leaves below zero counts as zero; other inputs have no decision.
    pairs = [(u, max(v, mpf(0))) for u, v in zip(s, x, strict=True)]
    return fsum((u - v) ** 2 / (u + v) for u, v in pairs if u + v != 0)


def _matern(gamma: Any, degree: int, s: Vector, x: Vector) -> Any:
    z = gamma * sqrt(fsum((u - v) ** 2 for u, v in zip(s, x, strict=True)))
    return (1, 1 + z, 1 + z + z * z / 3)[degree] * exp(-z)


_KERNELS: dict[str, Any] = {
    "linear": lambda s, x, own: fdot(s, x),
    "poly": lambda s, x, own: (own["gamma"] * fdot(s, x) + own["coef0"]) ** int(own["degree"]),
    "rbf": lambda s, x, own: exp(
        -own["gamma"] * own["width"] * fsum((u - v) ** 2 for u, v in zip(s, x, strict=True))
    ),
    "sigmoid": lambda s, x, own: tanh(own["gamma"] * fdot(s, x) + own["coef0"]),
    "laplacian": lambda s, x, own: exp(
        -own["gamma"] * fsum(abs(u - v) for u, v in zip(s, x, strict=True))
    ),
    "chi2": lambda s, x, own: exp(-own["gamma"] * _chi2(s, x)),
    "additive_chi2": lambda s, x, own: -_chi2(s, x),
    "intersection": lambda s, x, own: fsum(min(u, v) for u, v in zip(s, x, strict=True)),
    "matern": lambda s, x, own: _matern(own["gamma"], int(own["degree"]), s, x),
    "rational_quadratic": lambda s, x, own: (
        (1 + own["gamma"] * fsum((u - v) ** 2 for u, v in zip(s, x, strict=True))) ** -own["alpha"]
    ),
    "fourier": lambda s, x, own: cos(fdot(s, x)),
}


def unknown_parts(plain: dict[str, Any]) -> list[str]:
    """Return the names of the kernel and of the steps that are not known here."""
    steps = [step["step"] for step in plain["preprocessing"] if step["step"] not in _STEPS]
    kernel = plain["kernel"]["name"]
    return steps if kernel in _KERNELS else [kernel, *steps]


def compare(machine: Machine, answers: dict[str, Any]) -> dict[str, Any]:
    """Return what came out of all comparisons."""
    found: dict[str, Any] = {"queries": 0, "largest_difference": 0.0, "largest_share": 0.0}
    found |= {"beyond_rounding": 0, "outside": 0, "other_labels": 0, "probability_difference": 0.0}
    found["certified"] = sum(map(bool, answers["certified"]))
    found["proved"] = sum(map(bool, answers["proved"]))
    for n, x in enumerate(answers["X"]):
        f = machine.decisions(x)
        found["queries"] += 1
        for own, value, error in zip(f, answers["decisions"][n], answers["error"][n], strict=True):
            difference = abs(own - mpf(value))
            found["largest_difference"] = max(found["largest_difference"], float(difference))
            if error not in (0.0, float("inf")):
                share = float(difference / mpf(error))
                found["largest_share"] = max(found["largest_share"], share)
            found["beyond_rounding"] += difference > mpf(error)
        label = answers["label"][n]
        if answers["proved"][n]:
            inside = machine.contains(f, label, answers["lower"][n], answers["upper"][n])
            found["outside"] += not inside
        found["other_labels"] += bool(answers["certified"][n]) and machine.label(f) != label
        given = answers["probabilities"][n] if answers.get("probabilities") else []
        for own, value in zip(machine.probabilities(f), given, strict=bool(given)):
            difference = float(abs(own - mpf(value)))
            found["probability_difference"] = max(found["probability_difference"], difference)
    return found


def main() -> None:
    """Compare the answers in a file, and print what came out."""
    description, answers = map(Path, sys.argv[1:])
    unknown = unknown_parts(json.loads(description.read_text())["model"])
    if unknown:
        print(f"no formula here for {', '.join(unknown)}, which is from outside of kmcompile")
        sys.exit(3)
    found = compare(Machine(description), json.loads(answers.read_text()))
    print(json.dumps(found))
    sys.exit(bool(found["beyond_rounding"] or found["outside"] or found["other_labels"]))


if __name__ == "__main__":
    main()

"""Put hard inputs to the programs of a machine, and hold the answers against the truth."""

from __future__ import annotations

from dataclasses import dataclass, field

import attacks
import numpy as np
from library import Library, library_of, received
from subjects import Subject, Target, fitted
from truth import SOURCES, Truth, evaluate

from kmcompile.model.kernel_machine import KernelMachine

SEED = 20010628
CHUNK = 100_000


@dataclass
class Figures:
    """What was found of the answers of one stage.

    Attributes
    ----------
    answers, certified, wrong : int
        Answers, those with a certified label, those of them with another label than the true one.
    outside, unclear : int
        Intervals that do not hold f, and those whose end even 60 digits do not part from f.
    sources : list of 3 int
        By which of `truth.SOURCES` each answer was judged.
    smallest : float
        Least |f| / (sum |beta K| + |b|) of a certified answer of a binary machine.
    """

    answers: int = 0
    certified: int = 0
    wrong: int = 0
    outside: int = 0
    unclear: int = 0
    sources: list[int] = field(default_factory=lambda: [0] * len(SOURCES))
    smallest: float = np.inf

    def add(self, other: Figures) -> None:
        """Add those of other answers."""
        for name in ("answers", "certified", "wrong", "outside", "unclear"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.sources = [a + b for a, b in zip(self.sources, other.sources, strict=True)]
        self.smallest = min(self.smallest, other.smallest)

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return self.wrong == self.outside == self.unclear == 0


Table = dict[str, Figures]


def judge(truth: Truth, answers: np.ndarray) -> Figures:
    """Return the figures of answers (`library.ANSWER` or `RESULT_DTYPE`) of accepted queries."""
    outside, unclear = _intervals(truth, answers)
    if unclear.any():
        truth = truth.resolved(unclear)
        outside, unclear = _intervals(truth, answers)
    certified = answers["certified"].astype(bool)
    relative = np.abs(truth.decisions[:, 0]) / np.maximum(truth.size[:, 0], 1e-300)
    is_binary = truth.decisions.shape[1] == 1
    return Figures(
        answers=len(answers),
        certified=int(certified.sum()),
        wrong=int((certified & (answers["label"] != truth.labels)).sum()),
        outside=int(outside.sum()),
        unclear=int(unclear.sum()),
        sources=np.bincount(truth.source, minlength=len(SOURCES)).tolist(),
        smallest=float(relative[certified].min(initial=np.inf)) if is_binary else np.inf,
    )


def _intervals(truth: Truth, answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which intervals do not hold f, and of which the truth is not exact enough to say.

    Of many classes it is the interval of some pair: that of none may do.
    """
    lower, upper = (answers[end].astype(np.float64)[:, None] for end in ("lower", "upper"))
    least, most = truth.decisions - truth.error, truth.decisions + truth.error
    beyond = ~((most >= lower) & (least <= upper))
    within = (least >= lower) & (most <= upper)
    outside = beyond.all(axis=1)
    return outside, ~(outside | within.any(axis=1))


def by_stage(library: Library, truth: Truth, answers: np.ndarray, suffix: str = "") -> Table:
    """Return the figures of each stage that answered."""
    names = [stage.template + suffix for stage in library.program.exit_stages]
    return {
        names[number]: judge(truth.chosen(rows), answers[rows])
        for number in np.unique(answers["stage"])
        for rows in [answers["stage"] == number]
    }


def merge(into: Table, other: Table) -> None:
    """Add the figures of one table to another one."""
    for name, figures in other.items():
        into.setdefault(name, Figures()).add(figures)


def lines(table: Table) -> list[str]:
    """Return a header and a line for each stage."""
    rows = [
        f"{'stage':32} {'answers':>9} {'certified':>9} {'wrong':>5} {'outside':>7} {'unclear':>7} "
        f"{'float64':>9} {'float128':>9} {'mpmath':>7} {'least |f|/S0':>12}"
    ]
    for name, found in sorted(table.items()):
        sources = " ".join(f"{n:>{w}}" for n, w in zip(found.sources, (9, 9, 7), strict=True))
        rows.append(
            f"{name:32} {found.answers:>9} {found.certified:>9} {found.wrong:>5} "
            f"{found.outside:>7} {found.unclear:>7} {sources} {found.smallest:>12.3g}"
        )
    return rows


def common_inputs(target: Target, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return about n inputs that are hard for any program of a machine."""
    program = next(iter(target.programs.values())).program
    machine, samples = target.machine, target.samples
    plain = attacks.ordinary(samples, n // 5, rng)
    points = np.concatenate(
        [attacks.raw_points(machine, each.program) for each in target.programs.values()]
    )
    return np.concatenate(
        [
            plain,
            attacks.beside(points, n // 10, rng),
            attacks.extreme(samples, float(program.prepare.limit), n // 10, rng),
            attacks.across_zero(machine, plain, n // 2, rng),
            attacks.next_to_zero(machine, plain, n // 10, rng),
        ]
    )


def limits_of(library: Library) -> list[int]:
    """Return numbers of kernel evaluations about what the early exits and the sum take."""
    exits = sum(stage.kernel_evaluations() for stage in library.program.early_exits)
    exact = library.program.ends.exact.kernel_evaluations()
    return sorted({0, 1, exits // 2, exits, exact, exits + exact, exits + 2 * exact})


def check_program(library: Library, machine: KernelMachine, truth: Truth) -> Table:
    """Return the figures of `classify` and of `classify_within`, each query with one limit."""
    answers = library.ask(truth.X)
    assert (answers["status"] == 0).all()
    table = by_stage(library, truth, answers)
    limits = limits_of(library) if library.proves else []
    for number, limit in enumerate(limits):
        part = truth.chosen(np.arange(number, len(truth.X), len(limits)))
        answers = library.ask(part.X, limit)
        assert (answers["status"] == 0).all()
        assert (answers["kernel_evals"] <= limit).all()
        merge(table, by_stage(library, part, answers, " within"))
    return table


def attack(subject: Subject, n: int, seed: int = SEED, flags: tuple[str, ...] = ("-O2",)) -> Table:
    """Return the figures of `attack_target` for a subject."""
    return attack_target(fitted(subject), n, seed, flags)


def attack_target(
    target: Target, n: int, seed: int = SEED, flags: tuple[str, ...] = ("-O2",)
) -> Table:
    """Return the figures of about n queries to the host libraries of a machine's programs.

    Half of the queries are put to every program, the others are where that program's certificate
    just ends.

    Parameters
    ----------
    flags : tuple of str
        Of the compiler.
    """
    each = n // len(target.programs)
    table: Table = {}
    libraries = [library_of(emitted, flags) for emitted in target.programs.values()]
    for start in range(0, each, CHUNK):
        rng = np.random.default_rng([seed, start])
        size = min(CHUNK, each - start)
        share = 1 / 2 if libraries[0].proves else 9 / 10
        inputs = common_inputs(target, int(size * share), rng)
        inputs = received(libraries[0].emitted, inputs)
        inputs = inputs[libraries[0].ask(inputs)["status"] == 0]
        truth = evaluate(target.machine, inputs)
        for library in libraries:
            merge(table, check_program(library, target.machine, truth))
            ends = ends_of_certificates(library, inputs, size - len(inputs), rng)
            merge(table, check_program(library, target.machine, evaluate(target.machine, ends)))
    return table


def ends_of_certificates(
    library: Library, inputs: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return inputs between which the early exits, or the whole program, just certify."""
    limit = sum(stage.kernel_evaluations() for stage in library.program.early_exits)
    limits = [None, limit] if library.proves else [None]
    parts = [
        attacks.across_certificate(
            lambda X, at=at: library.ask(X, at)["certified"] != 0, inputs, n // len(limits), rng
        )
        for at in limits
    ]
    found = received(library.emitted, np.concatenate(parts))
    return found[library.ask(found)["status"] == 0]

"""Searches for certified exits take no more than they say, and end where a budget is spent."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kit.certified import with_exits
from kit.emitted import Emitted, emit_model
from kmcompile.errors import InputError
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudget, SearchBudgets
from kmcompile.exits.certified import expansion, expansion_norms, local_expansion
from kmcompile.exits.certified.certify import add_certified_exits, fit
from kmcompile.exits.certified.expansion import Vectors, expand
from kmcompile.exits.certified.expansion_size import Size
from kmcompile.exits.certified.expansion_tree import tree
from kmcompile.exits.certified.hadamard import largest_eigenvalues
from kmcompile.exits.certified.local_expansion import fit_local_expansion
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.passes.fold_scalers import fold_scalers
from kmcompile.program.interpreter import interpret
from kmcompile.request.asked_stages import AskedStages

ROOM = Room(np.inf, None, None)
MOST_OVERESTIMATED = 4
"""An estimate from above may be that many times what is allocated, not more: it refuses others."""


def allocated(work: Callable[[], object]) -> tuple[int, object]:
    """Return the largest number of bytes that numpy holds during some work, and what it gives."""
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def vectors(m: int, n: int, n_rows: int) -> Vectors:
    """Return vectors at distances at which an expansion has all of its orders."""
    rng = np.random.default_rng(0)
    s = rng.normal(size=(m, n))
    return Vectors(4.0 / n, s, rng.normal(size=(n_rows, m)))


@pytest.fixture(scope="module")
def rest() -> Emitted:
    """One class against the rest: three decisions on 12 features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    model = OneVsRestClassifier(SVC(C=5, gamma=0.05)).fit(X[:80], y[:80])
    emitted = emit_model(model, "host", "rest")
    machine = fold_scalers(emitted.machine)
    return Emitted(machine, emitted.program, emitted.target, X[80:])


def bound_operations(machine: KernelMachine) -> float:
    """Return what lets each of the two trees have six centres."""
    return 2 * 6 * local_expansion._operations(local_expansion._size(machine))


@pytest.mark.parametrize(("m", "n", "n_rows"), [(120, 60, 4), (300, 40, 2), (30, 100, 1)])
def test_an_expansion_allocates_no_more_than_its_size_says(m, n, n_rows):
    of = vectors(m, n, n_rows)
    radius = float(np.sqrt(expansion.LARGEST_EXPONENT / (2 * of.gamma))) * (1 - 1e-6)
    size = Size(m, n, n_rows)
    peak, e = allocated(lambda: expand(of, np.arange(n_rows), np.zeros(n), radius))
    estimate = size.kept_bytes + size.work_bytes
    assert peak <= estimate + 2**20 <= MOST_OVERESTIMATED * peak + 2**20
    assert sum(part.nbytes for part in (e.quadratic, e.squares)) == size.kept_bytes
    assert e.squares.base is None  # nothing keeps the matrices of all orders


def test_rows_in_groups_have_the_expansions_that_they_have_together(monkeypatch):
    of = vectors(40, 12, 5)
    together = expand(of, np.arange(5), np.zeros(12), 1.0)
    monkeypatch.setattr(expansion_norms, "_GROUP_BYTES", 1)
    apart = expand(of, np.arange(5), np.zeros(12), 1.0)
    for name in ("constant", "linear", "quadratic", "squares", "norms", "tail", "error"):
        np.testing.assert_array_max_ulp(getattr(apart, name), getattr(together, name), maxulp=2**20)


def test_a_tree_allocates_no_more_than_its_centres_say(rest):
    machine, program = rest.machine, rest.program
    X = program.prepare.run(Batch.of(rest.queries, program.n_decisions)).x.astype(np.float64)
    labels = evaluate(machine, rest.queries).labels
    tree(machine, program, X, labels, (1,))  # imports and caches
    peak, _ = allocated(lambda: tree(machine, program, X, labels, (1, 4)))
    estimate = local_expansion._bytes(local_expansion._size(machine), 5)
    assert peak <= estimate + 8 * X.nbytes + 2**20  # the samples with their parts, scikit-learn


def test_powers_of_products_allocate_two_matrices():
    rows, delta = np.random.default_rng(0).normal(size=(400, 3)), np.ones(400)
    largest_eigenvalues(rows, delta, 2)
    peak, _ = allocated(lambda: largest_eigenvalues(rows, delta, 4))
    assert peak <= 2 * 8 * 400**2 + 2**17


@pytest.mark.parametrize("what", ["n_bytes", "operations"])
def test_a_bound_budget_gives_fewer_centres_a_note_and_the_same_again(rest, what):
    most = {
        "n_bytes": local_expansion._bytes(local_expansion._size(rest.machine), 6),
        "operations": bound_operations(rest.machine),
    }
    found = []
    for _ in range(2):
        budget = SearchBudget("local_expansion", **{what: most[what]})
        found.append(fit_local_expansion(rest.machine, rest.program, rest.queries, ROOM, budget))
        assert budget.notes
        assert all(" was searched only up to " in note for note in budget.notes)
    assert max(stage.n_centres for stage, _ in found[0]) == 5
    for (one, text), (again, same) in zip(*found, strict=True):
        assert text == same
        for name in ("centres", "weights", "constants", "forms", "curved"):
            assert getattr(one, name).tobytes() == getattr(again, name).tobytes()


def test_a_program_of_a_bound_search_has_the_machines_labels_where_certified(rest):
    budget = SearchBudget("local_expansion", operations=bound_operations(rest.machine))
    stages = fit_local_expansion(rest.machine, rest.program, rest.queries, ROOM, budget)
    program = with_exits(rest.program, [stages[-1][0]])
    results = interpret(program, rest.queries).results
    sure = results["certified"]
    assert sure.any()
    labels = evaluate(rest.machine, rest.queries).labels
    np.testing.assert_array_equal(results["label"][sure], labels[sure])


def test_a_search_without_room_for_its_smallest_candidate_is_left_out_with_a_note(rest):
    budgets = SearchBudgets(n_bytes=1.0, operations=1.0)
    assert fit(rest.machine, rest.program, rest.queries, ROOM, budgets) == []
    kinds = {"local_expansion", "taylor_polynomial"}
    assert {note.split()[0] for note in budgets.notes} == kinds
    assert all(" is left out: " in note for note in budgets.notes)


def test_a_bound_sequence_is_searched_for_before_an_rbf_sum_where_it_is_asked_for(rest):
    asked = replace(ROOM, stages=AskedStages(required=("bound_sequence",)))
    for room, is_there in ((ROOM, False), (asked, True)):
        kinds = {stage.template for stage, _ in fit(rest.machine, rest.program, rest.queries, room)}
        assert ("bound_sequence" in kinds) == is_there
    budgets = SearchBudgets(n_bytes=1.0, operations=1.0)
    with pytest.raises(InputError, match="bound_sequence"):
        fit(rest.machine, rest.program, rest.queries, asked, budgets)
    assert any(note.startswith("bound_sequence is left out: ") for note in budgets.notes)


def test_the_note_of_a_bound_search_reaches_the_choice(rest, monkeypatch):
    monkeypatch.setattr(
        "kmcompile.exits.certified.certify.SearchBudgets",
        lambda tell: SearchBudgets(tell, operations=1.0),
    )
    told = []
    program, choice = add_certified_exits(
        rest.machine, rest.program, rest.queries, ROOM, told.append
    )
    assert program.early_exits == ()
    assert any(note.startswith("local_expansion is left out: ") for note in choice.notes)


def test_ordinary_machines_reach_no_budget(rest):
    budgets = SearchBudgets()
    size = local_expansion._size(rest.machine)
    most = max(int(np.cumprod(shape).sum()) for shape in local_expansion._SHAPES)
    part = budgets.of("local_expansion").split(len(local_expansion._SHAPES))[0]
    assert part.allows(local_expansion._bytes(size, most), most * local_expansion._operations(size))

"""Bound sequences of support vectors and of free vectors: lengths, names, gains in operations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit import catalogue, sparse_digits
from kit.emitted import Emitted, emit_model
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudgets
from kmcompile.exits.certified import certify
from kmcompile.exits.certified.bound_sequence import why_not
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.exits.certified.sequence_offers import free_lengths, offer_bound_sequences
from kmcompile.kernels import Linear, Sigmoid
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.threads import one_thread
from kmcompile.passes import run_passes
from kmcompile.program.stages import BoundSequence
from kmcompile.request.asked_stages import AskedStages

N_TRAINED = 400


@cache
def machine() -> Emitted:
    """Return a polynomial machine of real data on a board, with inputs it has not seen."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=1.0))
    emitted = emit_model(model.fit(X[:N_TRAINED], y[:N_TRAINED]), "cortex-m7", "wdbc")
    fresh = X[N_TRAINED:].astype(np.float32)
    return Emitted(run_passes(emitted.machine), emitted.program, emitted.target, fresh)


def offers(share: float, budgets: SearchBudgets | None = None) -> list[Offer]:
    """Return the sequences whose worst case is at most a share of the exact sum."""
    of = machine()
    room = Room(share * of.program.ends.exact.operations(), None, None)
    samples = likely_inputs(of.machine, 300)
    with one_thread():
        return offer_bound_sequences(
            Asked(of.machine, of.program, samples, room, budgets or SearchBudgets())
        )


@cache
def usual_offers() -> tuple[Offer, ...]:
    return tuple(offers(0.25))


def speedup(stage: BoundSequence) -> float:
    """Return how many times fewer operations the sequence with the sum takes than the sum alone."""
    of = machine()
    program, ends = of.program, of.program.ends
    batch = program.prepare.run(Batch.of(of.queries, program.n_decisions))
    after, decided = stage.decide(batch, ends)
    exact = ends.exact.operations_of(batch) + ends.label.operations()
    spent = after.operations - batch.operations + np.where(decided, 0, exact)
    return float(exact.mean() / spent.mean())


def test_both_lists_are_offered_in_several_lengths_under_their_names():
    texts = [text for _, text in usual_offers()]
    assert len(set(texts)) == len(texts)
    for kind in ("support vectors)", "free vectors)"):
        assert sum(text.endswith(kind) for text in texts) > 1
    for stage, text in usual_offers():
        assert text.startswith(f"bound_sequence({stage.n_blocks * stage.lanes} ")


def test_free_vectors_save_twice_the_operations_that_support_vectors_save():
    best = {"support": 0.0, "free": 0.0}
    for stage, text in usual_offers():
        kind = "free" if "free" in text else "support"
        best[kind] = max(best[kind], speedup(stage))
    assert best["free"] > 2 * best["support"]
    assert best["free"] > 3


def test_every_interval_of_free_vectors_holds_the_decisions():
    of = machine()
    reference = evaluate(of.machine, of.queries)
    batch = of.program.prepare.run(Batch.of(of.queries, of.program.n_decisions))
    for stage, _ in usual_offers():
        after, _ = stage.decide(batch, of.program.ends)
        assert (after.least <= reference.decisions + reference.error).all()
        assert (after.most >= reference.decisions - reference.error).all()


def test_offers_are_the_same_every_time():
    for (stage, text), (again, other) in zip(usual_offers(), offers(0.25), strict=True):
        assert text == other
        assert stage.vectors.tobytes() == again.vectors.tobytes()
        assert stage.triangle.tobytes() == again.triangle.tobytes()


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 3.0])
def test_lists_of_free_vectors_are_as_long_as_the_room_allows(share):
    of, (sequence, _) = machine(), usual_offers()[0]
    room = share * of.program.ends.exact.operations()
    lengths = free_lengths(sequence, of.program.ends, room)
    worst = [sequence.worst_of_blocks(n // 4, of.program.ends) for n in (0, *lengths)]
    assert worst == sorted(set(worst))
    assert lengths == () or worst[-1] <= room
    assert share < 3 or lengths[-1] == 64


def test_a_sequence_that_must_be_there_is_offered_with_more_support_vectors():
    of = machine()
    exact = of.program.ends.exact
    stages = AskedStages(listed=("bound_sequence",))
    room = Room(0.25 * exact.operations(), None, None, stages=stages)
    budgets = SearchBudgets(operations=2e7)  # leaves out the free vectors
    with one_thread():
        found = offer_bound_sequences(
            Asked(of.machine, of.program, likely_inputs(of.machine, 50), room, budgets)
        )
    asked, usual = (
        {stage.kernel_evaluations() for stage, text in some if text.endswith("support vectors)")}
        for some in (found, usual_offers())
    )
    assert usual < asked
    assert 0.5 < max(asked) / exact.n_vectors < 0.7


def test_a_spent_budget_leaves_the_support_vectors():
    budgets = SearchBudgets(operations=1e7)
    texts = [text for _, text in offers(0.25, budgets)]
    assert texts and not any("free" in text for text in texts)
    assert any("free vectors is left out" in note for note in budgets.notes)


def test_the_report_says_why_a_machine_has_no_sequence():
    of = machine()
    others = {
        "sigmoid kernel is not positive definite": replace(of.machine, kernel=Sigmoid(0.1, 0.0)),
        "not for linear": replace(of.machine, kernel=Linear()),
    }
    for reason, other in others.items():
        assert reason in why_not(other, of.program)
    exits = certify.left_out(other, of.program, (), [], AskedStages())
    said = "bound_sequence is left out: its bounds are derived for the kernels poly, rbf"
    assert said in str(exits)


def test_a_sum_that_skips_zeros_has_sequences_of_both_lists():
    of = catalogue.emitted(sparse_digits.CASES[0], "host")
    assert not why_not(of.machine, of.program)
    program, ends = of.program, of.program.ends
    room = Room(0.5 * ends.exact.operations(), None, None)
    samples = likely_inputs(of.machine, 100)
    with one_thread():
        found = offer_bound_sequences(
            Asked(run_passes(of.machine), program, samples, room, SearchBudgets())
        )
    assert all(stage.skip_zeros and stage.expands for stage, _ in found)
    assert {text.split()[-2] for _, text in found} == {"support", "free"}

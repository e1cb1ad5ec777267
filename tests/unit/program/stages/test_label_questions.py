"""What the rooms above ask labels, against what the labels do."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import Argmax, Label, Sign, Value, Vote

LABELS = (
    Sign(True),
    Sign(False),
    Value(None),
    Value(np.float32(0.5)),
    Argmax(4),
    Vote(4, False, np.float32(1e-6)),
    Vote(4, True, np.float32(1e-6)),
)


def answers(label: Label, sizes: np.ndarray, bound: float) -> Batch:
    """Return the answers of decisions with equal bounds."""
    batch = Batch.of(np.zeros((len(sizes), 1), np.float32), sizes.shape[1])
    own = {name: getattr(batch, name) for name in batch.__slots__}
    own |= {"decision": sizes, "bound": np.full_like(sizes, bound)}
    return label.run(Batch(**own))


def decisions(label: Label, n: int = 200) -> np.ndarray:
    n_decisions = int(dict(label.shared())["N_DECISIONS"])
    return np.random.default_rng(5).normal(size=(n, n_decisions)).astype(np.float32)


@pytest.mark.parametrize("label", LABELS, ids=str)
def test_every_decision_counts_for_some_answer_where_signs_give_it(label):
    resting = label.rests_on()
    if resting:
        assert {p for own in resting for p in own} == set(range(decisions(label).shape[1]))
    if label.by_votes:
        assert {len(own) for own in resting} == {label.n_classes - 1}


@pytest.mark.parametrize("label", LABELS, ids=str)
def test_what_is_asked_of_a_batch_is_among_what_its_labels_rest_on(label):
    answered = answers(label, decisions(label), 0.1)
    for p, rows in label.asked(answered):
        for row in np.flatnonzero(rows):
            own = label.rests_on()[max(0, answered.label[row]) if label.by_votes else 0]
            assert p in own
    assert bool(label.asked(answered)) == bool(label.rests_on())


@pytest.mark.parametrize("label", LABELS, ids=str)
def test_the_interval_at_the_own_label_is_the_answer_s(label):
    answered = answers(label, decisions(label), 0.1)
    lower, upper = label.interval_at(answered, answered.label)
    np.testing.assert_array_equal(lower, answered.lower)
    np.testing.assert_array_equal(upper, answered.upper)


@pytest.mark.parametrize("label", LABELS, ids=str)
def test_no_label_changes_while_decisions_move_by_less_than_half_the_margin(label):
    if label.is_value or label.by_votes:
        return
    sizes = decisions(label)
    own = answers(label, sizes, 0.0).label
    half = (0.49 * np.abs(label.margins(sizes.astype(np.float64), own)[0])).astype(np.float32)
    for sign in (-1, 1):
        ways = sign * np.where(np.arange(sizes.shape[1]) % 2, -1, 1).astype(np.float32)
        moved = sizes + half[:, None] * ways
        np.testing.assert_array_equal(answers(label, moved, 0.0).label, own)


def test_the_margin_of_votes_is_that_of_the_label_s_closest_pair():
    label = Vote(3, False, np.float32(1e-6))  # pairs (0, 1), (0, 2), (1, 2)
    own, _ = label.margins(np.array([[3.0, -2.0, 1.0]] * 3), np.arange(3, dtype=np.int32))
    assert own.tolist() == [2.0, 1.0, 1.0]


def test_a_label_without_words_for_the_header_cannot_be_made():
    class Wordless(Label):
        template = "wordless"

        def run(self, batch):
            return batch

        def operations(self):
            return 0

    with pytest.raises(TypeError, match="decisions_text"):
        Wordless()

"""A search asks its budget before it allocates or begins anything."""

from __future__ import annotations

from kmcompile.exits.candidates.search_budget import SearchBudget, SearchBudgets


def test_a_step_within_the_budget_is_allowed_and_leaves_no_note():
    budget = SearchBudget("map", n_bytes=100, operations=10)
    assert budget.allows(100, 10)
    assert budget.notes == ()


def test_operations_add_up_and_bytes_do_not():
    budget = SearchBudget("map", n_bytes=100, operations=10)
    for _ in range(2):
        assert budget.allows(100, 5)
        budget.spend(5)
    assert budget.allows(100)
    assert not budget.allows(operations=1)


def test_the_note_says_how_far_the_search_came_and_which_budget_is_spent():
    budget = SearchBudget("map", n_bytes=7e8, operations=2e12)
    assert not budget.allows(8e8)
    budget.ended("3 boxes")
    assert not budget.allows(operations=3e12)
    budget.ended("4 boxes")
    assert budget.notes == (
        "map was searched only up to 3 boxes: its budget of 700 MB is spent",
        "map was searched only up to 4 boxes: its budget of 2,000 billion multiply-adds is spent",
    )


def test_what_is_left_out_altogether_is_said():
    budget = SearchBudget("map", n_bytes=1e9)
    assert not budget.allows(2e9)
    budget.left_out()
    assert budget.notes == (
        "map is left out: the smallest one would take more than its budget of 1 GB",
    )


def test_parts_share_the_operations_and_the_notes():
    budget = SearchBudget("map", n_bytes=100, operations=10)
    for part in budget.split(2):
        assert part.allows(100, 5)
        assert not part.allows(operations=6)
        part.ended("nothing")
    assert len(budget.notes) == 1


def test_the_budgets_of_a_step_tell_what_is_searched_and_collect_the_notes():
    told = []
    budgets = SearchBudgets(told.append, n_bytes=1)
    budgets.of("map").tell("halving")
    assert told == ["map: halving"]
    assert not budgets.of("tree").allows(2)
    budgets.of("tree").ended("1 centre")
    assert budgets.notes == budgets.of("tree").notes
    assert budgets.of("map").notes == ()

"""Exits that decide next to nothing are tried once, and not again by a comparison of modes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from kmcompile.exits.certified.choice import promising


def tried(kind: str, share: float) -> SimpleNamespace:
    decided = np.arange(1000) < 1000 * share
    return SimpleNamespace(stage=SimpleNamespace(template=kind), decided=decided)


def test_exits_that_decide_nothing_are_left_out_but_for_the_best_of_their_kind():
    few = [tried("a", 0.0), tried("a", 0.002), tried("a", 0.001)]
    many = [tried("b", 0.5), tried("b", 0.02), tried("b", 0.0)]
    assert promising([*few, *many]) == [few[1], many[0], many[1]]

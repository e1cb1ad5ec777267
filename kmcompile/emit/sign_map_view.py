"""The view of the stage `sign_map`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.stages.sign_map import HALVED, NEGATIVE, OPEN, POSITIVE, SignMap


@dataclass(frozen=True, slots=True)
class MapFeatureView:
    """One feature of a map's grid."""

    number: int
    low: np.float32
    width: np.float32
    scale: np.float32
    across: int


@dataclass(frozen=True, slots=True)
class SignMapView:
    """What templates/stages/sign_map.c.j2 and templates/sign_map/ need.

    Parameters
    ----------
    features : tuple of MapFeatureView
    n_roots, n_nodes, depth : int
        Boxes of the grid, all boxes, and how often one is halved at the most.
    negative, positive, halved, open : int
        The kinds of boxes.
    """

    features: tuple[MapFeatureView, ...]
    n_roots: int
    n_nodes: int
    depth: int
    negative: int = NEGATIVE
    positive: int = POSITIVE
    halved: int = HALVED
    open: int = OPEN

    @property
    def others(self) -> tuple[MapFeatureView, ...]:
        """The features after the first."""
        return self.features[1:]

    @property
    def has_depth(self) -> bool:
        """Whether any box is halved."""
        return self.depth > 0


def sign_map_view(stage: SignMap) -> SignMapView:
    """Return the view of the stage."""
    rows = zip(stage.low, stage.width, stage.scale, stage.across.tolist(), strict=True)
    features = tuple(MapFeatureView(j, *row) for j, row in enumerate(rows))
    return SignMapView(features, stage.n_roots, stage.n_nodes, stage.depth)

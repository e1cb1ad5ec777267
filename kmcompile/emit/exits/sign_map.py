"""The view of the stage `sign_map`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.emit.exits.exit_view import ExitView, Site
from kmcompile.program.stages.early_exits.sign_map import SignMap


@dataclass(frozen=True, slots=True)
class MapFeatureView:
    """One feature of a map's grid.

    Parameters
    ----------
    low_code, width_codes, shift : int
        In units of codes: where the grid begins, its width, and log2 of the smallest box's width.
    """

    number: int
    low: np.float32
    width: np.float32
    scale: np.float32
    across: int
    low_code: int = 0
    width_codes: int = 0
    shift: int = 0

    @property
    def less_low(self) -> str:
        """The C that subtracts the code at which the grid begins; "" if this code is 0."""
        sign = "-" if self.low_code > 0 else "+"
        return f" {sign} {abs(self.low_code)}" if self.low_code else ""


@dataclass(frozen=True, slots=True)
class SignMapView(ExitView):
    """Values for templates/stages/sign_map.c.j2 and templates/sign_map/.

    Parameters
    ----------
    features : tuple of MapFeatureView
    x_type : str
        The C type of the inputs that the map looks up.
    of_codes : bool
        Whether the inputs are integer codes.
    depth : int
        Most halvings of a box.
    """

    stage: SignMap
    features: tuple[MapFeatureView, ...]
    x_type: str
    of_codes: bool
    depth: int

    @property
    def others(self) -> tuple[MapFeatureView, ...]:
        """The features after the first one."""
        return self.features[1:]

    @property
    def has_depth(self) -> bool:
        """Whether a box of the map is halved."""
        return self.depth > 0

    @classmethod
    def of(cls, stage: SignMap, site: Site) -> SignMapView:
        """Return the view of a stage at its place."""
        rows = zip(stage.low, stage.width, stage.scale, stage.across.tolist(), strict=True)
        features = tuple(MapFeatureView(j, *row) for j, row in enumerate(rows))
        x_type = "float"
        quantize = site.program.prepare.quantize
        if stage.in_integers:
            per_unit = 1.0 if quantize is None else float(quantize.per_unit)
            features = tuple(_of_codes(feature, per_unit) for feature in features)
            x_type = f"{site.program.name}_input_t"
        return cls(stage, features, x_type, stage.in_integers, stage.depth)

    def sections(self, context: dict[str, Any]) -> list[str]:
        """Return the C functions of the stage."""
        own = {**context, "stage": self.stage, "view": self}
        places = "code_places" if self.of_codes else "places"
        return [
            *(render(f"sign_map/{part}.c.j2", **own) for part in (places, "boxes")),
            render("stages/sign_map.c.j2", **own),
        ]


def _of_codes(feature: MapFeatureView, per_unit: float) -> MapFeatureView:
    """Return the feature with its grid in codes; exact, since low and width are whole units."""
    return replace(
        feature,
        low_code=int(feature.low * per_unit),
        width_codes=int(feature.width * per_unit),
        shift=int(np.log2(per_unit / feature.scale)),
    )

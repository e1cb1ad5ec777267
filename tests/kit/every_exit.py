"""Every certified exit that a machine can have, those on request among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

from kmcompile.exits.certified import certify
from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.certified.offers import Offer


def fit_every(*arguments: Any) -> list[Offer]:
    """Return what `certify.fit` returns if all exits are searched for."""
    fits = [replace(made, why_asked_only=lambda machine: "") for made in certified_fits()]
    with patch.object(certify, "certified_fits", lambda: fits):
        return certify.fit(*arguments)

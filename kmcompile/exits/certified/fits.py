"""The registry of certified exits: the function that fits each kind."""

from __future__ import annotations

from kmcompile.exits.certified.folded_weights import offer_folded_weights
from kmcompile.exits.certified.offers import CertifiedFit
from kmcompile.exits.certified.sequence_offers import offer_bound_sequences
from kmcompile.exits.certified.sign_map import offer_sign_maps
from kmcompile.exits.certified.subspace import offer_subspaces

_FITS: list[CertifiedFit] = [
    offer_sign_maps,
    offer_folded_weights,
    offer_bound_sequences,
    offer_subspaces,
]


def certified_fits() -> tuple[CertifiedFit, ...]:
    """Return the functions that fit each kind of certified exit, in the order they are tried."""
    return tuple(_FITS)


def register_certified_fit(fit: CertifiedFit) -> None:
    """Register a function that fits one more kind of certified exit; it is tried after all others.

    Registering a fit twice changes nothing.
    """
    if fit not in _FITS:
        _FITS.append(fit)

"""The registry of certified exits: the fit of each kind."""

from __future__ import annotations

from kmcompile.exits.certified import (
    bound_sequence,
    leaf_expansion,
    local_expansion,
    quadratic,
    sequence_offers,
    sign_map,
    subspace,
    taylor_polynomial,
)
from kmcompile.exits.certified.offers import CertifiedFit
from kmcompile.program.stages import (
    BoundSequence,
    LeafExpansion,
    LocalExpansion,
    QuadraticBounds,
    SignMap,
    SubspaceCertificate,
    TaylorPolynomial,
)

_FITS: list[CertifiedFit] = [
    CertifiedFit(SignMap, sign_map.offer_sign_maps, sign_map.why_not),
    CertifiedFit(LocalExpansion, local_expansion.offer_local_expansion, local_expansion.why_not),
    CertifiedFit(
        TaylorPolynomial, taylor_polynomial.offer_taylor_polynomials, taylor_polynomial.why_not
    ),
    CertifiedFit(
        BoundSequence,
        sequence_offers.offer_bound_sequences,
        bound_sequence.why_not,
        bound_sequence.why_unasked,
    ),
    CertifiedFit(QuadraticBounds, quadratic.offer_quadratic, quadratic.why_not),
    CertifiedFit(SubspaceCertificate, subspace.offer_subspaces, subspace.why_not),
    CertifiedFit(LeafExpansion, leaf_expansion.offer_leaf_expansion, leaf_expansion.why_not),
]


def certified_fits() -> tuple[CertifiedFit, ...]:
    """Return the fits of all kinds, in the order in which they are tried."""
    return tuple(_FITS)


def register_certified_fit(fit: CertifiedFit) -> None:
    """Register one more kind of certified exit; it is tried after all others.

    Registering a fit twice changes nothing.
    """
    if fit not in _FITS:
        _FITS.append(fit)

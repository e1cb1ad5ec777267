"""P^, N^, P and N in three dimensions, from their six distances (2001, eq. 24-32)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bound_search.points import DistanceForm, Pair, squared_distance


@dataclass(frozen=True, slots=True)
class Embedding:
    """p = (0, 0, 0), n = (n_x, 0, 0), P = (P_x, P_y, 0), N = (N_x, N_y, N_z)."""

    n_x: float
    P_x: float
    P_y: float
    N_x: float
    N_y: float
    N_z: float


def embed(form: DistanceForm, pair: Pair) -> Embedding:
    """Return the embedding of P^, N^ and the P, N of a decision.

    Where two coordinates are not determined, any choice that keeps the six distances will do:

    - d_pn = 0: every direction is the x-axis. P and N get no x, so that Q_x, unknown then, is one
      more coordinate that leaves g alone, as Q_w is.
    - P_y = 0, P on the x-axis: N is turned about it until N_y = 0. Close to it P_y, a difference
      of squares, has lost half of its digits, and with it what they say of N; `line_bounds` never
      asks for P_y.
    """
    kernel, P, N, p, n = form.kernel, form.positive, form.negative, pair.positive, pair.negative
    pn, Pp, Pn, Np, Nn, PN = (
        squared_distance(kernel, U, V) for U, V in ((p, n), (P, p), (P, n), (N, p), (N, n), (P, N))
    )
    n_x = float(np.sqrt(pn))
    P_x = (Pp - Pn + pn) / (2 * n_x) if n_x > 0 else 0.0
    N_x = (pn + Np - Nn) / (2 * n_x) if n_x > 0 else 0.0
    P_y = float(np.sqrt(max(Pp - P_x**2, 0.0)))
    beyond = max(Np - N_x**2, 0.0)
    N_y = 0.0
    if P_y > 0:
        N_y = (PN - Np - P_x**2 - P_y**2 + 2 * P_x * N_x) / (-2 * P_y)
        N_y = float(np.clip(N_y, -np.sqrt(beyond), np.sqrt(beyond)))
    return Embedding(n_x, P_x, P_y, N_x, N_y, float(np.sqrt(max(beyond - N_y**2, 0.0))))

"""Register early exits that are defined outside the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kmcompile import resources
from kmcompile.additions import check_addition, check_stored
from kmcompile.emit.exits.exit_view import ExitView
from kmcompile.emit.exits.views import register_exit_view
from kmcompile.exits.certified.fits import register_certified_fit
from kmcompile.exits.certified.offers import CertifiedFit
from kmcompile.exits.statistical.fits import register_statistical_fit
from kmcompile.exits.statistical.statistical_fit import StatisticalFit
from kmcompile.program.stages import CATALOGUE, EarlyExit

_REGISTERED: list[type[EarlyExit]] = []


def register_exit(
    stage: type[EarlyExit],
    fit: StatisticalFit[Any] | CertifiedFit,
    templates: Path,
    view: type[ExitView] | None = None,
) -> None:
    """Register an early exit that is defined outside the package, so that programs may contain it.

    Registering a class twice changes nothing. After an error nothing is registered.

    Parameters
    ----------
    stage : type of EarlyExit
        The stage: its meaning, its cost and all methods that an early exit must have.
    fit : StatisticalFit or CertifiedFit
        How stages are fitted to a machine.
    templates : Path
        Folder with the C template `stages/NAME.c.j2`, where NAME is `stage.template`.
    view : type of ExitView, optional
        The view that fills the templates, needed if the stage uses more than one template.

    Raises
    ------
    ValueError
        If the class lacks something, derives from another stage or is no dataclass with slots, the
        name is another stage's, the template is not there, or the fit is for exits of another kind.
    """
    if stage in _REGISTERED:
        return
    known = (*CATALOGUE, *_REGISTERED)
    check_addition(stage, known, ("template",))
    name = stage.template
    if name in {other.template for other in known}:
        raise ValueError(f"{stage.__name__}: there is another stage with the name {name}")
    path = templates / "stages" / f"{name}.c.j2"
    if not path.is_file():
        raise ValueError(f"{path}: the template of {stage.__name__} is not there")
    _check_fit(stage, fit)
    check_stored(stage)
    resources.register_templates(templates, f"stages/{name}.c.j2")
    if isinstance(fit, StatisticalFit):
        register_statistical_fit(fit)
    else:
        register_certified_fit(fit)
    register_exit_view(stage, view or ExitView)
    _REGISTERED.append(stage)


def _check_fit(stage: type[EarlyExit], fit: StatisticalFit[Any] | CertifiedFit) -> None:
    """Refuse a fit that is not for exits of this kind."""
    kinds = {"statistical": StatisticalFit, "certified": CertifiedFit}
    kind = kinds.get(stage.exit or "")
    if kind is None:
        raise ValueError(f"{stage.__name__} is {stage.exit}: there is no such fit for it")
    if not isinstance(fit, kind) or fit.kind is not stage:
        raise ValueError(f"{stage.__name__} is {stage.exit}: its fit is no {kind.__name__} of it")

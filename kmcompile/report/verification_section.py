"""The section `verification` of report.json, for compilations and repeated verifications."""

from __future__ import annotations

from collections.abc import Sequence

from kmcompile.program.program import Program
from kmcompile.report.missing import Content, Missing, each_known, known
from kmcompile.text.figures import count_text
from kmcompile.verify.checked import NO_LABELS, Certified
from kmcompile.verify.checks import ModelCheck
from kmcompile.verify.findings import Findings

_LABELS = "the answers are labels"


def verification_section(
    program: Program,
    findings: Findings,
    no_check: str,
    commands: Sequence[str],
    is_reduced: bool = False,
) -> Content:
    """Return the section on the checks and their queries.

    Parameters
    ----------
    program : Program
    findings : Findings
    no_check : str
        The reason if the answers were not compared with the float64 model.
    commands : sequence of str
        Commands that repeat the checks, run beside the output folder.
    is_reduced : bool
        Whether the machine has fewer vectors than the trained one, whose labels it seldom proves.
    """
    check, skipped = findings.check, findings.skipped
    no_probabilities = "the model has no probabilities" if program.probability is None else no_check
    no_tolerance = "there is no input tolerance" if program.box is None else no_check
    within = check and check.within_tolerance
    if within is not None:
        no_tolerance = NO_LABELS if program.is_regression else _LABELS
    certified: Certified | Missing = Missing(no_check)
    if check is not None:
        certified = _certified(check, findings, is_reduced)
    return dict(
        queries_source=findings.source,
        exact=dict(
            host=known(findings.host, skipped.get("host", "")),
            target=known(findings.target, skipped.get("target", "")),
        ),
        bounded=each_known(check and check.bounded, NO_LABELS if check else no_check),
        certified=certified,
        probabilities=known(check and check.probabilities, no_probabilities),
        input_tolerance=each_known(within, no_tolerance),
        commands=commands,
    )


def _certified(check: ModelCheck, findings: Findings, is_reduced: bool) -> Certified | Missing:
    """Return what is certified, or why no label of a reduced machine is, and how many differ."""
    found = check.certified
    if found is None:
        return Missing(NO_LABELS)
    if not is_reduced or found.certified_share:
        return found
    if findings.source == "generated":
        return Missing("not applicable: a machine of fewer vectors proves no label")
    unlike = f"{count_text(check.label_disagreements)} of {count_text(found.queries)}"
    return Missing(f"not applicable, {unlike} labels of the samples differ")

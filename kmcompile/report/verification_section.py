"""The section `verification` of report.json, for compilations and repeated verifications."""

from __future__ import annotations

from collections.abc import Sequence

from kmcompile.program.program import Program
from kmcompile.report import checked
from kmcompile.report.section import Section
from kmcompile.text.figures import count_text
from kmcompile.verify.checked import NO_LABELS, Certified
from kmcompile.verify.findings import Findings

_LABELS = "the answers are labels"


def verification_section(
    program: Program,
    findings: Findings,
    no_check: str,
    commands: Sequence[str],
    is_reduced: bool = False,
) -> Section[checked.Verification]:
    """Return the section on the checks and their queries.

    Parameters
    ----------
    program : Program
    findings : Findings
    no_check : str
        The reason if the answers were not compared with the float64 model.
    commands : sequence of str
        Commands that repeat the checks.
    is_reduced : bool
        Whether the machine has fewer vectors than the trained one, whose labels it seldom proves.
    """
    check = findings.check
    certified = check.certified if check else None
    reasons = {
        f"verification.exact.{machine}": findings.skipped[machine]
        for machine in ("host", "target")
        if machine in findings.skipped
    }
    if check is None:
        reasons |= {f"verification.{name}": no_check for name in ("bounded", "certified")}
    elif program.is_regression:
        fields = ("bounded.sign_disagreements", "certified")
        reasons |= {f"verification.{name}": NO_LABELS for name in fields}
    elif is_reduced and certified is not None and not certified.certified_share:
        reasons["verification.certified"] = _differing(
            check.label_disagreements, certified, findings
        )
        certified = None
    if check is None or check.probabilities is None:
        reasons["verification.probabilities"] = (
            "the model has no probabilities" if program.probability is None else no_check
        )
    if check is None or check.within_tolerance is None:
        reasons["verification.input_tolerance"] = (
            "there is no input tolerance" if program.box is None else no_check
        )
    elif program.is_regression:
        of_labels = ("certified_share", "certified_alone_share", "changed_share")
        reasons |= {f"verification.input_tolerance.{name}": NO_LABELS for name in of_labels}
    else:
        of_values = ("mean_half_width", "mean_reached")
        reasons |= {f"verification.input_tolerance.{name}": _LABELS for name in of_values}
    content = checked.Verification(
        queries_source=findings.source,
        exact=checked.Exact(host=findings.host, target=findings.target),
        bounded=check.bounded if check else None,
        certified=certified,
        probabilities=check.probabilities if check else None,
        input_tolerance=check.within_tolerance if check else None,
        commands=commands,
    )
    return Section(content, reasons)


def _differing(unlike: int, checked: Certified, findings: Findings) -> str:
    """Return why no label of a reduced machine is certified, and how many differ."""
    if findings.source == "generated":
        return "not applicable: a machine of fewer vectors proves no label"
    found = f"{count_text(unlike)} of {count_text(checked.queries)}"
    return f"not applicable, {found} labels of the samples differ"

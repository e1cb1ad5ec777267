"""Gappa's proofs as Coq checks them, with the rewritings of the scripts proved, too."""

from __future__ import annotations

import re
import shutil
from itertools import combinations
from pathlib import Path

from evidence.rounding.proof import Proof
from kmcompile.errors import ToolError
from kmcompile.tools.toolchain import run_process

COMMANDS = ("coqc", "gappa")
PACKAGES = ("coq", "libcoq-gappa", "gappa")
_WRITING_S, _CHECKING_S = 60.0, 300.0
"""Seconds of processor time."""
_MOST_OPENED = 3
"""Names in a rewriting whose definitions are needed at once to prove it, at most."""

_NEAR = 3
"""How far from the rewriting such a name is: in it, or in the definition of one that is."""

_IMPORT = "Require Import Gappa.Gappa_library.\n"
_TACTIC = """Require Import Reals Lra Gappa.Gappa_library.
Lemma half_2 : float2R (Float2 1 (-1)) = (/ 2)%R.
Proof. unfold float2R, Defs.F2R; simpl. lra. Qed.
Lemma half_10 : float10R (Float10 5 (-1)) = (/ 2)%R.
Proof. unfold float10R, Defs.F2R; simpl. lra. Qed.
Ltac same :=
  cbv [Float1]; rewrite ?half_2, ?half_10; intros; first [ reflexivity | field ];
  repeat split; solve [ assumption | lra | nra ].
"""
_NOTATION = re.compile(r"^Notation (\w+) := \((.*)\)\.$", re.MULTILINE)
_REWRITING = re.compile(r"^Hypothesis (a\d+) : (.*)\.$", re.MULTILINE)
_ASSUMED = re.compile(r"\b(Hypothesis|Axiom|Parameter|Admitted|admit)\b")


def installed() -> bool:
    """Return whether Coq and its library for Gappa are there."""
    return all(shutil.which(command) is not None for command in COMMANDS)


def version(folder: Path) -> str:
    """Return the name and version of Coq."""
    _, output = run_process(["coqc", "--version"], folder, _CHECKING_S, "coqc --version")
    return output.splitlines()[0]


def check(folder: Path, proof: Proof) -> str:
    """Let Gappa write the proof of a script, and Coq check it; return "" or what went wrong.

    Parameters
    ----------
    folder : Path
        Of the script, which gets the proof, as <name>.v.
    proof : Proof
    """
    name = f"{proof.name}.v"
    try:
        script = f"gappa -Bcoq {proof.name}.g > {name} 2> /dev/null"
        code, _ = run_process(["sh", "-c", script], folder, _WRITING_S, f"gappa -Bcoq on {name}")
        if code != 0:
            (folder / name).unlink(missing_ok=True)
            return "Gappa writes no proof for Coq"
        text = with_lemmas((folder / name).read_text(encoding="utf-8"))
        (folder / name).write_text(text, encoding="utf-8")
        code, output = run_process(["coqc", name], folder, _CHECKING_S, f"coqc on {name}")
    except (ToolError, ValueError) as error:  # ValueError: something is assumed
        (folder / name).unlink(missing_ok=True)
        return str(error).splitlines()[0]
    for pattern in (f"{proof.name}.vo*", f"{proof.name}.glob", f".{proof.name}.aux"):
        for left in folder.glob(pattern):
            left.unlink()
    return "" if code == 0 else " ".join(output.split())[:200]


def with_lemmas(text: str) -> str:
    """Return Gappa's proof in which each rewriting is a lemma that is proved, not a hypothesis.

    Rewritings are identities of a field. The names in them stand for long terms, most of which
    play no part: all but a few are made variables first. Which few is found by trying.

    Examples
    --------
    >>> text = "Require Import Gappa.Gappa_library.\\nHypothesis a1 : x = x.\\n"
    >>> "Lemma a1 : x = x." in with_lemmas(text)
    True
    """
    notations = dict(_NOTATION.findall(text))
    text = text.replace(_IMPORT, _TACTIC, 1)
    text = _REWRITING.sub(lambda found: _lemma(found[1], found[2], notations), text)
    if _ASSUMED.search(text):
        raise ValueError("something in Gappa's proof is assumed")
    return text


def _lemma(name: str, statement: str, notations: dict[str, str]) -> str:
    near = _names_in(statement, notations, _NEAR)
    met = _names_in(statement, notations, len(notations))
    terms = [one for one in reversed(notations) if one in met and _is_term(one, notations)]
    own = [one for one in terms if one in near]
    choices = [one for n in range(_MOST_OPENED + 1) for one in combinations(own, n)]
    tries = [
        " ".join([*(f"try generalize {one};" for one in terms if one not in opened), "same"])
        for opened in (*choices, own)
    ]
    attempts = "\n  | ".join(tries)
    return f"Lemma {name} : {statement}.\nProof.\nfirst\n  [ {attempts} ].\nQed."


def _is_term(name: str, notations: dict[str, str]) -> bool:
    """Return whether it is a name of the script, of no constant and no rounded term."""
    return name.startswith("_") and not notations[name].startswith(
        ("(rounding_", "(float2R", "(float10R")
    )


def _names_in(text: str, notations: dict[str, str], depth: int) -> set[str]:
    """Return the names in a text, those in the definitions of these, and so on.

    Names that Gappa gave to parts of terms are passed through; `depth` counts those of the script.
    """
    met: set[str] = set()
    for name in set(re.findall(r"\w+", text)) & set(notations):
        left = depth - name.startswith("_")
        if left >= 0:
            met |= {name} | _names_in(notations[name], notations, left)
    return met

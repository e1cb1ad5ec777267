"""Gappa's scripts are made from the emitted C: they hold its constants and its operations."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp, mpf

from evidence.rounding import coq, cosine, exponential, long_exponential, part, roots, tanh
from evidence.rounding.constants import LN2, PI, rest
from evidence.rounding.series import exponential as series_of_exp
from evidence.rounding.series import fractions_of, largest, product
from evidence.rounding.statements import read_function
from kit.tools import need
from kmcompile import resources
from kmcompile.emit.environment import render
from kmcompile.evidence.finding import Outcome
from kmcompile.numeric.scalar import cosine as cosine_of
from kmcompile.numeric.scalar import (
    cosine_double,
    exp2_long,
    exp_negative,
    exp_negative_double,
    tanh_double,
)
from kmcompile.numeric.scalar import tanh as tanh_of

_NUMBER = re.compile(r"-?0x[0-9a-fA-F.]+p[+-]?\d+")


@pytest.fixture(scope="module")
def claims():
    return {claim.function: claim for claim in part.all_claims()}


def hexadecimals(text):
    return set(map(abs, map(float.fromhex, _NUMBER.findall(text))))


def operations_of(claim):
    """Every operation without a rounding is one of the C, with the names of the proof."""
    return "\n".join(proof.text for proof in claim.proofs)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [
        *("exp_negative", "exp_negative_double", "one_minus_exp", "cosine", "cosine_double"),
        *("tanh", "log1p", "log1p_double"),
    ],
)
def test_scripts_hold_every_constant_of_the_emitted_c(claims, name):
    """The C's comment is left out: it has the bound, not a number that is computed with."""
    claim = claims[name]
    code = re.sub(r"/\*.*?\*/", "", claim.code, flags=re.DOTALL)
    # The clipping of tanh and the part of the file that is another function are not computed with.
    code = code.replace("limit.value = 0x1p+3f;", "")
    if name == "one_minus_exp":
        code = code[: code.index("_exp_negative(")]
    assert hexadecimals(code) <= hexadecimals(operations_of(claim)) | {707.0}


def test_every_template_of_a_scalar_function_has_a_claim(claims):
    folder = resources.template_folders()[-1] / "scalar"
    templates = {path.name.split(".")[0] for path in folder.iterdir()} | {"exp2_long"}
    assert templates <= set(claims), templates - set(claims)


CHANGES = [
    (exponential, exp_negative, "COEFFICIENTS", 2, "exp_negative"),
    (exponential, exp_negative_double, "LN2_LOW", (), "exp_negative_double_reduction"),
    (cosine, cosine_of, "PI_MIDDLE", (), "cosine_reduction"),
    (cosine, cosine_double, "COEFFICIENTS", -1, "cosine_double_0"),
    (tanh, tanh_of, "NUMERATOR", 2, "tanh"),
]


@pytest.mark.few
@pytest.mark.parametrize(("module", "function", "name", "at", "script"), CHANGES)
def test_a_changed_constant_of_the_c_changes_the_script(
    module, function, name, at, script, monkeypatch
):
    """A script holds what the C holds, not what the Python module says."""
    before = {proof.name: proof.text for claim in module.claims() for proof in claim.proofs}
    changed = np.array(getattr(function, name))
    changed[at] = np.nextafter(changed[at], changed.dtype.type(9.0))
    other = SimpleNamespace(**{**vars(function), name: changed})

    def render_other(template, scalar, **names):
        return render(template, scalar=other if scalar is function else scalar, **names)

    monkeypatch.setattr(module, "render", render_other)
    after = {proof.name: proof.text for claim in module.claims() for proof in claim.proofs}
    assert before[script] != after[script]


@pytest.mark.parametrize(("name", "at"), [("SHORT", -1), ("SHORT", 0), ("LONG", 0)])
def test_a_changed_coefficient_of_the_integers_changes_the_script(name, at, monkeypatch):
    (before,) = long_exponential.claims()[0].proofs
    changed = list(getattr(exp2_long, name))
    changed[at] += 1
    monkeypatch.setattr(exp2_long, name, tuple(changed))
    assert long_exponential.claims()[0].proofs[0].text != before.text


@pytest.mark.parametrize(
    ("function", "text", "other"),
    [
        ("k_exp2_long", ">> 19U", ">> 18U"),
        ("k_exp2_long", "shift = 23U + ", "shift = 22U + "),
        ("k_less", "return c - ", "return c + "),
        ("k_upper_product", "(right >> 32U)", "(right >> 31U)"),
    ],
)
def test_another_operation_on_integers_is_refused(claims, function, text, other):
    code = claims["exp2_long"].code
    assert code.count(text) == 1
    stated = {
        "k_exp2_long": long_exponential.statements(),
        "k_less": long_exponential.LESS,
        "k_upper_product": long_exponential.PRODUCT,
    }[function]
    read_function(code, function, bits=stated, integer=True)
    with pytest.raises(ValueError, match="other statements on bits"):
        read_function(code.replace(text, other), function, bits=stated, integer=True)


def test_another_statement_on_bits_is_refused():
    code = render("scalar/exp_negative.c.j2", name="k", scalar=exp_negative)
    with pytest.raises(ValueError, match="other statements on bits"):
        read_function(code.replace("<< 23U", "<< 24U"), "k_exp_negative", bits=exponential.BITS)
    with pytest.raises(ValueError, match="other statements on bits"):
        read_function(code.replace("c2", "c3"), "k_exp_negative")


def test_an_operation_of_the_c_is_rounded_and_a_contracted_product_is_not():
    code = "static float k_f(const float x) { float y = (x * x) + 0x1p-1f; return y; }"
    function = read_function(code, "k_f")
    assert function.lines() == ["y_a = b32(x * x);", "y = b32(y_a + 0x1p-1);"]
    assert function.contracted().lines() == ["y_a = x * x;", "y = b32(y_a + 0x1p-1);"]


def test_polynomials_are_bounded_from_above_and_closely():
    error = product(
        [Fraction(1), Fraction(-1), *fractions_of(exp_negative.COEFFICIENTS)], series_of_exp(30)
    )
    error[0] -= 1
    bound = max(largest(error, Fraction(-1, 3), Fraction(1, 3), 32))
    s = np.linspace(-1 / 3, 1 / 3, 501)
    worst = max(abs(float(sum(c * Fraction(x) ** k for k, c in enumerate(error)))) for x in s)
    assert worst <= bound <= 2 * worst


def test_enclosures_hold_the_constants():
    with mp.workprec(300):
        for (low, high), exact in ((LN2, mp.log(2)), (PI, +mp.pi)):
            assert (
                mpf(low.numerator) / low.denominator
                < exact
                < mpf(high.numerator) / (high.denominator)
            )
            assert high - low < Fraction(1, 2**230)
    assert rest((Fraction(3, 4), Fraction(3, 4)), 0.5) == f"[{2**198}b-200, {2**198}b-200]"


def test_start_of_the_root_bound_is_within_its_limit():
    bits = np.arange(np.float32(1).view(np.uint32), np.float32(4).view(np.uint32), 5, np.uint32)
    start = ((bits >> 1) + np.uint32(others_magic())).view(np.float32).astype(np.float64)
    off = np.abs(start / np.sqrt(bits.view(np.float32).astype(np.float64)) - 1).max()
    assert off <= float(roots.start_error()) <= off + 1e-5


def others_magic():
    return roots.root_bound.MAGIC


def test_series_of_tanh_reaches_its_bound():
    """The end of the series in tanh_double is that of 1 - exp(-0.34), rounded up."""
    assert 1 - np.exp(-tanh_double.REDUCED_END) < 0.2882300
    assert np.exp(-tanh_double.REDUCED_END) < 0.7117704


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [
        "exp_negative_double",
        "exp2_long",
        "log1p",
        "log1p_double",
        "logistic",
        "power",
        "root_bound",
    ],
)
def test_gappa_proves_the_quick_scripts(claims, name, tmp_path):
    need("gappa")
    part.write(tmp_path, claims[name])
    assert [
        run.output
        for run in map(lambda one: part.run_gappa(tmp_path, one), claims[name].proofs)
        if not run.proved
    ] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "script", "bound", "share"),
    [
        ("logistic", "logistic_lower", r"<= (\d+)b-104 }", 0.9),
        ("exp2_long", "exp2_long", r"exact\| <= (\d+)b-80", 0.3),
    ],
)
def test_gappa_does_not_prove_a_smaller_bound(claims, name, script, bound, share, tmp_path):
    need("gappa")
    proof = next(one for one in claims[name].proofs if one.name == script)
    bound = re.search(bound, proof.text).group(1)
    smaller = replace(proof, text=proof.text.replace(bound, str(int(int(bound) * share))))
    (tmp_path / f"{proof.name}.g").write_text(smaller.text, encoding="utf-8")
    assert not part.run_gappa(tmp_path, smaller).proved


def test_without_gappa_the_finding_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(part.shutil, "which", lambda name: None)
    findings = part.run_part(tmp_path, 1.0)
    assert {one.outcome for one in findings} == {Outcome.NOT_RUN}
    assert "apt-get install" in findings[0].figure
    assert (tmp_path / "cosine" / "cosine_reduction.g").is_file()


COQ = pytest.mark.skipif(not coq.installed(), reason="Coq, or its library for Gappa, is missing")


@COQ
def test_coq_checks_a_proof_and_its_rewritings(claims, tmp_path):
    part.write(tmp_path, claims["logistic"])
    for proof in claims["logistic"].proofs:
        assert coq.check(tmp_path, proof) == ""
        text = (tmp_path / f"{proof.name}.v").read_text(encoding="utf-8")
        assert text.count("Lemma a") == proof.text.count(" -> ") - 1
    assert {path.suffix for path in tmp_path.iterdir()} == {".c", ".g", ".md", ".v"}


@COQ
def test_coq_refuses_a_rewriting_that_is_wrong(claims, tmp_path):
    """Gappa takes it: what it cannot decide, it believes."""
    right = next(one for one in claims["logistic"].proofs if one.name == "logistic_upper")
    wrong = replace(right, text=right.text.replace("EE * (E / (1 + E))", "EE * (E / (2 + E))"))
    assert wrong.text != right.text
    (tmp_path / f"{wrong.name}.g").write_text(wrong.text, encoding="utf-8")
    assert "No applicable tactic" in coq.check(tmp_path, wrong)


def test_a_proof_that_assumes_something_is_refused():
    with pytest.raises(ValueError, match="assumed"):
        coq.with_lemmas("Require Import Gappa.Gappa_library.\nAxiom a1 : False.\n")


@pytest.mark.exhaustive
def test_gappa_proves_every_script(tmp_path):
    """What it does not show of a claim is listed with what else shows it, and nothing more."""
    need("gappa")
    findings = part.run_part(tmp_path, 1.0)
    findings = [one for one in findings if one.claim == part.CLAIM]
    assert len(findings) == len(part.all_claims())
    for finding in findings:
        proved, all_of_them = re.search(r"(\d+) of (\d+) scripts", finding.figure).groups()
        assert proved == all_of_them, finding

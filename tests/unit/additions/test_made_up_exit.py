"""An early exit from outside the package is chosen, compiled, verified, stored and reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

import kmcompile
from kit import additions
from kit.additions.ball import Ball
from kit.additions.ball_fit import BallFit
from kit.tools import need, need_tools
from kmcompile import registering, resources
from kmcompile.emit.exits import views
from kmcompile.emit.exits.exit_view import ExitView
from kmcompile.exits.certified import fits as certified_fits
from kmcompile.exits.certified.offers import CertifiedFit
from kmcompile.exits.statistical import fits as statistical_fits
from kmcompile.exits.statistical.linear import LinearFilterFit
from kmcompile.pipeline import verify_folder
from kmcompile.program import storage
from kmcompile.program.stages import EarlyExit, LinearFilter
from kmcompile.target import load_target

TEMPLATES = Path(additions.__file__).parent / "templates"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten when it ends."""
    monkeypatch.setattr(resources, "_registered", [])
    monkeypatch.setattr(registering, "_REGISTERED", [])
    monkeypatch.setattr(views, "_VIEWS", dict(views._VIEWS))
    for module in (statistical_fits, certified_fits):
        monkeypatch.setattr(module, "_FITS", list(module._FITS))


@pytest.fixture
def registered(registry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ball is known, and beside it the linear filter: the other kinds take seconds to fit."""
    monkeypatch.setattr(statistical_fits, "_FITS", [LinearFilterFit()])
    kmcompile.register_exit(Ball, BallFit(), TEMPLATES)


def samples(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs of shape (n, 3), float32, and whether they lie within a ball, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    return X, ((X**2).sum(axis=1) + 0.3 * rng.normal(size=n) < 2.4).astype(int)


def compiled(target: str, verify: str, out: Path) -> kmcompile.Compiled:
    """Return the program with the made-up exit, by the public call."""
    X, y = samples(1500, seed=3)
    model = SVC(gamma=0.5).fit(X[:300], y[:300])
    others = "sign_map,local_expansion,bound_sequence"
    options = {"risk": "auto", "data": X[300:], "name": "round", "exclude": others}
    return kmcompile.compile_model(model, target=target, verify=verify, out=out, **options)


def assert_verified(report: dict, place: str) -> None:
    """Assert that the exit decides queries, and that the C has the interpreter's bits."""
    exact = report["verification"]["exact"][place]
    assert exact["queries"] > 500 and exact["mismatches"] == 0
    stage = next(stage for stage in report["stages"] if stage["name"] == "ball")
    assert stage["exit"] == "statistical" and stage["decided"] > 0.1


@pytest.mark.exhaustive
@pytest.mark.usefixtures("registered")
def test_a_made_up_exit_is_chosen_verified_stored_and_reported(tmp_path):
    need("gcc")
    out = tmp_path / "out"
    made = compiled("host", "host", out)
    assert_verified(made.report, "host")
    page = (out / "report.html").read_text()
    assert ">ball<" in page
    content = (out / "program.npz").read_bytes()
    program = storage.load(content, "program.npz")
    assert storage.save(program) == content
    assert any(isinstance(stage, Ball) for stage in program.early_exits)
    assert "float from_centre[3U];" in (out / "round.h").read_text()
    fresh, _ = samples(200, seed=9)
    np.testing.assert_array_equal(kmcompile.load(out).classify(fresh), made.classify(fresh))
    facts = verify_folder(out, model=None, test_data=None)
    assert facts["verification"]["exact"]["host"]["mismatches"] == 0


@pytest.mark.target
@pytest.mark.usefixtures("registered")
def test_a_made_up_exit_has_the_bits_of_the_interpreter_on_cortex_m7(tmp_path):
    need_tools(load_target("cortex-m7"))
    assert_verified(compiled("cortex-m7", "target", tmp_path / "out").report, "target")


@pytest.mark.usefixtures("registered")
def test_an_exit_is_registered_once():
    kmcompile.register_exit(Ball, BallFit(), TEMPLATES)
    kinds = [fit.kind for fit in statistical_fits.statistical_fits()]
    assert kinds.count(Ball) == 1


@pytest.mark.usefixtures("registry")
def test_an_exit_without_a_template_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"ball\.c\.j2: the template of Ball is not there"):
        kmcompile.register_exit(Ball, BallFit(), tmp_path)
    assert resources._registered == []


@pytest.mark.usefixtures("registry")
def test_an_exit_that_lacks_a_method_is_refused():
    class Nothing(EarlyExit):
        template = "nothing"

    with pytest.raises(ValueError, match="Nothing lacks decide, operations"):
        kmcompile.register_exit(Nothing, BallFit(), TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_a_name_of_another_stage_and_a_fit_of_another_kind_are_refused():
    class Same(Ball):
        template = "linear_filter"

    with pytest.raises(ValueError, match="another stage with the name linear_filter"):
        kmcompile.register_exit(Same, BallFit(), TEMPLATES)
    with pytest.raises(ValueError, match="Ball is statistical: its fit is no StatisticalFit of it"):
        kmcompile.register_exit(Ball, lambda asked: [], TEMPLATES)


@pytest.mark.usefixtures("registered")
def test_a_second_exit_with_the_name_of_the_first_is_refused(tmp_path):
    """Otherwise the C of the second exit would be written by the template of the first."""

    class Other(EarlyExit):
        template = "ball"
        exit = "certified"
        decide = Ball.decide
        operations = Ball.operations

    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "ball.c.j2").write_text("")
    with pytest.raises(ValueError, match="Other: there is another stage with the name ball"):
        kmcompile.register_exit(Other, CertifiedFit(Other, lambda asked: []), tmp_path)


@pytest.mark.usefixtures("registered")
def test_an_exit_that_derives_from_another_is_refused():
    class Wider(Ball):
        template = "wider"

    with pytest.raises(ValueError, match="Wider derives from Ball, whose formulas"):
        kmcompile.register_exit(Wider, BallFit(), TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_after_an_error_nothing_of_an_exit_is_registered(tmp_path):
    """The folder's template is one that another folder has: the last thing that is checked."""
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "ball.c.j2").write_text("")
    resources.register_templates(tmp_path)
    with pytest.raises(ValueError, match="another one with this name is in"):
        kmcompile.register_exit(Ball, BallFit(), TEMPLATES, ExitView)
    assert Ball not in [fit.kind for fit in statistical_fits.statistical_fits()]
    assert Ball not in views._VIEWS
    assert registering._REGISTERED == []


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("exit_", ["certified", "exact", None])
def test_what_cannot_fit_an_exit_is_refused(exit_):
    class Other(EarlyExit):
        template = "ball"
        exit = exit_
        decide = Ball.decide
        operations = Ball.operations

    with pytest.raises(ValueError, match=f"Other is {exit_}: (there|its fit) is no "):
        kmcompile.register_exit(Other, None, TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_an_exit_that_program_npz_cannot_hold_is_refused():
    class Plain(EarlyExit):
        template = "ball"
        exit = "certified"
        decide = Ball.decide
        operations = Ball.operations

    with pytest.raises(ValueError, match=r"Plain is no @dataclass\(frozen=True, slots=True"):
        kmcompile.register_exit(Plain, CertifiedFit(Plain, lambda asked: []), TEMPLATES)


@pytest.mark.usefixtures("registry")
def test_a_stage_without_a_fit_and_a_second_view_are_refused():
    stage = Ball(*(np.ones(1, np.float32) for _ in range(4)))
    with pytest.raises(TypeError, match="Ball has no fit; give it to register_exit"):
        statistical_fits.fit_of(stage)
    with pytest.raises(ValueError, match="LinearFilter has a view already"):
        views.register_exit_view(LinearFilter, ExitView)

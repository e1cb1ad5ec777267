"""The lines of the pages recipes and exports bring models of other programs to kmcompile.

tests/fault/stored_models/make_exports.py wrote the files of PMML and Core ML and the answers of
scikit-learn, with sklearn2pmml 0.133.1, nyoka 5.5.0 and coremltools 9.0.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import README, RECIPES, blocks
from scipy.io import savemat
from sklearn.datasets import load_iris, make_moons
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kit.tools import need, run, succeed
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.readers import Reading, load_model

pytestmark = pytest.mark.skipif(not README.is_file(), reason="an installed kmcompile has no README")

TRAINERS = Path(__file__).parent / "recipes"
EXPORTS = Path(__file__).parents[2] / "fault" / "stored_models" / "exports"
X, Y = load_iris(return_X_y=True)

# A word of each block of code, and its language.
WORDS = {
    "def save": "python",
    'svm.txt")': "python",
    "loadmat": "python",
    "SupportVectorMachine": "python",
    "load_spec": "python",
    "m.KernelParameters": "matlab",
    "write.svm": "r",
    "xmatrix": "r",
    "svm_save_model": "java",
    "normalized_function": "cpp",
}


def block(word: str) -> str:
    """Return the one block that has a word in it."""
    found = [code for page in RECIPES for code in blocks(page, WORDS[word]) if word in code]
    (code,) = found
    return code


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_python(word: str) -> KernelMachine:
    """Run a block of Python code in a process of its own; return the machine of svm.npz."""
    Path("to_npz.py").write_text(block("def save"))
    Path("recipe.py").write_text(block(word))
    succeed([sys.executable, "recipe.py"])
    return load_model(Path("svm.npz"))


def need_parts(tool: str, *command: str) -> None:
    """Skip the test if a command fails, which uses a part of a tool."""
    if shutil.which(command[0]) is None or run(command).returncode != 0:
        pytest.skip(f"not installed: {tool}")


def names_of(machine: KernelMachine, queries: np.ndarray) -> list[Any]:
    return [machine.classes[i] for i in evaluate(machine, queries).labels]


def assert_near(
    machine: KernelMachine, queries: np.ndarray, expected: np.ndarray, extra: float = 0.0
) -> None:
    """Assert that decisions are as expected: both are within the error of the exact ones."""
    reference = evaluate(machine, queries)
    off = np.abs(reference.decisions - np.reshape(expected, reference.decisions.shape))
    assert (off <= 2 * reference.error + extra).all()


def largest_size(machine: KernelMachine, queries: np.ndarray) -> float:
    """Return the largest norm of a vector and of a prepared query."""
    for step in machine.preprocessing:
        queries = step.apply(queries)
    rows = np.vstack([queries, machine.support_vectors])
    return float(np.sqrt((rows**2).sum(axis=1)).max())


def test_every_block_is_run_by_a_test_here() -> None:
    languages = set(re.findall(r"^```(\w+)", "".join(p.read_text() for p in RECIPES), re.MULTILINE))
    assert languages == {*WORDS.values(), "console"}
    for page in RECIPES:
        for language in set(WORDS.values()):
            for code in blocks(page, language):
                assert sum(word in code and WORDS[word] == language for word in WORDS) == 1, code


@pytest.mark.parametrize("standardized", [False, True])
def test_numbers_of_matlab_become_a_machine(standardized: bool) -> None:
    """MATLAB divides by `scale`, which is 2 here: gamma is 1/4."""
    samples, labels = make_moons(60, noise=0.25, random_state=0)
    scaler = StandardScaler().fit(samples)
    scaled = scaler.transform(samples) if standardized else samples
    model = SVC(gamma=0.25).fit(scaled, labels)
    mu, sigma = (scaler.mean_, scaler.scale_) if standardized else (np.zeros((0, 0)),) * 2
    arrays = {"vectors": model.support_vectors_, "coef": model.dual_coef_.T, "scale": 2.0}
    arrays |= {"bias": model.intercept_, "classes": model.classes_, "mu": mu, "sigma": sigma}
    assert set(arrays) <= set(re.findall(r"'(\w+)'", block("m.KernelParameters")))
    savemat("svm.mat", arrays)
    machine = run_python("loadmat")
    assert_near(machine, samples, model.decision_function(scaled))
    assert machine.classes == (0, 1)


def run_r(package: str, train: str, word: str, answers: str) -> np.ndarray:
    """Run a block of R behind code that trains; return the answers that R gave before it."""
    need_parts(f"{package} of R", "Rscript", "-e", f"library({package})")
    np.savetxt("X.txt", X, "%.17g")
    np.savetxt("y.txt", Y, "%d")
    read = "X <- as.matrix(read.table('X.txt')); y <- scan('y.txt', quiet = TRUE)"
    show = "cat(format(as.numeric(answers), digits = 17), file = 'answers.txt', sep = '\\n')"
    lines = [f"library({package})", "set.seed(0)", read, train, answers, show, block(word)]
    Path("recipe.R").write_text("\n".join(lines))
    succeed(["Rscript", "recipe.R"])
    return np.loadtxt("answers.txt")


def test_classifiers_of_e1071_have_their_scale_and_names() -> None:
    names = "levels <- c('setosa', 'versicolor', 'virginica')"
    train = f"{names}; model <- svm(X, factor(levels[y + 1]))"
    labels = run_r("e1071", train, "write.svm", "answers <- as.integer(predict(model, X)) - 1")
    reading = Reading(before=(Path("svm.scale"),), labels=Path("names.txt"))
    machine = load_model(Path("svm.model"), reading)
    assert machine.classes == ("setosa", "versicolor", "virginica")
    assert evaluate(machine, X).labels.tolist() == labels.tolist()


def test_regressions_of_e1071_give_values_that_are_not_scaled() -> None:
    train = "model <- svm(X[, 1:3], X[, 4])"
    values = run_r("e1071", train, "write.svm", "answers <- predict(model, X[, 1:3])")
    machine = load_model(Path("svm.model"), Reading(before=(Path("svm.scale"),)))
    # Eight digits are 0.5e-7 of the norm away; no slope of rbf is above sqrt(2 gamma / e).
    slope = np.sqrt(2 * machine.kernel.gamma / np.e) * np.abs(machine.dual_coef).sum()
    digits = slope * 0.5e-7 * largest_size(machine, X[:, :3])
    assert_near(machine, X[:, :3], values, digits)
    assert np.abs(values - X[:, 3]).max() < 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("scaled", ["TRUE", "FALSE", "c(TRUE, FALSE, TRUE, TRUE)"])
def test_machines_of_kernlab_become_a_table(scaled: str) -> None:
    kept = "kept <- y > 0; y <- factor(ifelse(y == 2, 1, -1))"
    train = f"{kept}; model <- ksvm(X[kept, ], droplevels(y[kept]), scaled = {scaled})"
    decisions = "answers <- c(predict(model, X, type = 'decision'), predict(model, X))"
    both = run_r("kernlab", train, "xmatrix", decisions)
    machine = run_python('svm.txt")')
    # kernlab has |s - x|^2 from |s|^2, |x|^2 and <s, x>, each of at most size^2.
    size = largest_size(machine, X)
    roundings = machine.kernel.gamma * 4 * (X.shape[1] + 2) * 2.0**-53 * size**2
    assert_near(machine, X, both[: len(X)], np.abs(machine.dual_coef).sum() * roundings)
    assert machine.classes == (-1, 1)
    assert (np.array(names_of(machine, X)) > 0).tolist() == (both[len(X) :] == 2).tolist()


@pytest.mark.exhaustive
@pytest.mark.parametrize("normalized", [False, True])
def test_models_of_weka_become_libsvms(normalized: bool) -> None:
    """With Weka 3.6.14 and LIBSVM 3.24 of Debian 12."""
    need_parts("java", "java", "-version")
    folder = Path("/usr/share/java")
    found = [next(folder.glob(names), None) for names in ("weka.jar", "libsvm*.jar")]
    if None in found:
        pytest.skip("not installed: weka.jar, libsvm.jar")
    paths = ":".join(map(str, found))
    names = [f"@attribute a{i} numeric" for i in range(X.shape[1])]
    rows = [",".join(map(str, [*x, f"class{y}"])) for x, y in zip(X.tolist(), Y, strict=True)]
    head = ["@relation iris", *names, "@attribute c {class0,class1,class2}", "@data"]
    Path("train.arff").write_text("\n".join([*head, *rows, ""]))
    Path("ToLibsvm.java").write_text(block("svm_save_model"))
    options = ["-Z"] if normalized else []
    said = succeed(["java", "-cp", paths, TRAINERS / "Train.java", *options])
    labels = [int(float(label)) for label in re.findall(r"^label (.*)", said, re.MULTILINE)]
    succeed(["java", "-cp", paths, "ToLibsvm.java"])
    before = (Path("svm.range"),) if normalized else ()
    assert Path("svm.range").exists() == normalized
    machine = load_model(Path("svm.model"), Reading(before=before))
    assert names_of(machine, X) == labels
    assert len(set(labels)) == 3


@pytest.mark.exhaustive
def test_functions_of_dlib_become_a_table() -> None:
    need("g++")
    libraries = ["-ldlib", "-lblas"]
    Path("there.cpp").write_text(
        "#if !__has_include(<dlib/svm.h>)\n#error\n#endif\nint main() {}\n"
    )
    need_parts("dlib", "g++", "there.cpp", *libraries)
    Path("to_table.cpp").write_text(block("normalized_function"))
    for source in (TRAINERS / "dlib.cpp", Path("to_table.cpp")):
        succeed(["g++", "-std=c++14", source, "-o", source.stem, *libraries])
    lines = succeed(["./dlib"])
    decisions, *columns = np.array([line.split() for line in lines.splitlines()], float).T
    succeed(["./to_table"])
    machine, samples = run_python('svm.txt")'), np.transpose(columns)
    assert_near(machine, samples, decisions)
    assert names_of(machine, samples) == np.where(decisions >= 0, 1, -1).tolist()


@pytest.mark.parametrize("name", ["jpmml_two", "jpmml_three", "nyoka_two"])
def test_exports_as_pmml_become_a_machine(name: str) -> None:
    shutil.copy(EXPORTS / f"{name}.pmml", "svm.pmml")
    machine = run_python("SupportVectorMachine")
    check_exported(machine, name.partition("_")[2])


@pytest.mark.parametrize("name", ["two", "three"])
def test_exports_as_core_ml_become_a_machine(name: str) -> None:
    need_parts("coremltools", sys.executable, "-c", "import coremltools")
    shutil.copy(EXPORTS / f"{name}.mlmodel", "svm.mlmodel")
    check_exported(run_python("load_spec"), name)


def check_exported(machine: KernelMachine, name: str) -> None:
    stored = np.load(EXPORTS / f"{name}.npz")
    # nyoka writes coefficients and the scaler with 16 decimals.
    decimals = 2.0**-53 * np.abs(machine.dual_coef).size
    assert_near(machine, stored["X"], stored["decisions"], decimals)
    assert names_of(machine, stored["X"]) == stored["answer"].tolist()

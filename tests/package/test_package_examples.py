"""The query that the example of a package asks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import SVC

import kmcompile
from kit import calibrated
from kit.packages import packaged
from kit.tools import need, succeed
from kmcompile.emit.packages.example import Example
from kmcompile.numeric.arrays import Float32Array

X, Y = load_iris(return_X_y=True)


def example_of(samples: Float32Array, **options: str) -> Example:
    compiled = kmcompile.compile_model(
        SVC().fit(X, Y), mode="exact", verify="none", name="iris", **options
    )
    return Example.of(compiled.program, [("A test sample", samples)], ())


@pytest.mark.parametrize("number_format", ["float32", "int8"])
def test_the_first_sample_that_is_not_refused_is_asked(number_format: str) -> None:
    samples = X[100:103].astype(np.float32)
    samples[0] = np.inf
    example = example_of(samples, format=number_format)
    assert [np.float32(text) for text in example.features] == samples[1].tolist()
    assert (example.source, example.label) == ("A test sample", "2")


def test_without_a_sample_an_input_of_the_self_test_is_asked() -> None:
    refused = np.full((1, 4), np.inf, dtype=np.float32)
    example = example_of(refused)
    assert example.source == "An input of the self-test"
    assert example.certified


def test_the_sketch_prints_the_probabilities(tmp_path: Path) -> None:
    need("gcc", "g++")
    samples, _ = load_breast_cancer(return_X_y=True)
    model = calibrated.fitted("rbf")
    asked = {"mode": "exact", "verify": "none", "name": "m", "package": "zephyr"}
    compiled = kmcompile.compile_model(model, out=tmp_path / "o", test_data=samples, **asked)
    main = (tmp_path / "o/zephyr/m/samples/one_query/src/main.c").read_text()
    (tmp_path / "zephyr/sys").mkdir(parents=True)
    (tmp_path / "zephyr/kernel.h").write_text("")
    (tmp_path / "zephyr/sys/printk.h").write_text("#include <stdio.h>\n#define printk printf\n")
    (tmp_path / "main.c").write_text(main)
    parts = [tmp_path / "main.c", tmp_path / "o/m.c", "-I", tmp_path / "o", "-I", tmp_path]
    succeed(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", *parts, "-o", tmp_path / "a"])
    printed = succeed([tmp_path / "a"]).splitlines()
    told = compiled.predict_proba(samples[:1])[0]
    assert f"Of the x above: {printed[0].removeprefix('m: answer ')}." in main
    assert printed[1:] == [f"m: probability of {c} {p:.6f}" for c, p in enumerate(told)]


@pytest.mark.exhaustive
def test_every_readme_tells_the_memory(tmp_path: Path) -> None:
    for kind in ("arduino", "esp-idf", "zephyr", "micropython", "rust"):
        folder = packaged(kind, tmp_path / kind, verify="host")
        (readme,) = [
            p
            for p in folder.rglob("README.*")
            if "example" not in str(p.parent) + p.name and "samples" not in str(p)
        ]
        text = " ".join(readme.read_text().split())
        assert " bytes of RAM for a workspace and 16 for the features. " in text

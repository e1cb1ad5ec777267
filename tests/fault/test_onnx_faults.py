"""reliability.md, items 2, 3, 8 to 12: ONNX models that attack, broke or are not supported."""

from __future__ import annotations

import random

import pytest
from model_files import mutated, refused, write
from onnx_files import FILES, FOLDER, attribute_of, model_refused

from kmcompile.errors import InputError
from kmcompile.readers import load_model
from kmcompile.readers.onnx import messages
from kmcompile.readers.onnx.messages import parse_model


def _valid_or_refused(path):
    try:
        machine = load_model(path)
    except InputError as error:
        assert len(str(error).splitlines()) <= 3
        assert str(error).replace("\n", " ").isprintable()
    else:
        assert machine.sha256


@pytest.mark.few
@pytest.mark.parametrize("name", FILES)
def test_mutated_models_give_an_input_error_or_a_valid_machine(name, tmp_path):
    """reliability 8 and 10: 3,600 damaged files."""
    rng = random.Random(name)
    for _ in range(300):
        _valid_or_refused(write(tmp_path, mutated(FILES[name], rng), "model.onnx"))


def _damage(message, rng):
    """Change, drop or double one field somewhere below a message."""
    while message.ListFields():
        field, value = rng.choice(message.ListFields())
        if not hasattr(value, "extend"):  # not repeated
            if field.message_type is None:
                break
            message = value
            continue
        position = rng.randrange(len(value))
        if field.message_type is None or rng.random() < 0.2:
            match rng.randrange(3):
                case 0:
                    del value[position]
                case 1:
                    value.extend([value[position]])
                case _:
                    del value[position:]
            return
        message = value[position]
    else:
        return
    kinds = {int: (0, 1, -1, 7, 2**31 - 1), float: (0.0, -1.0, float("nan"), 1e38)}
    choices = kinds.get(type(value), (b"", b"X", b"\xff", b"POLY", b"label", b"Sign"))
    setattr(message, field.name, rng.choice(choices))


@pytest.mark.few
@pytest.mark.parametrize("name", FILES)
def test_wellformed_damage_gives_an_input_error_or_a_valid_machine(name, tmp_path):
    """reliability 8 and 10: 2,400 models with fields that were changed, dropped or doubled."""
    rng = random.Random(name)
    for _ in range(200):
        model = parse_model(FILES[name])
        for _ in range(rng.choice((1, 1, 3))):
            _damage(model, rng)
        _valid_or_refused(write(tmp_path, model.SerializeToString(), "model.onnx"))


@pytest.mark.parametrize("name", ["linear_binary", "poly", "one_class"])
def test_truncated_models_are_refused(name, tmp_path):
    """reliability 3: nothing but the whole file is a model, whatever its name."""
    content = FILES[name]
    for length in range(1, len(content), 3):
        path = write(tmp_path, content[:length], "model.onnx")
        try:
            machine = load_model(path)
        except InputError:
            continue
        # Behind the graph lie only the releases of the operators.
        assert machine.sha256 == load_model(write(tmp_path, content)).sha256


def test_the_format_is_told_by_content(tmp_path):
    """reliability 2: whatever the extension."""
    expected = load_model(FOLDER / "svr.onnx").sha256
    for name in ("model.pkl", "model.skops", "model.model", "model"):
        assert load_model(write(tmp_path, FILES["svr"], name)).sha256 == expected


@pytest.mark.parametrize(
    ("name", "operator", "attribute", "change", "word"),
    [
        ("cancer", "SVMClassifier", "coefficients", lambda a: a.floats.pop(), "coefficients has"),
        ("cancer", "SVMClassifier", "rho", lambda a: a.floats.append(1), "rho has 2 values, must"),
        ("cancer", "SVMClassifier", "support_vectors", lambda a: a.floats.pop(), "a multiple of"),
        ("cancer", "SVMClassifier", "kernel_params", lambda a: a.floats.pop(), "kernel_params has"),
        ("digits", "SVMClassifier", "vectors_per_class", lambda a: a.ints.pop(), "has 9 values"),
        (
            "digits",
            "SVMClassifier",
            "vectors_per_class",
            lambda a: a.ints.insert(0, a.ints.pop(0) + 1),
            "must be",
        ),
        ("digits", "SVMClassifier", "classlabels_ints", lambda a: a.ints.pop(), "must be 9"),
        (
            "digits",
            "SVMClassifier",
            "classlabels_ints",
            lambda a: a.ints.insert(0, a.ints.pop()),
            None,
        ),
        (
            "cancer",
            "SVMClassifier",
            "classlabels_strings",
            lambda a: a.strings.append(a.strings[0]),
            "different labels",
        ),
        (
            "cancer",
            "SVMClassifier",
            "classlabels_strings",
            lambda a: a.strings.append(b"\xff"),
            "no UTF-8",
        ),
        ("probability", "SVMClassifier", "prob_a", lambda a: a.floats.pop(), "prob_a has 2 values"),
        ("probability", "SVMClassifier", "prob_b", lambda a: a.floats.pop(), "prob_b has 2 values"),
        ("svr", "SVMRegressor", "n_supports", lambda a: setattr(a, "i", 0), "counts 0 vectors"),
        ("svr", "SVMRegressor", "n_supports", lambda a: setattr(a, "i", -1), "counts -1 vectors"),
        ("svr", "SVMRegressor", "n_supports", lambda a: setattr(a, "i", 2**62), "1 or more"),
        (
            "svr",
            "SVMRegressor",
            "post_transform",
            lambda a: setattr(a, "s", b"PROBIT"),
            "must be NONE",
        ),
        (
            "svr",
            "SVMRegressor",
            "kernel_type",
            lambda a: setattr(a, "s", b"LAPLACE"),
            "is 'LAPLACE'",
        ),
        (
            "svr",
            "SVMRegressor",
            "kernel_type",
            lambda a: setattr(a, "type", 6),
            "must be of type 3",
        ),
        (
            "svr",
            "SVMRegressor",
            "kernel_type",
            lambda a: setattr(a, "name", b"kernel"),
            "the attribute kernel,",
        ),
        (
            "svr",
            "SVMRegressor",
            "kernel_type",
            lambda a: setattr(a, "ref_attr_name", b"k"),
            "by value",
        ),
        ("svr", "Scaler", "scale", lambda a: a.floats.pop(), "scale has 9 values, must be 10"),
        ("linear", "Normalizer", "norm", lambda a: setattr(a, "s", b"MAX"), "must be L1 or L2"),
        (
            "linear_binary",
            "LinearClassifier",
            "intercepts",
            lambda a: a.floats.append(1),
            "a multiple of",
        ),
        (
            "linear_svc",
            "LinearClassifier",
            "coefficients",
            lambda a: a.floats.pop(),
            "a multiple of",
        ),
        ("one_class", "Cast", "to", lambda a: setattr(a, "i", 6), "Cast.to is 6, must be one of"),
    ],
)
def test_values_that_do_not_fit_are_named(name, operator, attribute, change, word, tmp_path):
    """reliability 10 and 12: operator, attribute, found, allowed, next step."""
    model = parse_model(FILES[name])
    change(attribute_of(model, operator, attribute))
    if word is None:
        load_model(write(tmp_path, model.SerializeToString()))
    else:
        assert ";" in model_refused(tmp_path, model, word)


@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", FILES)
def test_numbers_that_are_not_finite_are_refused(name, poison, tmp_path):
    """reliability 9: in every list of floats that counts."""
    for place, node in enumerate(parse_model(FILES[name]).graph.node):
        for number, attribute in enumerate(node.attribute):
            if len(attribute.floats):
                model = parse_model(FILES[name])
                model.graph.node[place].attribute[number].floats[-1] = poison
                model_refused(tmp_path, model, attribute.name.decode(), "must be finite")


@pytest.mark.parametrize("gamma", [0.0, -1.0])
def test_gamma_must_be_positive(gamma, tmp_path):
    """reliability 11: gamma <= 0."""
    model = parse_model(FILES["svr"])
    attribute_of(model, "SVMRegressor", "kernel_params").floats[0] = gamma
    model_refused(tmp_path, model, f"gamma, is {gamma}, must be > 0; retrain the model")


@pytest.mark.parametrize("degree", [2.5, -1.0, 1e9])
def test_the_degree_must_be_a_whole_number(degree, tmp_path):
    model = parse_model(FILES["poly"])
    attribute_of(model, "SVMClassifier", "kernel_params").floats[2] = degree
    model_refused(tmp_path, model, "the degree, is", "must be an integer from 0")


def test_a_scale_must_be_positive(tmp_path):
    """reliability 18: no scale of 0."""
    model = parse_model(FILES["svr"])
    attribute_of(model, "Scaler", "scale").floats[3] = 0.0
    model_refused(tmp_path, model, "Scaler.scale has 0.0, must be > 0")


def test_a_large_file_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    """reliability 3: size caps."""
    monkeypatch.setattr(messages, "MAX_BYTES", 1_000)
    refused(write(tmp_path, FILES["svr"]), "bytes, must be at most 1000")


@pytest.mark.parametrize("field", [b"\x0a", b"\x2a", b"\x5a"])
def test_very_many_parts_are_refused(field, tmp_path):
    """reliability 3: an empty message takes two bytes of the file and many of the memory."""
    content = b"\x08\x08\x3a\xa2\x9c\x01" + (field + b"\x00") * 10_001
    refused(write(tmp_path, content), "has 10001 operators, constants or inputs")


def test_deeply_nested_messages_are_refused(tmp_path):
    """reliability 3: a graph in an attribute in a node, and so on."""
    content = b""
    for _ in range(500):
        for key in (
            b"\x32",
            b"\x2a",
            b"\x0a",
        ):  # AttributeProto.g, NodeProto.attribute, GraphProto.node
            length, size = len(content), b""
            while length > 127:
                size, length = size + bytes([length % 128 + 128]), length // 128
            content = key + size + bytes([length]) + content
    refused(write(tmp_path, b"\x08\x08\x3a\x03abc" + content))

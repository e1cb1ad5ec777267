"""reliability.md, items 1 to 3 and 7: .skops files that attack or broke."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from model_files import Call, mutated, refused, write

from kmcompile.errors import InputError
from kmcompile.readers import load_model, zip_members

FOLDER = Path(__file__).parent / "stored_models" / "skops"
FILES = {path.stem: path.read_bytes() for path in sorted(FOLDER.glob("*.skops"))}


def _members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(content := io.BytesIO(), "w", compression) as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return content.getvalue()


MEMBERS = {name: _members(content) for name, content in FILES.items()}
SCHEMA = json.loads(MEMBERS["linear"]["schema.json"])


def _with_schema(schema, name="linear"):
    return _zipped({**MEMBERS[name], "schema.json": json.dumps(schema).encode()})


def _with_attribute(attribute, node):
    schema = copy.deepcopy(SCHEMA)
    attributes = schema["content"]
    if attribute not in attributes["content"]:
        attributes["key_types"]["content"].append({"__class__": "str", "__loader__": "TypeNode"})
    attributes["content"][attribute] = node
    return _with_schema(schema)


def _valid_or_refused(path):
    try:
        machine = load_model(path)
    except InputError as error:
        assert len(str(error).splitlines()) <= 3
        assert str(error).replace("\n", " ").isprintable()
    else:
        assert machine.sha256


@pytest.mark.parametrize("name", FILES)
def test_every_stored_file_gives_the_machine_of_its_pickle(name):
    assert (
        load_model(FOLDER / f"{name}.skops").sha256 == load_model(FOLDER / f"{name}.joblib").sha256
    )


@pytest.mark.few
@pytest.mark.parametrize("name", FILES)
def test_damaged_archives_give_an_input_error_or_a_valid_machine(name, tmp_path):
    """reliability 7: 1,800 damaged archives; CRC-32 finds most."""
    rng = random.Random(name)
    for _ in range(300):
        _valid_or_refused(write(tmp_path, mutated(FILES[name], rng)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FILES)
def test_damage_inside_an_intact_archive_gives_an_input_error_or_a_valid_machine(name, tmp_path):
    """reliability 7: 1,800 archives with one damaged file and a right checksum."""
    rng = random.Random(name)
    for number in range(300):
        members = dict(MEMBERS[name])
        member = "schema.json" if number % 2 else rng.choice(sorted(members))
        members[member] = mutated(members[member], rng)
        _valid_or_refused(write(tmp_path, _zipped(members)))


def _nodes(value):
    """Yield every dict and list of a schema."""
    if isinstance(value, dict | list):
        yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from _nodes(child)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FILES)
def test_exchanged_nodes_give_an_input_error_or_a_valid_machine(name, tmp_path):
    """reliability 7: 1,500 schemas whose parts lie where skops does not put them."""
    rng = random.Random(name)
    original = MEMBERS[name]["schema.json"]
    for _ in range(250):
        schema = json.loads(original)
        for _ in range(rng.choice((1, 1, 2))):
            nodes = list(_nodes(schema))
            target = rng.choice([node for node in nodes if node])
            key = rng.choice(list(target) if isinstance(target, dict) else range(len(target)))
            values = [*nodes[:200], None, True, -1, 2**70, 1e400, "", "x", "ObjectNode", [], {}]
            target[key] = copy.deepcopy(rng.choice(values))
        _valid_or_refused(write(tmp_path, _with_schema(schema, name)))


@pytest.mark.parametrize("name", ["pipeline", "linear"])
def test_truncated_files_are_refused(name, tmp_path):
    """reliability 7: nothing but the whole file is a model."""
    content = FILES[name]
    for length in range(1, len(content), 17):
        refused(write(tmp_path, content[:length]))


FUNCTION = {"__class__": "system", "__module__": "posix", "__loader__": "FunctionNode"}
OBJECT = {
    "__class__": "Popen",
    "__module__": "subprocess",
    "__loader__": "ObjectNode",
    "content": {
        "__class__": "dict",
        "__module__": "builtins",
        "__loader__": "DictNode",
        "content": {},
        "key_types": {"content": []},
    },
}
PAYLOADS = {
    "function": (FUNCTION, "posix.system, which is forbidden"),
    "object": (OBJECT, "subprocess.Popen, which is forbidden"),
    "subclass": ({**OBJECT, "__module__": "own.svm", "__class__": "SVC"}, "own.svm.SVC"),
    "forest": (
        {**OBJECT, "__module__": "sklearn.ensemble._forest", "__class__": "RandomForest"},
        "not supported",
    ),
    "reduce": ({**OBJECT, "__loader__": "ConstructorFromReduceNode"}, "ConstructorFromReduceNode"),
    "method": ({**OBJECT, "__loader__": "MethodNode"}, "the kind MethodNode"),
    "operator": ({**FUNCTION, "__loader__": "OperatorFuncNode"}, "the kind OperatorFuncNode"),
    "tree": ({**OBJECT, "__loader__": "TreeNode"}, "the kind TreeNode"),
    "control codes": ({**FUNCTION, "__loader__": "\x1b[2J\u202e"}, "\\x1b[2J\\u202e"),
    "named tuple": (
        {"__class__": "Own", "__module__": "own", "__loader__": "TupleNode", "content": []},
        "named tuple",
    ),
    "own dict": ({**OBJECT["content"], "__class__": "Own"}, "dict of an own class"),
    "object array": (
        {
            "__class__": "ndarray",
            "__module__": "numpy",
            "__loader__": "NdArrayNode",
            "type": "json",
            "content": [OBJECT["content"]],
            "shape": {
                "__class__": "tuple",
                "__module__": "builtins",
                "__loader__": "TupleNode",
                "content": [{"__loader__": "JsonNode", "content": "1"}],
            },
        },
        "not a list of text and numbers",
    ),
    "missing array": (
        {
            "__class__": "ndarray",
            "__module__": "numpy",
            "__loader__": "NdArrayNode",
            "type": "numpy",
            "file": "../../etc/passwd",
        },
        "is missing",
    ),
}


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("attribute", ["C", "new"])
def test_what_skops_would_call_is_refused_by_its_name(name, attribute, tmp_path):
    """reliability 1: a class, function or kind that no model needs; nothing is imported."""
    node, word = PAYLOADS[name]
    refused(write(tmp_path, _with_attribute(attribute, node)), word)


def _released(release):
    return {"__loader__": "JsonNode", "content": json.dumps(release)}


def test_the_release_that_saved_it_counts(tmp_path):
    """reliability 19: noted where it is untested, refused where it is too old or untold."""
    newer = load_model(write(tmp_path, _with_attribute("_sklearn_version", _released("9.7.1"))))
    assert newer.notes[0].startswith("saved by scikit-learn 9.7.1")
    for release, word in (("0.13.1", "is '0.13.1'"), (None, "is not told"), ("new", "is 'new'")):
        refused(write(tmp_path, _with_attribute("_sklearn_version", _released(release))), word)


def test_a_function_as_a_kernel_is_refused_as_that(tmp_path):
    """reliability 14: in a file it is only a name."""
    refused(write(tmp_path, _with_attribute("kernel", FUNCTION)), "kernel is a function (")


def test_pickled_arrays_in_an_archive_never_run(tmp_path):
    """reliability 1 and 2: an .npy member of objects is a pickle."""
    canary = tmp_path / "canary"
    payload = np.array([Call(os.system, f"touch {canary}")], dtype=object)
    np.save(content := io.BytesIO(), payload, allow_pickle=True)
    for name in MEMBERS["linear"]:
        if name.endswith(".npy"):
            path = write(tmp_path, _zipped({**MEMBERS["linear"], name: content.getvalue()}))
            refused(path, "Python objects, which are not unpickled")
    assert not canary.exists()


@pytest.mark.parametrize("extension", [".pkl", ".onnx", ".npz", ".joblib", ""])
def test_other_files_in_an_archive_are_refused_whatever_the_extension(extension, tmp_path):
    """reliability 2: a pickle beside the schema is not read, and not passed over."""
    payload = pickle.dumps(Call(os.system, f"touch {tmp_path / 'canary'}"))
    for name in ("model.pkl", "../schema.json", "/schema.json", "a/schema.json", "schema.json/"):
        path = write(tmp_path, _zipped({**MEMBERS["linear"], name: payload}), f"model{extension}")
        refused(path, "that a model has not")
    assert not (tmp_path / "canary").exists()


def test_the_format_is_told_by_content(tmp_path):
    """reliability 2: a .skops file under another name."""
    machine = load_model(write(tmp_path, FILES["linear"], "model.pkl"))
    assert machine.sha256 == load_model(FOLDER / "linear.joblib").sha256


def _nested(depth):
    text = '{"__loader__": "ListNode", "content": ['
    return (text * depth + "]}" * depth).encode()


BOMBS = {
    "lists of JSON": (b"[" * 100_000, "no JSON, or nested too deep"),
    "nodes": (_nested(200)[:-1] + b', "protocol": 2}', "nested more than 80 deep"),
    "deep nodes": (_nested(100_000), "no JSON, or nested too deep"),
    "no schema": (b"", "no JSON"),
    "text": (b'"schema"', "no object"),
    "long number": (b'{"protocol": ' + b"9" * 5000 + b"}", "no JSON"),
    "newer": (b'{"protocol": 3}', "protocol is 3, must be 0 to 2"),
    "untold": (b'{"protocol": true}', "protocol is True"),
    "itself": (
        b'{"protocol": 2, "__loader__": "ListNode", "__id__": 1, "content": '
        b'[{"__loader__": "ListNode", "__id__": 1, "content": []}]}',
        "contains itself",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_schemas_that_are_bombs_are_refused(name, tmp_path):
    """reliability 3: nesting, cycles, numbers without end."""
    content, word = BOMBS[name]
    refused(write(tmp_path, _zipped({**MEMBERS["linear"], "schema.json": content})), word)


def test_archives_are_refused_by_their_directory_before_they_are_decompressed(
    tmp_path, monkeypatch
):
    """reliability 3: sizes, numbers and methods."""
    zeros = {**MEMBERS["linear"], "0.npy": bytes(2_000_000)}
    packed = _zipped(zeros, zipfile.ZIP_DEFLATED)
    assert len(packed) < 100_000
    monkeypatch.setattr(zip_members, "MAX_MODEL_BYTES", 1_000_000)
    refused(write(tmp_path, packed), "bytes, must be at most 1000000")
    refused(write(tmp_path, _zipped(MEMBERS["linear"], zipfile.ZIP_LZMA)), "another method")
    encrypted = bytearray(FILES["linear"])
    start = encrypted.index(b"PK\x01\x02")
    encrypted[start + 8] |= 1
    refused(write(tmp_path, bytes(encrypted)), "is encrypted")
    monkeypatch.setattr(zip_members, "MAX_MEMBERS", 3)
    refused(write(tmp_path, FILES["linear"]), "zip archive")


def test_a_claimed_size_is_not_believed(tmp_path):
    """reliability 3: the header of an array says more than there is."""
    np.save(content := io.BytesIO(), np.zeros(3))
    raw = content.getvalue().replace(b"(3,)", b"(2147483648,)").replace(b"          \n", b"\n")
    members = dict(MEMBERS["linear"])
    for name in [name for name in members if name.endswith(".npy")]:
        refused(write(tmp_path, _zipped({**members, name: raw})))

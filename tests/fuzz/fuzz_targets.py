"""What is fuzzed: readers of model files, and what counts as a defect."""

from __future__ import annotations

import contextlib
import itertools
import pickletools
import re
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))

from kmcompile.errors import InputError, UsageError  # noqa: E402
from kmcompile.model.kernel_machine import KernelMachine  # noqa: E402
from kmcompile.readers.byte_budget import budget_of_file  # noqa: E402  # after the path
from kmcompile.readers.formats import read_model  # noqa: E402
from kmcompile.readers.liblinear.model import read_liblinear  # noqa: E402
from kmcompile.readers.libsvm.model import read_libsvm  # noqa: E402
from kmcompile.readers.pickles.reader import read_pickle  # noqa: E402
from kmcompile.readers.sklearn.container import read_objects  # noqa: E402
from kmcompile.readers.svmlight.model import read_svmlight  # noqa: E402

_EXECUTION = (
    *("pickle.find_class", "exec", "os.", "subprocess.", "shutil.", "socket.", "ctypes."),
    *("urllib.", "ftplib.", "open", "marshal.", "code.__new__"),
)
"""Audit events (Python documentation, "Audit events table") that reading data never causes."""


@dataclass(frozen=True)
class Target:
    """A reader of a format.

    Parameters
    ----------
    name : str
    read : callable
    max_bytes : int
        How long inputs may get.
    words : tuple of bytes
        That its grammar has: libFuzzer puts them in.
    split : callable
        Content to the pieces that it is made of, which are moved as a whole.
    """

    name: str
    read: Callable[[bytes], KernelMachine]
    max_bytes: int
    words: tuple[bytes, ...]
    split: Callable[[bytes], list[bytes]]

    @property
    def corpus(self) -> Path:
        """The archive of the kept inputs."""
        return FOLDER / "corpus" / f"{self.name}.zip"


def _read_pickled(content: bytes) -> KernelMachine:
    return read_objects(read_pickle(content))


def _split_text(content: bytes) -> list[bytes]:
    """Return the words, each with the character behind it."""
    return re.findall(rb"[^ \n:]*[ \n:]?", content)[:-1]


def _split_tree(content: bytes) -> list[bytes]:
    """Return the words and signs of OpenCV's XML, YAML and JSON, each with the blanks behind it."""
    return re.findall(rb"[^\s<>\[\]{},:]*[\s<>\[\]{},:]?", content)[:-1]


def _split_pickle(content: bytes) -> list[bytes]:
    """Return the opcodes with their arguments, and what is none at the end."""
    starts: list[int] = []
    with contextlib.suppress(Exception):  # damaged behind the last opcode
        starts += (position or 0 for _, _, position in pickletools.genops(content))
    return [content[start:end] for start, end in itertools.pairwise([*starts, len(content)])]


_LIBSVM_WORDS = (
    *(b"svm_type", b"kernel_type", b"degree", b"gamma", b"coef0", b"nr_class", b"total_sv"),
    *(b"rho", b"label", b"probA", b"probB", b"prob_density_marks", b"nr_sv", b"SV\n", b"coef"),
    *(b"c_svc", b"nu_svc", b"one_class", b"epsilon_svr", b"nu_svr", b"linear", b"polynomial"),
    *(b"rbf", b"sigmoid", b"precomputed", b"1:1", b"2147483647", b"-2147483648", b"4294967297"),
    *(b"1e308", b"1e-320", b"nan", b"inf", b"0x1p-3", b"1_0", b"\r\n"),
)
_LIBLINEAR_WORDS = (
    *(b"solver_type", b"nr_class", b"label", b"nr_feature", b"bias", b"rho", b"w\n", b"MCSVM_CS"),
    *(b"L2R_LR", b"L2R_L2LOSS_SVC", b"L1R_LR", b"L2R_L2LOSS_SVR", b"ONECLASS_SVM", b"nan", b"inf"),
    *(b"1e308", b"1e-320", b"-1", b"2147483647", b"4294967297", b"0x1p-3", b"1_0", b"\r\n"),
)
_SVMLIGHT_WORDS = (
    *(b"SVM-light Version V6.02", b"# kernel type", b"empty#", b"#\n", b"1:1", b"0:1", b"qid:1"),
    *(b"nan", b"inf", b"1e308", b"1e-320", b"2147483647", b"4294967297", b"0x1p-3", b"\r\n"),
)
_OPENCV_WORDS = (
    *(
        b'<?xml version="1.0"?>',
        b"<opencv_storage>",
        b"</opencv_storage>",
        b"<_>",
        b"</_>",
        b"<!--",
    ),
    *(b"-->", b"<!DOCTYPE", b"<!ENTITY", b"&lt;", b"&#65;", b"<![CDATA[", b"%YAML:1.0\n---\n"),
    *(b"!!opencv-matrix", b"type_id", b"my_svm", b"opencv_ml_svm", b"svmType", b"svm_type", b"- "),
    *(
        b"C_SVC",
        b"NU_SVC",
        b"ONE_CLASS",
        b"EPS_SVR",
        b"NU_SVR",
        b"LINEAR",
        b"POLY",
        b"RBF",
        b"CHI2",
    ),
    *(b"SIGMOID", b"INTER", b"kernel", b"type", b"gamma", b"coef0", b"degree", b"var_count"),
    *(b"var_all", b"var_idx", b"class_count", b"class_labels", b"sv_total", b"support_vectors"),
    *(b"decision_functions", b"sv_count", b"rho", b"alpha", b"index", b"data", b".Inf", b".Nan"),
    *(b"1e308", b"1e-320", b"2147483647", b"-2147483648", b"4294967297", b"0x1p-3", b"1_0"),
    *(b"...", b"&a", b"*a", b"|", b">", b"\r\n", b"\t", b"{", b"[", b'"'),
)
_PICKLE_WORDS = (
    *(b"csklearn.svm._classes\nSVC\n", b"cos\nsystem\n", b"cbuiltins\neval\n", b"\x81}", b"b."),
    *(b"cnumpy\ndtype\n", b"cnumpy\nndarray\n", b"cnumpy._core.multiarray\n_reconstruct\n"),
    *(b"cnumpy._core.multiarray\nscalar\n", b"cscipy.sparse._csr\ncsr_matrix\n", b"R", b"\x93"),
    *(b"support_vectors_", b"dual_coef_", b"_dual_coef_", b"intercept_", b"_intercept_"),
    *(b"classes_", b"_n_support", b"n_features_in_", b"coef_", b"_gamma", b"kernel", b"steps"),
    *(b"passthrough", b"scale_", b"mean_", b"components_", b"clip", b"feature_range", b"_sparse"),
    *(b"data", b"indices", b"indptr", b"_shape", b"f8", b"O8", b"U3", b"V8", b"<", b">"),
)

TARGETS = {
    target.name: target
    for target in (
        Target("libsvm", read_libsvm, 4096, _LIBSVM_WORDS, _split_text),
        Target("liblinear", read_liblinear, 4096, _LIBLINEAR_WORDS, _split_text),
        Target("svmlight", read_svmlight, 4096, _SVMLIGHT_WORDS, _split_text),
        Target("opencv", read_model, 8192, _OPENCV_WORDS, _split_tree),
        Target("pickle", _read_pickled, 16384, _PICKLE_WORDS, _split_pickle),
    )
}


class DefectError(Exception):
    """The reader did what it must not do."""


class _Watch:
    """Notes what is executed while it watches."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._watching = False
        sys.addaudithook(self._hook)

    def __enter__(self) -> None:
        self.seen, self._watching = [], True

    def __exit__(self, *_: object) -> None:
        self._watching = False

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._watching and event.startswith(_EXECUTION):
            self.seen.append(f"{event} {arguments!r:.200}")


_WATCH = _Watch()


def check(target: Target, content: bytes) -> bool:
    """Read an input, and return whether it is a machine.

    Raises
    ------
    DefectError
        Something was executed, or an error is not one to three printable lines.
    """
    read = _outcome(target, content)
    if _WATCH.seen:
        # The first time may have imported a module of Python itself, an encoding for example.
        read = _outcome(target, content)
    if _WATCH.seen:
        raise DefectError(f"executed: {_WATCH.seen[0]}")
    if isinstance(read, KernelMachine):
        return bool(read.sha256)
    lines = str(read).splitlines()
    if not 1 <= len(lines) <= 3 or not all(line.isprintable() for line in lines):
        raise DefectError(f"the error is not one to three printable lines: {read!r}")
    return False


def _outcome(target: Target, content: bytes) -> KernelMachine | InputError | UsageError:
    with _WATCH:
        try:
            with budget_of_file(len(content)):
                return target.read(content)
        except (InputError, UsageError) as error:
            return error


def kept_inputs(target: Target) -> dict[str, bytes]:
    """Return the kept inputs by name."""
    with zipfile.ZipFile(target.corpus) as archive:
        return {name: archive.read(name) for name in archive.namelist()}

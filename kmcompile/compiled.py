"""A compiled model in Python: the same C that goes to the board, called on the host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmcompile.build import build
from kmcompile.build.artifact import Artifact
from kmcompile.build.recipe import Recipe
from kmcompile.emit.view import RECORD_HEADER_WORDS
from kmcompile.errors import InputError
from kmcompile.interpret import Status
from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.ir.program import Program
from kmcompile.run import HostRunner
from kmcompile.stages import Vote
from kmcompile.target import load_target
from kmcompile.verify.checks import answers_of
from kmcompile.verify.codes import query_words
from kmcompile.verify.reference import confident_votes


class Compiled:
    """What `compile_model` and `load` return.

    Attributes
    ----------
    program : Program
    report : dict
        report.json.
    folder : Path or None
        The output folder, if one was written.
    classes_ : ndarray
        The labels, as the trained model has them.
    """

    def __init__(
        self,
        program: Program,
        report: dict[str, Any],
        files: Mapping[str, bytes],
        folder: Path | None,
    ) -> None:
        self.program = program
        self.report = report
        self.folder = folder
        self.classes_ = _label_array(program.classes)
        self._files = files
        self._artifact: Artifact | None = None

    def __repr__(self) -> str:
        where = f" in {self.folder}" if self.folder else ""
        return f"<kmcompile.Compiled {self.program.name} for {self.program.target}{where}>"

    def classify(self, X: ArrayLike) -> NDArray[np.void]:
        """Return one result for each row, as the C gives it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rounded to float32, which is what the C receives. In an integer format an array of
            exactly the C's input type (uint8, int8 or int16) holds codes.

        Returns
        -------
        structured ndarray of shape (n_samples,)
            status, label (an index into `classes_`), lower, upper, kernel_evals, stage,
            certified, in_range. Where status is not 0 the rest is 0.
        """
        results, _ = answers_of(self._run(X))
        return results

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the labels of the rows, of the trained model's `classes_`.

        Raises
        ------
        InputError
            If the C refuses a row: NaN, infinity or a value beyond the input limit.
        """
        results, _ = answers_of(self._run(X))
        _require_answers(results)
        labels: NDArray[Any] = self.classes_[results["label"]]
        return labels

    def decision_function(self, X: ArrayLike) -> Float32Array | Float64Array:
        """Return the decision values in the trained model's `decision_function_shape`.

        Raises
        ------
        InputError
            If the C refuses a row.
        """
        results, decisions = answers_of(self._run(X))
        _require_answers(results)
        if self.program.n_decisions == 1:
            return decisions[:, 0]
        voting = isinstance(self.program.stages[-1], Vote)
        if not voting or self.program.decision_function_shape == "ovo":
            return decisions
        return confident_votes(len(self.classes_), decisions.astype(np.float64))

    def _run(self, X: ArrayLike) -> NDArray[np.uint32]:
        """Return the records of the entry that X is for."""
        codes = self.program.codes
        if codes is None:
            return self._records(query_words(self._floats(X), None))
        n = RECORD_HEADER_WORDS + self.program.n_decisions
        if isinstance(X, np.ndarray) and X.dtype.newbyteorder("=") == np.dtype(codes.width):
            rows = X
            self._check_shape(rows)
            floats = np.zeros(rows.shape, dtype=np.float32)
            return self._records(query_words(floats, rows.astype(np.int64)))[:, n:]
        floats = self._floats(X)
        return self._records(query_words(floats, np.zeros(floats.shape, dtype=np.int64)))[:, :n]

    def _floats(self, X: ArrayLike) -> Float32Array:
        if np.iscomplexobj(X):
            raise InputError("X is no dense matrix of real numbers: it is complex")
        try:
            rows = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"X is no dense matrix of real numbers: {error}") from error
        self._check_shape(rows)
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite: refused
            return np.ascontiguousarray(rows.astype(np.float32))

    def _check_shape(self, rows: NDArray[Any]) -> None:
        if rows.ndim != 2 or rows.shape[1] != self.program.n_features:
            raise InputError(
                f"X has shape {rows.shape}, must be (n_samples, {self.program.n_features})"
            )

    def _records(self, inputs: NDArray[np.uint32]) -> NDArray[np.uint32]:
        if self._artifact is None:
            self._artifact = self._build()
        return HostRunner().run(self._artifact, inputs).records

    def _build(self) -> Artifact:
        recipe = Recipe.from_json(self._files["recipe.json"].decode())
        with TemporaryDirectory(prefix="kmcompile-") as scratch:
            for name in (f"{recipe.name}.h", *recipe.sources, recipe.harness):
                (Path(scratch) / name).write_bytes(self._files[name])
            return build(recipe, Path(scratch), load_target("host"))


def _label_array(classes: tuple[Any, ...]) -> NDArray[Any]:
    array = np.array(classes)
    # Labels of different types keep theirs.
    return array if array.tolist() == list(classes) else np.array(classes, dtype=object)


def _require_answers(results: NDArray[np.void]) -> None:
    refused = np.flatnonzero(results["status"] != Status.OK)
    if len(refused):
        row = int(refused[0])
        status = Status(int(results["status"][row])).name
        raise InputError(
            f"X[{row}] is refused with {status} ({len(refused)} rows in all); "
            f"remove NaN, infinities and values beyond the input limit"
        )

"""A compiled model in Python: the same C that goes to the board, called on the host."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmcompile.build import build
from kmcompile.build.artifact import Artifact
from kmcompile.build.recipe import Recipe
from kmcompile.emit.view import RECORD_HEADER_WORDS, answer_words, at_once_words
from kmcompile.errors import InputError, UsageError
from kmcompile.model.reference import confident_votes
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.table import C_TYPES
from kmcompile.program.interpreter import RESULT_DTYPE, Status
from kmcompile.program.program import Program
from kmcompile.program.workspace import workspace_bytes
from kmcompile.run import HostRunner
from kmcompile.run.within import Call, answers_within
from kmcompile.target import load_target
from kmcompile.verify.codes import query_words
from kmcompile.verify.records import answers_of


class Compiled:
    """A compiled model, which `compile_model` and `load` return.

    Attributes
    ----------
    program : Program
    report : dict
        The content of report.json.
    folder : Path or None
        The output folder; None if none was written.
    classes_ : ndarray
        The labels of the trained model; empty in a regression.
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

    def _repr_html_(self) -> str:
        """Return what a notebook shows: figures of the program, and the choices with a plot."""
        from kmcompile.report.html import notebook

        return notebook(self.report)

    def summary(self, verbose: bool = False) -> str:
        """Return the report as text, 80 columns wide, as the command line prints it.

        Parameters
        ----------
        verbose : bool
            Also why early exits are left out.
        """
        from rich.console import Console

        from kmcompile.report.terminal import print_report

        text = StringIO()
        print_report(self.report, Console(file=text, width=80, color_system=None), verbose=verbose)
        return text.getvalue()

    @property
    def choices(self) -> list[dict[str, Any]]:
        """The programs that were compared, with what each takes: "choices" of the report."""
        found: list[dict[str, Any]] = self.report["choices"]
        return found

    def classify(
        self, X: ArrayLike, codes: bool = False, max_kernel_evals: int | None = None
    ) -> NDArray[np.void]:
        """Return the result of the C for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features as in training. They are rounded to float32, which the C receives.
        codes : bool
            Whether X holds codes of an integer format instead, as integers of any dtype.
        max_kernel_evals : int, optional
            The most full kernel evaluations of a row, 0 to 2^32 - 1: the C's `classify_within`.
            Where they do not suffice, lower and upper are what is proved by then. Only a program
            with a certified exit can be limited.

        Returns
        -------
        structured ndarray of shape (n_samples,)
            status, label (an index into `classes_`), lower, upper, kernel_evals, stage,
            certified, in_range. Where status is not 0, every other field is 0.

        Raises
        ------
        UsageError
            If the model is a regression; use `predict_interval`.
        """
        if self.program.is_regression:
            raise UsageError(f"{self.program.name} is a regression; use predict_interval")
        if max_kernel_evals is not None:
            return self._within(X, codes, max_kernel_evals, "value")
        results, _ = answers_of(self._run(X, codes))
        return _without(results, "value")

    def predict_interval(
        self, X: ArrayLike, codes: bool = False, max_kernel_evals: int | None = None
    ) -> NDArray[np.void]:
        """Return the prediction of the C of a regression for each row.

        Parameters
        ----------
        X, codes, max_kernel_evals
            As of `classify`.

        Returns
        -------
        structured ndarray of shape (n_samples,)
            status, value, lower, upper, kernel_evals, stage, in_range. The model's value lies
            between lower and upper. Where status is not 0, every other field is 0.

        Raises
        ------
        UsageError
            If the model is a classifier.
        """
        if not self.program.is_regression:
            raise UsageError(f"{self.program.name} is a classifier; use classify")
        if max_kernel_evals is not None:
            return self._within(X, codes, max_kernel_evals, "label", "certified")
        results, _ = answers_of(self._run(X, codes), is_regression=True)
        return _without(results, "label", "certified")

    def predict(self, X: ArrayLike, codes: bool = False) -> NDArray[Any]:
        """Return the label of each row, out of `classes_`, or the value of a regression.

        Parameters
        ----------
        X, codes
            As of `classify`.

        Raises
        ------
        InputError
            If the C refuses a row: NaN, infinity, a value beyond the input limit, or a value for
            which the kernel is not defined.
        """
        results, _ = answers_of(self._run(X, codes), self.program.is_regression)
        _require_answers(results)
        if self.program.is_regression:
            return results["value"].astype(np.float64)
        labels: NDArray[Any] = self.classes_[results["label"]]
        return labels

    def decision_function(self, X: ArrayLike, codes: bool = False) -> Float32Array | Float64Array:
        """Return the decision values in the trained model's `decision_function_shape`.

        If the model has a threshold, the values are the trained model's decisions, whereas the C
        gives these decisions minus the threshold.

        Parameters
        ----------
        X, codes
            As of `classify`.

        Raises
        ------
        InputError
            If the C refuses a row.
        """
        results, decisions = answers_of(self._run(X, codes))
        _require_answers(results)
        decisions = decisions[:, : self.program.n_decisions]  # probabilities follow
        if self.program.n_decisions == 1:
            return decisions[:, 0] + np.float64(self.program.threshold)
        if not self.program.label.by_votes or self.program.decision_function_shape == "ovo":
            return decisions
        return confident_votes(len(self.classes_), decisions.astype(np.float64))

    def predict_proba(self, X: ArrayLike, codes: bool = False) -> Float32Array:
        """Return the probabilities of the classes of a calibrated model.

        Parameters
        ----------
        X, codes
            As of `classify`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), float32
            In the order of `classes_`.

        Raises
        ------
        UsageError
            If the model is not calibrated.
        InputError
            If the C refuses a row.
        """
        if self.program.probability is None:
            raise UsageError(
                f"{self.program.name} has no probabilities: the model is not calibrated; fit "
                "CalibratedClassifierCV(model, ensemble=False) and compile that"
            )
        records = self._run(X, codes)
        results, _ = answers_of(records)
        _require_answers(results)
        first, n = RECORD_HEADER_WORDS + self.program.n_decisions + 1, len(self.classes_)
        return np.ascontiguousarray(records[:, first : first + n]).view(np.float32)

    def _within(self, X: ArrayLike, codes: bool, most: int, *left_out: str) -> NDArray[np.void]:
        """Return what the C answers with at most `most` kernel evaluations, without some fields."""
        if all(stage.is_calibrated for stage in self.program.early_exits):
            raise UsageError(
                f"{self.program.name} has no certified exit, so its kernel evaluations cannot be "
                "limited: nothing would be known of a sample that no exit decides\n"
                "leave out max_kernel_evals, or compile with a certified exit: --require NAME"
            )
        if not 0 <= most <= np.iinfo(np.uint32).max:
            raise UsageError(f"max_kernel_evals is {most}, must be from 0 to 2^32 - 1")
        rows = self._codes(X) if codes else self._floats(X)
        table = self.program.codes
        call = Call(
            "certified" not in left_out,
            C_TYPES[table.width] if codes and table is not None else "float",
            "_float" if table is not None and not codes else "",
            workspace_bytes(self.program),
        )
        results = _without(np.zeros(len(rows), dtype=RESULT_DTYPE), *left_out)
        answers_within(self._built(), call, rows, most, results)
        return results

    def _run(self, X: ArrayLike, codes: bool) -> NDArray[np.uint32]:
        """Run the C on the rows of X; return its records, without the answers in steps."""
        n, own = answer_words(self.program), at_once_words(self.program)
        if codes:
            rows = self._codes(X)
            floats = np.zeros(rows.shape, dtype=np.float32)
            return self._records(query_words(floats, rows))[:, n : n + own]
        floats = self._floats(X)
        if self.program.codes is None:
            return self._records(query_words(floats, None))[:, :own]
        return self._records(query_words(floats, np.zeros(floats.shape, dtype=np.int64)))[:, :own]

    def _codes(self, X: ArrayLike) -> NDArray[np.int64]:
        table = self.program.codes
        if table is None:
            raise InputError(f"{self.program.name} is in float32: it takes no codes")
        rows = np.asarray(X)
        limits = np.iinfo(table.width)
        if not np.issubdtype(rows.dtype, np.integer):
            raise InputError(f"codes are integers, X is {rows.dtype}")
        if rows.size and not limits.min <= rows.min() <= rows.max() <= limits.max:
            raise InputError(
                f"codes are {table.width}, X goes from {rows.min()} to {rows.max()}, "
                f"must be from {limits.min} to {limits.max}"
            )
        self._check_shape(rows)
        return rows.astype(np.int64)

    def _floats(self, X: ArrayLike) -> Float32Array:
        if np.iscomplexobj(X):
            raise InputError("X is no dense matrix of real numbers: it is complex")
        try:
            rows = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"X is no dense matrix of real numbers: {error}") from error
        self._check_shape(rows)
        with np.errstate(over="ignore"):  # beyond float32: infinite, which the C refuses
            return np.ascontiguousarray(rows.astype(np.float32))

    def _check_shape(self, rows: NDArray[Any]) -> None:
        if rows.ndim != 2 or rows.shape[1] != self.program.n_features:
            raise InputError(
                f"X has shape {rows.shape}, must be (n_samples, {self.program.n_features})"
            )

    def _records(self, inputs: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return HostRunner().run(self._built(), inputs).records

    def _built(self) -> Artifact:
        """Return the library of the C, which is built once."""
        if self._artifact is None:
            self._artifact = self._build()
        return self._artifact

    def _build(self) -> Artifact:
        recipe = Recipe.from_json(self._files["recipe.json"].decode())
        with TemporaryDirectory(prefix="kmcompile-") as scratch:
            for name in (f"{recipe.name}.h", *recipe.sources, recipe.harness):
                (Path(scratch) / name).write_bytes(self._files[name])
            return build(recipe, Path(scratch), load_target("host"))


def _label_array(classes: tuple[Any, ...]) -> NDArray[Any]:
    array = np.array(classes)
    # An object array keeps the types of labels of several types.
    return array if array.tolist() == list(classes) else np.array(classes, dtype=object)


def _without(results: NDArray[np.void], *names: str) -> NDArray[np.void]:
    """Return the results without the fields that this program does not fill."""
    kept: NDArray[np.void] = results[[n for n in results.dtype.names or () if n not in names]]
    return kept


def _require_answers(results: NDArray[np.void]) -> None:
    refused = np.flatnonzero(results["status"] != Status.OK)
    if len(refused):
        row = int(refused[0])
        status = Status(int(results["status"][row])).name
        raise InputError(
            f"X[{row}] is refused with {status} ({len(refused)} rows in all); "
            f"remove NaN, infinities and values beyond the input limit, and negative ones where "
            "the kernel takes none"
        )

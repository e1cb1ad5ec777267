"""kmcompile's own `.npz` layout of a trained machine: one array a name, no pickles.

For models that were trained elsewhere, or with kernel="precomputed": the vectors and the kernel are
given by hand. `numpy.savez(path, **arrays)` writes it; `kmcompile.save_model` does from a machine.

| name | array |
| --- | --- |
| `format_version` | 1 |
| `kind` | text, the class of the estimator: "SVC" |
| `task` | text: "binary", "one-vs-one", "one-vs-rest", "one-class" or "regression" |
| `n_features` | integer: features of the raw input |
| `kernel` | text, one of `PARAMETERS` below |
| `gamma`, `coef0`, `degree`, `alpha` | numbers, those that the kernel has |
| `support_vectors` | floats (n_sv, n_kernel_features), behind the steps |
| `dual_coef` | floats (n_rows, n_sv) |
| `intercept` | floats (n_decisions,) |
| `classes` | integers, text, booleans or floats (n_classes,), all different; none in a regression;
in a one-class machine -1 and 1 if left out |
| `class_counts` | integers (n_classes,), the vectors of each class; only one-vs-one |
| `zero_is_positive` | boolean: whether f = 0 is `classes[1]` |
| `last_of_equal`, `log_odds`, `break_ties` | boolean, False if left out |
| `threshold` | number, 0 if left out |
| `platt` | floats (2,), of a binary machine with Platt's sigmoid |
| `rounded_vectors` | boolean, False if left out |
| `intercept_error` | number, at least 0, which it is if left out |
| `routing_weights`, `routing_offsets` | floats: the tree of a routed machine, all or none of it |
| `routing_node_ends`, `routing_targets`, `routing_leaf_ends` | integers, of the tree, too |
| `routing_intercepts` | floats (n_leaves, n_decisions), of the tree, too |
| `routing_relative_gamma` | floats (n_sv,), 1 but for rbf, of the tree, too |
| `routing_pair_coef` | floats (n_decisions, n_pairs), of the tree, too |
| `routing_leaf_weights` | floats (n_leaves or 0, n_decisions, n), of the tree, too |
| `decision_function_shape` | text, "ovr" or "ovo", "ovr" if left out |
| `step_0`, `step_1`, ... | text: preprocessing, in its order, one of `STEPS` below |
| `step_0_offset`, ... | the fields of a step |

What each means, and how rows and pairs are ordered, is in `KernelMachine`; of a step, in
`kmcompile.steps`; of a tree, in `kmcompile.model.routing`.
"""

from __future__ import annotations

from types import MappingProxyType

from kmcompile.model.kernel_machine import Task

FORMAT_VERSION = 1

ONE_CLASS_LABELS = (-1, 1)
"""The labels of a one-class machine that has no `classes`."""

FIRST_MEMBER = "format_version.npy"
"""The member by which the layout is recognised among zip archives."""

REQUIRED = (
    *("format_version", "kind", "task", "n_features", "kernel"),
    *("support_vectors", "dual_coef", "intercept", "zero_is_positive"),
)
FLAGS = MappingProxyType(
    {
        "last_of_equal": (Task.ONE_VS_REST,),
        "log_odds": (Task.BINARY, Task.ONE_VS_REST),
        "break_ties": (Task.ONE_VS_ONE,),
    }
)
"""Optional flags, and the tasks with which they may be True."""

ROUTING = (
    *("routing_weights", "routing_offsets", "routing_node_ends", "routing_targets"),
    *("routing_leaf_ends", "routing_intercepts", "routing_relative_gamma"),
    *("routing_pair_coef", "routing_leaf_weights"),
)
"""The tree of a routed machine: all of its names, or none, are in the archive."""

OPTIONAL = (
    *FLAGS,
    *("threshold", "platt", "decision_function_shape", "classes", "class_counts"),
    *("rounded_vectors", "intercept_error"),
    *ROUTING,
)

PARAMETERS = MappingProxyType(
    {
        "linear": (),
        "poly": ("gamma", "coef0", "degree"),
        "rbf": ("gamma",),
        "sigmoid": ("gamma", "coef0"),
        "laplacian": ("gamma",),
        "chi2": ("gamma",),
        "intersection": (),
        "additive_chi2": (),
        "cosine": (),
        "normalized_poly": ("gamma", "coef0", "degree"),
        "fourier": (),
        "matern": ("gamma", "degree"),
        "rational_quadratic": ("gamma", "alpha"),
    }
)
"""The kernels and their parameters; cosine and normalized_poly also normalise the vectors."""

STEPS = MappingProxyType(
    {
        "Affine": ("offset", "factor"),
        "Clip": ("low", "high"),
        "Projection": ("matrix",),
        "Normalization": ("norm",),
        "Selection": ("columns",),
        "Extension": ("value",),
    }
)
"""The steps of preprocessing and their fields; the widths follow from `n_features`."""

AFFINE_ERRORS = ("offset_error", "factor_error")
"""Optional fields of an Affine step: bounds on float64 rounding errors of its fields."""

MAX_STEPS = 100


def step_prefix(number: int) -> str:
    """Return the prefix of the names of a step's fields."""
    return f"step_{number}_"

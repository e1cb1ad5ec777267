"""The meaning of kernels, steps and rules in words that need no other document."""

from __future__ import annotations

from kmcompile.kernels.kernel import Kernel
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps.step import Step

MEANING = (
    "All formulas are of real numbers, without rounding. A number in this document is the float64 "
    "that is nearest to its decimal text. Arrays are in row-major order, and indices begin with 0. "
    "An array that names a file lies there from its offset on, 8 bytes a number, the lowest byte "
    "first: IEEE 754 binary64 (float64), or two's complement (int64)."
)


def formula_of(part: Kernel | Step) -> str:
    """Return the formula of a kernel or a step; without one its docstring's first line."""
    return part.formula or (type(part).__doc__ or "").strip().split("\n")[0]


_ROWS = "f_p = sum_i dual_coef[p][i] K(support_vectors[i], x') + intercept[p]"
_PAIRS = (
    "decision p is of the pair p of classes (a, b), a < b, in the order (0, 1), (0, 2), ..., "
    "(1, 2), ...; the support vectors stand class by class, class_counts[c] of class c; "
    "f_p = sum over the vectors i of class a of dual_coef[b - 1][i] K(support_vectors[i], x') "
    "+ sum over the vectors i of class b of dual_coef[a][i] K(support_vectors[i], x') "
    "+ intercept[p]"
)
_LEAF = (
    "x' walks from node 0 to a leaf: at a node it takes the choice c with the largest "
    "sum_j weights[c][j] x'_j - offsets[c], any of them if several are as large; the choices of "
    "node n are node_ends[n - 1] (0 for the first node) to node_ends[n] - 1; targets[c] is the "
    "next node, or -1 - leaf; leaf l has the vectors leaf_ends[l - 1] (0 for the first leaf) to "
    "leaf_ends[l] - 1; with K_i the kernel of its vector i, whose gamma is the kernel's gamma "
    "times relative_gamma[i], f_p = sum_i dual_coef[p][i] K_i + intercepts[l][p] + intercept[p], "
    "plus sum_j leaf_weights[l][p][j] x'_j if there are leaf_weights, plus sum over the pairs "
    "i <= j of the leaf's vectors of pair_coef[p][q] K_i K_j if there are any, where q counts the "
    "pairs (0, 0), (0, 1), ..., (1, 1), ... of leaf after leaf"
)


def decisions_of(machine: KernelMachine) -> tuple[str, str]:
    """Return the name of the rule by which decisions are computed, and its text."""
    start = "x' is the input after all steps of the preprocessing, in their order; "
    if machine.routing is not None:
        return "leaves", start + _LEAF
    if machine.shares_rows:
        return "pairs", start + _PAIRS
    return "rows", start + _ROWS


def label_of(machine: KernelMachine) -> tuple[str, str]:
    """Return the name of the rule that makes a label of the decisions, and its text."""
    task = machine.task
    if task is Task.REGRESSION:
        return "value", "there is no label: f_0 is the value"
    if task.has_one_sign:
        relation = ">=" if machine.zero_is_positive else ">"
        rule = "sign-zero-positive" if machine.zero_is_positive else "sign-zero-negative"
        return rule, f"the label is classes[1] where f_0 {relation} 0, otherwise classes[0]"
    if task is Task.ONE_VS_REST:
        which = "last" if machine.last_of_equal else "first"
        return f"largest-{which}", f"the label is the class of the largest f; the {which} of equals"
    if machine.break_ties:
        return "votes-confident", (
            "pair (a, b) votes for a where f_p >= 0, otherwise for b; c_k = sum of f_p over the "
            "pairs (k, b), minus the sum of f_p over the pairs (a, k); the label is the class k "
            "with the largest votes_k + c_k / (3 (|c_k| + 1)), the first of equals"
        )
    return "votes", (
        "pair (a, b) votes for a where f_p > 0, otherwise for b; the label is the class with the "
        "most votes, the first of equals"
    )


def probability_of(machine: KernelMachine) -> tuple[str, str] | None:
    """Return the name of the rule for probabilities, and its text; None where there are none."""
    if machine.platt is not None:
        slope, offset = machine.platt
        return "platt", (
            "the probability of classes[1] is 1 / (1 + exp(-slope (f_0 + threshold) - offset)), "
            f"that of classes[0] is the rest to 1, with slope {slope!r} and offset {offset!r}"
        )
    if not machine.log_odds:
        return None
    if machine.task is Task.BINARY:
        return "logistic", (
            "the probability of classes[1] is 1 / (1 + exp(-f_0 - threshold)), that of classes[0] "
            "is the rest to 1"
        )
    return "logistic-shares", (
        "the probability of class k is s_k / sum_l s_l with s_k = 1 / (1 + exp(-f_k))"
    )

/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, float32, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: ed6c002615953027ff87d4a26b67ac1b80a8a0b47a2bb659805b527223614842.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, pair_sum, vote.
 * Every float operation stands in the order in which it was verified. Build without contraction
 * (-ffp-contract=off) for results that are identical to the bit; the bounds and the certificates
 * hold with contraction, too.
 */
#include "iris.h"

#include <float.h>
#include <stddef.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) \
    || (defined(__FINITE_MATH_ONLY__) && (__FINITE_MATH_ONLY__ > 0))
#error "fast-math reorders the sums: neither the results nor their bounds would hold"
#endif
/* 16: only types below float have a format of their own, which GNU C has for half precision. */
#if (FLT_EVAL_METHOD != 0) && (FLT_EVAL_METHOD != 16)
#error "float expressions must be evaluated in float: set FLT_EVAL_METHOD to 0 (-mfpmath=sse)"
#endif

/* A build without the flag does not contract either. gcc does so in GNU C only, where there is an
   instruction for it, and does not know the pragma of C99. */
#if !defined(__GNUC__) || defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__FP_FAST_FMAF) && !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#endif

#if (FLT_RADIX != 2) || (FLT_MANT_DIG != 24) || (FLT_MAX_EXP != 128)
#error "float must be the 32-bit type of IEEE 754"
#endif

#define IRIS_N_PREPARED 2U     /* features after the preprocessing */
#define IRIS_LANES 1U          /* support vectors of a block, side by side */
#define IRIS_N_BLOCKS 5U       /* the last ones of a group filled up */
#define IRIS_BLOCK_WORDS 2U    /* N_PREPARED * LANES */
#define IRIS_N_ENTRIES 10U     /* coefficients that are not 0, of all pairs */
#define IRIS_N_MARKS 1U        /* words with a bit for each vector */
#define IRIS_N_PAIR_MARKS 1U   /* words with a bit for each pair */
#define IRIS_N_TABLES 12U      /* tables with a checksum */
#define IRIS_N_ANSWERS 2U      /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 15U  /* steps of the whole self-test */
#define IRIS_STEP_WORDS 256U   /* words of a table that one step reads */

/* A float and its bits. */
typedef union {
    float value;
    uint32_t bits;
} iris_bits_t;

/* An input on its way through the preprocessing. */
typedef struct {
    const float *x;
    float deviation;  /* >= the distance of x from the exactly prepared input */
    float length;     /* >= the Euclidean norm of x, where it is needed */
} iris_prepared_t;

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "left",
    "right",
    "top"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "pair_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Support vectors s_i, in prepared features. Index: [vector][feature]. */
IRIS_TABLE_SECTION
static const float iris_vectors[10U] = {
    -0x1p+0f, 0x0p+0f, -0x1.8p+0f, 0x1p-1f, 0x1p+0f, 0x0p+0f, 0x1.8p+0f, 0x1p-1f, 0x0p+0f,
    0x1.8p+0f
};

/* Number of the vector of an entry. Index: [entry], 10. */
IRIS_TABLE_SECTION
static const uint16_t iris_entry_vectors[10U] = {
    0U, 1U, 2U, 3U, 0U, 1U, 4U, 2U, 3U, 4U
};

/* Dual coefficient beta_pi of an entry in its pair. Index: [entry], 10. */
IRIS_TABLE_SECTION
static const float iris_coefficients[10U] = {
    0x1.8p-1f, 0x1p-2f, -0x1p-1f, -0x1p-1f, 0x1.8p-1f, 0x1p-2f, -0x1p+0f, 0x1.8p-1f, 0x1p-2f,
    -0x1p+0f
};

/* Entry after the positive ones of a pair, and after all of them. Index: [pair][2], 3x2. */
IRIS_TABLE_SECTION
static const uint32_t iris_pair_ends[6U] = {
    2UL, 4UL, 6UL, 7UL, 9UL, 10UL
};

/* Intercepts b_p of the pairs. Index: [pair], 3. */
IRIS_TABLE_SECTION
static const float iris_intercept[3U] = {
    0x0p+0f, 0x1p-3f, -0x1p-3f
};

/* Part of the decisions' bound that no input changes. Index: [pair], 3. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[3U] = {
    0x1.7d824ap-121f, 0x1.7d824ap-121f, 0x1.7d824ap-121f
};

/* Weights of the score that orders the classes. Index: [class][feature], 3x2. */
IRIS_TABLE_SECTION
static const float iris_score_weights[6U] = {
    -0x1p-1f, -0x1p-2f, 0x1p-1f, -0x1p-2f, 0x0p+0f, 0x1p-1f
};

/* Constant of that score. Index: [class], 3. */
IRIS_TABLE_SECTION
static const float iris_score_offset[3U] = {
    0x0p+0f, 0x0p+0f, 0x0p+0f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const float iris_known_inputs[4U] = {
    -0x1p+0f, 0x1p-2f, 0x1p+0f, 0x1p-2f
};

/* Labels of these inputs. Index: [answer], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_known_labels[2U] = {
    0U, 1U
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_lower[6U] = {
    0x1.b52fb4p-1f, 0x1.937d9p-1f, -0x1.2cb6fcp-2f, -0x1.9b45e8p-1f, -0x1.65b784p-5f,
    0x1.137d94p-1f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_upper[6U] = {
    0x1.b53094p-1f, 0x1.937e98p-1f, -0x1.2cb61cp-2f, -0x1.9b4508p-1f, -0x1.65b12cp-5f,
    0x1.137e94p-1f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 12. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[12U] = {
    2089667550UL, 3251504118UL, 2805648432UL, 3674608923UL, 4102538830UL, 732353499UL,
    1150744004UL, 727758173UL, 952644599UL, 1366104114UL, 3849239391UL, 3517925660UL
};

/* iris_magnitude: as in linear-host */
/* iris_excess: as in linear-host */
/* iris_any_excess: as in linear-host */
/* iris_check: as in regression-host */

/* There is no preprocessing: the kernel gets the input itself, which is exact. Input: x checked. */
static iris_prepared_t iris_prepare(
    const iris_input_t x[IRIS_N_FEATURES])
{
    iris_prepared_t state;

    state.x = x;
    state.deviation = 0.0f;
    state.length = 0.0f;  /* not needed before a step sets it */
    return state;
}
/* iris_exp_negative: as in cascade-cortex-m7 */

/* What the error of a kernel value depends on, for one query. */
typedef struct {
    float per_value;  /* relative error of a value ... */
    float per_z;      /* ... and how it grows with z = gamma |s - x|^2 */
    bool usable;      /* false: the input's own error is too large for the bounds below */
} iris_kernel_terms_t;

/*
 * With e >= |s - stored s| + |x - prepared x| and z computed: the exact z lies within
 * z_error * z + shift of it, shift = gamma (1 + 1/t) e^2, where 2 D e <= t D^2 + e^2 / t.
 * Input: deviation >= |x - prepared x|.
 */
static iris_kernel_terms_t iris_kernel_prepare(
    const iris_prepared_t *const input)
{
    const float z_error = 0x1.c00088p-22f;  /* of z, relative */
    const float vector_error = 0x1.94c5eap-50f;  /* >= |s - stored s| */
    const float value_error = 0x1.580072p-20f;  /* of exp and the sum, relative */
    const float per_square = 0x1.000044p+23f;  /* gamma (1 + 1/t), per e^2 */
    const float shift_minimum = 0x1.000042p-123f;  /* underflows in z */
    const float cutoff = 0x1.5bf5bcp+6f;  /* from this z on a kernel value is 0 */
    const float spread = input->deviation + vector_error;
    const float growth = ((per_square * spread) * spread) + shift_minimum;
    /* More than 1 is of no use, and might overflow below. */
    const float shift = (growth < 1.0f) ? growth : 1.0f;
    const float widest = (z_error * cutoff) + shift;
    const float widen = widest + 1.0f;
    iris_kernel_terms_t terms;

    terms.per_value = value_error + (widen * shift);
    terms.per_z = widen * z_error;
    terms.usable = widest <= 1.0f;
    return terms;
}
/* iris_kernel_term: as in cascade-cortex-m7 */
/* iris_kernel_value: as in cascade-cortex-m7 */

/*
 * K(s, x) for the vectors of a block.
 * Input: total[lane] = |s - x|^2 >= 0.
 * Result: value[lane] within error[lane] of the trained kernel at the exact input, but for
 * exp(1 - 86.989975), which the decision's constant part holds.
 */
static void iris_kernel_values(
    const iris_kernel_terms_t *const terms,
    const float total[IRIS_LANES],
    float value[IRIS_LANES],
    float error[IRIS_LANES])
{
    const float gamma = 0x1p-1f;  /* of the trained kernel, rounded */
    const float z_0 = gamma * total[0U];
    const float k_0 = iris_kernel_value(total[0U]);

    value[0U] = k_0;
    error[0U] = k_0 * (terms->per_value + (terms->per_z * z_0));
}

/*
 * total[lane] = sum over the features of the term, for the vectors of one block, each in
 * the order of the features.
 * Input: block = the first word of the block's vectors, [feature][lane].
 */
static void iris_block_totals(
    const float block[IRIS_BLOCK_WORDS],
    const float x[IRIS_N_PREPARED],
    float total[IRIS_LANES])
{
    float total_0 = 0.0f;
    uint32_t j;

    for (j = 0U; j < IRIS_N_PREPARED; ++j) {
        const float *const s = &block[j * IRIS_LANES];

        total_0 += iris_kernel_term(x[j], s[0U]);
    }
    total[0U] = total_0;
}

/* Whether an array of bits has bit i. */
static bool iris_is_marked(
    const uint32_t *const marks,
    const uint32_t i)
{
    return ((marks[i / 32U] >> (i % 32U)) & 1U) != 0U;
}

/* Sets bit i of an array of bits. */
static void iris_mark(
    uint32_t *const marks,
    const uint32_t i)
{
    marks[i / 32U] |= (uint32_t)1U << (i % 32U);
}

/*
 * K(s, x) of one vector, with the bound of its error, for all pairs that it is part of.
 * Input: block < N_BLOCKS, the number of the vector.
 */
static void iris_compute_kernel(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const iris_kernel_terms_t *const terms,
    const uint32_t block)
{
    const uint32_t first = block * IRIS_BLOCK_WORDS;
    const float *const vectors = &iris_vectors[first];
    float total[IRIS_LANES];

    iris_block_totals(vectors, input->x, total);
    iris_kernel_values(
        terms, total, &workspace->kernel[block], &workspace->kernel_error[block]);
    iris_mark(workspace->computed, block);
    ++workspace->n_computed;
}

/* A sum of coefficient * kernel, and of coefficient * error. */
typedef struct {
    float value;
    float error;
} iris_products_t;

/*
 * The sums over some entries of a pair, whose coefficients have one sign: 16 at a time from
 * the left, then those sums. A kernel is computed where no pair before has needed it.
 * A vector's number is checked, so that a damaged table cannot make this read elsewhere.
 * Input: first <= end <= N_ENTRIES.
 */
static iris_products_t iris_sum_entries(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const iris_kernel_terms_t *const terms,
    const uint32_t first,
    const uint32_t end)
{
    iris_products_t sum = { 0.0f, 0.0f };
    uint32_t start;

    /* Of a query: two sums of each pair, the last section of each may be short. */
    /* Loop bound: ((2U + 16U) - 1U) / 16U, of a query 6U. */
    for (start = first; start < end; start += 16U) {
        const uint32_t left = end - start;
        const uint32_t n = (left < 16U) ? left : 16U;
        float value = 0.0f;
        float error = 0.0f;
        uint32_t entry;

        /* Loop bound: 16U, in all 2U, of a query IRIS_N_ENTRIES. */
        for (entry = start; entry < (start + n); ++entry) {
            const uint32_t vector = iris_entry_vectors[entry];
            const float coef = iris_coefficients[entry];

            if (vector < IRIS_N_BLOCKS) {
                /* Its mark is set then, until the next query. */
                /* Taken: at most IRIS_N_BLOCKS of a query. */
                if (!iris_is_marked(workspace->computed, vector)) {
                    iris_compute_kernel(workspace, input, terms, vector);
                }
                value += coef * workspace->kernel[vector];
                error += coef * workspace->kernel_error[vector];
            } else {
                workspace->damaged = 1U;
            }
        }
        sum.value += value;
        sum.error += error;
    }
    return sum;
}

/*
 * decision[p] = sum over the pair's entries of beta K(s, x) + b_p, and bound[p] >= its error.
 * The places of the entries are checked, so that a damaged table cannot make this read elsewhere
 * or run longer than the longest pair allows, or all pairs together longer than their entries
 * allow.
 * Input: p < N_DECISIONS, a pair that has not been evaluated for this query.
 */
static void iris_evaluate_pair(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const iris_kernel_terms_t *const terms,
    const uint32_t p)
{
    const float final_factor = 0x1.000076p+0f;  /* roundings in the sum of errors */
    const float result_error = 0x1.000042p-22f;  /* relative, of the last addition */
    const float trivial_bound = 0x1.000042p+2f;  /* no decision is further off */
    const uint32_t first = (p > 0U) ? iris_pair_ends[(2U * p) - 1U] : 0U;
    const uint32_t middle = iris_pair_ends[2U * p];
    const uint32_t end = iris_pair_ends[(2U * p) + 1U];
    iris_products_t positive = { 0.0f, 0.0f };
    iris_products_t negative = { 0.0f, 0.0f };
    float f;
    float rounding;
    float error;

    if ((first <= middle) && (middle <= end) && (end <= IRIS_N_ENTRIES)
        && ((middle - first) <= 2U) && ((end - middle) <= 2U)
        && ((end - first) <= (IRIS_N_ENTRIES - workspace->n_entries))) {
        workspace->n_entries += end - first;
        positive = iris_sum_entries(workspace, input, terms, first, middle);
        negative = iris_sum_entries(workspace, input, terms, middle, end);
    } else {
        workspace->damaged = 1U;
    }
    f = (positive.value + negative.value) + iris_intercept[p];
    error = iris_magnitude(positive.error)
        + iris_magnitude(negative.error);
    rounding = iris_magnitude(f) * result_error;
    workspace->decision[p] = f;
    /* If the kernel's errors are not usable, every value may be off as far as it can be. */
    workspace->bound[p] = terms->usable
        ? (((error * final_factor) + rounding)
            + iris_minimum_bound[p])
        : (rounding + trivial_bound);
}

/* Forgets the kernels of the input before. */
static void iris_forget_kernels(
    iris_workspace_t *const workspace)
{
    uint32_t i;

    for (i = 0U; i < IRIS_N_MARKS; ++i) {
        workspace->computed[i] = 0U;
    }
    workspace->n_computed = 0U;
    workspace->n_entries = 0U;
    workspace->damaged = 0U;
}

/*
 * The decisions of all pairs, with the bounds of their errors, in the workspace.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * Result: false if a table of the pairs is damaged; then the decisions are not to be used.
 */
static bool iris_all_pairs(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const iris_kernel_terms_t terms =
        iris_kernel_prepare(input);
    uint32_t p;

    iris_forget_kernels(workspace);
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        iris_evaluate_pair(workspace, input, &terms, p);
    }
    return workspace->damaged == 0U;
}

/* The class with most votes; of equal ones the first. */
static uint32_t iris_winner(
    const iris_workspace_t *const workspace)
{
    uint32_t winner = 0U;
    uint32_t c;

    for (c = 1U; c < IRIS_N_CLASSES; ++c) {
        if (workspace->votes[c] > workspace->votes[winner]) {
            winner = c;
        }
    }
    return winner;
}

/* Whether the winner beats a rival under every outcome of the pairs that are not sure. */
static bool iris_beats(
    const iris_workspace_t *const workspace,
    const uint32_t winner,
    const uint32_t rival)
{
    const uint32_t own = workspace->sure[winner];
    const uint32_t other = workspace->possible[rival];

    return (own > other) || ((own == other) && (winner < rival));
}

/* Whether a class beats every other one under every outcome of the pairs that are not sure. */
static bool iris_is_settled(
    const iris_workspace_t *const workspace,
    const uint32_t leader)
{
    bool settled = true;
    uint32_t c;

    for (c = 0U; c < IRIS_N_CLASSES; ++c) {
        if ((c != leader) && !iris_beats(workspace, leader, c)) {
            settled = false;
        }
    }
    return settled;
}

/* The number of the pair of two classes. Input: they are different. */
static uint32_t iris_pair_of(
    const uint32_t a,
    const uint32_t b)
{
    const uint32_t i = (a < b) ? a : b;
    const uint32_t j = (a < b) ? b : a;

    return (((i * (((2U * IRIS_N_CLASSES) - i) - 1U)) / 2U) + (j - i)) - 1U;
}

/*
 * Ranks the classes by a linear score of the prepared input, highest first, of equal ones the
 * first: whom to begin with, and who threatens it. No label rests on it.
 */
static void iris_rank_classes(
    iris_workspace_t *const workspace,
    const float x[IRIS_N_PREPARED])
{
    uint32_t c;

    for (c = 0U; c < IRIS_N_CLASSES; ++c) {
        const uint32_t first = c * IRIS_N_PREPARED;
        const float *const weights = &iris_score_weights[first];
        float score = iris_score_offset[c];
        uint32_t place = c;
        uint32_t j;

        for (j = 0U; j < IRIS_N_PREPARED; ++j) {
            score += x[j] * weights[j];
        }
        workspace->score[c] = score;
        /* Loop bound: IRIS_N_CLASSES, in all IRIS_N_DECISIONS. */
        while ((place > 0U) && (workspace->score[workspace->rank[place - 1U]] < score)) {
            workspace->rank[place] = workspace->rank[place - 1U];
            --place;
        }
        workspace->rank[place] = c;
    }
}

/* The pair of two classes has its decision. Input: they are different. */
static bool iris_have_met(
    const iris_workspace_t *const workspace,
    const uint32_t a,
    const uint32_t b)
{
    return iris_is_marked(workspace->evaluated, iris_pair_of(a, b));
}

/*
 * Counts the votes of pair p of classes i < j, the sure ones and what is no longer possible.
 * Input: the pair has its decision, and has not been counted. Result: the class that wins.
 */
static uint32_t iris_count_pair(
    iris_workspace_t *const workspace,
    const uint32_t p,
    const uint32_t i,
    const uint32_t j)
{
    const float f = workspace->decision[p];
    uint32_t winner = j;

    iris_mark(workspace->evaluated, p);
    ++workspace->met[i];
    ++workspace->met[j];
    if (f > 0.0f) {
        winner = i;
    }
    ++workspace->votes[winner];
    /* A bound that is no number makes nothing sure and excludes neither. */
    if ((f - workspace->bound[p]) > 0.0f) {
        ++workspace->sure[i];
        --workspace->possible[j];
    }
    if ((f + workspace->bound[p]) < 0.0f) {
        ++workspace->sure[j];
        --workspace->possible[i];
    }
    return winner;
}

/*
 * Evaluates the pair of two classes and counts its votes.
 * Input: different classes that have not met. Result: the one that wins.
 */
static uint32_t iris_meet(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const iris_kernel_terms_t *const terms,
    const uint32_t a,
    const uint32_t b)
{
    const uint32_t p = iris_pair_of(a, b);

    iris_evaluate_pair(workspace, input, terms, p);
    return iris_count_pair(workspace, p, (a < b) ? a : b, (a < b) ? b : a);
}

/*
 * The best-ranked class meets the next one, the winner the one after that and so on; the last
 * winner meets those that it has not met. Result: the number of pairs.
 */
static uint32_t iris_sweep_classes(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const iris_kernel_terms_t *const terms)
{
    uint32_t leader = workspace->rank[0];
    uint32_t n_pairs = 0U;
    uint32_t k;

    for (k = 1U; k < IRIS_N_CLASSES; ++k) {
        leader = iris_meet(workspace, input, terms, leader, workspace->rank[k]);
        ++n_pairs;
    }
    for (k = 0U; k < IRIS_N_CLASSES; ++k) {
        const uint32_t other = workspace->rank[k];

        if ((other != leader) && !iris_have_met(workspace, leader, other)) {
            (void)iris_meet(workspace, input, terms, leader, other);
            ++n_pairs;
        }
    }
    return n_pairs;
}

/*
 * The class with the most possible votes that has not met all others, of equal ones that with the
 * most sure votes, of these the first, meets the class with the most possible votes that it has not
 * met, of equal ones the first in the order of the scores.
 * Input: not all pairs have been evaluated.
 */
static void iris_settle(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const iris_kernel_terms_t *const terms)
{
    uint32_t strongest = 0U;
    uint32_t opponent = 0U;
    uint32_t most = 0U;
    uint32_t k;

    for (k = 0U; k < IRIS_N_CLASSES; ++k) {
        const uint32_t strength =
            ((workspace->possible[k] * IRIS_N_CLASSES) + workspace->sure[k]) + 1U;

        if ((workspace->met[k] < (IRIS_N_CLASSES - 1U)) && (strength > most)) {
            strongest = k;
            most = strength;
        }
    }
    most = 0U;
    for (k = 0U; k < IRIS_N_CLASSES; ++k) {
        const uint32_t other = workspace->rank[k];
        const uint32_t possible = 1U + workspace->possible[other];

        if ((other != strongest) && (possible > most)
            && !iris_have_met(workspace, strongest, other)) {
            opponent = other;
            most = possible;
        }
    }
    (void)iris_meet(workspace, input, terms, strongest, opponent);
}

/* The interval of the pair with the smallest margin among the evaluated ones that a class won. */
static void iris_closest_met_pair(
    const iris_workspace_t *const workspace,
    const uint32_t winner,
    iris_result_t *const result)
{
    const float beyond_all = 0x1p+127f;  /* no margin is as large */
    float smallest = beyond_all;
    uint32_t c;

    result->lower = 0.0f;
    result->upper = 0.0f;
    for (c = 0U; c < IRIS_N_CLASSES; ++c) {
        if ((c != winner) && iris_have_met(workspace, winner, c)) {
            const uint32_t p = iris_pair_of(winner, c);
            const float f = workspace->decision[p];
            const float margin = iris_magnitude(f);
            const bool won = (f > 0.0f) ? (winner < c) : (winner > c);

            if (won && (margin < smallest)) {
                smallest = margin;
                result->lower = f - workspace->bound[p];
                result->upper = f + workspace->bound[p];
            }
        }
    }
}

/* Forgets the votes of the input before. */
static void iris_forget_votes(
    iris_workspace_t *const workspace)
{
    uint32_t i;

    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        workspace->votes[i] = 0U;
        workspace->sure[i] = 0U;
        workspace->possible[i] = IRIS_N_CLASSES - 1U;
        workspace->met[i] = 0U;
    }
    for (i = 0U; i < IRIS_N_PAIR_MARKS; ++i) {
        workspace->evaluated[i] = 0U;
    }
}

/*
 * The label that the votes of all pairs would give, from as few of them as settle it: a pair that
 * is not evaluated is possible for both of its classes. The classes are swept; then
 * whoever could still win meets others, until the label is settled or no pair is left.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * Result: label, interval and certificate; false if a table of the pairs is damaged.
 */
static bool iris_pair_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    const iris_kernel_terms_t terms =
        iris_kernel_prepare(input);
    bool sound;
    bool settled;
    uint32_t n_pairs;
    uint32_t leader;

    iris_rank_classes(workspace, input->x);
    iris_forget_kernels(workspace);
    iris_forget_votes(workspace);
    n_pairs = iris_sweep_classes(workspace, input, &terms);
    leader = iris_winner(workspace);
    /* Loop bound: IRIS_N_DECISIONS - (IRIS_N_CLASSES - 1U). */
    while ((n_pairs < IRIS_N_DECISIONS)
        && !iris_is_settled(workspace, leader)) {
        iris_settle(workspace, input, &terms);
        leader = iris_winner(workspace);
        ++n_pairs;
    }
    iris_closest_met_pair(workspace, leader, result);
    result->label = (int32_t)leader;
    sound = workspace->damaged == 0U;
    settled = iris_is_settled(workspace, leader);
    result->certified = sound && settled;
    return sound;
}
/* iris_accept: as in linear-host */

/*
 * The answer of the exact sums, which stay in the workspace with their bounds.
 * Input: x prepared.
 * Result: IRIS_OK with *result written but for in_range, or
 * IRIS_ERROR_CORRUPT.
 */
static iris_status_t iris_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    iris_status_t status = IRIS_ERROR_CORRUPT;

    if (iris_pair_sum(workspace, input, result)) {
        result->kernel_evals = workspace->n_computed;
        result->stage = IRIS_STAGE_PAIR_SUM;
        status = IRIS_OK;
    }
    return status;
}
/* iris_classify: as in codes-cortex-m7 */

/* The contract is in the header. */
iris_status_t iris_decision(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    float decision[IRIS_N_DECISIONS])
{
    iris_prepared_t input;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (decision == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept(x, &input);
    if (status == IRIS_OK) {
        if (iris_all_pairs(workspace, &input)) {
            uint32_t p;

            for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
                decision[p] = workspace->decision[p];
            }
        } else {
            status = IRIS_ERROR_CORRUPT;
        }
    }
    return status;
}
/* iris_checksum_word: as in linear-host */
/* iris_float_at: as in linear-host */
/* iris_integer_at: as in linear-host */
/* iris_word_at: as in codes-cortex-m7 */

/* The types of tables. */
typedef enum {
    IRIS_TYPE_FLOAT,
    IRIS_TYPE_UINT16,
    IRIS_TYPE_UINT32
} iris_type_t;

/* The elements of a table under the name of their type. */
typedef union {
    const volatile float *as_float;
    const volatile uint16_t *as_uint16;
    const volatile uint32_t *as_uint32;
} iris_elements_t;

/* A table as the self-test reads it. */
typedef struct {
    iris_elements_t elements;
    iris_type_t type;
    uint32_t n_words;  /* one an element */
} iris_table_t;

/*
 * All tables, in the order of their checksums. The addresses are the linker's: no checksum covers
 * them, as none covers those in the code.
 */
static const iris_table_t iris_tables[12U] = {
    { { .as_float = iris_vectors }, IRIS_TYPE_FLOAT, 10U },
    { { .as_uint16 = iris_entry_vectors }, IRIS_TYPE_UINT16, 10U },
    { { .as_float = iris_coefficients }, IRIS_TYPE_FLOAT, 10U },
    { { .as_uint32 = iris_pair_ends }, IRIS_TYPE_UINT32, 6U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_score_weights }, IRIS_TYPE_FLOAT, 6U },
    { { .as_float = iris_score_offset }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_known_inputs }, IRIS_TYPE_FLOAT, 4U },
    { { .as_uint16 = iris_known_labels }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_known_lower }, IRIS_TYPE_FLOAT, 6U },
    { { .as_float = iris_known_upper }, IRIS_TYPE_FLOAT, 6U }
};

/* Word i of a table. Input: i < its n_words. */
static uint32_t iris_table_word(
    const iris_table_t *const table,
    const uint32_t i)
{
    const iris_elements_t elements = table->elements;
    uint32_t word = 0U;

    if (table->type == IRIS_TYPE_FLOAT) {
        word = iris_float_at(&elements.as_float[i]);
    } else if (table->type == IRIS_TYPE_UINT16) {
        word = iris_integer_at(&elements.as_uint16[i]);
    } else if (table->type == IRIS_TYPE_UINT32) {
        word = iris_word_at(&elements.as_uint32[i]);
    } else {
        /* Every table has one of these types. */
    }
    return word;
}
/* iris_test_table: as in linear-host */
/* iris_within: as in linear-host */

/* Sums one known input: the label is exact, the decisions lie within their intervals. */
static iris_status_t iris_test_answer(
    iris_self_test_t *const state)
{
    const uint32_t answer = state->part - IRIS_N_TABLES;
    const uint32_t first = answer * IRIS_N_FEATURES;
    const int32_t label = (int32_t)iris_known_labels[answer];
    iris_prepared_t input;
    iris_result_t result;
    iris_status_t status;
    bool agrees = false;
    const iris_input_t *const x = &iris_known_inputs[first];

    status = iris_accept(x, &input);
    if (status == IRIS_OK) {
        status = iris_sum(&state->workspace, &input, &result);
    }
    /* The label needs some pairs only. */
    if (status == IRIS_OK) {
        if (!iris_all_pairs(&state->workspace, &input)) {
            status = IRIS_ERROR_CORRUPT;
        }
    }
    if (status == IRIS_OK) {
        agrees = iris_within(state->workspace.decision, answer);
        if (result.label != label) {
            agrees = false;
        }
    }
    if (!agrees) {
        status = IRIS_ERROR_CORRUPT;
    }
    ++state->part;
    return status;
}
/* iris_self_test_step: as in linear-host */
/* iris_self_test: as in linear-host */

/* kmcompile iris.pkl --target host */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target host, float32, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: 4a9df788faf84d700c35fc3c534c049bf94d8a9b43511f0bc20f93e3b216e401.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, exact_sum, value.
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
#define IRIS_LANES 16U         /* support vectors of a block, side by side */
#define IRIS_N_BLOCKS 2U       /* the last ones of a group filled up */
#define IRIS_BLOCK_WORDS 32U   /* N_PREPARED * LANES */
#define IRIS_N_ROWS 1U         /* decisions that a vector is part of */
#define IRIS_N_GROUPS 2U       /* groups of vectors, by what they are part of */
#define IRIS_SUM_EVALS 3U      /* full kernel evaluations of the sum */
#define IRIS_N_TABLES 9U       /* tables with a checksum */
#define IRIS_N_ANSWERS 2U      /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 12U  /* steps of the whole self-test */
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

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "exact_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Support vectors s_i, in prepared features. Index: [block][feature][lane], 2x2x16. */
IRIS_TABLE_SECTION
static const float iris_vectors[64U] = {
    -0x1p+0f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f,
    -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, -0x1p-1f, 0x1p-1f, -0x1p+0f,
    -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f,
    -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f,
    0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f,
    0x1p+0f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f,
    0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f
};

/* Dual coefficients beta_pi, 0 where a block is filled up. Index: [block][row][lane], 2x1x16. */
IRIS_TABLE_SECTION
static const float iris_coefficients[32U] = {
    -0x1.8p-1f, -0x1p-1f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x1.4p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f
};

/* Number of the block after the last one of a group. Index: [group], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_group_ends[2U] = {
    1U, 2U
};

/* Number p of the decision that a row adds to. Index: [group][row], 2x1. */
IRIS_TABLE_SECTION
static const uint16_t iris_group_decisions[2U] = {
    0U, 0U
};

/* Intercepts b_p of the decisions. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_intercept[1U] = {
    0x1p+1f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[1U] = {
    0x1.480054p-119f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const float iris_known_inputs[4U] = {
    -0x1p+0f, 0x1p-1f, 0x1p+0f, 0x1p+0f
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const float iris_known_lower[2U] = {
    -0x1.5c0c7ap-4f, 0x1.363fb4p+2f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const float iris_known_upper[2U] = {
    -0x1.5bf386p-4f, 0x1.36404cp+2f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 9. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[9U] = {
    2436049443UL, 1637340421UL, 2054417452UL, 2351477386UL, 152852091UL, 553257706UL, 1149373848UL,
    1693872530UL, 3960764364UL
};

/* iris_magnitude: as in linear-host */
/* iris_square_root: as in linear-host */
/* iris_sum_of_squares: as in linear-host */
/* iris_length: as in linear-host */
/* iris_excess: as in linear-host */
/* iris_any_excess: as in linear-host */

/*
 * Refuses an input that is not finite or that exceeds IRIS_INPUT_LIMIT:
 * up to it no later intermediate can overflow.
 */
static iris_status_t iris_check(
    const iris_input_t x[IRIS_N_FEATURES])
{
    const uint32_t largest_finite = 0x7F7FFFFFUL;
    iris_status_t status = IRIS_OK;

    if (iris_any_excess(x, 0x5C000000UL) != 0U) {
        status = (iris_any_excess(x, largest_finite) != 0U)
            ? IRIS_ERROR_NOT_FINITE : IRIS_ERROR_RANGE;
    }
    return status;
}
/* iris_prepare: as in linear-host */

/*
 * v^2 by squaring and multiplying.
 * Input: any v for which the power is finite.
 * Result: one rounding error of 2^-24, relative, for each of the degree - 1 products in the tree
 * of v's, plus 2^-126 for each where it underflows.
 */
static float iris_power_2(const float v)
{
    float result = v;

    result *= result;
    return result;
}

/*
 * v^1 by squaring and multiplying.
 * Input: any v for which the power is finite.
 * Result: one rounding error of 2^-24, relative, for each of the degree - 1 products in the tree
 * of v's, plus 2^-126 for each where it underflows.
 */
static float iris_power_1(const float v)
{
    float result = v;

    return result;
}

/* What the error of a kernel value depends on, for one query. */
typedef struct {
    float inner_error;  /* of v = gamma <s, x> + coef0 */
    float slope;        /* degree * inner_error */
    bool usable;
} iris_kernel_terms_t;

/* Bounds the error of v: deviation >= |x - prepared x| and length >= |prepared x|. */
static iris_kernel_terms_t iris_kernel_prepare(
    const iris_prepared_t *const input)
{
    const float per_length = 0x1.f4e198p-23f;  /* roundings, per unit of |x| */
    const float per_deviation = 0x1.1e37c4p-1f;  /* how far v moves with x */
    const float minimum = 0x1.800062p-23f;  /* of stored vectors, and underflows */
    const float slope = 0x1.00004ap+1f;  /* >= degree, rounded up for the powers */
    iris_kernel_terms_t terms;

    terms.inner_error = ((per_length * input->length)
        + (per_deviation * input->deviation)) + minimum;
    terms.slope = slope * terms.inner_error;
    terms.usable = true;
    return terms;
}

/* One feature's part of <s, x>. */
static float iris_kernel_term(const float x, const float s)
{
    return x * s;
}

/* v = gamma <s, x> + coef0. Input: total = <s, x>. */
static float iris_kernel_argument(const float total)
{
    const float gamma = 0x1p-1f;  /* of the trained kernel, rounded */
    const float coef0 = 0x1p+0f;

    return (gamma * total) + coef0;
}

/* K(s, x) = v^2. Input: total = <s, x>. */
static float iris_kernel_value(const float total)
{
    return iris_power_2(iris_kernel_argument(total));
}

/*
 * K(s, x) for the vectors of a block.
 * Input: total[lane] = <s, x>.
 * Result: value[lane] within error[lane] of the trained kernel at the exact input: by the mean
 * value theorem the error of v counts at most degree (|v| + its error)^(degree - 1) times.
 */
static void iris_kernel_values(
    const iris_kernel_terms_t *const terms,
    const float total[IRIS_LANES],
    float value[IRIS_LANES],
    float error[IRIS_LANES])
{
    const float value_error = 0x1.600074p-20f;  /* of power and sum, relative */
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        const float v = iris_kernel_argument(total[lane]);
        const float k = iris_kernel_value(total[lane]);
        const float largest = iris_magnitude(v) + terms->inner_error;
        const float steepest = iris_power_1(largest);

        value[lane] = k;
        error[lane] = (terms->slope * steepest)
            + (iris_magnitude(k) * value_error);
    }
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
    uint32_t j;
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        total[lane] = 0.0f;
    }
    for (j = 0U; j < IRIS_N_PREPARED; ++j) {
        const float *const s = &block[j * IRIS_LANES];

        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            total[lane] += iris_kernel_term(x[j], s[lane]);
        }
    }
}

/* Adds one block's share to every row's running sum of values and of errors. */
static void iris_add_block(
    iris_workspace_t *const workspace,
    const uint32_t block,
    const float value[IRIS_LANES],
    const float error[IRIS_LANES])
{
    const uint32_t first = block * IRIS_N_ROWS;
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t index = (first + row) * IRIS_LANES;
        const float *const coef = &iris_coefficients[index];
        float sum = coef[0] * value[0];
        float sum_error = coef[0] * error[0];

        uint32_t lane;

        for (lane = 1U; lane < IRIS_LANES; ++lane) {
            sum += coef[lane] * value[lane];
            sum_error += coef[lane] * error[lane];
        }
        workspace->row_sum[row] += sum;
        workspace->row_error[row] += sum_error;
    }
}

/*
 * Adds a group's rows to the decisions they belong to, and clears them. Within a group the
 * coefficients of a row have one sign, so |sum of coefficient * error| bounds the row's error.
 * A decision's index is checked, so that a damaged table cannot write elsewhere.
 * Result: whether all indices were valid.
 */
static bool iris_add_group(
    iris_workspace_t *const workspace,
    const uint32_t group)
{
    const uint32_t first = group * IRIS_N_ROWS;
    bool valid = true;
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t p = iris_group_decisions[first + row];

        if (p < IRIS_N_DECISIONS) {
            workspace->decision[p] += workspace->row_sum[row];
            workspace->bound[p] += iris_magnitude(workspace->row_error[row]);
        } else {
            valid = false;
        }
        workspace->row_sum[row] = 0.0f;
        workspace->row_error[row] = 0.0f;
    }
    return valid;
}

/*
 * decision[p] = sum over i of beta_pi K(s_i, x) + b_p, bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * Result: false if a table of the groups is damaged; then the decisions are not to be used.
 */
static bool iris_exact_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const float final_factor = 0x1.000078p+0f;  /* roundings in the sum of errors */
    const float result_error = 0x1.000042p-22f;  /* relative, of the last addition */
    const float trivial_bound = 0x1.400052p+2f;  /* no decision is further off */
    const iris_kernel_terms_t terms =
        iris_kernel_prepare(input);
    float total[IRIS_LANES];
    float value[IRIS_LANES];
    float error[IRIS_LANES];
    bool valid = true;
    uint32_t group = 0U;
    uint32_t block;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->decision[p] = 0.0f;
        workspace->bound[p] = 0.0f;
    }
    for (p = 0U; p < IRIS_N_ROWS; ++p) {
        workspace->row_sum[p] = 0.0f;
        workspace->row_error[p] = 0.0f;
    }
    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        const uint32_t first = block * IRIS_BLOCK_WORDS;
        const float *const vectors = &iris_vectors[first];

        iris_block_totals(vectors, input->x, total);
        iris_kernel_values(&terms, total, value, error);
        iris_add_block(workspace, block, value, error);
        if ((group < IRIS_N_GROUPS)
            && ((block + 1U) == iris_group_ends[group])) {
            if (!iris_add_group(workspace, group)) {
                valid = false;
            }
            ++group;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const float f = workspace->decision[p] + iris_intercept[p];
        const float rounding = iris_magnitude(f) * result_error;
        const float summed = (workspace->bound[p] * final_factor) + rounding;
        const float bound = summed + iris_minimum_bound[p];

        workspace->decision[p] = f;
        /* If the kernel's errors are not usable, every value may be off as far as it can be. */
        workspace->bound[p] = terms.usable ? bound : (rounding + trivial_bound);
    }
    return valid && (group == IRIS_N_GROUPS);
}

/*
 * The value with its interval.
 * Result: whether that is narrower than the tolerance. A width that is wider in real arithmetic
 * is at least the tolerance once it is rounded; one that is no number is not narrower.
 */
static bool iris_value(
    const iris_workspace_t *const workspace,
    iris_prediction_t *const prediction)
{
    const float tolerance = 0x1p-2f;  /* in units of the value */
    const float f = workspace->decision[0];

    prediction->value = f;
    prediction->lower = f - workspace->bound[0];
    prediction->upper = f + workspace->bound[0];
    return (prediction->upper - prediction->lower) < tolerance;
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
    iris_prediction_t *const result)
{
    iris_status_t status = IRIS_ERROR_CORRUPT;

    if (iris_exact_sum(workspace, input)) {
        (void)iris_value(workspace, result);
        result->kernel_evals = IRIS_SUM_EVALS;
        result->stage = IRIS_STAGE_EXACT_SUM;
        status = IRIS_OK;
    }
    return status;
}

/* The contract is in the header. */
iris_status_t iris_predict(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_prediction_t *prediction)
{
    iris_prepared_t input;
    iris_prediction_t answer;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (prediction == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept(x, &input);
    if (status == IRIS_OK) {
        answer.in_range = true;
        status = iris_sum(workspace, &input, &answer);
        if (status == IRIS_OK) {
            *prediction = answer;
        }
    }
    return status;
}

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
        if (iris_exact_sum(workspace, &input)) {
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

/* The types of tables. */
typedef enum {
    IRIS_TYPE_FLOAT,
    IRIS_TYPE_UINT16
} iris_type_t;

/* The elements of a table under the name of their type. */
typedef union {
    const volatile float *as_float;
    const volatile uint16_t *as_uint16;
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
static const iris_table_t iris_tables[9U] = {
    { { .as_float = iris_vectors }, IRIS_TYPE_FLOAT, 64U },
    { { .as_float = iris_coefficients }, IRIS_TYPE_FLOAT, 32U },
    { { .as_uint16 = iris_group_ends }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint16 = iris_group_decisions }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_known_inputs }, IRIS_TYPE_FLOAT, 4U },
    { { .as_float = iris_known_lower }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_known_upper }, IRIS_TYPE_FLOAT, 2U }
};

/* iris_table_word: as in linear-host */
/* iris_test_table: as in linear-host */
/* iris_within: as in linear-host */

/* Sums one known input: the value lies within its interval. */
static iris_status_t iris_test_answer(
    iris_self_test_t *const state)
{
    const uint32_t answer = state->part - IRIS_N_TABLES;
    const uint32_t first = answer * IRIS_N_FEATURES;
    iris_prepared_t input;
    iris_prediction_t result;
    iris_status_t status;
    bool agrees = false;
    const iris_input_t *const x = &iris_known_inputs[first];

    status = iris_accept(x, &input);
    if (status == IRIS_OK) {
        status = iris_sum(&state->workspace, &input, &result);
    }
    if (status == IRIS_OK) {
        agrees = iris_within(state->workspace.decision, answer);
    }
    if (!agrees) {
        status = IRIS_ERROR_CORRUPT;
    }
    ++state->part;
    return status;
}
/* iris_self_test_step: as in linear-host */
/* iris_self_test: as in linear-host */

/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, float32, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: eecda9147854ebbc4f6604e17247f48c6a19a944c4fd23090d86ac8fbdfb3ffd.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, polynomial_sum, vote.
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
#define IRIS_DEGREE 3U         /* of the polynomials */
#define IRIS_LANES 4U          /* decisions of a block, side by side */
#define IRIS_N_BLOCKS 1U       /* blocks of decisions, the last one filled up */
#define IRIS_BLOCK_WORDS 36U   /* coefficients of a block */
#define IRIS_SUM_EVALS 3U      /* polynomials of the sum */
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

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "left",
    "right",
    "top"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "polynomial_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Coefficients of the monomials, in the order of nested sums. Index: [block][term][lane], 1x9x4. */
IRIS_TABLE_SECTION
static const float iris_terms[36U] = {
    -0x1.c8p+1f, -0x1.bp+0f, 0x1.bp+0f, 0x0p+0f, -0x1.ep-3f, 0x1.f8p-1f, 0x1.f8p-1f, 0x0p+0f,
    -0x1.e4p-2f, -0x1.98p-3f, 0x1.98p-3f, 0x0p+0f, -0x1.8p-3f, -0x1.08p+1f, -0x1.08p+1f, 0x0p+0f,
    -0x1.bp-1f, -0x1.2p-2f, 0x1.2p-2f, 0x0p+0f, -0x1.bp-4f, 0x1.bp-4f, 0x1.bp-4f, 0x0p+0f,
    -0x1.8p-5f, -0x1.a4p+0f, -0x1.a4p+0f, 0x0p+0f, -0x1.bp-4f, -0x1.2p-5f, 0x1.2p-5f, 0x0p+0f,
    -0x1p-8f, -0x1.acp-2f, -0x1.acp-2f, 0x0p+0f
};

/* Intercepts of the decisions with the polynomials' constants. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_intercept[3U] = {
    0x0p+0f, 0x1p-3f, -0x1p-3f
};

/* Error of the decisions per power of y = |x| + d, from 1. Index: [decision][power], 3x3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_length[9U] = {
    0x1.c8a20ep-21f, 0x1.ed9bf6p-23f, 0x1.ebfc62p-23f, 0x1.551b02p-21f, 0x1.7154a8p-21f,
    0x1.deaabap-23f, 0x1.551b02p-21f, 0x1.7154a8p-21f, 0x1.deaabap-23f
};

/* Error of the decisions per power of y times d, from 0. Index: [decision][power], 3x3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_deviation[9U] = {
    0x1.c8a206p+1f, 0x1.49129cp+0f, 0x1.70fd4p+0f, 0x1.551afcp+1f, 0x1.ec70d4p+1f, 0x1.67p+0f,
    0x1.551afcp+1f, 0x1.ec70d4p+1f, 0x1.67p+0f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[3U] = {
    0x1.000042p-51f, 0x1.000042p-51f, 0x1.000042p-51f
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
    0x1.f895d8p+1f, 0x1.3c31d8p+1f, -0x1.b2bc46p+0f, -0x1.240d16p+2f, -0x1.72bc44p+0f,
    0x1.1c31dap+1f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_upper[6U] = {
    0x1.f89628p+1f, 0x1.3c3228p+1f, -0x1.b2bbbap+0f, -0x1.240ceap+2f, -0x1.72bbbcp+0f,
    0x1.1c3226p+1f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 9. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[9U] = {
    1533056474UL, 4102538830UL, 2713470261UL, 1838083133UL, 847574435UL, 952644599UL, 1366104114UL,
    3386146763UL, 1024918706UL
};

/* iris_magnitude: as in linear-host */
/* iris_square_root: as in cascade-cortex-m7 */
/* iris_square_root: as in cascade-cortex-m7 */
#endif

/* iris_sum_of_squares: as in cascade-cortex-m7 */
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

    if (iris_any_excess(x, 0x52800000UL) != 0U) {
        status = (iris_any_excess(x, largest_finite) != 0U)
            ? IRIS_ERROR_NOT_FINITE : IRIS_ERROR_RANGE;
    }
    return status;
}
/* iris_prepare: as in linear-host */

/* sum[lane] += x terms[lane]: terms are coefficients of the table. */
static void iris_add_term(
    float *const sum,
    const float x,
    const float *const terms)
{
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        sum[lane] += x * terms[lane];
    }
}

/* sum[lane] = terms[lane]: a sum begins with its own coefficients. */
static void iris_first_term(
    float *const sum,
    const float *const terms)
{
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        sum[lane] = terms[lane];
    }
}

/* sum[lane] += x inner[lane]: a finished inner sum. */
static void iris_add_sum(
    float *const sum,
    const float x,
    const float *const inner)
{
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        sum[lane] += x * inner[lane];
    }
}

/*
 * Polynomials of degree 3 without their constants, of the decisions of a block.
 * Input: x prepared; terms, the block's coefficients: nested sums over the features, none of which
 * goes beyond the feature before it, read them in their order (Horner's scheme).
 * Result: the values, in total[IRIS_LANES].
 */
static void iris_polynomials(
    const float *const x,
    const float *const terms,
    float *const total)
{
    uint32_t next = 0U;  /* the word of the next coefficients */
    uint32_t i;
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        total[lane] = 0.0f;
    }
    for (i = 0U; i < IRIS_N_PREPARED; ++i) {
        float of_i[IRIS_LANES];
        uint32_t j;

        iris_first_term(of_i, &terms[next]);
        next += IRIS_LANES;
        /* Loop bound: IRIS_N_PREPARED, in all 3. */
        for (j = 0U; j <= i; ++j) {
            float of_j[IRIS_LANES];
            uint32_t k;

            iris_first_term(of_j, &terms[next]);
            next += IRIS_LANES;
            /* Loop bound: IRIS_N_PREPARED, in all 4. */
            for (k = 0U; k <= j; ++k) {
                iris_add_term(of_j, x[k], &terms[next]);
                next += IRIS_LANES;
            }
            iris_add_sum(of_i, x[j], of_j);
        }
        iris_add_sum(total, x[i], of_i);
    }
}

/*
 * decision[p] = b_p + a polynomial of the features, and bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input; length >= |x|.
 * Result: decision and bound, in the workspace.
 */
static void iris_polynomial_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const float result_error = 0x1.000042p-22f;  /* relative, of the last addition */
    const float reach = input->length + input->deviation;
    uint32_t block;
    uint32_t d;

    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        const uint32_t first = block * IRIS_BLOCK_WORDS;
        float total[IRIS_LANES];
        uint32_t lane;

        iris_polynomials(
            input->x, &iris_terms[first], total);
        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            const uint32_t p = (block * IRIS_LANES) + lane;

            if (p < IRIS_N_DECISIONS) {
                workspace->decision[p] = total[lane] + iris_intercept[p];
            }
        }
    }
    for (d = 0U; d < IRIS_N_DECISIONS; ++d) {
        const uint32_t last = ((d + 1U) * IRIS_DEGREE) - 1U;
        float along = iris_bound_per_length[last];
        float moved = iris_bound_per_deviation[last];
        uint32_t power;

        for (power = 1U; power < IRIS_DEGREE; ++power) {
            along = (along * reach) + iris_bound_per_length[last - power];
            moved = (moved * reach) + iris_bound_per_deviation[last - power];
        }
        workspace->bound[d] = (((along * reach)
            + (moved * input->deviation))
            + (iris_magnitude(workspace->decision[d]) * result_error))
            + iris_minimum_bound[d];
    }
}

/*
 * Counts, for each class, the votes, the sure ones (the pair's interval excludes 0) and the
 * possible ones (it does not exclude the class). Pairs in the order (0, 1), (0, 2), ...
 * Input: the decisions and their bounds, which are not negative, in the workspace.
 */
static void iris_count_votes(
    iris_workspace_t *const workspace)
{
    uint32_t p = 0U;
    uint32_t i;
    uint32_t j;

    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        workspace->votes[i] = 0U;
        workspace->sure[i] = 0U;
        workspace->possible[i] = IRIS_N_CLASSES - 1U;
    }
    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        uint32_t won = 0U;
        uint32_t sure = 0U;
        uint32_t lost = 0U;

        /* Loop bound: IRIS_N_CLASSES, in all IRIS_N_DECISIONS. */
        for (j = i + 1U; j < IRIS_N_CLASSES; ++j) {
            const float f = workspace->decision[p];
            const float bound = workspace->bound[p];

            /* A bound that is no number makes nothing sure and excludes neither. */
            if (f > 0.0f) {
                ++won;
                if ((f - bound) > 0.0f) {
                    ++sure;
                    --workspace->possible[j];
                }
            } else {
                ++workspace->votes[j];
                if ((f + bound) < 0.0f) {
                    ++workspace->sure[j];
                    ++lost;
                }
            }
            ++p;
        }
        workspace->votes[i] += won;
        workspace->sure[i] += sure;
        workspace->possible[i] -= lost;
    }
}
/* iris_winner: as in pairs-cortex-m7 */
/* iris_beats: as in pairs-cortex-m7 */
/* iris_is_settled: as in pairs-cortex-m7 */
/* iris_pair_of: as in pairs-cortex-m7 */

/* The interval of the pair with the smallest margin among those that a class won. */
static void iris_closest_pair(
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
        if (c != winner) {
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

/*
 * The label by votes, and the interval of the pair with the smallest margin among those that the
 * winner won.
 * Result: whether the label is the same under every outcome of the pairs whose interval holds 0.
 */
static bool iris_vote(
    iris_workspace_t *const workspace,
    iris_result_t *const result)
{
    uint32_t winner;

    iris_count_votes(workspace);
    winner = iris_winner(workspace);
    result->label = (int32_t)winner;
    iris_closest_pair(workspace, winner, result);
    return iris_is_settled(workspace, winner);
}
/* iris_accept: as in linear-host */

/*
 * The answer of the sums, which stay in the workspace with their bounds.
 * Input: x prepared. Result: *result written but for in_range.
 */
static void iris_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    iris_polynomial_sum(workspace, input);
    result->certified = iris_vote(workspace, result);
    result->kernel_evals = IRIS_SUM_EVALS;
    result->stage = IRIS_STAGE_POLYNOMIAL_SUM;
}
/* iris_classify: as in linear-host */

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
        uint32_t p;

        iris_polynomial_sum(workspace, &input);
        for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
            decision[p] = workspace->decision[p];
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
    { { .as_float = iris_terms }, IRIS_TYPE_FLOAT, 36U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_bound_per_length }, IRIS_TYPE_FLOAT, 9U },
    { { .as_float = iris_bound_per_deviation }, IRIS_TYPE_FLOAT, 9U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_known_inputs }, IRIS_TYPE_FLOAT, 4U },
    { { .as_uint16 = iris_known_labels }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_known_lower }, IRIS_TYPE_FLOAT, 6U },
    { { .as_float = iris_known_upper }, IRIS_TYPE_FLOAT, 6U }
};

/* iris_table_word: as in linear-host */
/* iris_test_table: as in linear-host */
/* iris_within: as in linear-host */
/* iris_test_answer: as in linear-host */
/* iris_self_test_step: as in linear-host */
/* iris_self_test: as in linear-host */

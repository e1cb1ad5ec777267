/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, float32, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: 5ca7aac3ed1baf047b8f98e9ce75c80306fbd8216fcdab140ab092e822f0ce0e.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, additive_sum, vote.
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
#define IRIS_N_FUNCTIONS 2U    /* features that change a decision */
#define IRIS_N_PIECES 10U      /* straight pieces of their functions */
#define IRIS_PIECE_WORDS 7U    /* 1 + 2 * N_DECISIONS */
#define IRIS_SUM_EVALS 2U      /* functions of one feature of the sum */
#define IRIS_N_TABLES 11U      /* tables with a checksum */
#define IRIS_N_ANSWERS 2U      /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 14U  /* steps of the whole self-test */
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
    "none"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "additive_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Pieces of the functions. Index: [piece][knot t, a of each decision, c of each decision], 10x7. */
IRIS_TABLE_SECTION
static const float iris_weights[70U] = {
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x1p-1f, 0x0p+0f, -0x1p-1f, 0x1p+1f, 0x1p+0f, 0x0p+0f, -0x1p+0f, 0x1.8p-1f, 0x1.8p-1f,
    0x0p+0f, 0x1p+2f, 0x1.4p+1f, 0x1.8p+0f, -0x1p+0f, 0x1p-1f, 0x1p-1f, 0x0p+0f, 0x1.8p+2f,
    0x1.cp+1f, 0x1.4p+1f, -0x1p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1p-1f, 0x1p-2f, 0x1.8p-1f,
    0x1p+1f, -0x1p+0f, 0x1p-1f, 0x1.8p+0f, -0x1.8p-1f, 0x0p+0f, 0x1.8p-1f, 0x1p+2f, -0x1.4p+1f,
    0x1p-1f, 0x1.8p+1f, -0x1p-1f, 0x0p+0f, 0x1p-1f, 0x1.8p+2f, -0x1.cp+1f, 0x1p-1f, 0x1p+2f,
    0x0p+0f, 0x0p+0f, 0x0p+0f
};

/* Features of the functions. Index: [function], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_function_columns[2U] = {
    0U, 1U
};

/* Piece after the last one of each function. Index: [function], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_function_ends[2U] = {
    5U, 10U
};

/* Intercepts b_p of the decisions. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_intercept[3U] = {
    0x0p+0f, -0x1p-1f, -0x1p-1f
};

/* Error of the decisions per |x|. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_length[3U] = {
    0x1.0f87b2p-50f, 0x1.0f87b2p-50f, 0x1.0f87b2p-50f
};

/* Error of the decisions per |x - prepared x|. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_deviation[3U] = {
    0x1.0f87b2p+0f, 0x1.94c5eap-1f, 0x1.cd832ap-1f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[3U] = {
    0x1.d8007ep-20f, 0x1.080048p-20f, 0x1.50005ap-20f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const float iris_known_inputs[4U] = {
    0x1.8p+2f, 0x1p+0f, 0x1p+0f, 0x1.8p+2f
};

/* Labels of these inputs. Index: [answer], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_known_labels[2U] = {
    0U, 1U
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_lower[6U] = {
    0x1.7fffd4p+1f, 0x1.1fffe4p+1f, -0x1.800062p-1f, -0x1.80002cp+1f, -0x1.09084ap-19f,
    0x1.7fffdcp+1f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_upper[6U] = {
    0x1.80002cp+1f, 0x1.20001cp+1f, -0x1.7fff9ep-1f, -0x1.7fffd4p+1f, 0x1.09084ap-19f,
    0x1.800024p+1f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 11. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[11U] = {
    3918259872UL, 1366104114UL, 2905214375UL, 1348468669UL, 1301066514UL, 2399137739UL,
    3298170208UL, 2748382983UL, 1366104114UL, 3999526312UL, 1902541267UL
};

/* iris_magnitude: as in linear-host */
/* iris_square_root: as in cascade-cortex-m7 */
/* iris_square_root: as in cascade-cortex-m7 */
#endif

/* iris_sum_of_squares: as in cascade-cortex-m7 */
/* iris_length: as in linear-host */
/* iris_excess: as in linear-host */
/* iris_any_excess: as in linear-host */
/* iris_check: as in linear-host */
/* iris_prepare: as in linear-host */

/*
 * decision[p] = sum over j of g_pj(x_j) + b_p, functions of one feature each in the order of their
 * table. g_pj(x) = a + c (x - t) on the piece of x: the last one whose knot t is at most x, or the
 * first one.
 * All decisions share knots and pieces. bound[p] >= |decision[p] - exact value|.
 * Places are checked, so that a damaged table cannot make this read elsewhere or search longer.
 * Input: x prepared; deviation >= its distance from the exactly prepared input; length >= |x|.
 * Result: decision and bound, in the workspace.
 */
static void iris_additive_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const float result_error = 0x1.000042p-22f;  /* relative, of the last addition */
    uint32_t first = 0U;
    uint32_t function;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->decision[p] = 0.0f;
    }
    for (function = 0U; function < IRIS_N_FUNCTIONS; ++function) {
        const uint32_t column = iris_function_columns[function];
        const uint32_t end = iris_function_ends[function];

        if ((column < IRIS_N_PREPARED)
            && (first < end) && (end <= IRIS_N_PIECES)) {
            const float x = input->x[column];
            uint32_t left = end - first;
            uint32_t piece = first;
            uint32_t word;
            float offset;

            /* Loop bound: 4U, in all 6U. */
            while (left > 1U) {
                const uint32_t half = left / 2U;

                word = (piece + half) * IRIS_PIECE_WORDS;
                if (x >= iris_weights[word]) {
                    piece += half;
                }
                left -= half;
            }
            word = piece * IRIS_PIECE_WORDS;
            offset = x - iris_weights[word];
            for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
                const uint32_t line = (word + 1U) + p;
                const uint32_t slope = line + IRIS_N_DECISIONS;
                const float a = iris_weights[line];
                const float c = iris_weights[slope];

                workspace->decision[p] += a + (c * offset);
            }
            first = end;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->decision[p] += iris_intercept[p];
        workspace->bound[p] = (((iris_bound_per_length[p] * input->length)
            + (iris_bound_per_deviation[p] * input->deviation))
            + (iris_magnitude(workspace->decision[p]) * result_error))
            + iris_minimum_bound[p];
    }
}
/* iris_count_votes: as in polynomial-cortex-m7 */
/* iris_winner: as in pairs-cortex-m7 */
/* iris_beats: as in pairs-cortex-m7 */
/* iris_is_settled: as in pairs-cortex-m7 */
/* iris_pair_of: as in pairs-cortex-m7 */
/* iris_closest_pair: as in polynomial-cortex-m7 */
/* iris_vote: as in polynomial-cortex-m7 */
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
    iris_additive_sum(workspace, input);
    result->certified = iris_vote(workspace, result);
    result->kernel_evals = IRIS_SUM_EVALS;
    result->stage = IRIS_STAGE_ADDITIVE_SUM;
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

        iris_additive_sum(workspace, &input);
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
static const iris_table_t iris_tables[11U] = {
    { { .as_float = iris_weights }, IRIS_TYPE_FLOAT, 70U },
    { { .as_uint16 = iris_function_columns }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint16 = iris_function_ends }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_bound_per_length }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_bound_per_deviation }, IRIS_TYPE_FLOAT, 3U },
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

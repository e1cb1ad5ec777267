/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, int8, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: b7f276a000fc07434de13cf3373aed290fe7e760bef905eb6408d2b7cb5b8451.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, table_sum, vote.
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
#define IRIS_N_VALUES 14U      /* codes at which their functions are stored */
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
    const iris_input_t *code;
    float deviation;  /* >= the distance of unit code from the exactly prepared input */
    float length;     /* >= the Euclidean norm before rounding to codes; 0 of given codes */
} iris_prepared_t;

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "left",
    "right",
    "none"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "table_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Factor of each feature, per its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const float iris_scale_0_factor[2U] = {
    0x1p-8f, 0x1p-8f
};

/* Values of the functions. Index: [code][decision], 14x3. */
IRIS_TABLE_SECTION
static const uint16_t iris_values[42U] = {
    0U, 0U, 8192U, 4096U, 0U, 4096U, 8192U, 0U, 0U, 14336U, 6144U, 0U, 20480U, 12288U, 0U, 24576U,
    16384U, 0U, 28672U, 20480U, 0U, 28672U, 0U, 0U, 24576U, 2048U, 6144U, 20480U, 4096U, 12288U,
    14336U, 4096U, 18432U, 8192U, 4096U, 24576U, 4096U, 4096U, 28672U, 0U, 4096U, 32768U
};

/* Features of the functions. Index: [function], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_function_columns[2U] = {
    0U, 1U
};

/* Number of the value after the last one of each function. Index: [function], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_function_ends[2U] = {
    7U, 14U
};

/* Intercepts b_p and the least values, what is > 0 and what is < 0. Index: [decision][part],
3x2. */
IRIS_TABLE_SECTION
static const uint32_t iris_start[6U] = {
    0UL, 28672UL, 0UL, 4096UL, 0UL, 12288UL
};

/* Error of the decisions per |x - code|. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_deviation[3U] = {
    0x1.0f87b2p+8f, 0x1.94c5eap+7f, 0x1.cd832ap+7f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[3U] = {
    0x1.c178ccp-47f, 0x1.9178cp-47f, 0x1.9178cp-47f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const uint8_t iris_known_inputs[4U] = {
    6U, 1U, 1U, 6U
};

/* Labels of these inputs. Index: [answer], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_known_labels[2U] = {
    0U, 1U
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_lower[6U] = {
    0x1.7ffff2p+1f, 0x1.1ffff4p+1f, -0x1.80000ep-1f, -0x1.80000ep+1f, -0x1.509834p-43f,
    0x1.7ffff2p+1f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_upper[6U] = {
    0x1.80000ep+1f, 0x1.20000cp+1f, -0x1.7ffff2p-1f, -0x1.7ffff2p+1f, 0x1.509834p-43f,
    0x1.80000ep+1f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 11. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[11U] = {
    3679941326UL, 2392447128UL, 1366104114UL, 1148241434UL, 1511186587UL, 482329173UL,
    1079336681UL, 3649626217UL, 1366104114UL, 3611744867UL, 3837015572UL
};

/* iris_magnitude: as in linear-host */
/* iris_square_root: as in cascade-cortex-m7 */
/* iris_square_root: as in cascade-cortex-m7 */
#endif

/* iris_norm: as in codes-cortex-m7 */

/*
 * code_j = the integer nearest to y_j / unit, y = ((x - offset_high) - offset_low) * factor.
 * Left out: offset_high and offset_low, which are 0.
 * deviation = relative * |y| + minimum + |y - unit code|; unit is a power of two, so the last norm
 * is of exact differences.
 * Sums of squares: feature j goes to partial sum j modulo 4, the partial sums are added in order.
 * A code below 0 or above 255 is none that the format has: then deviation is one that
 * no other input has and that is refused.
 */
static void iris_quantize(
    iris_prepared_t *const state,
    const float x[IRIS_N_FEATURES],
    iris_input_t code[IRIS_N_FEATURES])
{
    const float low = (float)IRIS_CODE_LOW;
    const float high = (float)IRIS_CODE_HIGH;
    /* Adding it to a number below 2^22 leaves no bits behind the point. */
    const float shifter = 0x1.8p+23f;
    const float unit = 0x1p-8f;  /* the prepared feature of a code of 1 */
    const float per_unit = 0x1p+8f;  /* 1 / unit, exactly */
    const float refused = 0x1p+100f;  /* a deviation above the limit of accept */
    const float rest_factor = 0x1.00005p+0f;  /* relative roundings in |y - unit code| */
    const float rest_minimum = 0x1.000042p-123f;  /* underflows in its squares */
    const float length_factor = 0x1.00005p+0f;  /* relative roundings in |y| */
    const float length_minimum = 0x1.000042p-123f;  /* underflows in its squares */
    const float relative = 0x1p-126f;  /* roundings and stored factor, per |y| */
    const float minimum = 0x1.016a4cp-124f;  /* of the stored offset and underflows */
    float squares[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    float rests[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    bool inside = true;
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        float y = x[j];
        float in_units;
        float nearest;

        y *= iris_scale_0_factor[j];
        squares[j % 4U] += y * y;
        in_units = y * per_unit;
        nearest = (in_units + shifter) - shifter;
        if ((nearest >= low) && (nearest <= high)) {
            const float rest = (in_units - nearest) * unit;

            code[j] = (iris_input_t)nearest;
            rests[j % 4U] += rest * rest;
        } else {
            code[j] = 0;
            inside = false;
        }
    }
    state->code = code;
    state->length = iris_norm(squares, length_factor, length_minimum);
    state->deviation = (relative * state->length) + minimum;
    state->deviation += iris_norm(rests, rest_factor, rest_minimum);
    if (!inside) {
        state->deviation = refused;
    }
}
/* iris_excess: as in linear-host */
/* iris_any_excess: as in codes-cortex-m7 */
/* iris_check: as in codes-cortex-m7 */
/* iris_prepare: as in codes-cortex-m7 */

/*
 * decision[p] = sum over j of g_pj(x_j) + b_p, in integers up to the last steps: functions of one
 * feature each, looked up at its code. Beyond its last code a function is constant. No sum
 * overflows: start and the largest values of all functions add up to less than 2^32.
 * bound[p] >= |decision[p] - exact value|: values are rounded, which is in minimum_bound; that of
 * the input is per_deviation times its distance from the codes.
 * Places are checked, so that a damaged table cannot make this read elsewhere.
 * Input: x as codes; deviation >= its distance from the exactly prepared input.
 * Result: decision and bound, in the workspace.
 */
static void iris_table_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const float unit = 0x1p-13f;  /* the decision that 1 in the table is */
    const float result_error = 0x1.000042p-22f;  /* relative, of roundings */
    uint32_t first = 0U;
    uint32_t function;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->units[p] = iris_start[2U * p];
    }
    for (function = 0U; function < IRIS_N_FUNCTIONS; ++function) {
        const uint32_t column = iris_function_columns[function];
        const uint32_t end = iris_function_ends[function];

        if ((column < IRIS_N_PREPARED)
            && (first < end) && (end <= IRIS_N_VALUES)) {
            const int32_t code = (int32_t)input->code[column];
            const uint32_t last = (end - first) - 1U;
            const uint32_t rank = (uint32_t)code;  /* codes below it: the least is 0 */
            const uint32_t place = first + ((rank < last) ? rank : last);
            const uint32_t word = place * IRIS_N_DECISIONS;

            for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
                workspace->units[p] += iris_values[word + p];
            }
            first = end;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const uint32_t positive = workspace->units[p];
        const uint32_t negative = iris_start[(2U * p) + 1U];
        const bool above = positive >= negative;
        const uint32_t larger = above ? positive : negative;
        const uint32_t smaller = above ? negative : positive;
        const uint32_t units = larger - smaller;
        const float magnitude = (float)units * unit;
        const float of_input = iris_bound_per_deviation[p] * input->deviation;

        workspace->decision[p] = above ? magnitude : -magnitude;
        workspace->bound[p] = (of_input + (magnitude * result_error))
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

/*
 * The codes are the prepared input but for what float64 rounded in their scale. None is refused:
 * the type holds no others.
 * Result: IRIS_OK with *input prepared.
 */
static iris_status_t iris_accept(
    const iris_input_t x[IRIS_N_FEATURES],
    iris_prepared_t *const input)
{
    const float deviation = 0x1.68a038p-52f;  /* what float64 rounded in the scale */

    input->code = x;
    input->deviation = deviation;
    input->length = 0.0f;
    return IRIS_OK;
}
/* iris_accept_float: as in codes-cortex-m7 */

/*
 * The answer of the sums, which stay in the workspace with their bounds.
 * Input: x prepared. Result: *result written but for in_range.
 */
static void iris_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    iris_table_sum(workspace, input);
    result->certified = iris_vote(workspace, result);
    result->kernel_evals = IRIS_SUM_EVALS;
    result->stage = IRIS_STAGE_TABLE_SUM;
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

        iris_table_sum(workspace, &input);
        for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
            decision[p] = workspace->decision[p];
        }
    }
    return status;
}

/* The contract is in the header. */
iris_status_t iris_classify_float(
    iris_workspace_t *workspace,
    const float x[IRIS_N_FEATURES],
    iris_result_t *result)
{
    iris_prepared_t input;
    iris_result_t answer;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (result == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept_float(workspace, x, &input);
    if (status == IRIS_OK) {
        answer.in_range = true;
        iris_sum(workspace, &input, &answer);
        *result = answer;
    }
    return status;
}

/* The contract is in the header. */
iris_status_t iris_decision_float(
    iris_workspace_t *workspace,
    const float x[IRIS_N_FEATURES],
    float decision[IRIS_N_DECISIONS])
{
    iris_prepared_t input;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (decision == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept_float(workspace, x, &input);
    if (status == IRIS_OK) {
        uint32_t p;

        iris_table_sum(workspace, &input);
        for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
            decision[p] = workspace->decision[p];
        }
    }
    return status;
}
/* iris_checksum_word: as in linear-host */
/* iris_float_at: as in linear-host */

/* A byte. */
static uint32_t iris_byte_at(const volatile uint8_t *const element)
{
    return *element;
}
/* iris_integer_at: as in linear-host */
/* iris_word_at: as in codes-cortex-m7 */

/* The types of tables. */
typedef enum {
    IRIS_TYPE_FLOAT,
    IRIS_TYPE_UINT8,
    IRIS_TYPE_UINT16,
    IRIS_TYPE_UINT32
} iris_type_t;

/* The elements of a table under the name of their type. */
typedef union {
    const volatile float *as_float;
    const volatile uint8_t *as_uint8;
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
static const iris_table_t iris_tables[11U] = {
    { { .as_float = iris_scale_0_factor }, IRIS_TYPE_FLOAT, 2U },
    { { .as_uint16 = iris_values }, IRIS_TYPE_UINT16, 42U },
    { { .as_uint16 = iris_function_columns }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint16 = iris_function_ends }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint32 = iris_start }, IRIS_TYPE_UINT32, 6U },
    { { .as_float = iris_bound_per_deviation }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 3U },
    { { .as_uint8 = iris_known_inputs }, IRIS_TYPE_UINT8, 4U },
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
    } else if (table->type == IRIS_TYPE_UINT8) {
        word = iris_byte_at(&elements.as_uint8[i]);
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
/* iris_test_answer: as in linear-host */
/* iris_self_test_step: as in linear-host */
/* iris_self_test: as in linear-host */

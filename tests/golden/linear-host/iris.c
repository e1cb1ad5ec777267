/* kmcompile iris.pkl --target host */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target host, float32, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: 38614765dd624cc771233f349a20a233ff72c9cf6e68727b81d7231f80004932.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, linear_sum, argmax.
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
#define IRIS_LANES 4U          /* decisions of a block, side by side */
#define IRIS_N_BLOCKS 1U       /* the last ones of a group filled up */
#define IRIS_BLOCK_WORDS 8U    /* N_PREPARED * LANES */
#define IRIS_SUM_EVALS 3U      /* inner products of the sum */
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
    "-1",
    "0",
    "1"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "linear_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Weights w_p of the decisions, per prepared feature. Index: [block][feature][lane], 1x2x4. */
IRIS_TABLE_SECTION
static const float iris_weights[8U] = {
    0x1p+0f, -0x1p-2f, -0x1p-1f, 0x0p+0f, -0x1p-1f, 0x1p+0f, -0x1.8p-1f, 0x0p+0f
};

/* Intercepts b_p of the decisions. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_intercept[3U] = {
    0x0p+0f, 0x1p-2f, -0x1p-3f
};

/* Error of the decisions per |x|. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_length[3U] = {
    0x1.1e37c6p-23f, 0x1.07e13cp-23f, 0x1.cd832ep-24f
};

/* Error of the decisions per |x - prepared x|. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_deviation[3U] = {
    0x1.1e37c4p+0f, 0x1.07e13ap+0f, 0x1.cd832ap-1f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[3U] = {
    0x1.800062p-123f, 0x1.800062p-123f, 0x1.800062p-123f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const float iris_known_inputs[4U] = {
    0x1p+1f, 0x0p+0f, 0x0p+0f, 0x1p+1f
};

/* Labels of these inputs. Index: [answer], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_known_labels[2U] = {
    0U, 1U
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_lower[6U] = {
    0x1.ffffe4p+0f, -0x1.00002cp-2f, -0x1.200012p+0f, -0x1.000014p+0f, 0x1.1ffffp+1f,
    -0x1.a00016p+0f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_upper[6U] = {
    0x1.00000ep+1f, -0x1.ffffacp-3f, -0x1.1fffeep+0f, -0x1.ffffdcp-1f, 0x1.20001p+1f,
    -0x1.9fffeap+0f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 9. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[9U] = {
    139928171UL, 3901714840UL, 2207112923UL, 717226499UL, 2729528047UL, 257421914UL, 1366104114UL,
    3402294558UL, 208742798UL
};

/* |v|, of any v: clears the sign bit. */
static float iris_magnitude(const float v)
{
    iris_bits_t number;

    number.value = v;
    number.bits &= 0x7FFFFFFFUL;
    return number.value;
}

/*
 * sqrt(v), correctly rounded, one bit a step as on paper, in integers. The radicand is
 * significand * 2^25 or * 2^26, whichever leaves an even exponent, so its root has 25 bits.
 * Before each step remainder = (radicand - root^2) / bit < 2^28, and root + bit is tried:
 * (root + bit)^2 <= radicand says that remainder >= 2 root + bit.
 * Input: v >= 0, finite; subnormal numbers are allowed.
 * Result: the float nearest to sqrt(v); sqrt(0) = 0. A leaf function.
 */
static float iris_square_root(const float v)
{
    const uint32_t leading_bit = 0x00800000UL;
    const uint32_t twelve = 0x06000000UL;  /* in the exponent of a float */
    const float two_to_24 = 0x1p+24f;
    const bool subnormal = v < 0x1p-126f;
    iris_bits_t number;
    uint32_t exponent;
    uint32_t shift;
    uint32_t remainder;
    uint32_t twice_root = 0U;
    uint32_t bit;

    if (v <= 0.0f) {
        return v;
    }
    number.value = v;
    if (subnormal) {
        number.value *= two_to_24;
    }
    exponent = number.bits >> 23U;
    shift = 2U - (exponent & 1U);
    remainder = ((number.bits & (leading_bit - 1U)) | leading_bit) << shift;
    /* Loop bound: 25. */
    for (bit = leading_bit << 1U; bit > 0U; bit >>= 1U) {
        const uint32_t trial = twice_root + bit;

        if (remainder >= trial) {
            remainder -= trial;
            twice_root = trial + bit;
        }
        remainder <<= 1U;
    }
    /* Rounds the root to 24 bits. It is never half-way: the square of an odd root is odd. The
       leading bit of the root adds the 1 that is missing in the exponent. */
    number.bits = (((exponent + 127U) >> 1U) - 1U) << 23U;
    number.bits += (twice_root + 2U) >> 2U;
    /* sqrt(2^24) = 2^12 */
    number.bits -= subnormal ? twelve : 0U;
    return number.value;
}

/* Sum of n x_j^2: feature j goes to partial sum j modulo 4, the partial sums are added in order. */
static float iris_sum_of_squares(const float x[], const uint32_t n)
{
    float partial_0 = 0.0f;
    float partial_1 = 0.0f;
    float partial_2 = 0.0f;
    float partial_3 = 0.0f;
    uint32_t j;

    /* Loop bound: 2U / 4U. */
    for (j = 0U; (j + 4U) <= n; j += 4U) {
        partial_0 += x[j] * x[j];
        partial_1 += x[j + 1U] * x[j + 1U];
        partial_2 += x[j + 2U] * x[j + 2U];
        partial_3 += x[j + 3U] * x[j + 3U];
    }
    if (j < n) {
        partial_0 += x[j] * x[j];
    }
    if ((j + 1U) < n) {
        partial_1 += x[j + 1U] * x[j + 1U];
    }
    if ((j + 2U) < n) {
        partial_2 += x[j + 2U] * x[j + 2U];
    }
    return ((partial_0 + partial_1) + partial_2) + partial_3;
}

/*
 * sqrt(factor * sum of x_j^2 + minimum), which is at least the Euclidean norm of x: factor holds
 * the relative errors of the sum and of this bound, minimum the underflows.
 */
static float iris_length(
    const float x[],
    const uint32_t n,
    const float factor,
    const float minimum)
{
    const float squares = iris_sum_of_squares(x, n);

    return iris_square_root((factor * squares) + minimum);
}

/* Bit 31 is set if |v| > limit, both as the bits of floats, which order as the magnitudes do. */
static uint32_t iris_excess(const float v, const uint32_t limit)
{
    iris_bits_t number;

    number.value = v;
    return limit - (number.bits & 0x7FFFFFFFUL);
}

/* 1 if any feature's magnitude is greater than a limit, otherwise 0. */
static uint32_t iris_any_excess(
    const iris_input_t x[IRIS_N_FEATURES],
    const uint32_t limit)
{
    uint32_t excess = 0U;
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        excess |= iris_excess(x[j], limit);
    }
    return excess >> 31U;
}

/*
 * Refuses an input that is not finite or that exceeds IRIS_INPUT_LIMIT:
 * up to it no later intermediate can overflow.
 */
static iris_status_t iris_check(
    const iris_input_t x[IRIS_N_FEATURES])
{
    const uint32_t largest_finite = 0x7F7FFFFFUL;
    iris_status_t status = IRIS_OK;

    if (iris_any_excess(x, 0x5C800000UL) != 0U) {
        status = (iris_any_excess(x, largest_finite) != 0U)
            ? IRIS_ERROR_NOT_FINITE : IRIS_ERROR_RANGE;
    }
    return status;
}

/* There is no preprocessing: the kernel gets the input itself, which is exact. Input: x checked. */
static iris_prepared_t iris_prepare(
    const iris_input_t x[IRIS_N_FEATURES])
{
    const float length_factor = 0x1.00005p+0f;  /* relative roundings in |x| */
    const float length_minimum = 0x1.000042p-123f;  /* underflows in its squares */
    iris_prepared_t state;

    state.x = x;
    state.deviation = 0.0f;
    state.length = iris_length(
        x, IRIS_N_FEATURES, length_factor, length_minimum);
    return state;
}

/*
 * decision[p] = <w_p, x> + b_p, each a plain sum in the order of the features, and
 * bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input; length >= |x|.
 * Result: decision and bound, in the workspace.
 */
static void iris_linear_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const float result_error = 0x1.000042p-22f;  /* relative, of the last addition */
    uint32_t block;
    uint32_t d;

    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        const uint32_t first = block * IRIS_BLOCK_WORDS;
        const float *const weights = &iris_weights[first];
        float total[IRIS_LANES];
        uint32_t j;
        uint32_t lane;

        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            total[lane] = 0.0f;
        }
        for (j = 0U; j < IRIS_N_PREPARED; ++j) {
            for (lane = 0U; lane < IRIS_LANES; ++lane) {
                total[lane] += input->x[j] * weights[(j * IRIS_LANES) + lane];
            }
        }
        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            const uint32_t p = (block * IRIS_LANES) + lane;

            if (p < IRIS_N_DECISIONS) {
                workspace->decision[p] = total[lane] + iris_intercept[p];
            }
        }
    }
    for (d = 0U; d < IRIS_N_DECISIONS; ++d) {
        workspace->bound[d] = (((iris_bound_per_length[d] * input->length)
            + (iris_bound_per_deviation[d] * input->deviation))
            + (iris_magnitude(workspace->decision[d]) * result_error))
            + iris_minimum_bound[d];
    }
}

/*
 * The label is the class with the largest decision, the first of equal ones.
 * Result: whether the winner's lower bound is above every other class's upper bound.
 */
static bool iris_argmax(
    const iris_workspace_t *const workspace,
    iris_result_t *const result)
{
    float least;
    float most;
    bool settled = true;
    uint32_t winner = 0U;
    uint32_t c;

    for (c = 1U; c < IRIS_N_CLASSES; ++c) {
        if (workspace->decision[c] > workspace->decision[winner]) {
            winner = c;
        }
    }
    result->label = (int32_t)winner;
    least = workspace->decision[winner] - workspace->bound[winner];
    most = workspace->decision[winner] + workspace->bound[winner];
    result->lower = least;
    result->upper = most;
    for (c = 0U; c < IRIS_N_CLASSES; ++c) {
        const float upper = workspace->decision[c] + workspace->bound[c];

        /* Written so that NaN, which only a damaged table can give, settles nothing. */
        if ((c != winner) && !(upper < least)) {
            settled = false;
        }
    }
    return settled;
}

/*
 * Checks x and prepares it.
 * Result: IRIS_OK with *input prepared, or why x is refused.
 */
static iris_status_t iris_accept(
    const iris_input_t x[IRIS_N_FEATURES],
    iris_prepared_t *const input)
{
    iris_status_t status = iris_check(x);

    if (status == IRIS_OK) {
        *input = iris_prepare(x);
    }
    return status;
}

/*
 * The answer of the sums, which stay in the workspace with their bounds.
 * Input: x prepared. Result: *result written but for in_range.
 */
static void iris_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    iris_linear_sum(workspace, input);
    result->certified = iris_argmax(workspace, result);
    result->kernel_evals = IRIS_SUM_EVALS;
    result->stage = IRIS_STAGE_LINEAR_SUM;
}

/* The contract is in the header. */
iris_status_t iris_classify(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_result_t *result)
{
    iris_prepared_t input;
    iris_result_t answer;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (result == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept(x, &input);
    if (status == IRIS_OK) {
        answer.in_range = true;
        iris_sum(workspace, &input, &answer);
        *result = answer;
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
        uint32_t p;

        iris_linear_sum(workspace, &input);
        for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
            decision[p] = workspace->decision[p];
        }
    }
    return status;
}

/*
 * CRC-32C (Castagnoli, reflected) of one more 32-bit word, its low byte first: defined on values,
 * so it is the same in either byte order. Bit by bit: a table of its own would have to be tested.
 */
static uint32_t iris_checksum_word(const uint32_t checksum, const uint32_t word)
{
    const uint32_t polynomial = 0x82F63B78UL;
    uint32_t state = checksum ^ word;
    uint32_t bit;

    for (bit = 0U; bit < 32U; ++bit) {
        state = (state >> 1U) ^ (polynomial & (0U - (state & 1U)));
    }
    return state;
}

/* An element's bits. Volatile: memory is read, not replaced by what the compiler knows of it. */
static uint32_t iris_float_at(const volatile float *const element)
{
    iris_bits_t word;

    word.value = *element;
    return word.bits;
}

/* An integer. */
static uint32_t iris_integer_at(const volatile uint16_t *const element)
{
    return *element;
}

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
    { { .as_float = iris_weights }, IRIS_TYPE_FLOAT, 8U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_bound_per_length }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_bound_per_deviation }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 3U },
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
    } else {
        /* Every table has one of these types. */
    }
    return word;
}

/* One step over a table: at most STEP_WORDS words, and the comparison after the last. */
static iris_status_t iris_test_table(
    iris_self_test_t *const state)
{
    const uint32_t all_ones = 0xFFFFFFFFUL;
    const iris_table_t *const table = &iris_tables[state->part];
    const uint32_t n_words = table->n_words;
    iris_status_t status = IRIS_OK;
    uint32_t count;

    if (state->position == 0U) {
        state->checksum = all_ones;
    }
    for (count = 0U; count < IRIS_STEP_WORDS; ++count) {
        if (state->position < n_words) {
            const uint32_t word = iris_table_word(table, state->position);

            state->checksum = iris_checksum_word(state->checksum, word);
            ++state->position;
        }
    }
    if (state->position >= n_words) {
        const volatile uint32_t *const expected = &iris_checksums[state->part];
        const uint32_t found = state->checksum ^ all_ones;

        if (found != *expected) {
            status = IRIS_ERROR_CORRUPT;
        }
        state->position = 0U;
        ++state->part;
    }
    return status;
}

/* Whether all decisions of a known answer lie within its intervals; NaN does not. */
static bool iris_within(
    const float decision[IRIS_N_DECISIONS],
    const uint32_t answer)
{
    const uint32_t first = answer * IRIS_N_DECISIONS;
    bool within = true;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const float lower = iris_known_lower[first + p];
        const float upper = iris_known_upper[first + p];

        within = within && (decision[p] >= lower) && (decision[p] <= upper);
    }
    return within;
}

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
        iris_sum(&state->workspace, &input, &result);
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

/* The contract is in the header. */
iris_status_t iris_self_test_step(
    iris_self_test_t *state)
{
    uint32_t n_parts;

    if (state == NULL) {
        return IRIS_ERROR_NULL;
    }
    n_parts = IRIS_N_TABLES + IRIS_N_ANSWERS;
    if ((state->status != IRIS_OK) || (state->part > n_parts)) {
        /* A failure stays one; a part that does not exist comes from a damaged state. */
        state->status = IRIS_ERROR_CORRUPT;
    } else if (state->part < IRIS_N_TABLES) {
        state->status = iris_test_table(state);
    } else if (state->part < n_parts) {
        state->status = iris_test_answer(state);
    } else {
        state->done = true;
    }
    if (state->status != IRIS_OK) {
        state->done = true;
    }
    return state->status;
}

/* The contract is in the header. */
iris_status_t iris_self_test(void)
{
    iris_self_test_t state;
    iris_status_t status = IRIS_OK;
    uint32_t step;

    state.part = 0U;
    state.position = 0U;
    state.checksum = 0U;
    state.status = IRIS_OK;
    state.done = false;
    for (step = 0U; step < IRIS_N_TEST_STEPS; ++step) {
        if ((status == IRIS_OK) && !state.done) {
            status = iris_self_test_step(&state);
        }
    }
    /* What has not been tested to the end has not passed. */
    return state.done ? status : IRIS_ERROR_CORRUPT;
}

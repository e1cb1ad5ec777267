/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, int8, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: 0ebde61ed73c9ea77cdc9284155f673af28c092ceee9f1082fe0eb964e7da8dd.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, coded_polynomial_sum, vote.
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
#define IRIS_N_TABLES 10U      /* tables with a checksum */
#define IRIS_N_ANSWERS 2U      /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 13U  /* steps of the whole self-test */
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
    float length;     /* >= the Euclidean norm of unit code */
} iris_prepared_t;

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "left",
    "right",
    "none"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "coded_polynomial_sum"
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

/* Coefficients of the monomials, in the order of nested sums. Index: [block][term][lane], 1x9x4. */
IRIS_TABLE_SECTION
static const int32_t iris_terms[36U] = {
    1409286144, 1006632960, -402653184, 0, 1056964608, 956301312, -100663296, 0, 2046820352,
    1979711488, -67108864, 0, -1409286144, 201326592, 1610612736, 0, 0, 201326592, 201326592, 0,
    201326592, 402653184, 201326592, 0, -1056964608, 50331648, 1107296256, 0, -201326592,
    201326592, 402653184, 0, -2046820352, 33554432, 2080374784, 0
};

/* Constants of the decisions, what is > 0 and what is < 0. Index: [decision][part], 3x2. */
IRIS_TABLE_SECTION
static const uint64_t iris_start[6U] = {
    0ULL, 0ULL, 0ULL, 536870912ULL, 0ULL, 536870912ULL
};

/* Error of the decisions per power of y = |x| + d, from 1. Index: [decision][power], 3x3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_length[9U] = {
    0x1.991568p-40f, 0x1.94c67p-14f, 0x1.6f1668p-25f, 0x1.4a8ad4p-40f, 0x1.94c63cp-14f,
    0x1.8d167p-26f, 0x1.4a8ad4p-40f, 0x1.94c63cp-14f, 0x1.8d167p-26f
};

/* Error of the decisions per power of y times d, from 0. Index: [decision][power], 3x3. */
IRIS_TABLE_SECTION
static const float iris_bound_per_deviation[9U] = {
    0x1.db2d78p+8f, 0x1.64621ap+17f, 0x1.033816p+24f, 0x1.e981fep+7f, 0x1.cda6a8p+16f,
    0x1.6516f2p+23f, 0x1.8bd1d6p+8f, 0x1.0b40f6p+17f, 0x1.7715ep+23f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 3. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[3U] = {
    0x1.800062p-52f, 0x1.800062p-52f, 0x1.800062p-52f
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
    0x1.73cbecp+6f, 0x1.68a3eep+6f, -0x1.650014p+1f, -0x1.73cc14p+6f, 0x1.ddbfe8p+2f,
    0x1.91a7ecp+6f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x3. */
IRIS_TABLE_SECTION
static const float iris_known_upper[6U] = {
    0x1.73cc14p+6f, 0x1.68a412p+6f, -0x1.64ffecp+1f, -0x1.73cbecp+6f, 0x1.ddc018p+2f,
    0x1.91a814p+6f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 10. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[10U] = {
    3679941326UL, 3514112727UL, 2542224575UL, 257868400UL, 470006322UL, 1438372966UL, 3649626217UL,
    1366104114UL, 268276419UL, 3051885090UL
};

/* iris_magnitude: as in linear-host */
/* iris_square_root: as in cascade-cortex-m7 */
/* iris_square_root: as in cascade-cortex-m7 */
#endif

/* iris_norm: as in codes-cortex-m7 */

/* At least the Euclidean norm of unit code. Feature j goes to partial sum j modulo 4. */
static float iris_code_length(
    const iris_input_t code[IRIS_N_FEATURES])
{
    const float unit = 0x1p-8f;  /* the prepared feature of a code of 1 */
    const float factor = 0x1.00005p+0f;  /* relative roundings in the norm */
    const float minimum = 0x1.000042p-123f;  /* underflows in its squares */
    float squares[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        const float x = unit * (float)code[j];

        squares[j % 4U] += x * x;
    }
    return iris_norm(squares, factor, minimum);
}

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
    state->length = iris_code_length(code);
    if (!inside) {
        state->deviation = refused;
    }
}
/* iris_excess: as in linear-host */
/* iris_any_excess: as in codes-cortex-m7 */
/* iris_check: as in codes-cortex-m7 */
/* iris_prepare: as in codes-cortex-m7 */

/* floor(sum / 2^shift), where sum stands for a number from -2^63 on, modulo 2^64. */
static inline uint64_t iris_in_steps(const uint64_t sum, const uint32_t shift)
{
    const uint64_t offset = 0x8000000000000000ULL;

    return ((sum + offset) >> shift) - (offset >> shift);
}

/*
 * Polynomials of degree 3 without their constants, of the decisions of a block, modulo 2^64.
 * The sums of a degree have a step of their own: they are divided by that of the next degree.
 * Their magnitudes are below 2^62 for codes within their limits.
 * Input: code of each feature; terms, the block's coefficients: nested sums over the features, none
 * of which goes beyond the feature before it, read them in their order (Horner's scheme).
 * Result: the values, in total[IRIS_LANES].
 */
static void iris_polynomials(
    const uint8_t *const code,
    const int32_t *const terms,
    uint64_t *const total)
{
    uint32_t next = 0U;  /* the word of the next coefficients */
    uint32_t i;
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        total[lane] = 0U;
    }
    for (i = 0U; i < IRIS_N_PREPARED; ++i) {
        uint64_t of_i[IRIS_LANES];
        uint32_t j;

        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            of_i[lane] = (uint64_t)terms[next + lane];
        }
        next += IRIS_LANES;
        /* Loop bound: IRIS_N_PREPARED, in all 3. */
        for (j = 0U; j <= i; ++j) {
            uint64_t of_j[IRIS_LANES];
            uint32_t k;

            for (lane = 0U; lane < IRIS_LANES; ++lane) {
                of_j[lane] = (uint64_t)terms[next + lane] << 3U;
            }
            next += IRIS_LANES;
            /* Loop bound: IRIS_N_PREPARED, in all 4. */
            for (k = 0U; k <= j; ++k) {
                for (lane = 0U; lane < IRIS_LANES; ++lane) {
                    const int64_t product = (int64_t)code[k] * terms[next + lane];

                    of_j[lane] += (uint64_t)product;
                }
                next += IRIS_LANES;
            }
            for (lane = 0U; lane < IRIS_LANES; ++lane) {
                of_i[lane] += (uint64_t)code[j]
                    * iris_in_steps(of_j[lane], 3U);
            }
        }
        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            total[lane] += (uint64_t)code[i] * of_i[lane];
        }
    }
}

/*
 * decision[p] = b_p + a polynomial of the codes, and bound[p] >= |decision[p] - exact value|:
 * bound_per_length has what rounding did to the coefficients, bound_per_deviation the input's part.
 * Input: x as codes; deviation >= its distance from the exactly prepared input; length >= |x|.
 * Result: decision and bound, in the workspace.
 */
static void iris_coded_polynomial_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const float unit = 0x1p-30f;  /* the decision that 1 in the sum is */
    const float result_error = 0x1.800062p-22f;  /* relative, of roundings */
    const float reach = input->length + input->deviation;
    uint32_t block;

    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        const uint32_t first = block * IRIS_BLOCK_WORDS;
        uint64_t total[IRIS_LANES];
        uint32_t lane;

        iris_polynomials(
            input->code, &iris_terms[first], total);
        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            const uint32_t p = (block * IRIS_LANES) + lane;

            if (p < IRIS_N_DECISIONS) {
                const uint32_t last = ((p + 1U) * IRIS_DEGREE) - 1U;
                const uint64_t of_start = iris_start[2U * p]
                    - iris_start[(2U * p) + 1U];
                const uint64_t units = total[lane] + of_start;  /* modulo 2^64 */
                const bool above = (units >> 63U) == 0U;
                const uint64_t size = above ? units : (0U - units);
                const float high = (float)(uint32_t)(size >> 32U) * 0x1p+32f;
                const float low = (float)(uint32_t)(size & 0xFFFFFFFFULL);
                const float magnitude = (high + low) * unit;
                float along = iris_bound_per_length[last];
                float moved = iris_bound_per_deviation[last];
                uint32_t power;

                for (power = 1U; power < IRIS_DEGREE; ++power) {
                    const uint32_t word = last - power;

                    along = (along * reach) + iris_bound_per_length[word];
                    moved = (moved * reach) + iris_bound_per_deviation[word];
                }
                along = (along * reach) + (moved * input->deviation);
                workspace->decision[p] = above ? magnitude : -magnitude;
                workspace->bound[p] = (along + (magnitude * result_error))
                    + iris_minimum_bound[p];
            }
        }
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
    input->length = iris_code_length(x);
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
    iris_coded_polynomial_sum(workspace, input);
    result->certified = iris_vote(workspace, result);
    result->kernel_evals = IRIS_SUM_EVALS;
    result->stage = IRIS_STAGE_CODED_POLYNOMIAL_SUM;
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

        iris_coded_polynomial_sum(workspace, &input);
        for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
            decision[p] = workspace->decision[p];
        }
    }
    return status;
}
/* iris_classify_float: as in table-cortex-m7 */

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

        iris_coded_polynomial_sum(workspace, &input);
        for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
            decision[p] = workspace->decision[p];
        }
    }
    return status;
}
/* iris_checksum_word: as in linear-host */
/* iris_float_at: as in linear-host */
/* iris_byte_at: as in table-cortex-m7 */
/* iris_integer_at: as in linear-host */

/* A signed word, modulo 2^32. */
static uint32_t iris_int32_at(const volatile int32_t *const element)
{
    return (uint32_t)*element;
}
/* iris_wide_at: as in codes-cortex-m7 */

/* The types of tables. */
typedef enum {
    IRIS_TYPE_FLOAT,
    IRIS_TYPE_UINT8,
    IRIS_TYPE_UINT16,
    IRIS_TYPE_INT32,
    IRIS_TYPE_UINT64
} iris_type_t;

/* The elements of a table under the name of their type. */
typedef union {
    const volatile float *as_float;
    const volatile uint8_t *as_uint8;
    const volatile uint16_t *as_uint16;
    const volatile int32_t *as_int32;
    const volatile uint64_t *as_uint64;
} iris_elements_t;

/* A table as the self-test reads it. */
typedef struct {
    iris_elements_t elements;
    iris_type_t type;
    uint32_t n_words;  /* of 32 bits: one an element, two where it has 64 */
} iris_table_t;

/*
 * All tables, in the order of their checksums. The addresses are the linker's: no checksum covers
 * them, as none covers those in the code.
 */
static const iris_table_t iris_tables[10U] = {
    { { .as_float = iris_scale_0_factor }, IRIS_TYPE_FLOAT, 2U },
    { { .as_int32 = iris_terms }, IRIS_TYPE_INT32, 36U },
    { { .as_uint64 = iris_start }, IRIS_TYPE_UINT64, 12U },
    { { .as_float = iris_bound_per_length }, IRIS_TYPE_FLOAT, 9U },
    { { .as_float = iris_bound_per_deviation }, IRIS_TYPE_FLOAT, 9U },
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
    } else if (table->type == IRIS_TYPE_INT32) {
        word = iris_int32_at(&elements.as_int32[i]);
    } else if (table->type == IRIS_TYPE_UINT64) {
        word = iris_wide_at(&elements.as_uint64[i / 2U], i % 2U);
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

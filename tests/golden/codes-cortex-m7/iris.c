/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, int8, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: cfac62a8e3251bdf1353bc6af622d93e070975d93df20f856698834f81df7e38.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, fixed_sum, sign.
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

/* Whether an instruction multiplies two pairs of 16-bit numbers and adds: it changes no integer. */
#if defined(__ARM_FEATURE_DSP) && !defined(__ARM_BIG_ENDIAN)
#include <arm_acle.h>
#define IRIS_MULTIPLIES_PAIRS 1
#else
#define IRIS_MULTIPLIES_PAIRS 0
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

#define IRIS_LANES 4U          /* support vectors of a block */
#define IRIS_N_BLOCKS 2U       /* the last ones of a group filled up */
#define IRIS_N_USED 2U         /* features that are not 0 in some vector */
#define IRIS_N_PADDED 4U       /* N_USED, filled up to whole runs */
#define IRIS_N_FOURS 1U        /* fours of features */
#define IRIS_N_ROWS 1U         /* decisions that a vector is part of */
#define IRIS_N_GROUPS 2U       /* groups of vectors, by what they are part of */
#define IRIS_SUM_EVALS 3U      /* full kernel evaluations of the sum */
#define IRIS_N_TABLES 14U      /* tables with a checksum */
#define IRIS_N_ANSWERS 2U      /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 17U  /* steps of the whole self-test */
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
    "cold",
    "hot"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "fixed_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Factor of each feature, per its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const float iris_scale_0_factor[2U] = {
    0x1p-15f, 0x1p-15f
};

/* Support vectors s_i as codes. Index: [block][four][lane][feature]. */
IRIS_TABLE_SECTION
static const union {
    int16_t code[32U];
    uint32_t word[16U];
} iris_vectors = { {
    12, 1017, 0, 0, 16, 1005, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 28, 1015, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0
} };

/* Squares |s_i|^2 of the codes. Index: [vector], 8. */
IRIS_TABLE_SECTION
static const uint32_t iris_squares[8U] = {
    1034433UL, 1010281UL, 0UL, 0UL, 1031009UL, 0UL, 0UL, 0UL
};

/* Dual coefficients |beta_pi|, 0 where a block is filled up. Index: [block][row][lane], 2x1x4. */
IRIS_TABLE_SECTION
static const uint16_t iris_coefficients[8U] = {
    24576U, 16384U, 0U, 0U, 40960U, 0U, 0U, 0U
};

/* Number of the block after the last one of a group. Index: [group], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_group_ends[2U] = {
    1U, 2U
};

/* Number 2 p of the decision that a row adds to, + 1 if beta < 0. Index: [group][row], 2x1. */
IRIS_TABLE_SECTION
static const uint16_t iris_group_rows[2U] = {
    1U, 0U
};

/* Intercepts b_p, their positive and negative parts. Index: [decision][part], 1x2. */
IRIS_TABLE_SECTION
static const uint64_t iris_start[2U] = {
    8796093022208ULL, 0ULL
};

/* Powers 2^(31 - i / 64). Index: [i], 64. */
IRIS_TABLE_SECTION
static const uint32_t iris_exp2_table[64U] = {
    2147483648UL, 2124350982UL, 2101467502UL, 2078830522UL, 2056437387UL, 2034285470UL,
    2012372174UL, 1990694927UL, 1969251188UL, 1948038440UL, 1927054196UL, 1906295993UL,
    1885761398UL, 1865448001UL, 1845353420UL, 1825475297UL, 1805811301UL, 1786359126UL,
    1767116489UL, 1748081133UL, 1729250827UL, 1710623359UL, 1692196547UL, 1673968228UL,
    1655936265UL, 1638098541UL, 1620452965UL, 1602997467UL, 1585730000UL, 1568648537UL,
    1551751076UL, 1535035634UL, 1518500250UL, 1502142985UL, 1485961921UL, 1469955159UL,
    1454120821UL, 1438457051UL, 1422962010UL, 1407633882UL, 1392470869UL, 1377471191UL,
    1362633090UL, 1347954824UL, 1333434672UL, 1319070932UL, 1304861917UL, 1290805962UL,
    1276901417UL, 1263146652UL, 1249540052UL, 1236080024UL, 1222764986UL, 1209593378UL,
    1196563654UL, 1183674286UL, 1170923762UL, 1158310587UL, 1145833280UL, 1133490379UL,
    1121280436UL, 1109202018UL, 1097253708UL, 1085434106UL
};

/* Error of the decisions per |x - code|. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_per_deviation[1U] = {
    0x1.7814aap+12f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[1U] = {
    0x1.a0082cp-29f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const int16_t iris_known_inputs[4U] = {
    12, 1017, 28, 1015
};

/* Labels of these inputs. Index: [answer], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_known_labels[2U] = {
    0U, 1U
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const float iris_known_lower[2U] = {
    -0x1.35655p-1f, 0x1.33ca12p+0f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const float iris_known_upper[2U] = {
    -0x1.35653p-1f, 0x1.33ca32p+0f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 14. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[14U] = {
    1744796897UL, 2166939103UL, 1910398629UL, 3345415331UL, 2054417452UL, 3306475437UL,
    3998154534UL, 1596978891UL, 3345289504UL, 4190286245UL, 1532393696UL, 1366104114UL,
    102576555UL, 1712319675UL
};

#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_FP)
/*
 * sqrt(v), correctly rounded, by an instruction of the core: IEEE 754 determines every bit.
 * Input: v >= 0, finite; subnormal numbers are allowed.
 * Result: the float nearest to sqrt(v); sqrt(0) = 0. A leaf function.
 */
static float iris_square_root(const float v)
{
    float root;

    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(v));
    return root;
}
/* iris_square_root: as in cascade-cortex-m7 */
#endif

/*
 * sqrt(factor * sum of the partial sums + minimum), which is at least the Euclidean norm of what
 * was squared: factor holds the relative errors of the sum and of this bound, minimum the
 * underflows.
 */
static float iris_norm(
    const float partial[4],
    const float factor,
    const float minimum)
{
    const float squares = ((partial[0] + partial[1]) + partial[2]) + partial[3];

    return iris_square_root((factor * squares) + minimum);
}

/*
 * code_j = the integer nearest to y_j / unit, y = ((x - offset_high) - offset_low) * factor.
 * Left out: offset_high and offset_low, which are 0.
 * deviation = relative * |y| + minimum + |y - unit code|; unit is a power of two, so the last norm
 * is of exact differences.
 * Sums of squares: feature j goes to partial sum j modulo 4, the partial sums are added in order.
 * A code below -32767 or above 32767 is none that the format has: then deviation is one that
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
    const float unit = 0x1p-15f;  /* the prepared feature of a code of 1 */
    const float per_unit = 0x1p+15f;  /* 1 / unit, exactly */
    const float refused = 0x1p+100f;  /* a deviation above the limit of accept */
    const float rest_factor = 0x1.00005p+0f;  /* relative roundings in |y - unit code| */
    const float rest_minimum = 0x1.000042p-123f;  /* underflows in its squares */
    const float length_factor = 0x1.00005p+0f;  /* relative roundings in |y| */
    const float length_minimum = 0x1.000042p-123f;  /* underflows in its squares */
    const float relative = 0x1.400052p-22f;  /* roundings and stored factor, per |y| */
    const float minimum = 0x1.5c49bep-55f;  /* of the stored offset and underflows */
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

/* 1 if any feature's magnitude is greater than a limit, otherwise 0. */
static uint32_t iris_any_excess(
    const float x[IRIS_N_FEATURES],
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
 * up to it no step of the preprocessing can overflow.
 */
static iris_status_t iris_check(
    const float x[IRIS_N_FEATURES])
{
    const uint32_t largest_finite = 0x7F7FFFFFUL;
    iris_status_t status = IRIS_OK;

    if (iris_any_excess(x, 0x5C800000UL) != 0U) {
        status = (iris_any_excess(x, largest_finite) != 0U)
            ? IRIS_ERROR_NOT_FINITE : IRIS_ERROR_RANGE;
    }
    return status;
}

/*
 * Makes codes of an input. Input: x checked.
 * Result: the codes, in the workspace; deviation bounds their error.
 */
static iris_prepared_t iris_prepare(
    iris_workspace_t *const workspace,
    const float x[IRIS_N_FEATURES])
{
    iris_prepared_t state;

    iris_quantize(&state, x, workspace->quantized);
    return state;
}

/* Takes over the codes and fills up with 0. */
static void iris_pack(
    iris_workspace_t *const workspace,
    const iris_input_t x[IRIS_N_FEATURES])
{
    uint32_t j;

    for (j = 0U; j < IRIS_N_USED; ++j) {
        workspace->codes[j / 4U].code[j % 4U] = (int16_t)x[j];
    }
    for (j = IRIS_N_USED; j < IRIS_N_PADDED; ++j) {
        workspace->codes[j / 4U].code[j % 4U] = 0;
    }
}

/* |x|^2 modulo 2^32. */
static uint32_t iris_code_square(
    const iris_input_t x[IRIS_N_FEATURES])
{
    uint32_t square = 0U;
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        const int32_t code = (int32_t)x[j];
        const int32_t term = code * code;

        square += (uint32_t)term;
    }
    return square;
}

#if !IRIS_MULTIPLIES_PAIRS
/* s x modulo 2^32: the product itself has 31 bits and a sign. */
static inline uint32_t iris_code_product(
    const int16_t s,
    const int16_t x)
{
    const int32_t product = (int32_t)s * (int32_t)x;

    return (uint32_t)product;
}
#endif

/*
 * total + <s, x> modulo 2^32 for the four codes s at a place in the table and four of the input.
 * Where the core multiplies two pairs an instruction, that is used: it changes no integer.
 * Input: place < N_PLACES.
 */
static inline uint32_t iris_add_four(
    const uint32_t total,
    const uint32_t place,
    const iris_four_t x)
{
#if IRIS_MULTIPLIES_PAIRS
    const int32_t s_01 = (int32_t)iris_vectors.word[2U * place];
    const int32_t s_23 = (int32_t)iris_vectors.word[(2U * place) + 1U];
    const int32_t sum = __smlad(s_01, x.word[0], (int32_t)total);

    return (uint32_t)__smlad(s_23, x.word[1], sum);
#else
    const int16_t *const s = &iris_vectors.code[4U * place];
    uint32_t sum = total;

    sum += iris_code_product(s[0U], x.code[0U]);
    sum += iris_code_product(s[1U], x.code[1U]);
    sum += iris_code_product(s[2U], x.code[2U]);
    sum += iris_code_product(s[3U], x.code[3U]);
    return sum;
#endif
}

/*
 * product[lane] = <s, x> modulo 2^32 for the vectors s of one block. Whatever the order, the
 * sum is the same.
 * Input: block < N_BLOCKS; x packed.
 */
static void iris_block_products(
    const iris_workspace_t *const workspace,
    const uint32_t block,
    uint32_t product[IRIS_LANES])
{
    uint32_t place = block * (IRIS_N_FOURS * IRIS_LANES);
    uint32_t product_0 = 0U;
    uint32_t product_1 = 0U;
    uint32_t product_2 = 0U;
    uint32_t product_3 = 0U;
    uint32_t j;

    for (j = 0U; j < IRIS_N_FOURS; ++j) {
        iris_four_t x;

        x = workspace->codes[j];
        product_0 = iris_add_four(product_0, place, x);
        product_1 = iris_add_four(product_1, place + 1U, x);
        product_2 = iris_add_four(product_2, place + 2U, x);
        product_3 = iris_add_four(product_3, place + 3U, x);
        place += IRIS_LANES;
    }
    product[0U] = product_0;
    product[1U] = product_1;
    product[2U] = product_2;
    product[3U] = product_3;
}

/* The upper 32 bits of a b. */
static inline uint32_t iris_upper_product(const uint32_t a, const uint32_t b)
{
    return (uint32_t)(((uint64_t)a * b) >> 32U);
}

/* a b. */
static inline uint64_t iris_long_product(const uint32_t a, const uint16_t b)
{
    return (uint64_t)a * b;
}

/*
 * 2^-t in integers: t = n + (i + r) / 64 with n whole, i = 0 .. 63 and 0 <= r < 1, so 2^-t is an
 * entry of the table times 1 - r (c1 - c2 r), shifted by n. c1, c2 and r have 32 bits behind the
 * point.
 * Input: t with 26 bits behind the point, below 0x80000000UL, which is 32.
 * Result: with 31 bits behind the point, within a relative error of 9.7e-09 before the shift,
 * which takes off less than 1 in the last of them. A leaf function.
 */
static inline uint32_t iris_exp2_fixed(const uint32_t t)
{
    const uint32_t c1 = 46515929UL;
    const uint32_t c2 = 250633UL;
    /* What stands in front of r is shifted out. */
    const uint32_t r = t << 12U;
    const uint32_t slope = c1 - iris_upper_product(r, c2);
    const uint32_t drop = iris_upper_product(r, slope);
    const uint32_t i = (t >> 20U) & 63U;
    const uint32_t entry = iris_exp2_table[i];

    return (entry - iris_upper_product(entry, drop)) >> (t >> 26U);
}

/*
 * The kernel of a distance: k = exp(-gamma distance) = 2^-t with 31 bits behind the point,
 * t = distance * 3098164009 >> 12 with 26. From t = 32 on, k is 0.
 * Input: distance = |s - x|^2 of the codes.
 */
static inline uint32_t iris_fixed_kernel(const uint32_t distance)
{
    uint32_t value = 0U;

    if (distance <= 2839U) {
        /* Below 2^32 up to here, and the upper half of the product is t. */
        const uint32_t scaled = distance << 20U;
        const uint32_t t = iris_upper_product(scaled, 3098164009UL);

        value = iris_exp2_fixed(t);
    }
    return value;
}

/*
 * The kernels of one block, of |s - x|^2 = (|s|^2 + |x|^2) - 2 <s, x>: exactly, as that is below
 * 2^32, and the intermediates are right modulo that.
 * Input: block < N_BLOCKS; square = |x|^2 modulo 2^32; x packed.
 */
static void iris_block_kernels(
    const iris_workspace_t *const workspace,
    const uint32_t block,
    const uint32_t square,
    uint32_t value[IRIS_LANES])
{
    const uint32_t first = block * IRIS_LANES;
    const uint32_t *const squares = &iris_squares[first];
    uint32_t product[IRIS_LANES];
    uint32_t lane;

    iris_block_products(workspace, block, product);
    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        const uint32_t both = squares[lane] + square;

        value[lane] = iris_fixed_kernel(both - (2U * product[lane]));
    }
}

/* Sets all sums to what they are before the first vector: the intercepts, or 0. */
static void iris_start_sums(
    iris_workspace_t *const workspace)
{
    uint32_t p;

    for (p = 0U; p < (2U * IRIS_N_DECISIONS); ++p) {
        workspace->products[p] = iris_start[p];
    }
    for (p = 0U; p < IRIS_N_ROWS; ++p) {
        workspace->row_sum[p] = 0U;
    }
}

/* Adds the products of one block's kernels and coefficients to every row. */
static void iris_add_block(
    iris_workspace_t *const workspace,
    const uint32_t block,
    const uint32_t value[IRIS_LANES])
{
    const uint32_t first = block * IRIS_N_ROWS;
    const uint32_t value_0 = value[0U];
    const uint32_t value_1 = value[1U];
    const uint32_t value_2 = value[2U];
    const uint32_t value_3 = value[3U];
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t index = (first + row) * IRIS_LANES;
        const uint16_t *const coef = &iris_coefficients[index];
        uint64_t sum = workspace->row_sum[row];

        sum += iris_long_product(value_0, coef[0U]);
        sum += iris_long_product(value_1, coef[1U]);
        sum += iris_long_product(value_2, coef[2U]);
        sum += iris_long_product(value_3, coef[3U]);
        workspace->row_sum[row] = sum;
    }
}

/*
 * Adds a group's rows to the decisions they belong to, and clears them. Within a group the
 * coefficients of a row have one sign, which a decision's index is even or odd by. It is checked,
 * so that a damaged table cannot write elsewhere.
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
        const uint32_t part = iris_group_rows[first + row];

        if (part < (2U * IRIS_N_DECISIONS)) {
            workspace->products[part] += workspace->row_sum[row];
        } else {
            valid = false;
        }
        workspace->row_sum[row] = 0U;
    }
    return valid;
}

/* At least a sum of products in units of a decision: less than 2^32 of these. */
static float iris_rounded_up(const uint64_t sum)
{
    const float unit = 0x1p-29f;  /* the decision that 2^17 products are */
    const uint32_t units = (uint32_t)(sum >> 17U) + 1U;

    return (float)units * unit;
}

/*
 * decision[p] = the positive products less the negative ones. bound[p] >= its error: that of the
 * kernels' values is relative; what stored vectors and coefficients are off the trained ones, in
 * the kernel's feature space, is in minimum_bound; that of the input, |V| |phi(x) - phi(code)|, is
 * per_deviation times its distance from the code.
 * Input: all groups are added; p < N_DECISIONS.
 */
static void iris_fixed_decision(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const uint32_t p)
{
    const float unit = 0x1p-29f;  /* the decision that 2^17 products are */
    const float value_error = 0x1.b0d0e8p-26f;  /* of a kernel value, relative */
    const float result_error = 0x1.400052p-22f;  /* of the decision's roundings, relative */
    const uint64_t positive = workspace->products[2U * p];
    const uint64_t negative = workspace->products[(2U * p) + 1U];
    const uint64_t *const start = &iris_start[2U * p];
    const uint64_t intercept = start[0] + start[1];
    const bool above = positive >= negative;
    const uint64_t larger = above ? positive : negative;
    const uint64_t smaller = above ? negative : positive;
    const uint32_t units = (uint32_t)((larger - smaller) >> 17U);
    const float magnitude = (float)units * unit;
    const float rounding = magnitude * result_error;
    const float of_values = iris_rounded_up((positive + negative) - intercept);
    const float of_input = iris_per_deviation[p] * input->deviation;
    const float of_sums = ((of_values * value_error) + of_input) + rounding;

    workspace->decision[p] = above ? magnitude : -magnitude;
    workspace->bound[p] = of_sums + iris_minimum_bound[p];
}

/*
 * decision[p] = sum over i of beta_pi exp(-gamma |s_i - x|^2) + b_p, in integers up to the last
 * steps; bound[p] >= |decision[p] - exact value|. No sum overflows: the coefficients of a decision
 * add up to less than 2^32, and no kernel exceeds 2^31.
 * Input: x as codes; deviation >= its distance from the exactly prepared input.
 * Result: false if a table of the groups is damaged; then the decisions are not to be used.
 */
static bool iris_fixed_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const uint32_t square = iris_code_square(input->code);
    uint32_t value[IRIS_LANES];
    bool valid = true;
    uint32_t group = 0U;
    uint32_t block;
    uint32_t p;

    iris_pack(workspace, input->code);
    iris_start_sums(workspace);
    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        iris_block_kernels(workspace, block, square, value);
        iris_add_block(workspace, block, value);
        if ((group < IRIS_N_GROUPS)
            && ((block + 1U) == iris_group_ends[group])) {
            if (!iris_add_group(workspace, group)) {
                valid = false;
            }
            ++group;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        iris_fixed_decision(workspace, input, p);
    }
    return valid && (group == IRIS_N_GROUPS);
}
/* iris_sign: as in cascade-cortex-m7 */

/*
 * Checks the codes, which are the prepared input but for what float64 rounded in their scale.
 * Result: IRIS_OK with *input prepared, or IRIS_ERROR_RANGE.
 */
static iris_status_t iris_accept(
    const iris_input_t x[IRIS_N_FEATURES],
    iris_prepared_t *const input)
{
    const float deviation = 0x1.7a05f6p-51f;  /* what float64 rounded in the scale */
    bool inside = true;
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        inside = inside && (x[j] >= IRIS_CODE_LOW);
    }
    input->code = x;
    input->deviation = deviation;
    input->length = 0.0f;
    return inside ? IRIS_OK : IRIS_ERROR_RANGE;
}

/*
 * Checks x and prepares it.
 * Result: IRIS_OK with *input prepared, or why x is refused.
 */
static iris_status_t iris_accept_float(
    iris_workspace_t *const workspace,
    const float x[IRIS_N_FEATURES],
    iris_prepared_t *const input)
{
    /* A feature outside the scale has left a deviation above this limit. */
    const float limit = 0x1p+60f;
    iris_status_t status = iris_check(x);

    if (status == IRIS_OK) {
        *input = iris_prepare(workspace, x);
        if ((input->length > limit) || (input->deviation > limit)) {
            status = IRIS_ERROR_RANGE;
        }
    }
    return status;
}

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

    if (iris_fixed_sum(workspace, input)) {
        result->certified = iris_sign(workspace, result);
        result->kernel_evals = IRIS_SUM_EVALS;
        result->stage = IRIS_STAGE_FIXED_SUM;
        status = IRIS_OK;
    }
    return status;
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
        status = iris_sum(workspace, &input, &answer);
        if (status == IRIS_OK) {
            *result = answer;
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
        if (iris_fixed_sum(workspace, &input)) {
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
        status = iris_sum(workspace, &input, &answer);
        if (status == IRIS_OK) {
            *result = answer;
        }
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
        if (iris_fixed_sum(workspace, &input)) {
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

/* A signed integer, modulo 2^32. */
static uint32_t iris_int16_at(const volatile int16_t *const element)
{
    return (uint32_t)*element;
}
/* iris_integer_at: as in linear-host */

/* A word. */
static uint32_t iris_word_at(const volatile uint32_t *const element)
{
    return *element;
}

/* The lower or the upper half of a 64-bit integer. */
static uint32_t iris_wide_at(
    const volatile uint64_t *const element,
    const uint32_t half)
{
    return (uint32_t)((*element >> (32U * half)) & 0xFFFFFFFFULL);
}

/* The types of tables. */
typedef enum {
    IRIS_TYPE_FLOAT,
    IRIS_TYPE_INT16,
    IRIS_TYPE_UINT16,
    IRIS_TYPE_UINT32,
    IRIS_TYPE_UINT64
} iris_type_t;

/* The elements of a table under the name of their type. */
typedef union {
    const volatile float *as_float;
    const volatile int16_t *as_int16;
    const volatile uint16_t *as_uint16;
    const volatile uint32_t *as_uint32;
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
static const iris_table_t iris_tables[14U] = {
    { { .as_float = iris_scale_0_factor }, IRIS_TYPE_FLOAT, 2U },
    { { .as_int16 = &iris_vectors.code[0] }, IRIS_TYPE_INT16, 32U },
    { { .as_uint32 = iris_squares }, IRIS_TYPE_UINT32, 8U },
    { { .as_uint16 = iris_coefficients }, IRIS_TYPE_UINT16, 8U },
    { { .as_uint16 = iris_group_ends }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint16 = iris_group_rows }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint64 = iris_start }, IRIS_TYPE_UINT64, 4U },
    { { .as_uint32 = iris_exp2_table }, IRIS_TYPE_UINT32, 64U },
    { { .as_float = iris_per_deviation }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 1U },
    { { .as_int16 = iris_known_inputs }, IRIS_TYPE_INT16, 4U },
    { { .as_uint16 = iris_known_labels }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_known_lower }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_known_upper }, IRIS_TYPE_FLOAT, 2U }
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
    } else if (table->type == IRIS_TYPE_INT16) {
        word = iris_int16_at(&elements.as_int16[i]);
    } else if (table->type == IRIS_TYPE_UINT16) {
        word = iris_integer_at(&elements.as_uint16[i]);
    } else if (table->type == IRIS_TYPE_UINT32) {
        word = iris_word_at(&elements.as_uint32[i]);
    } else if (table->type == IRIS_TYPE_UINT64) {
        word = iris_wide_at(&elements.as_uint64[i / 2U], i % 2U);
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

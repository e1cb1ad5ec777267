/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, float32, mode statistical.
 * Model: a model of the tests.
 * SHA-256 of the model: b6084aba3d5daece10f5b2b7429c6990517e8e257083a9a0a7e7cead7a029f14.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, nonzeros, range_gate, linear_filter, reduced_set_1,
 * reduced_set_2, nearest_vectors, exact_sum, sign.
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

#define IRIS_N_PREPARED 2U        /* features after the preprocessing */
#define IRIS_LANES 4U             /* support vectors of a block, side by side */
#define IRIS_N_BLOCKS 2U          /* the last ones of a group filled up */
#define IRIS_BLOCK_WORDS 8U       /* N_PREPARED * LANES */
#define IRIS_N_ROWS 1U            /* decisions that a vector is part of */
#define IRIS_N_GROUPS 2U          /* groups of vectors, by what they are part of */
#define IRIS_SUM_EVALS 3U         /* full kernel evaluations of the sum */
#define IRIS_REDUCED_1_OUT 1U     /* dimensions of reduced set 1 */
#define IRIS_REDUCED_1_LIFTED 3U  /* these with - |y|^2 / 32 and 1 */
#define IRIS_REDUCED_1_LANES 2U   /* its vectors of a block */
#define IRIS_REDUCED_2_OUT 1U     /* dimensions of reduced set 2 */
#define IRIS_REDUCED_2_LIFTED 3U  /* these with - |y|^2 / 32 and 1 */
#define IRIS_REDUCED_2_LANES 2U   /* its vectors of a block */
#define IRIS_N_SLOTS 8U           /* N_BLOCKS * LANES: places of vectors */
#define IRIS_NEAREST_OUT 1U       /* dimensions of the nearest vectors */
#define IRIS_N_TESTS 3U           /* tests of the nearest vectors */
#define IRIS_MOST_TOUCHED 2U      /* kernels that they compute, at most */
#define IRIS_N_TABLES 42U         /* tables with a checksum */
#define IRIS_N_ANSWERS 2U         /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 45U     /* steps of the whole self-test */
#define IRIS_STEP_WORDS 256U      /* words of a table that one step reads */

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
    float square;  /* |x|^2, once it is summed */
    uint32_t n_nonzeros;  /* features in the list of nonzeros */
} iris_prepared_t;

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "cold",
    "hot"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "linear_filter",
    "reduced_set_1",
    "reduced_set_2",
    "nearest_vectors",
    "exact_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* Offset of each feature, in its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const float iris_scale_0_offset_high[2U] = {
    0x1.4p+4f, 0x1.faap+9f
};

/* Factor of each feature, per its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const float iris_scale_0_factor[2U] = {
    0x1.99999ap-4f, 0x1.47ae14p-7f
};

/* Weights w_p of the estimate, per prepared feature. Index: [block][feature][lane], 1x2x1. */
IRIS_TABLE_SECTION
static const float iris_filter_weights[2U] = {
    0x1p+0f, 0x0p+0f
};

/* Constants c_p of the estimate, the middle of its band. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_filter_intercept[1U] = {
    0x0p+0f
};

/* Half of the calibrated band of the decisions. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_filter_half_width[1U] = {
    0x1p+1f
};

/* Numbers of the features that M looks at. Index: [column], 1. */
IRIS_TABLE_SECTION
static const uint16_t iris_reduced_1_columns[1U] = {
    0U
};

/* Rows of the projection M, without unit. Index: [block][feature][lane], 1x1x1. */
IRIS_TABLE_SECTION
static const float iris_reduced_1_projection[1U] = {
    0x1p+0f
};

/* Vectors (z_c, 1, t_c) of the set. Index: [block][component][lane], 1x3x2. */
IRIS_TABLE_SECTION
static const float iris_reduced_1_vectors[6U] = {
    -0x1p-4f, 0x1p-4f, 0x1p+0f, 0x1p+0f, 0x1.fp-1f, 0x1.fp-1f
};

/* Weights of the decisions' estimates and of the spread. Index: [block][row][lane], 1x2x2. */
IRIS_TABLE_SECTION
static const float iris_reduced_1_weights[4U] = {
    -0x1p+0f, 0x1p+0f, 0x1p-2f, 0x1p-2f
};

/* Slopes of the same rows, per dimension of y. Index: [row][dimension], 2x1. */
IRIS_TABLE_SECTION
static const float iris_reduced_1_slopes[2U] = {
    0x1p-3f, 0x0p+0f
};

/* Constants of the same rows. Index: [row], 2. */
IRIS_TABLE_SECTION
static const float iris_reduced_1_intercept[2U] = {
    0x0p+0f, 0x1p-1f
};

/* Share of the set before in the estimate. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_reduced_1_earlier[1U] = {
    0x0p+0f
};

/* Half of the calibrated band, in spreads. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_reduced_1_half_width[1U] = {
    0x1p+0f
};

/* Rows of the projection M, without unit. Index: [block][feature][lane], 1x2x1. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_projection[2U] = {
    0x1p+0f, 0x0p+0f
};

/* Lower triangle T, |T y| being the length of x in M. Index: [row][column], 1x1. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_triangle[1U] = {
    0x1p+0f
};

/* Vectors (z_c, 1, t_c) of the set. Index: [block][component][lane], 1x3x2. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_vectors[6U] = {
    -0x1p-4f, 0x1p-4f, 0x1p+0f, 0x1p+0f, 0x1.fp-1f, 0x1.fp-1f
};

/* Weights of the decisions' estimates and of the spread. Index: [block][row][lane], 1x2x2. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_weights[4U] = {
    -0x1p+0f, 0x1p+0f, 0x1p-2f, 0x1p-2f
};

/* Slopes of the same rows, per dimension of y. Index: [row][dimension], 2x1. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_slopes[2U] = {
    0x1p-2f, 0x0p+0f
};

/* Constants of the same rows. Index: [row], 2. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_intercept[2U] = {
    0x0p+0f, 0x1p-1f
};

/* Share of the set before in the estimate. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_earlier[1U] = {
    0x1p-2f
};

/* Half of the calibrated band, in spreads. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_reduced_2_half_width[1U] = {
    0x1p+0f
};

/* Rows of the projection M, without unit. Index: [block][feature][lane], 1x2x1. */
IRIS_TABLE_SECTION
static const float iris_nearest_projection_1[2U] = {
    0x0p+0f, 0x1p+0f
};

/* Projected support vectors M s_i. Index: [block][dimension][lane], 2x1x4. */
IRIS_TABLE_SECTION
static const float iris_nearest_projected[8U] = {
    0x1p-1f, -0x1p+0f, -0x1p+0f, -0x1p+0f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f
};

/* Square of the part of each vector outside M. Index: [level][slot], 1x8. */
IRIS_TABLE_SECTION
static const float iris_nearest_residuals[8U] = {
    0x1p+0f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f
};

/* Score of a vector whose kernel is 1, 0 where it is never touched. Index: [slot], 8. */
IRIS_TABLE_SECTION
static const float iris_nearest_weights[8U] = {
    0x1.8p-1f, 0x1p-1f, 0x0p+0f, 0x0p+0f, 0x1.4p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f
};

/* Number of vectors that are touched before a test. Index: [test], 3. */
IRIS_TABLE_SECTION
static const uint16_t iris_nearest_steps[3U] = {
    0U, 1U, 2U
};

/* Share of the running decisions in a test. Index: [test][decision], 3x1. */
IRIS_TABLE_SECTION
static const float iris_nearest_own[3U] = {
    0x1.8p-1f, 0x1.cp-1f, 0x1p+0f
};

/* Share of the reduced set's estimate in a test. Index: [test][decision], 3x1. */
IRIS_TABLE_SECTION
static const float iris_nearest_earlier[3U] = {
    0x1p-2f, 0x1p-3f, 0x0p+0f
};

/* Middle of the calibrated band of the decisions. Index: [test][decision], 3x1. */
IRIS_TABLE_SECTION
static const float iris_nearest_offset[3U] = {
    0x0p+0f, 0x0p+0f, 0x0p+0f
};

/* Half of the calibrated band of the decisions. Index: [test][decision], 3x1. */
IRIS_TABLE_SECTION
static const float iris_nearest_half_width[3U] = {
    0x1p-1f, 0x1p-2f, 0x1p-3f
};

/* Least square of what is outside M. Index: [level], 1. */
IRIS_TABLE_SECTION
static const float iris_nearest_least[1U] = {
    0x0p+0f
};

/* Largest square of what is outside M. Index: [level], 1. */
IRIS_TABLE_SECTION
static const float iris_nearest_largest[1U] = {
    0x1p+7f
};

/* Support vectors s_i, in prepared features. Index: [block][feature][lane], 2x2x4. */
IRIS_TABLE_SECTION
static const float iris_vectors[16U] = {
    -0x1p+0f, -0x1p-1f, -0x1p-1f, -0x1p-1f, 0x1p-1f, -0x1p+0f, -0x1p+0f, -0x1p+0f, 0x1p+0f,
    0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p-2f, 0x1p-2f, 0x1p-2f, 0x1p-2f
};

/* Dual coefficients beta_pi, 0 where a block is filled up. Index: [block][row][lane], 2x1x4. */
IRIS_TABLE_SECTION
static const float iris_coefficients[8U] = {
    -0x1.8p-1f, -0x1p-1f, 0x0p+0f, 0x0p+0f, 0x1.4p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f
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
    0x1p-3f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const float iris_minimum_bound[1U] = {
    0x1.0e7178p-120f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const float iris_known_inputs[4U] = {
    0x1.4p+3f, 0x1.09dp+10f, 0x1.ep+4f, 0x1.039p+10f
};

/* Labels of these inputs. Index: [answer], 2. */
IRIS_TABLE_SECTION
static const uint16_t iris_known_labels[2U] = {
    0U, 1U
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const float iris_known_lower[2U] = {
    -0x1.356598p-1f, 0x1.33c9eap+0f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const float iris_known_upper[2U] = {
    -0x1.3564e4p-1f, 0x1.33ca5ap+0f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 42. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[42U] = {
    1423413175UL, 2459864056UL, 1773917197UL, 1214729159UL, 152852091UL, 1214729159UL,
    3713320107UL, 2067742286UL, 4108814867UL, 1302465655UL, 3805857567UL, 1214729159UL,
    3713320107UL, 1773917197UL, 3713320107UL, 2067742286UL, 4108814867UL, 1370143649UL,
    3805857567UL, 792676264UL, 3713320107UL, 421215718UL, 3042294575UL, 2205428342UL, 3897732994UL,
    3711691771UL, 288922488UL, 2227453472UL, 727758173UL, 2323038732UL, 1214729159UL, 441230735UL,
    2133904002UL, 3833563999UL, 2054417452UL, 2351477386UL, 3573333329UL, 2460552520UL,
    1293661227UL, 1366104114UL, 3747671656UL, 3492724389UL
};

/* iris_magnitude: as in linear-host */

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
#else
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
#endif

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
/* iris_length: as in linear-host */

/*
 * y = ((x - offset_high) - offset_low) * factor, in place or from the caller's input. The offset
 * is two floats: both differences are rounded relative to their small results.
 * Left out: offset_low, which is 0.
 * deviation grows to gain * deviation + relative * |y| + minimum.
 */
static void iris_scale_0(
    iris_prepared_t *const state,
    float y[2U])
{
    const float gain = 0x1.999a08p-4f;  /* how far the step moves two points apart */
    const float relative = 0x1.400052p-22f;  /* roundings and stored factor, per |y| */
    const float minimum = 0x1.4a7f5p-49f;  /* of the stored offset and underflows */
    const float length_factor = 0x1.00005p+0f;  /* relative roundings in |y| */
    const float length_minimum = 0x1.000042p-123f;  /* underflows in its squares */
    uint32_t j;

    for (j = 0U; j < 2U; ++j) {
        float value = state->x[j];

        value -= iris_scale_0_offset_high[j];
        value *= iris_scale_0_factor[j];
        y[j] = value;
    }
    state->x = y;
    state->length = iris_length(
        y, 2U, length_factor, length_minimum);
    state->deviation = ((gain * state->deviation) + (relative * state->length)) + minimum;
}
/* iris_excess: as in linear-host */
/* iris_any_excess: as in linear-host */
/* iris_check: as in linear-host */

/*
 * Applies the preprocessing in order. Input: x checked.
 * Result: x, in the workspace; deviation and length bound its error and its Euclidean norm.
 */
static iris_prepared_t iris_prepare(
    iris_workspace_t *const workspace,
    const iris_input_t x[IRIS_N_FEATURES])
{
    iris_prepared_t state;

    state.x = x;
    state.deviation = 0.0f;
    state.square = 0.0f;
    state.n_nonzeros = 0U;
    state.length = 0.0f;  /* not needed before a step sets it */
    iris_scale_0(&state, workspace->prepared_0);
    return state;
}

/* Appends a feature to the list of n nonzeros unless it is 0 or -0; returns the new length. */
static uint32_t iris_append_nonzero(
    uint32_t nonzeros[IRIS_N_PREPARED],
    const uint32_t n,
    const float x_j,
    const uint32_t j)
{
    iris_bits_t feature;
    uint32_t length = n;

    feature.value = x_j;
    if ((feature.bits << 1U) != 0U) {
        nonzeros[n] = j;
        ++length;
    }
    return length;
}

/*
 * Lists the features of the prepared input that are not 0, in order, for the sums that follow.
 * square = |x|^2, a plain sum over them.
 */
static void iris_nonzeros(
    iris_workspace_t *const workspace,
    iris_prepared_t *const input)
{
    const float *const x = input->x;
    uint32_t *const nonzeros = workspace->nonzeros;
    float square = 0.0f;
    uint32_t n = 0U;
    uint32_t j;
    uint32_t k;

    for (j = 0U; j < IRIS_N_PREPARED; ++j) {
        n = iris_append_nonzero(nonzeros, n, x[j], j);
    }
    /* Loop bound: IRIS_N_PREPARED. */
    for (k = 0U; k < n; ++k) {
        const float x_j = x[nonzeros[k]];

        square += x_j * x_j;
    }
    input->n_nonzeros = n;
    input->square = square;
}

/*
 * exp(-z) = 2^-n exp(-s) with n = round(z / ln 2) and s = z - n ln 2.
 * Input: z >= 0; infinity is allowed.
 * Result: below z = 86.99 normal and within a relative error of 1.5 * 2^-24; exactly 1 at
 * z = 0, exactly 0 from 86.99 on. No branch and no table; a leaf function.
 */
static inline float iris_exp_negative(const float z)
{
    const uint32_t cutoff = 0x42ADFADEUL;
    const uint32_t shifted_end = 0x4B00007EUL;
    const float log2_e = 0x1.715476p+0f;
    const float shifter = 0x1p+23f;
    const float ln2_high = 0x1.62e4p-1f;
    const float ln2_low = 0x1.7f7d1cp-20f;
    iris_bits_t argument;
    iris_bits_t shifted;
    iris_bits_t result;
    float n;
    float s;
    float square;
    float tail;

    /* From the cutoff on the result is 0; more would only overflow. z >= 0 orders as its bits. */
    argument.value = z;
    argument.bits = (argument.bits < cutoff) ? argument.bits : cutoff;
    /* The sum has n in its lowest bits: its unit in the last place is 1. */
    shifted.value = (argument.value * log2_e) + shifter;
    n = shifted.value - shifter;
    s = (argument.value - (n * ln2_high)) - (n * ln2_low);
    square = s * s;
    tail = (0x1.5558f2p-5f + (s * -0x1.1239dap-7f)) + (square * 0x1.6a2442p-10f);
    tail *= square;
    tail = (tail + (0x1.fffffcp-2f + (s * -0x1.555492p-3f))) * square;
    result.value = 1.0f - (s - tail);
    /* Lowers the exponent by n; unsigned arithmetic keeps only the lowest bits of n. */
    result.bits -= shifted.bits << 23U;
    /* 0 for large n. A mask, because gcc makes a branch of ?: and then doesn't vectorise. */
    result.bits &= 0U - (uint32_t)(shifted.bits < shifted_end);
    return result.value;
}

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
    const float z_error = 0x1.398eaap-21f;  /* of z, relative */
    const float vector_error = 0x1.1e37c4p-50f;  /* >= |s - stored s| */
    const float value_error = 0x1.300056p-21f;  /* of exp and the sum, relative */
    const float per_square = 0x1.0d929ep+21f;  /* gamma (1 + 1/t), per e^2 */
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

/* One feature's part of |s - x|^2. */
static float iris_kernel_term(const float x, const float s)
{
    const float difference = x - s;

    return difference * difference;
}

/* K(s, x) = exp(-gamma |s - x|^2). Input: total = |s - x|^2 >= 0. */
static float iris_kernel_value(const float total)
{
    const float gamma = 0x1p-1f;  /* of the trained kernel, rounded */

    return iris_exp_negative(gamma * total);
}

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
    const float z_1 = gamma * total[1U];
    const float z_2 = gamma * total[2U];
    const float z_3 = gamma * total[3U];
    const float k_0 = iris_kernel_value(total[0U]);
    const float k_1 = iris_kernel_value(total[1U]);
    const float k_2 = iris_kernel_value(total[2U]);
    const float k_3 = iris_kernel_value(total[3U]);

    value[0U] = k_0;
    error[0U] = k_0 * (terms->per_value + (terms->per_z * z_0));
    value[1U] = k_1;
    error[1U] = k_1 * (terms->per_value + (terms->per_z * z_1));
    value[2U] = k_2;
    error[2U] = k_2 * (terms->per_value + (terms->per_z * z_2));
    value[3U] = k_3;
    error[3U] = k_3 * (terms->per_value + (terms->per_z * z_3));
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
    float total_1 = 0.0f;
    float total_2 = 0.0f;
    float total_3 = 0.0f;
    uint32_t j;

    for (j = 0U; j < IRIS_N_PREPARED; ++j) {
        const float *const s = &block[j * IRIS_LANES];

        total_0 += iris_kernel_term(x[j], s[0U]);
        total_1 += iris_kernel_term(x[j], s[1U]);
        total_2 += iris_kernel_term(x[j], s[2U]);
        total_3 += iris_kernel_term(x[j], s[3U]);
    }
    total[0U] = total_0;
    total[1U] = total_1;
    total[2U] = total_2;
    total[3U] = total_3;
}

/*
 * The total of one vector, bit for bit what the sums over its block give.
 * Input: slot = block * LANES + lane.
 */
static float iris_vector_total(
    const iris_prepared_t *const input,
    const uint32_t slot)
{
    const uint32_t block = slot / IRIS_LANES;
    const uint32_t lane = slot % IRIS_LANES;
    const uint32_t first = (block * IRIS_BLOCK_WORDS) + lane;
    const float *const vector = &iris_vectors[first];
    const float *const x = input->x;
    float total = 0.0f;
    uint32_t j;

    for (j = 0U; j < IRIS_N_PREPARED; ++j) {
        total += iris_kernel_term(x[j], vector[j * IRIS_LANES]);
    }
    return total;
}

/*
 * The totals of a block of which an early exit has touched some: those are not computed again,
 * unless so many others are missing that the whole block takes less.
 */
static void iris_other_totals(
    const iris_workspace_t *const workspace,
    const uint32_t block,
    const iris_prepared_t *const input,
    float total[IRIS_LANES])
{
    const uint32_t first = block * IRIS_BLOCK_WORDS;
    const float *const vectors = &iris_vectors[first];
    const uint32_t first_slot = block * IRIS_LANES;
    const uint32_t touched = workspace->touched[block];
    uint32_t missing[3U] = { 0U, 0U, 0U };
    uint32_t n = 0U;
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        if (((touched >> lane) & 1U) != 0U) {
            total[lane] = workspace->kernel_total[first_slot + lane];
        } else {
            if (n < 3U) {
                missing[n] = first_slot + lane;
            }
            ++n;
        }
    }
    if (n > 3U) {
        iris_block_totals(vectors, input->x, total);
    } else {
        /* Loop bound: 3U. */
        for (lane = 0U; lane < n; ++lane) {
            const uint32_t slot = missing[lane];

            total[slot - first_slot] = iris_vector_total(input, slot);
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

        sum += coef[1U] * value[1U];
        sum_error += coef[1U] * error[1U];
        sum += coef[2U] * value[2U];
        sum_error += coef[2U] * error[2U];
        sum += coef[3U] * value[3U];
        sum_error += coef[3U] * error[3U];
        workspace->row_sum[row] += sum;
        workspace->row_error[row] += sum_error;
    }
}
/* iris_add_group: as in regression-host */

/*
 * decision[p] = sum over i of beta_pi K(s_i, x) + b_p, bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * n_known > 0: the kernels of this x that `touched` marks have been computed, and are not again.
 * Result: false if a table of the groups is damaged; then the decisions are not to be used.
 */
static bool iris_exact_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const uint32_t n_known)
{
    const float final_factor = 0x1.00006p+0f;  /* roundings in the sum of errors */
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

        if ((n_known > 0U) && (workspace->touched[block] != 0U)) {
            iris_other_totals(workspace, block, input, total);
        } else {
            iris_block_totals(vectors, input->x, total);
        }
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

/* The label is the sign of the decision. Result: whether its interval excludes 0. */
static bool iris_sign(
    const iris_workspace_t *const workspace,
    iris_result_t *const result)
{
    const float f = workspace->decision[0];

    result->lower = f - workspace->bound[0];
    result->upper = f + workspace->bound[0];
    result->label = 0;
    if (f >= 0.0f) {
        result->label = 1;
    }
    return (result->lower > 0.0f) || (result->upper < 0.0f);
}

/* Whether |x|^2 lies within what calibration saw; an overflow does not. */
static bool iris_range_gate(const iris_prepared_t *const input)
{
    const float least = 0x0p+0f;
    const float largest = 0x1p+8f;

    return (input->square >= least) && (input->square <= largest);
}

/* One feature's part of an inner product. */
static float iris_product(const float x, const float m)
{
    return x * m;
}

/*
 * total[lane] = <row of the matrix, x> for one block of rows, each in the order of the features.
 * Features of 0 are left out: they add 0 to a sum that began with +0, which changes no bit.
 * Input: block = the first word of the block's rows, [feature][lane]; x_j for j in nonzeros.
 */
static void iris_sparse_products_by_1(
    const float block[2U],
    const iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    float total[1U])
{
    const uint32_t n_nonzeros = input->n_nonzeros;
    const float *const x = input->x;
    uint32_t k;
    float total_0 = 0.0f;

    /* Loop bound: IRIS_N_PREPARED. */
    for (k = 0U; k < n_nonzeros; ++k) {
        const uint32_t j = workspace->nonzeros[k];
        const float *const row = &block[j];
        const float x_j = x[j];

        total_0 += x_j * row[0U];
    }
    total[0U] = total_0;
}

/*
 * total[lane] = <row of the matrix, x> for one block of rows, which are 0 but for some columns:
 * each in the order of these.
 * Input: block = the first word of the block's rows, [column][lane]; columns < N_PREPARED.
 */
static void iris_column_products_1_by_1(
    const float block[1U],
    const uint16_t columns[1U],
    const float x[IRIS_N_PREPARED],
    float total[1U])
{
    uint32_t k;
    float total_0 = 0.0f;

    for (k = 0U; k < 1U; ++k) {
        const float *const row = &block[k];
        const uint32_t column = columns[k];
        /* A damaged table reads nothing else. */
        const float x_j = x[(column < IRIS_N_PREPARED) ? column : 0U];

        total_0 += x_j * row[0U];
    }
    total[0U] = total_0;
}

/*
 * total[lane] = sum over the features of the term, for the vectors of one block, each in
 * the order of the features.
 * Input: block = the first word of the block's vectors, [feature][lane].
 */
static void iris_products_3_by_2(
    const float block[6U],
    const float x[3U],
    float total[2U])
{
    float total_0 = 0.0f;
    float total_1 = 0.0f;
    uint32_t j;

    for (j = 0U; j < 3U; ++j) {
        const float *const s = &block[j * 2U];

        total_0 += iris_product(x[j], s[0U]);
        total_1 += iris_product(x[j], s[1U]);
    }
    total[0U] = total_0;
    total[1U] = total_1;
}

/*
 * total[lane] = sum over the features of the term, for the vectors of one block, each in
 * the order of the features.
 * Input: block = the first word of the block's vectors, [feature][lane].
 */
static void iris_totals_1_by_4(
    const float block[4U],
    const float x[1U],
    float total[4U])
{
    float total_0 = 0.0f;
    float total_1 = 0.0f;
    float total_2 = 0.0f;
    float total_3 = 0.0f;
    uint32_t j;

    for (j = 0U; j < 1U; ++j) {
        const float *const s = &block[j * 4U];

        total_0 += iris_kernel_term(x[j], s[0U]);
        total_1 += iris_kernel_term(x[j], s[1U]);
        total_2 += iris_kernel_term(x[j], s[2U]);
        total_3 += iris_kernel_term(x[j], s[3U]);
    }
    total[0U] = total_0;
    total[1U] = total_1;
    total[2U] = total_2;
    total[3U] = total_3;
}

/* y[row] = <row of filter_weights, x>. Input: x prepared. */
static void iris_filter_products(
    const iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    float y[1U])
{
    iris_sparse_products_by_1(
        iris_filter_weights,
        workspace, input, y);
}

/* y[row] = <row of reduced_1_projection, x>. Input: x prepared. */
static void iris_reduced_1_products(
    const iris_prepared_t *const input,
    float y[1U])
{
    iris_column_products_1_by_1(
        iris_reduced_1_projection,
        iris_reduced_1_columns, input->x, y);
}

/* y[row] = <row of reduced_2_projection, x>. Input: x prepared. */
static void iris_reduced_2_products(
    const iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    float y[1U])
{
    iris_sparse_products_by_1(
        iris_reduced_2_projection,
        workspace, input, y);
}

/* y[row] = <row of nearest_projection_1, x>. Input: x prepared. */
static void iris_nearest_products_1(
    const iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    float y[1U])
{
    iris_sparse_products_by_1(
        iris_nearest_projection_1,
        workspace, input, y);
}

/* Adds a group's rows to the running decisions, as add_group does, and clears them. */
static void iris_add_running(
    iris_workspace_t *const workspace,
    const uint32_t group)
{
    const uint32_t first = group * IRIS_N_ROWS;
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t p = iris_group_decisions[first + row];

        if (p < IRIS_N_DECISIONS) {
            workspace->running[p] += workspace->row_sum[row];
        }
        workspace->row_sum[row] = 0.0f;
    }
}

/* running[p] = sum over i of beta_pi times the approximate kernel + b_p, as the exact sum adds. */
static void iris_estimate(
    iris_workspace_t *const workspace)
{
    uint32_t group = 0U;
    uint32_t block;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->running[p] = 0.0f;
    }
    for (p = 0U; p < IRIS_N_ROWS; ++p) {
        workspace->row_sum[p] = 0.0f;
    }
    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        const uint32_t first = block * IRIS_N_ROWS;
        const float *const value = &workspace->approximate[block * IRIS_LANES];
        uint32_t row;

        for (row = 0U; row < IRIS_N_ROWS; ++row) {
            const uint32_t index = (first + row) * IRIS_LANES;
            const float *const coef = &iris_coefficients[index];
            float sum = coef[0] * value[0];

            sum += coef[1U] * value[1U];
            sum += coef[2U] * value[2U];
            sum += coef[3U] * value[3U];
            workspace->row_sum[row] += sum;
        }
        if ((group < IRIS_N_GROUPS)
            && ((block + 1U) == iris_group_ends[group])) {
            iris_add_running(workspace, group);
            ++group;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->running[p] += iris_intercept[p];
    }
}

/* Slots as a binary heap: none is behind its two successors, 2 i + 1 and 2 i + 2. */
typedef struct {
    uint32_t *slots;
    uint32_t size;
} iris_heap_t;

/* The bits of a score, which is at least 0: they order as the scores do, and compare faster. */
static uint32_t iris_score_bits(const float score)
{
    iris_bits_t number;

    number.value = score;
    return number.bits;
}

/* Whether slot a is touched before slot b: by score, of equal ones the lower. */
static bool iris_ahead(
    const float score[IRIS_N_SLOTS],
    const uint32_t a,
    const uint32_t b)
{
    const uint32_t first = iris_score_bits(score[a]);
    const uint32_t second = iris_score_bits(score[b]);

    return (first > second) || ((first == second) && (a < b));
}

/* Moves the slot at a place down to where no successor is ahead of it: log2(size) turns. */
static void iris_sift_down(
    const iris_heap_t *const heap,
    const float score[IRIS_N_SLOTS],
    const uint32_t start)
{
    uint32_t *const slots = heap->slots;
    const uint32_t size = heap->size;
    const uint32_t moved = slots[start];
    uint32_t place = start;
    uint32_t next = (2U * place) + 1U;

    /* Loop bound: 3U. */
    while (next < size) {
        if (((next + 1U) < size)
            && iris_ahead(score, slots[next + 1U], slots[next])) {
            ++next;
        }
        if (iris_ahead(score, slots[next], moved)) {
            slots[place] = slots[next];
            place = next;
            next = (2U * place) + 1U;
        } else {
            next = size;
        }
    }
    slots[place] = moved;
}

/* Orders the slots as a heap. */
static void iris_build_heap(
    const iris_heap_t *const heap,
    const float score[IRIS_N_SLOTS])
{
    uint32_t place;

    /* Loop bound: IRIS_N_SLOTS / 2U. */
    for (place = heap->size / 2U; place > 0U; --place) {
        iris_sift_down(heap, score, place - 1U);
    }
}

/* Takes the first slot off. Input: the heap is not empty. */
static uint32_t iris_take_first(
    iris_heap_t *const heap,
    const float score[IRIS_N_SLOTS])
{
    const uint32_t first = heap->slots[0];

    --heap->size;
    heap->slots[0] = heap->slots[heap->size];
    if (heap->size > 0U) {
        iris_sift_down(heap, score, 0U);
    }
    return first;
}

/*
 * decision[p] = <w_p, x> + c_p with its calibrated half-width as bound.
 * Input: x prepared.
 * Result: whether the label is the same everywhere in these bands; then *result has it.
 * A bound that is negative or no number, which only a damaged table can give, decides nothing.
 */
static bool iris_linear_filter(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    bool sound = true;
    bool settled;
    uint32_t p;

    iris_filter_products(workspace, input, workspace->projected);
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->decision[p] = workspace->projected[p] + iris_filter_intercept[p];
        workspace->bound[p] = iris_filter_half_width[p];
        if (!(workspace->bound[p] >= 0.0f)) {
            sound = false;
        }
    }
    settled = iris_sign(workspace, result);
    return sound && settled;
}

/* max(0, v)^16: (1 - d^2 / 32)^16 is close to exp(-d^2 / 2) and costs no exponential. */
static float iris_bump(const float v)
{
    const float c = (v > 0.0f) ? v : 0.0f;
    const float c2 = c * c;
    const float c4 = c2 * c2;
    const float c8 = c4 * c4;

    return c8 * c8;
}

/* Puts - |y|^2 / 32 and 1 behind y. */
static void iris_reduced_1_lift(float y[IRIS_REDUCED_1_LIFTED])
{
    const float factor = -0.03125f;  /* - 1 / 32, of the bump */
    float square = 0.0f;
    uint32_t j;

    for (j = 0U; j < IRIS_REDUCED_1_OUT; ++j) {
        square += y[j] * y[j];
    }
    y[IRIS_REDUCED_1_OUT] = square * factor;
    y[IRIS_REDUCED_1_OUT + 1U] = 1.0f;
}

/* Adds the share of the vectors to the rows of the estimate. */
static void iris_reduced_1_add_block(
    iris_workspace_t *const workspace,
    const float value[IRIS_REDUCED_1_LANES])
{
    uint32_t row;

    for (row = 0U; row <= IRIS_N_DECISIONS; ++row) {
        const uint32_t index = row * IRIS_REDUCED_1_LANES;
        const float *const weight = &iris_reduced_1_weights[index];
        float sum = weight[0] * value[0];

        sum += weight[1U] * value[1U];
        workspace->estimate[row] += sum;
    }
}

/*
 * estimate[row] = sum over c of weight_c bump(v_c) + <slope, y> + constant, for every decision
 * and then for the spread; v_c = <(z_c, 1, t_c), (y, - |y|^2 / 32, 1)>.
 * Input: y = M x.
 */
static void iris_reduced_1_estimate(
    iris_workspace_t *const workspace,
    float y[IRIS_REDUCED_1_LIFTED])
{
    float value[IRIS_REDUCED_1_LANES];
    uint32_t row;

    iris_reduced_1_lift(y);
    for (row = 0U; row <= IRIS_N_DECISIONS; ++row) {
        workspace->estimate[row] = 0.0f;
    }
    iris_products_3_by_2(iris_reduced_1_vectors, y, value);
    value[0U] = iris_bump(value[0U]);
    value[1U] = iris_bump(value[1U]);
    iris_reduced_1_add_block(workspace, value);
    for (row = 0U; row <= IRIS_N_DECISIONS; ++row) {
        const uint32_t first = row * IRIS_REDUCED_1_OUT;
        const float *const slope = &iris_reduced_1_slopes[first];
        float sum = workspace->estimate[row];
        uint32_t j;

        for (j = 0U; j < IRIS_REDUCED_1_OUT; ++j) {
            sum += y[j] * slope[j];
        }
        workspace->estimate[row] = sum + iris_reduced_1_intercept[row];
    }
}

/*
 * decision[p] = estimate[p].
 * Its bound is half_width_p times the estimated spread, which is kept within limits.
 * Result: whether every bound is sound; one that is negative or no number, which only a damaged
 * table can give, is not.
 */
static bool iris_reduced_1_decide(
    iris_workspace_t *const workspace)
{
    const float least = 0x1p-1f;
    const float largest = 0x1p+1f;
    const float rough = workspace->estimate[IRIS_N_DECISIONS];
    const float wide = (rough > least) ? rough : least;
    const float spread = (wide < largest) ? wide : largest;
    bool sound = true;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const float f = workspace->estimate[p];

        workspace->decision[p] = f;
        workspace->bound[p] = spread * iris_reduced_1_half_width[p];
        if (!(workspace->bound[p] >= 0.0f)) {
            sound = false;
        }
        workspace->earlier[p] = f;
    }
    workspace->earlier[IRIS_N_DECISIONS] = spread;
    return sound;
}

/*
 * Estimates the decisions by a reduced set.
 * Input: x prepared.
 * Result: whether the label is the same everywhere in the bands; then *result has it.
 */
static bool iris_reduced_set_1(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    bool sound;
    bool settled;

    iris_reduced_1_products(input, workspace->projected);
    iris_reduced_1_estimate(workspace, workspace->projected);
    sound = iris_reduced_1_decide(workspace);
    settled = iris_sign(workspace, result);
    return sound && settled;
}

/*
 * Whether the part of x outside the projection, |x|^2 - |T y|^2, lies within what calibration
 * saw. Input: y = M x, square = |x|^2; T is a lower triangle.
 */
static bool iris_reduced_2_in_range(
    const float y[IRIS_REDUCED_2_OUT],
    const float square)
{
    const float least = 0x0p+0f;
    const float largest = 0x1p+6f;
    float inside = 0.0f;
    float rest;
    uint32_t row;
    uint32_t column;

    for (row = 0U; row < IRIS_REDUCED_2_OUT; ++row) {
        const uint32_t first = row * IRIS_REDUCED_2_OUT;
        const float *const factors = &iris_reduced_2_triangle[first];
        float component = 0.0f;

        /* Loop bound: IRIS_REDUCED_2_OUT, in all 1U. */
        for (column = 0U; column <= row; ++column) {
            component += factors[column] * y[column];
        }
        inside += component * component;
    }
    rest = square - inside;
    return (rest >= least) && (rest <= largest);
}

/* Puts - |y|^2 / 32 and 1 behind y. */
static void iris_reduced_2_lift(float y[IRIS_REDUCED_2_LIFTED])
{
    const float factor = -0.03125f;  /* - 1 / 32, of the bump */
    float square = 0.0f;
    uint32_t j;

    for (j = 0U; j < IRIS_REDUCED_2_OUT; ++j) {
        square += y[j] * y[j];
    }
    y[IRIS_REDUCED_2_OUT] = square * factor;
    y[IRIS_REDUCED_2_OUT + 1U] = 1.0f;
}

/* Adds the share of the vectors to the rows of the estimate. */
static void iris_reduced_2_add_block(
    iris_workspace_t *const workspace,
    const float value[IRIS_REDUCED_2_LANES])
{
    uint32_t row;

    for (row = 0U; row <= IRIS_N_DECISIONS; ++row) {
        const uint32_t index = row * IRIS_REDUCED_2_LANES;
        const float *const weight = &iris_reduced_2_weights[index];
        float sum = weight[0] * value[0];

        sum += weight[1U] * value[1U];
        workspace->estimate[row] += sum;
    }
}

/*
 * estimate[row] = sum over c of weight_c bump(v_c) + <slope, y> + constant, for every decision
 * and then for the spread; v_c = <(z_c, 1, t_c), (y, - |y|^2 / 32, 1)>.
 * Input: y = M x.
 */
static void iris_reduced_2_estimate(
    iris_workspace_t *const workspace,
    float y[IRIS_REDUCED_2_LIFTED])
{
    float value[IRIS_REDUCED_2_LANES];
    uint32_t row;

    iris_reduced_2_lift(y);
    for (row = 0U; row <= IRIS_N_DECISIONS; ++row) {
        workspace->estimate[row] = 0.0f;
    }
    iris_products_3_by_2(iris_reduced_2_vectors, y, value);
    value[0U] = iris_bump(value[0U]);
    value[1U] = iris_bump(value[1U]);
    iris_reduced_2_add_block(workspace, value);
    for (row = 0U; row <= IRIS_N_DECISIONS; ++row) {
        const uint32_t first = row * IRIS_REDUCED_2_OUT;
        const float *const slope = &iris_reduced_2_slopes[first];
        float sum = workspace->estimate[row];
        uint32_t j;

        for (j = 0U; j < IRIS_REDUCED_2_OUT; ++j) {
            sum += y[j] * slope[j];
        }
        workspace->estimate[row] = sum + iris_reduced_2_intercept[row];
    }
}

/*
 * decision[p] = estimate[p] + earlier_p * what the reduced set before estimated.
 * Its bound is half_width_p times the estimated spread, which is kept within limits.
 * Result: whether every bound is sound; one that is negative or no number, which only a damaged
 * table can give, is not.
 */
static bool iris_reduced_2_decide(
    iris_workspace_t *const workspace)
{
    const float least = 0x1p-1f;
    const float largest = 0x1p+1f;
    const float rough = workspace->estimate[IRIS_N_DECISIONS];
    const float wide = (rough > least) ? rough : least;
    const float spread = (wide < largest) ? wide : largest;
    bool sound = true;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const float share = workspace->earlier[p] * iris_reduced_2_earlier[p];
        const float f = workspace->estimate[p] + share;

        workspace->decision[p] = f;
        workspace->bound[p] = spread * iris_reduced_2_half_width[p];
        if (!(workspace->bound[p] >= 0.0f)) {
            sound = false;
        }
        workspace->earlier[p] = f;
    }
    workspace->earlier[IRIS_N_DECISIONS] = spread;
    return sound;
}

/*
 * Estimates the decisions by a reduced set, where x is in its range.
 * Input: x prepared, square = |x|^2.
 * Result: whether the label is the same everywhere in the bands; then *result has it.
 */
static bool iris_reduced_set_2(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    bool decided = false;

    iris_reduced_2_products(workspace, input, workspace->projected);
    result->in_range = iris_reduced_2_in_range(workspace->projected, input->square);
    if (result->in_range) {
        bool sound;
        bool settled;

        iris_reduced_2_estimate(workspace, workspace->projected);
        sound = iris_reduced_2_decide(workspace);
        settled = iris_sign(workspace, result);
        decided = sound && settled;
    }
    return decided;
}

/*
 * Projects x to 1 dimensions and sums the kernels' totals in it.
 * Input: x prepared; rest = |x|^2.
 * Result: the square of the part of x outside the projection.
 */
static float iris_nearest_level_1(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const float rest)
{
    float outside = rest;
    uint32_t j;
    uint32_t block;

    iris_nearest_products_1(workspace, input, workspace->projected);
    for (j = 0U; j < 1U; ++j) {
        outside -= workspace->projected[j] * workspace->projected[j];
    }
    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        const uint32_t row = block * IRIS_NEAREST_OUT;
        const uint32_t first = row * IRIS_LANES;

        iris_totals_1_by_4(&iris_nearest_projected[first],
            workspace->projected, &workspace->kernel_total[block * IRIS_LANES]);
    }
    return outside;
}

/* The kernel's value, 0 where the total is `far` or more: calibration was done with that. */
static float iris_kernel_value_within(const float total, const float far)
{
    return (total >= far) ? 0.0f : iris_kernel_value(total);
}

/*
 * Approximates every kernel by its total in the projection and the squares of what is outside:
 * of the vector, and of x: rest, which rounding may have made negative.
 */
static void iris_approximate(
    iris_workspace_t *const workspace,
    const uint32_t level,
    const float rest)
{
    const float far = 0x1p+6f;  /* from this total on a kernel counts as 0 */
    const uint32_t first = level * IRIS_N_SLOTS;
    const float *const residuals = &iris_nearest_residuals[first];
    const float outside = (rest > 0.0f) ? rest : 0.0f;
    uint32_t slot;

    for (slot = 0U; slot < IRIS_N_SLOTS; ++slot) {
        const float total = (workspace->kernel_total[slot] + residuals[slot]) + outside;

        workspace->approximate[slot] = iris_kernel_value_within(total, far);
    }
}

/*
 * Takes the test's shares of the running decisions and of what the reduced set before
 * estimated, less its offsets.
 * The bounds are its half-widths times the spread.
 * Result: whether the label is the same everywhere in these bands; then *result has it.
 * A bound that is negative or no number, which only a damaged table can give, decides nothing.
 */
static bool iris_nearest_test(
    iris_workspace_t *const workspace,
    const uint32_t test,
    iris_result_t *const result)
{
    const uint32_t first = test * IRIS_N_DECISIONS;
    bool sound = true;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const float own = workspace->running[p] * iris_nearest_own[first + p];
        const float share = iris_nearest_earlier[first + p];
        const float f = own + (workspace->earlier[p] * share);
        const float spread = workspace->earlier[IRIS_N_DECISIONS];

        workspace->decision[p] = f - iris_nearest_offset[first + p];
        workspace->bound[p] = spread * iris_nearest_half_width[first + p];
        if (!(workspace->bound[p] >= 0.0f)) {
            sound = false;
        }
    }
    if (!iris_sign(workspace, result)) {
        sound = false;
    }
    return sound;
}

/* The order of touching: by score. */
typedef iris_heap_t iris_order_t;

/* Scores every slot and makes a heap of them; the scores take the totals' place. */
static void iris_start_order(
    iris_workspace_t *const workspace,
    iris_order_t *const order)
{
    float *const score = workspace->kernel_total;
    uint32_t n = 0U;
    uint32_t slot;

    for (slot = 0U; slot < IRIS_N_SLOTS; ++slot) {
        const float weight = iris_nearest_weights[slot];

        score[slot] = weight * iris_magnitude(workspace->approximate[slot]);
        if (weight > 0.0f) {
            workspace->heap[n] = slot;
            ++n;
        }
    }
    order->slots = workspace->heap;
    order->size = n;
    iris_build_heap(order, score);
}

/* Whether any slot is left. */
static bool iris_has_next(const iris_order_t *const order)
{
    return order->size > 0U;
}

/* The slot to be touched next. Input: some slot is left. */
static uint32_t iris_next_slot(
    iris_order_t *const order,
    const float score[IRIS_N_SLOTS])
{
    return iris_take_first(order, score);
}

/*
 * Adds beta times a value to the running decisions that a slot takes part in. Its group is the
 * first one that ends behind its block, and is found by halving.
 */
static void iris_add_slot(
    iris_workspace_t *const workspace,
    const uint32_t slot,
    const float value)
{
    const uint32_t block = slot / IRIS_LANES;
    const uint32_t lane = slot % IRIS_LANES;
    const uint32_t first = block * IRIS_N_ROWS;
    const uint16_t *decisions;
    uint32_t group = 0U;
    uint32_t last = IRIS_N_GROUPS - 1U;
    uint32_t row;

    /* Loop bound: 1U. */
    while (group < last) {
        const uint32_t middle = (group + last) / 2U;

        if (block < iris_group_ends[middle]) {
            last = middle;
        } else {
            group = middle + 1U;
        }
    }
    decisions = &iris_group_decisions[group * IRIS_N_ROWS];
    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t index = ((first + row) * IRIS_LANES) + lane;
        const uint32_t p = decisions[row];

        /* An index of a damaged table is left out here; the exact sum refuses it. */
        if (p < IRIS_N_DECISIONS) {
            workspace->running[p] += iris_coefficients[index] * value;
        }
    }
}

/* Computes the kernel of one slot and puts it in the place of its approximation. */
static void iris_touch(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const uint32_t slot)
{
    const uint32_t block = slot / IRIS_LANES;
    const uint32_t lane = slot % IRIS_LANES;
    const float total = iris_vector_total(input, slot);
    const float value = iris_kernel_value(total);

    workspace->kernel_total[slot] = total;
    workspace->touched[block] |= (uint32_t)1U << lane;
    iris_add_slot(workspace, slot, value - workspace->approximate[slot]);
}

/*
 * Touches the vectors with the largest terms and tests in between.
 * Result: whether a test decided, with *result as it says; a damaged table of steps decides
 * nothing. kernel_evals is written, and touched in the workspace tells which.
 */
static bool iris_touch_vectors(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    const uint32_t most = IRIS_MOST_TOUCHED;
    iris_order_t order;
    bool decided = false;
    uint32_t n = 0U;
    uint32_t test;
    uint32_t i;

    for (i = 0U; i < IRIS_N_BLOCKS; ++i) {
        workspace->touched[i] = 0U;
    }
    iris_start_order(workspace, &order);
    for (test = 1U; (test < IRIS_N_TESTS) && !decided; ++test) {
        const uint32_t step = iris_nearest_steps[test];
        uint32_t end = most;

        /* A damaged table touches no more than the last step says. */
        if (step < most) {
            end = step;
        }
        /* Loop bound: 2U, in all 2U. */
        while ((n < end) && iris_has_next(&order)) {
            const uint32_t slot = iris_next_slot(&order, workspace->kernel_total);

            iris_touch(workspace, input, slot);
            ++n;
        }
        if (n == step) {
            decided = iris_nearest_test(workspace, test, result);
        }
    }
    workspace->n_touched = n;
    result->kernel_evals += n;
    return decided;
}

/* Whether the square of what is outside a level's projection lies within what calibration saw. */
static bool iris_nearest_in_range(const uint32_t level, const float rest)
{
    const float least = iris_nearest_least[level];
    const float largest = iris_nearest_largest[level];

    return (rest >= least) && (rest <= largest);
}

/*
 * Approximates all kernels in a projection of x, tests after each of its levels, then computes
 * the kernels of the largest terms and tests in between.
 * Input: x prepared, square = |x|^2.
 * Result: whether a test decided; then *result has the label. in_range is false if the part of x
 * outside the projection is unlike that of the calibration samples.
 */
static bool iris_nearest_vectors(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    float rest;
    bool decided = false;

    rest = iris_nearest_level_1(workspace, input, input->square);
    result->in_range = iris_nearest_in_range(0U, rest);
    if (result->in_range) {
        iris_approximate(workspace, 0U, rest);
        iris_estimate(workspace);
        decided = iris_nearest_test(workspace, 0U, result);
    }
    if (!decided && result->in_range) {
        decided = iris_touch_vectors(workspace, input, result);
    }
    return decided;
}

/*
 * Asks the early exits in turn, until one decides or finds that x is unlike the calibration
 * samples. Input: x prepared.
 * Result: whether one has decided; then *result is written in full, otherwise kernel_evals and
 * in_range are.
 */
static bool iris_early_exits(
    iris_workspace_t *const workspace,
    iris_prepared_t *const input,
    iris_result_t *const result)
{
    bool decided = false;

    result->kernel_evals = 0U;
    result->certified = false;  /* until a stage has proved the label */
    workspace->n_touched = 0U;
    result->in_range = iris_range_gate(input);
    if (result->in_range) {
        decided = iris_linear_filter(workspace, input, result);
        result->stage = IRIS_STAGE_LINEAR_FILTER;
    }
    if (!decided && result->in_range) {
        decided = iris_reduced_set_1(workspace, input, result);
        result->stage = IRIS_STAGE_REDUCED_SET_1;
    }
    if (!decided && result->in_range) {
        decided = iris_reduced_set_2(workspace, input, result);
        result->stage = IRIS_STAGE_REDUCED_SET_2;
    }
    if (!decided && result->in_range) {
        decided = iris_nearest_vectors(workspace, input, result);
        result->stage = IRIS_STAGE_NEAREST_VECTORS;
    }
    return decided;
}

/*
 * Checks x and prepares it.
 * Result: IRIS_OK with *input prepared, or why x is refused.
 */
static iris_status_t iris_accept(
    iris_workspace_t *const workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_prepared_t *const input)
{
    iris_status_t status = iris_check(x);

    if (status == IRIS_OK) {
        *input = iris_prepare(workspace, x);
        iris_nonzeros(workspace, input);
    }
    return status;
}

/*
 * The answer of the exact sums, which stay in the workspace with their bounds.
 * Input: x prepared; n_known: kernels of this x that `touched` marks.
 * Result: IRIS_OK with *result written but for in_range, or
 * IRIS_ERROR_CORRUPT.
 */
static iris_status_t iris_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    const uint32_t n_known,
    iris_result_t *const result)
{
    iris_status_t status = IRIS_ERROR_CORRUPT;

    if (iris_exact_sum(workspace, input, n_known)) {
        result->certified = iris_sign(workspace, result);
        result->kernel_evals += IRIS_SUM_EVALS - n_known;
        result->stage = IRIS_STAGE_EXACT_SUM;
        status = IRIS_OK;
    }
    return status;
}

/* The answer of the first stage that decides. Input: x prepared. Status as of the exact sums. */
static iris_status_t iris_answer(
    iris_workspace_t *const workspace,
    iris_prepared_t *const input,
    iris_result_t *const result)
{
    const bool decided = iris_early_exits(workspace, input, result);
    iris_status_t status = IRIS_OK;

    if (!decided) {
        status = iris_sum(workspace, input, workspace->n_touched, result);
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
    status = iris_accept(workspace, x, &input);
    if (status == IRIS_OK) {
        status = iris_answer(workspace, &input, &answer);
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
    status = iris_accept(workspace, x, &input);
    if (status == IRIS_OK) {
        if (iris_exact_sum(workspace, &input, 0U)) {
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

/*
 * Draws the next number of the generator xorshift32* (Marsaglia, "Xorshift RNGs", 2003; Vigna,
 * "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
 * Result: a number below `period`, each in one of `period` draws in the mean, to within 2^-32.
 * Input: period > 0.
 */
static uint32_t iris_draw(uint32_t *const state, const uint32_t period)
{
    const uint32_t start = 0x9E3779B9UL;
    const uint32_t factor = 0x9E3779BBUL;
    /* It never leaves 0, and never reaches it from another number. */
    uint32_t number = (*state != 0U) ? *state : start;

    number ^= number << 13U;
    number ^= number >> 17U;
    number ^= number << 5U;
    *state = number;
    /* The product: a state with few bits set does not give a small number. */
    number *= factor;
    return (uint32_t)(((uint64_t)number * period) >> 32U);
}

/* Adds 1 to a counter; a full one stays full. */
static void iris_count(uint32_t *const counter)
{
    if (*counter < UINT32_MAX) {
        ++*counter;
    }
}

/*
 * How unlike the samples of the calibration an input is: 1 over the share of them that lie as far
 * out, to the next power of 2. The intervals hold all samples but that share.
 * Input: square = |x|^2 of the prepared x.
 */
static uint32_t iris_dissimilarity(const float square)
{
    uint32_t found = 1U;

    if ((square < 0x1p+4f) || (square > 0x1p+6f)) {
        found = 2U;
    }
    if ((square < 0x1p+3f) || (square > 0x1p+7f)) {
        found = 4U;
    }
    return found;
}

/*
 * Counts an answered input and, if it is drawn, checks it: the exact sums' answer replaces an
 * early exit's, and it is counted whether the labels differ.
 * Input: x prepared, *result its answer. Status as of the exact sums.
 */
static iris_status_t iris_check_answer(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result,
    iris_audit_t *const audit)
{
    const int32_t label = result->label;
    iris_status_t status = IRIS_OK;
    uint32_t *checked = &audit->checked;
    uint32_t *differences = &audit->differences;
    bool drawn = false;

    iris_count(&audit->queries);
    if (audit->period > 0U) {
        drawn = (iris_draw(&audit->state, audit->period) == 0U);
    }
    if (!drawn && (audit->unlike_period > 0U) && !result->certified
        && (result->stage < IRIS_STAGE_EXACT_SUM)) {
        /* A calibrated exit has answered. */
        const uint32_t number = iris_draw(&audit->state, audit->unlike_period);

        drawn = (number < iris_dissimilarity(input->square));
        checked = &audit->unlike_checked;
        differences = &audit->unlike_differences;
    }
    /* Full counters are left as they are, so that their ratio stays. */
    if (drawn && (*checked < UINT32_MAX)) {
        /* What the exact sums have answered cannot differ from them. */
        if (result->stage < IRIS_STAGE_EXACT_SUM) {
            status = iris_sum(workspace, input, workspace->n_touched, result);
        }
        if (status == IRIS_OK) {
            iris_count(checked);
            if (result->label != label) {
                iris_count(differences);
            }
        }
    }
    return status;
}

/* The contract is in the header. */
iris_status_t iris_audit(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_result_t *result,
    iris_audit_t *audit)
{
    iris_prepared_t input;
    iris_result_t answer;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (result == NULL) || (audit == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept(workspace, x, &input);
    if (status == IRIS_OK) {
        status = iris_answer(workspace, &input, &answer);
        if (status == IRIS_OK) {
            status = iris_check_answer(workspace, &input, &answer, audit);
        }
        if (status == IRIS_OK) {
            *result = answer;
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
static const iris_table_t iris_tables[42U] = {
    { { .as_float = iris_scale_0_offset_high }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_scale_0_factor }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_filter_weights }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_filter_intercept }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_filter_half_width }, IRIS_TYPE_FLOAT, 1U },
    { { .as_uint16 = iris_reduced_1_columns }, IRIS_TYPE_UINT16, 1U },
    { { .as_float = iris_reduced_1_projection }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_reduced_1_vectors }, IRIS_TYPE_FLOAT, 6U },
    { { .as_float = iris_reduced_1_weights }, IRIS_TYPE_FLOAT, 4U },
    { { .as_float = iris_reduced_1_slopes }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_reduced_1_intercept }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_reduced_1_earlier }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_reduced_1_half_width }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_reduced_2_projection }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_reduced_2_triangle }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_reduced_2_vectors }, IRIS_TYPE_FLOAT, 6U },
    { { .as_float = iris_reduced_2_weights }, IRIS_TYPE_FLOAT, 4U },
    { { .as_float = iris_reduced_2_slopes }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_reduced_2_intercept }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_reduced_2_earlier }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_reduced_2_half_width }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_nearest_projection_1 }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_nearest_projected }, IRIS_TYPE_FLOAT, 8U },
    { { .as_float = iris_nearest_residuals }, IRIS_TYPE_FLOAT, 8U },
    { { .as_float = iris_nearest_weights }, IRIS_TYPE_FLOAT, 8U },
    { { .as_uint16 = iris_nearest_steps }, IRIS_TYPE_UINT16, 3U },
    { { .as_float = iris_nearest_own }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_nearest_earlier }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_nearest_offset }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_nearest_half_width }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_nearest_least }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_nearest_largest }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_vectors }, IRIS_TYPE_FLOAT, 16U },
    { { .as_float = iris_coefficients }, IRIS_TYPE_FLOAT, 8U },
    { { .as_uint16 = iris_group_ends }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint16 = iris_group_decisions }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_known_inputs }, IRIS_TYPE_FLOAT, 4U },
    { { .as_uint16 = iris_known_labels }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_known_lower }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_known_upper }, IRIS_TYPE_FLOAT, 2U }
};

/* iris_table_word: as in linear-host */
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

    status = iris_accept(&state->workspace, x, &input);
    if (status == IRIS_OK) {
        result.kernel_evals = 0U;
        status = iris_sum(&state->workspace, &input, 0U, &result);
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

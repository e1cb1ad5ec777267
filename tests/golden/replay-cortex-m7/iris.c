/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, float32, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: b379a0abbcb23c99728b0d2afb388f87d9644333f8b306f24f5a468ff43f6698.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, exact_sum, sign. Where they leave the label open, the replay
 * computes the sums again in double.
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
#define IRIS_LANES 4U          /* support vectors of a block, side by side */
#define IRIS_N_BLOCKS 2U       /* the last ones of a group filled up */
#define IRIS_BLOCK_WORDS 8U    /* N_PREPARED * LANES */
#define IRIS_N_ROWS 1U         /* decisions that a vector is part of */
#define IRIS_N_GROUPS 2U       /* groups of vectors, by what they are part of */
#define IRIS_SUM_EVALS 3U      /* full kernel evaluations of the sum */
#define IRIS_N_TABLES 18U      /* tables with a checksum */
#define IRIS_N_ANSWERS 2U      /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 21U  /* steps of the whole self-test */
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
    const float *raw;  /* the input as it was received */
} iris_prepared_t;

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "cold",
    "hot"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "exact_sum",
    "replay"
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

/* Support vectors s_i, in prepared features. Index: [block][feature][lane], 2x2x4. */
IRIS_TABLE_SECTION
static const float iris_vectors[16U] = {
    -0x1.ccccccp-1f, -0x1.333334p-1f, -0x1.333334p-1f, -0x1.333334p-1f, 0x1.99999ap-2f,
    -0x1.19999ap+0f, -0x1.19999ap+0f, -0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f,
    0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.333334p-2f, 0x1.333334p-2f, 0x1.333334p-2f, 0x1.333334p-2f
};

/* Dual coefficients beta_pi, 0 where a block is filled up. Index: [block][row][lane], 2x1x4. */
IRIS_TABLE_SECTION
static const float iris_coefficients[8U] = {
    -0x1.666666p-1f, -0x1p-1f, 0x0p+0f, 0x0p+0f, 0x1.333334p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f
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
    0x1.0b4e38p-120f
};

/* Offset of each feature, in its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const double iris_replay_scale_0_offset_high[2U] = {
    0x1.4p+4, 0x1.faap+9
};

/* Factor of each feature, per its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const double iris_replay_scale_0_factor[2U] = {
    0x1.999999999999ap-4, 0x1.47ae147ae147bp-7
};

/* Intercepts b_p of the decisions. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const double iris_replay_intercept[1U] = {
    0x1p-3
};

/* Part of the decisions' bound that no input changes. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const double iris_replay_minimum_bound[1U] = {
    0x1.4fd86f947768bp-1016
};

/* Low parts of the vectors, in the order of their table. Index: [element]. */
IRIS_TABLE_SECTION
static const float iris_replay_vectors_low[16U] = {
    -0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, -0x1.99999ap-28f,
    0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f,
    -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-27f, -0x1.99999ap-27f, -0x1.99999ap-27f,
    -0x1.99999ap-27f
};

/* Low parts of the coefficients, in the order of their table. Index: [element]. */
IRIS_TABLE_SECTION
static const float iris_replay_coefficients_low[8U] = {
    -0x1.99999ap-27f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.99999ap-25f, 0x0p+0f, 0x0p+0f, 0x0p+0f
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
    -0x1.2224c6p-1f, 0x1.25d568p+0f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const float iris_known_upper[2U] = {
    -0x1.22241ep-1f, 0x1.25d5d4p+0f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 18. */
IRIS_TABLE_SECTION
static const uint32_t iris_checksums[18U] = {
    1423413175UL, 2459864056UL, 70842270UL, 2667071805UL, 2054417452UL, 2351477386UL, 3573333329UL,
    2270015607UL, 1668405010UL, 1447064003UL, 3859610594UL, 2384067267UL, 3446682903UL,
    4132143470UL, 1293661227UL, 1366104114UL, 4101772395UL, 4036600633UL
};

/* iris_magnitude: as in linear-host */
/* iris_square_root: as in cascade-cortex-m7 */
/* iris_square_root: as in cascade-cortex-m7 */
#endif

/* iris_sum_of_squares: as in cascade-cortex-m7 */
/* iris_length: as in linear-host */
/* iris_scale_0: as in cascade-cortex-m7 */
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
    state.raw = x;
    state.length = 0.0f;  /* not needed before a step sets it */
    iris_scale_0(&state, workspace->prepared_0);
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
    const float z_error = 0x1.465b7ap-21f;  /* of z, relative */
    const float vector_error = 0x1.21a1dp-25f;  /* >= |s - stored s| */
    const float value_error = 0x1.300056p-21f;  /* of exp and the sum, relative */
    const float per_square = 0x1.e7c808p+20f;  /* gamma (1 + 1/t), per e^2 */
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
/* iris_kernel_values: as in cascade-cortex-m7 */
/* iris_block_totals: as in cascade-cortex-m7 */
/* iris_add_block: as in cascade-cortex-m7 */
/* iris_add_group: as in regression-host */

/*
 * decision[p] = sum over i of beta_pi K(s_i, x) + b_p, bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * Result: false if a table of the groups is damaged; then the decisions are not to be used.
 */
static bool iris_exact_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const float final_factor = 0x1.00006p+0f;  /* roundings in the sum of errors */
    const float result_error = 0x1.000042p-22f;  /* relative, of the last addition */
    const float trivial_bound = 0x1.333382p+2f;  /* no decision is further off */
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
/* iris_sign: as in cascade-cortex-m7 */

/*
 * The functions of the replay: the exact sums once more in double, where float leaves the label
 * open. The order of every sum is that of float.
 */
#if (DBL_MANT_DIG != 53) || (DBL_MAX_EXP != 1024)
#error "double must be the 64-bit type of IEEE 754: compile the model with --replay none"
#endif

/* A double and its bits. */
typedef union {
    double value;
    uint64_t bits;
} iris_replay_bits_t;

/* An input on its way through the preprocessing in double. */
typedef struct {
    const double *x;
    double deviation;  /* >= the distance of x from the exactly prepared input */
    double length;     /* >= the Euclidean norm of x, where it is needed */
} iris_replay_prepared_t;

/* |v|, of any v: clears the sign bit. */
static double iris_replay_magnitude(const double v)
{
    iris_replay_bits_t number;

    number.value = v;
    number.bits &= 0x7FFFFFFFFFFFFFFFULL;
    return number.value;
}

/* A float that is at most v: more than what the conversion may add is taken away first. */
static float iris_replay_below(const double v)
{
    const double relative = 0x1p-23;  /* more than a rounding to float */
    const double absolute = 0x1p-126;  /* more than a subnormal float that is read as 0 */

    return (float)(v - ((iris_replay_magnitude(v) * relative) + absolute));
}

/* A float that is at least v. */
static float iris_replay_above(const double v)
{
    return -iris_replay_below(-v);
}

/*
 * sqrt(v) by two steps of Heron's, (y + v / y) / 2, from the root in float.
 * Input: 0 <= v <= 2^126.
 * Result: within a relative error of 2^-52 from v = 2^-180 on, 0 below 2^-192.
 */
static double iris_replay_square_root(const double v)
{
    const double tiny_end = 0x1p-64;
    const double scale = 0x1p+128;  /* of tiny numbers, whose root is then scaled back */
    const double root_of_scale_inverse = 0x1p-64;
    const bool tiny = v < tiny_end;
    const double scaled = v * (tiny ? scale : 1.0);
    double root = 0.0;

    /* Written so that NaN, which only a damaged table can give, is not lost. */
    if (!(scaled < tiny_end)) {
        root = (double)iris_square_root((float)scaled);
        root = 0.5 * (root + (scaled / root));
        root = 0.5 * (root + (scaled / root));
        root *= tiny ? root_of_scale_inverse : 1.0;
    }
    return root;
}

/* Sum of n x_j^2: feature j goes to partial sum j modulo 4, the partial sums are added in order. */
static double iris_replay_sum_of_squares(const double x[], const uint32_t n)
{
    double partial_0 = 0.0;
    double partial_1 = 0.0;
    double partial_2 = 0.0;
    double partial_3 = 0.0;
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
static double iris_replay_length(
    const double x[],
    const uint32_t n,
    const double factor,
    const double minimum)
{
    const double squares = iris_replay_sum_of_squares(x, n);

    return iris_replay_square_root((factor * squares) + minimum);
}

/*
 * y = ((x - offset_high) - offset_low) * factor, in place or from the caller's input. The offset
 * is two doubles: both differences are rounded relative to their small results.
 * Left out: offset_low, which is 0.
 * deviation grows to gain * deviation + relative * |y| + minimum.
 */
static void iris_replay_scale_0(
    iris_replay_prepared_t *const state,
    double y[2U])
{
    const double gain = 0x1.999a000000004p-4;  /* how far the step moves two points apart */
    const double relative = 0x1.8000600000001p-51;  /* roundings and stored factor, per |y| */
    const double minimum = 0x1.4a7f49a9a0386p-49;  /* of the stored offset and underflows */
    const double length_factor = 0x1.0000400000008p+0;  /* relative roundings in |y| */
    const double length_minimum = 0x1.0000400000001p-180;  /* underflows in its squares */
    uint32_t j;

    for (j = 0U; j < 2U; ++j) {
        double value = state->x[j];

        value -= iris_replay_scale_0_offset_high[j];
        value *= iris_replay_scale_0_factor[j];
        y[j] = value;
    }
    state->x = y;
    state->length = iris_replay_length(
        y, 2U, length_factor, length_minimum);
    state->deviation = ((gain * state->deviation) + (relative * state->length)) + minimum;
}

/*
 * Converts the input as it was received and applies the preprocessing in double.
 * Input: checked. deviation begins with what is lost of subnormal features on a machine that
 * reads them as 0.
 */
static iris_replay_prepared_t iris_replay_prepare(
    iris_replay_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const double flushed = 0x1.6a0a40ea6d56ep-126;  /* subnormal features that are read as 0 */
    iris_replay_prepared_t state;
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        workspace->prepared_0[j] = (double)input->raw[j];
    }
    state.x = workspace->prepared_0;
    state.deviation = flushed;
    state.length = 0.0;  /* not needed before a step sets it */
    iris_replay_scale_0(&state, workspace->prepared_0);
    return state;
}

/*
 * 1 - exp(-s) = s - s^2 (1/2! - s (1/3! - s (1/4! - ..))), Taylor's series to s^13.
 * Input: |s| <= ln(2)/2.
 * Result: for s >= 0 within a relative error of 2 * 2^-53.
 */
static double iris_replay_one_minus_exp(const double s)
{
    double total = 0x1.6124613a86d09p-33;

    total = 0x1.1eed8eff8d898p-29 - (s * total);
    total = 0x1.ae64567f544e4p-26 - (s * total);
    total = 0x1.27e4fb7789f5cp-22 - (s * total);
    total = 0x1.71de3a556c734p-19 - (s * total);
    total = 0x1.a01a01a01a01ap-16 - (s * total);
    total = 0x1.a01a01a01a01ap-13 - (s * total);
    total = 0x1.6c16c16c16c17p-10 - (s * total);
    total = 0x1.1111111111111p-7 - (s * total);
    total = 0x1.5555555555555p-5 - (s * total);
    total = 0x1.5555555555555p-3 - (s * total);
    total = 0x1p-1 - (s * total);
    return s - ((s * s) * total);
}

/*
 * exp(-z) = 2^-n exp(-s) with n = round(z / ln 2) and s = z - n ln 2.
 * Input: z >= 0; infinity is allowed.
 * Result: below z = 707 normal and within a relative error of 2.5 * 2^-53; exactly 1 at
 * z = 0, exactly 0 from 707 on.
 */
static double iris_replay_exp_negative(const double z)
{
    const double cutoff = 0x1.618p+9;
    const double log2_e = 0x1.71547652b82fep+0;
    const double shifter = 0x1p+52;
    const double ln2_high = 0x1.62e42fefa38p-1;
    const double ln2_low = 0x1.ef35793c7673p-45;
    iris_replay_bits_t shifted;
    iris_replay_bits_t result;

    result.value = 0.0;
    /* The sum has n in its lowest bits: its unit in the last place is 1. */
    shifted.value = (z * log2_e) + shifter;
    if (z < cutoff) {
        const double n = shifted.value - shifter;
        const double s = (z - (n * ln2_high)) - (n * ln2_low);

        result.value = 1.0 - iris_replay_one_minus_exp(s);
        /* Lowers the exponent by n; unsigned arithmetic keeps only the lowest bits of n. */
        result.bits -= shifted.bits << 52U;
    }
    return result.value;
}

/* What the error of a kernel value depends on, for one query. */
typedef struct {
    double per_value;  /* relative error of a value ... */
    double per_z;      /* ... and how it grows with z = gamma |s - x|^2 */
    bool usable;      /* false: the input's own error is too large for the bounds below */
} iris_replay_kernel_terms_t;

/*
 * With e >= |s - stored s| + |x - prepared x| and z computed: the exact z lies within
 * z_error * z + shift of it, shift = gamma (1 + 1/t) e^2, where 2 D e <= t D^2 + e^2 / t.
 * Input: deviation >= |x - prepared x|.
 */
static iris_replay_kernel_terms_t iris_replay_kernel_prepare(
    const iris_replay_prepared_t *const input)
{
    const double z_error = 0x1.e78d819dd8f8ap-49;  /* of z, relative */
    const double vector_error = 0x1.e062a7cb0db89p-51;  /* >= |s - stored s| */
    const double value_error = 0x1.0800420000589p-49;  /* of exp and the sum, relative */
    const double per_square = 0x1.4ec08c02608ep+47;  /* gamma (1 + 1/t), per e^2 */
    const double shift_minimum = 0x1.0000400000001p-1019;  /* underflows in z */
    const double cutoff = 0x1.618p+9;  /* from this z on a kernel value is 0 */
    const double spread = input->deviation + vector_error;
    const double growth = ((per_square * spread) * spread) + shift_minimum;
    /* More than 1 is of no use, and might overflow below. */
    const double shift = (growth < 1.0) ? growth : 1.0;
    const double widest = (z_error * cutoff) + shift;
    const double widen = widest + 1.0;
    iris_replay_kernel_terms_t terms;

    terms.per_value = value_error + (widen * shift);
    terms.per_z = widen * z_error;
    terms.usable = widest <= 1.0;
    return terms;
}

/* One feature's part of |s - x|^2. */
static double iris_replay_kernel_term(const double x, const double s)
{
    const double difference = x - s;

    return difference * difference;
}

/* K(s, x) = exp(-gamma |s - x|^2). Input: total = |s - x|^2 >= 0. */
static double iris_replay_kernel_value(const double total)
{
    const double gamma = 0x1p-1;  /* of the trained kernel, rounded */

    return iris_replay_exp_negative(gamma * total);
}

/*
 * K(s, x) for the vectors of a block.
 * Input: total[lane] = |s - x|^2 >= 0.
 * Result: value[lane] within error[lane] of the trained kernel at the exact input, but for
 * exp(1 - 707.0), which the decision's constant part holds.
 */
static void iris_replay_kernel_values(
    const iris_replay_kernel_terms_t *const terms,
    const double total[IRIS_LANES],
    double value[IRIS_LANES],
    double error[IRIS_LANES])
{
    const double gamma = 0x1p-1;  /* of the trained kernel, rounded */
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        const double z = gamma * total[lane];
        const double k = iris_replay_kernel_value(total[lane]);

        value[lane] = k;
        error[lane] = k * (terms->per_value + (terms->per_z * z));
    }
}

/* A word of the vectors' table with its low part: the sum is exact. */
static double iris_replay_vector_word(const uint32_t i)
{
    const double high = (double)iris_vectors[i];

    return high + (double)iris_replay_vectors_low[i];
}

/* A word of the coefficients' table with its low part: the sum is exact. */
static double iris_replay_coefficient(const uint32_t i)
{
    const double high = (double)iris_coefficients[i];

    return high + (double)iris_replay_coefficients_low[i];
}

/* total[lane] = sum over the features of the term, each in the order of the features. */
static void iris_replay_block_totals(
    const uint32_t block,
    const double x[IRIS_N_PREPARED],
    double total[IRIS_LANES])
{
    uint32_t word = block * IRIS_BLOCK_WORDS;
    uint32_t j;
    double total_0 = 0.0;
    double total_1 = 0.0;
    double total_2 = 0.0;
    double total_3 = 0.0;

    for (j = 0U; j < IRIS_N_PREPARED; ++j) {
        const double x_j = x[j];

        total_0 += iris_replay_kernel_term(
            x_j, iris_replay_vector_word(word));
        total_1 += iris_replay_kernel_term(
            x_j, iris_replay_vector_word(word + 1U));
        total_2 += iris_replay_kernel_term(
            x_j, iris_replay_vector_word(word + 2U));
        total_3 += iris_replay_kernel_term(
            x_j, iris_replay_vector_word(word + 3U));
        word += IRIS_LANES;
    }
    total[0U] = total_0;
    total[1U] = total_1;
    total[2U] = total_2;
    total[3U] = total_3;
}

/* Adds one block's share to every row's running sum of values and of errors. */
static void iris_replay_add_block(
    iris_replay_workspace_t *const workspace,
    const uint32_t block,
    const double value[IRIS_LANES],
    const double error[IRIS_LANES])
{
    const uint32_t first = block * IRIS_N_ROWS;
    uint32_t row;
    uint32_t lane;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t index = (first + row) * IRIS_LANES;
        const double first_coef = iris_replay_coefficient(index);
        double sum = first_coef * value[0];
        double sum_error = first_coef * error[0];

        for (lane = 1U; lane < IRIS_LANES; ++lane) {
            const double coef = iris_replay_coefficient(index + lane);

            sum += coef * value[lane];
            sum_error += coef * error[lane];
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
static bool iris_replay_add_group(
    iris_replay_workspace_t *const workspace,
    const uint32_t group)
{
    const uint32_t first = group * IRIS_N_ROWS;
    bool valid = true;
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t p = iris_group_decisions[first + row];

        if (p < IRIS_N_DECISIONS) {
            workspace->decision[p] += workspace->row_sum[row];
            workspace->bound[p] += iris_replay_magnitude(workspace->row_error[row]);
        } else {
            valid = false;
        }
        workspace->row_sum[row] = 0.0;
        workspace->row_error[row] = 0.0;
    }
    return valid;
}

/*
 * decision[p] = sum over i of beta_pi K(s_i, x) + b_p, bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * Result: false if a table of the groups is damaged; then the decisions are not to be used.
 */
static bool iris_replay_exact_sum(
    iris_replay_workspace_t *const workspace,
    const iris_replay_prepared_t *const input)
{
    const double final_factor = 0x1.000040000001p+0;  /* roundings in the sum of errors */
    const double result_error = 0x1.0000400000001p-51;  /* relative, of the last addition */
    const double trivial_bound = 0x1.33338005276b5p+2;  /* no decision is further off */
    const iris_replay_kernel_terms_t terms =
        iris_replay_kernel_prepare(input);
    double total[IRIS_LANES];
    double value[IRIS_LANES];
    double error[IRIS_LANES];
    bool valid = true;
    uint32_t group = 0U;
    uint32_t block;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->decision[p] = 0.0;
        workspace->bound[p] = 0.0;
    }
    for (p = 0U; p < IRIS_N_ROWS; ++p) {
        workspace->row_sum[p] = 0.0;
        workspace->row_error[p] = 0.0;
    }
    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        iris_replay_block_totals(block, input->x, total);
        iris_replay_kernel_values(&terms, total, value, error);
        iris_replay_add_block(workspace, block, value, error);
        if ((group < IRIS_N_GROUPS)
            && ((block + 1U) == iris_group_ends[group])) {
            if (!iris_replay_add_group(workspace, group)) {
                valid = false;
            }
            ++group;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const double f = workspace->decision[p] + iris_replay_intercept[p];
        const double rounding = iris_replay_magnitude(f) * result_error;
        const double summed = (workspace->bound[p] * final_factor) + rounding;
        const double bound = summed + iris_replay_minimum_bound[p];

        workspace->decision[p] = f;
        /* If the kernel's errors are not usable, every value may be off as far as it can be. */
        workspace->bound[p] = terms.usable ? bound : (rounding + trivial_bound);
    }
    return valid && (group == IRIS_N_GROUPS);
}

/* The label is the sign of the decision. Result: whether its interval excludes 0. */
static bool iris_replay_sign(
    const iris_replay_workspace_t *const workspace,
    iris_result_t *const result)
{
    const double f = workspace->decision[0];

    result->lower = iris_replay_below(f - workspace->bound[0]);
    result->upper = iris_replay_above(f + workspace->bound[0]);
    result->label = 0;
    if (f >= 0.0) {
        result->label = 1;
    }
    return (result->lower > 0.0f) || (result->upper < 0.0f);
}

/*
 * Label, interval and certificate of an input in double; *result takes them.
 * Input: checked; raw as it was received.
 * Result: false if a table of the groups is damaged; then *result is not to be used.
 */
static bool iris_replay(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    iris_replay_workspace_t *const own = &workspace->replay;
    const iris_replay_prepared_t prepared =
        iris_replay_prepare(own, input);
    const bool valid = iris_replay_exact_sum(own, &prepared);
    const bool settled = iris_replay_sign(own, result);

    result->certified = valid && settled;
    return valid;
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
    }
    return status;
}

/*
 * The answer of the exact sums and, where they leave the label open, of the sums in double. The
 * decisions of what answers stay in the workspace, with their bounds.
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

    if (iris_exact_sum(workspace, input)) {
        result->certified = iris_sign(workspace, result);
        result->kernel_evals = IRIS_SUM_EVALS;
        result->stage = IRIS_STAGE_EXACT_SUM;
        status = IRIS_OK;
        if (!result->certified) {
            if (iris_replay(workspace, input, result)) {
                result->kernel_evals += IRIS_SUM_EVALS;
                result->stage = IRIS_STAGE_REPLAY;
            } else {
                status = IRIS_ERROR_CORRUPT;
            }
        }
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
    status = iris_accept(workspace, x, &input);
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

/* The lower or the upper half of an element's bits. */
static uint32_t iris_double_at(
    const volatile double *const element,
    const uint32_t half)
{
    iris_replay_bits_t word;

    word.value = *element;
    return (uint32_t)((word.bits >> (32U * half)) & 0xFFFFFFFFULL);
}

/* The types of tables. */
typedef enum {
    IRIS_TYPE_FLOAT,
    IRIS_TYPE_DOUBLE,
    IRIS_TYPE_UINT16
} iris_type_t;

/* The elements of a table under the name of their type. */
typedef union {
    const volatile float *as_float;
    const volatile double *as_double;
    const volatile uint16_t *as_uint16;
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
static const iris_table_t iris_tables[18U] = {
    { { .as_float = iris_scale_0_offset_high }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_scale_0_factor }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_vectors }, IRIS_TYPE_FLOAT, 16U },
    { { .as_float = iris_coefficients }, IRIS_TYPE_FLOAT, 8U },
    { { .as_uint16 = iris_group_ends }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint16 = iris_group_decisions }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 1U },
    { { .as_double = iris_replay_scale_0_offset_high }, IRIS_TYPE_DOUBLE, 4U },
    { { .as_double = iris_replay_scale_0_factor }, IRIS_TYPE_DOUBLE, 4U },
    { { .as_double = iris_replay_intercept }, IRIS_TYPE_DOUBLE, 2U },
    { { .as_double = iris_replay_minimum_bound }, IRIS_TYPE_DOUBLE, 2U },
    { { .as_float = iris_replay_vectors_low }, IRIS_TYPE_FLOAT, 16U },
    { { .as_float = iris_replay_coefficients_low }, IRIS_TYPE_FLOAT, 8U },
    { { .as_float = iris_known_inputs }, IRIS_TYPE_FLOAT, 4U },
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
    } else if (table->type == IRIS_TYPE_DOUBLE) {
        word = iris_double_at(&elements.as_double[i / 2U], i % 2U);
    } else if (table->type == IRIS_TYPE_UINT16) {
        word = iris_integer_at(&elements.as_uint16[i]);
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

    status = iris_accept(&state->workspace, x, &input);
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

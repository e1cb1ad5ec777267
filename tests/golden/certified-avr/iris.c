/* kmcompile iris.pkl --target avr */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target avr, float32, mode certified.
 * Model: a model of the tests.
 * SHA-256 of the model: b6084aba3d5daece10f5b2b7429c6990517e8e257083a9a0a7e7cead7a029f14.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * The stages, in order: prepare, sign_map, bound_sequence, exact_sum, sign.
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

#define IRIS_N_PREPARED 2U       /* features after the preprocessing */
#define IRIS_LANES 1U            /* support vectors of a block, side by side */
#define IRIS_N_BLOCKS 3U         /* the last ones of a group filled up */
#define IRIS_BLOCK_WORDS 2U      /* N_PREPARED * LANES */
#define IRIS_N_ROWS 1U           /* decisions that a vector is part of */
#define IRIS_N_GROUPS 2U         /* groups of vectors, by what they are part of */
#define IRIS_SUM_EVALS 3U        /* full kernel evaluations of the sum */
#define IRIS_MAP_NODES 16U       /* boxes of the map */
#define IRIS_MAP_OPEN 3U         /* the kind of a box that holds both signs */
#define IRIS_MAP_NEGATIVE 0U     /* of one where the decision is negative */
#define IRIS_MAP_POSITIVE 1U     /* of one where it is positive */
#define IRIS_MAP_HALVED 2U       /* of one that is halved */
#define IRIS_MAP_ROOTS 4U        /* boxes of the first level */
#define IRIS_MAP_DEPTH 1U        /* how often a box is halved, at most */
#define IRIS_SEQUENCE_BLOCKS 2U  /* blocks of the bound sequence */
#define IRIS_N_TABLES 24U        /* tables with a checksum */
#define IRIS_N_ANSWERS 2U        /* known answers of the self-test */
#define IRIS_N_TEST_STEPS 27U    /* steps of the whole self-test */
#define IRIS_STEP_WORDS 256U     /* words of a table that one step reads */

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
    uint32_t max_kernel_evals;  /* full kernel evaluations that may be spent */
    const float *raw;  /* the input as it was received */
} iris_prepared_t;

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "cold",
    "hot"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "sign_map",
    "bound_sequence",
    "exact_sum"
};

/* An attribute that places the tables in a section of the build's choice; empty if it has none. */
#ifndef IRIS_TABLE_SECTION
#define IRIS_TABLE_SECTION
#endif

/* What qualifies the type of a table. On an AVR it lies in program memory, which pointers to data
   do not reach: avr-gcc reads the first 64 KB of it as __flash (its manual, named address spaces).
   All tables must lie there: beyond it other bytes are read, which the self-test tells. Volatile,
   because avr-gcc 5.4 leaves out loads of program memory that it would pass on to a routine of its
   library, such as that of a comparison (seen with __memx). */
#ifndef IRIS_TABLE
#ifdef __AVR__
#define IRIS_TABLE volatile __flash
#else
#define IRIS_TABLE
#endif
#endif

/* Offset of each feature, in its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_scale_0_offset_high[2U] = {
    0x1.4p+4f, 0x1.faap+9f
};

/* Factor of each feature, per its own unit. Index: [feature], 2. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_scale_0_factor[2U] = {
    0x1.99999ap-4f, 0x1.47ae14p-7f
};

/* Upper bits of the kinds of the boxes, the lowest bit first. Index: [word], 1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE uint32_t iris_map_outer[1U] = {
    23207UL
};

/* Lower bits of the same. Index: [word], 1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE uint32_t iris_map_inner[1U] = {
    64168UL
};

/* Number of halved boxes before. Index: [pair of words], 1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE uint16_t iris_map_ranks[1U] = {
    0U
};

/* Vectors z of the sequence, in prepared features. Index: [block][feature][lane], 2x2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_vectors[4U] = {
    -0x1p+0f, 0x1p-1f, -0x1p-1f, -0x1p+0f
};

/* Triangle A that makes q of kernels. Index: [block][earlier vector][lane]. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_triangle[3U] = {
    0x1p+0f, -0x1.3237cap-2f, 0x1.0b339p+0f
};

/* Weights w of q in the decisions. Index: [block][decision][lane], 2x1x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_weights[2U] = {
    -0x1.75654p-1f, -0x1.562a5ep-2f
};

/* Error of q per kernel error and per |phi(x)|. Index: [block][2][lane], 2x2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_row_error[4U] = {
    0x1.000046p+0f, 0x1.800066p-23f, 0x1.57c1ep+0f, 0x1.57c1ep-22f
};

/* Norm |W - W^| of what a block leaves of the normal. Index: [block][decision], 2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_residual[2U] = {
    0x1.468p+0f, 0x1.3b1p+0f
};

/* Error of the decisions per kernel error. Index: [block][decision], 2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_per_error[2U] = {
    0x1.758p-1f, 0x1.f4ep-1f
};

/* Error of the decisions per |phi(x)|. Index: [block][decision], 2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_per_reach[2U] = {
    0x1p-12f, 0x1p-12f
};

/* Intercepts b_p of the decisions. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_intercept[1U] = {
    0x1p-3f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_sequence_minimum[1U] = {
    0x1p-12f
};

/* Support vectors s_i, in prepared features. Index: [block][feature][lane], 3x2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_vectors[6U] = {
    -0x1p+0f, 0x1p-1f, -0x1p-1f, -0x1p+0f, 0x1p+0f, 0x1p-2f
};

/* Dual coefficients beta_pi, 0 where a block is filled up. Index: [block][row][lane], 3x1x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_coefficients[3U] = {
    -0x1.8p-1f, -0x1p-1f, 0x1.4p+0f
};

/* Number of the block after the last one of a group. Index: [group], 2. */
IRIS_TABLE_SECTION
static const IRIS_TABLE uint16_t iris_group_ends[2U] = {
    2U, 3U
};

/* Number p of the decision that a row adds to. Index: [group][row], 2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE uint16_t iris_group_decisions[2U] = {
    0U, 0U
};

/* Intercepts b_p of the decisions. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_intercept[1U] = {
    0x1p-3f
};

/* Part of the decisions' bound that no input changes. Index: [decision], 1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_minimum_bound[1U] = {
    0x1.7ce2c4p-121f
};

/* Inputs of the self-test, as they are received. Index: [answer][feature], 2x2. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_known_inputs[4U] = {
    0x1.4p+3f, 0x1.09dp+10f, 0x1.ep+4f, 0x1.039p+10f
};

/* Labels of these inputs. Index: [answer], 2. */
IRIS_TABLE_SECTION
static const IRIS_TABLE uint16_t iris_known_labels[2U] = {
    0U, 1U
};

/* Least decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_known_lower[2U] = {
    -0x1.35659p-1f, 0x1.33c9fp+0f
};

/* Largest decisions that the self-test accepts. Index: [answer][decision], 2x1. */
IRIS_TABLE_SECTION
static const IRIS_TABLE float iris_known_upper[2U] = {
    -0x1.3564ecp-1f, 0x1.33ca54p+0f
};

/* Checksum (CRC-32C) of each table, in the order of the self-test. Index: [table], 24. */
IRIS_TABLE_SECTION
static const IRIS_TABLE uint32_t iris_checksums[24U] = {
    1423413175UL, 2459864056UL, 337362722UL, 2436687961UL, 1214729159UL, 3034469482UL,
    3455408505UL, 411094551UL, 1723788220UL, 2079851352UL, 962830393UL, 1246682465UL, 3573333329UL,
    4227146563UL, 1270766736UL, 764011947UL, 2087895549UL, 2351477386UL, 3573333329UL,
    3750020334UL, 1293661227UL, 1366104114UL, 2925434024UL, 3895690242UL
};

/* iris_magnitude: as in linear-host */
/* iris_square_root: as in linear-host */
/* iris_sum_of_squares: as in linear-host */
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
    state.max_kernel_evals = UINT32_MAX;
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
    const float z_error = 0x1.398eaap-21f;  /* of z, relative */
    const float vector_error = 0x1.1e37c4p-50f;  /* >= |s - stored s| */
    const float value_error = 0x1.e00084p-22f;  /* of exp and the sum, relative */
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
/* iris_kernel_term: as in cascade-cortex-m7 */
/* iris_kernel_value: as in cascade-cortex-m7 */
/* iris_kernel_values: as in pairs-cortex-m7 */

/*
 * total[lane] = sum over the features of the term, for the vectors of one block, each in
 * the order of the features.
 * Input: block = the first word of the block's vectors, [feature][lane].
 */
static void iris_block_totals(
    const IRIS_TABLE float block[IRIS_BLOCK_WORDS],
    const float x[IRIS_N_PREPARED],
    float total[IRIS_LANES])
{
    float total_0 = 0.0f;
    uint32_t j;

    for (j = 0U; j < 2U; j += 1U) {
        const IRIS_TABLE float *const s = &block[j * IRIS_LANES];
        const float x_0 = x[j];

        total_0 += iris_kernel_term(x_0, s[0U]);
    }
    total[0U] = total_0;
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
        const IRIS_TABLE float *const coef = &iris_coefficients[index];
        float sum = coef[0] * value[0];
        float sum_error = coef[0] * error[0];

        workspace->row_sum[row] += sum;
        workspace->row_error[row] += sum_error;
    }
}
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
    const float final_factor = 0x1.00005cp+0f;  /* roundings in the sum of errors */
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
        const IRIS_TABLE float *const vectors = &iris_vectors[first];

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
 * The middle of a proved interval as its decision, and a bound. The middle rounds by at most 2^-24
 * of the larger end; 2^-22 on top of the half-width makes up for all that rounds here, 2^-122 for
 * what is flushed to 0.
 */
static void iris_take_middle(
    iris_workspace_t *const workspace,
    const uint32_t p)
{
    const float relative = 0x1p-22f;  /* four times what is rounded here */
    const float tiny = 0x1p-100f;  /* times relative: more than what is flushed to 0 */
    const float least = workspace->least[p] * 0.5f;
    const float most = workspace->most[p] * 0.5f;
    const float middle = least + most;
    const float half = most - least;
    const float largest = half + iris_magnitude(middle);

    workspace->decision[p] = middle;
    workspace->bound[p] = half + ((largest + tiny) * relative);
}

/* Sets the intervals before the first certified exit to what holds of every accepted input. */
static void iris_prove_nothing(iris_workspace_t *const workspace)
{
    const float largest = 0x1p+126f;  /* no decision of an accepted input exceeds 2^120 */
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->least[p] = -largest;
        workspace->most[p] = largest;
        iris_take_middle(workspace, p);
    }
}

/*
 * Takes in that decision p is proved to lie between low and high.
 * A bound that is no number, which only a damaged table can give, proves nothing.
 */
static void iris_narrow(
    iris_workspace_t *const workspace,
    const uint32_t p,
    const float low,
    const float high)
{
    if (low > workspace->least[p]) {
        workspace->least[p] = low;
    }
    if (high < workspace->most[p]) {
        workspace->most[p] = high;
    }
    iris_take_middle(workspace, p);
}

/*
 * The label that the proved intervals give.
 * Result: whether the label is the same everywhere in the intervals; then *result has it.
 */
static bool iris_proved(
    iris_workspace_t *const workspace,
    iris_result_t *const result)
{
    (void)iris_sign(workspace, result);
    /* The interval itself: an end that is tiny beside the other one keeps its sign. */
    result->lower = workspace->least[0];
    result->upper = workspace->most[0];
    result->certified = (result->lower > 0.0f) || (result->upper < 0.0f);
    if (result->certified) {
        result->label = 0;
        if (result->lower > 0.0f) {
            result->label = 1;
        }
    }
    return result->certified;
}

/*
 * At least sqrt(v), and little more: s, of halved bits, is within 5 % of it, and for any s > 0
 * the mean of s and v / s is at least sqrt(v). Two such steps; the factor makes up for rounding.
 * Input: v from 0 to 0x1p+126. A leaf function.
 */
static float iris_root_bound(const float v)
{
    const float least = 0x1p-100f;  /* so that v is not 0 below */
    const float up = 0x1.000008p+0f;  /* makes up for rounding */
    const uint32_t half_bias = 0x1FBD1DF5UL;  /* of the halved exponent */
    const float padded = v + least;
    iris_bits_t s;
    float root;

    s.value = padded;
    s.bits = (s.bits >> 1U) + half_bias;
    root = (s.value + (padded / s.value)) * 0.5f;
    root = (root + (padded / root)) * 0.5f;
    return root * up;
}

/*
 * The place of an input in the boxes of the map's last level. The scales are powers of two, so only
 * the differences round, for which the proof leaves room.
 * Result: whether x lies in the map; otherwise the places are not written.
 */
static bool iris_map_places(
    const float x[IRIS_N_FEATURES],
    uint32_t place[IRIS_N_FEATURES])
{
    const float from_0 = x[0U] - (0x1p+2f);
    const float from_1 = x[1U] - (0x1.ba8p+9f);
    bool inside;

    inside = (from_0 >= 0.0f) && (from_0 < 0x1p+5f);
    inside = inside && (from_1 >= 0.0f) && (from_1 < 0x1p+8f);
    if (inside) {
        place[0U] = (uint32_t)(from_0 * 0x1p-3f);
        place[1U] = (uint32_t)(from_1 * 0x1p-6f);
    }
    return inside;
}

/* The kind of a box; MAP_OPEN for a number that none has. */
static uint32_t iris_map_kind(const uint32_t node)
{
    uint32_t kind = IRIS_MAP_OPEN;

    if (node < IRIS_MAP_NODES) {
        const uint32_t word = node / 32U;
        const uint32_t bit = node % 32U;
        const uint32_t outer = (iris_map_outer[word] >> bit) & 1U;
        const uint32_t inner = (iris_map_inner[word] >> bit) & 1U;

        kind = (outer << 1U) | inner;
    }
    return kind;
}

/* How many of the boxes of a word that `chosen` marks are halved. */
static uint32_t iris_map_halved(const uint32_t word, const uint32_t chosen)
{
    const uint32_t each_byte = 0x01010101UL;
    const uint32_t bits =
        iris_map_outer[word] & ~iris_map_inner[word] & chosen;
    const uint32_t twos = bits - ((bits >> 1U) & 0x55555555UL);
    const uint32_t fours = (twos & 0x33333333UL) + ((twos >> 2U) & 0x33333333UL);
    const uint32_t eights = (fours + (fours >> 4U)) & 0x0F0F0F0FUL;

    /* The product's top byte is the sum of the four; the others' carries do not reach it. */
    return (eights * each_byte) >> 24U;
}

/* How many halved boxes stand before a box of the map. Input: node < MAP_NODES. */
static uint32_t iris_map_rank(const uint32_t node)
{
    const uint32_t word = node / 32U;
    const uint32_t one = 1U;
    const uint32_t before = (one << (node % 32U)) - 1U;
    uint32_t rank = iris_map_ranks[word / 2U];

    if ((word % 2U) != 0U) {
        rank += iris_map_halved(word - 1U, 0xFFFFFFFFUL);
    }
    return rank + iris_map_halved(word, before);
}

/*
 * The kind of the smallest box of the map that holds x; MAP_OPEN outside of the map.
 * A damaged table can name another box, never one outside the map.
 */
static uint32_t iris_map_lookup(const float x[IRIS_N_FEATURES])
{
    uint32_t place[IRIS_N_FEATURES];
    uint32_t kind = IRIS_MAP_OPEN;

    if (iris_map_places(x, place)) {
        uint32_t node = place[0] >> IRIS_MAP_DEPTH;
        uint32_t level = IRIS_MAP_DEPTH;

        node = (node * 2U) + (place[1U] >> IRIS_MAP_DEPTH);
        kind = iris_map_kind(node);
        /* Loop bound: IRIS_MAP_DEPTH. */
        while ((kind == IRIS_MAP_HALVED) && (level > 0U)) {
            uint32_t part;

            --level;
            part = (place[0] >> level) & 1U;
            part |= ((place[1U] >> level) & 1U) << 1U;
            node = iris_map_rank(node) << 2U;
            node += IRIS_MAP_ROOTS + part;
            kind = iris_map_kind(node);
        }
    }
    return kind;
}

/*
 * Looks x up in the map. In a box with a sign, |f| has proved limits, too.
 * Result: whether the label is proved; then *result has it.
 */
static bool iris_sign_map(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    const float least = 0x1p-3f;  /* <= |f| in a box with a sign */
    const float largest = 0x1p+1f;  /* >= |f| there */
    const uint32_t kind = iris_map_lookup(input->raw);
    bool decided = false;

    if (kind == IRIS_MAP_POSITIVE) {
        iris_narrow(workspace, 0U, least, largest);
        decided = iris_proved(workspace, result);
    }
    if (kind == IRIS_MAP_NEGATIVE) {
        iris_narrow(workspace, 0U, -largest, -least);
        decided = iris_proved(workspace, result);
    }
    return decided;
}

/* How far an input reaches in feature space, and what is known of it there. */
typedef struct {
    float square;  /* >= K(x, x) */
    float root;    /* >= its square root */
    float error;   /* >= the error of every kernel value */
    float held;    /* of |phi(x)|^2, by the vectors so far */
} iris_reach_t;

/*
 * K(x, x) = 1, and the error of every kernel value of x: relative to exp(-z) it is a constant and
 * a part that grows with z, and z exp(-z) <= 1 / e; more than 1 no value can be off.
 * Input: deviation >= |x - prepared x|.
 */
static iris_reach_t iris_reach(
    const iris_prepared_t *const input)
{
    const float per_square = 0x1.0d929ep+21f;  /* of z, per square of the deviation */
    const float shift_minimum = 0x1.000042p-123f;  /* underflows in z */
    const float widest = 0x1.aa31c8p-15f;  /* error of the largest z below the cutoff */
    const float value_error = 0x1.8000c6p-24f;  /* of exp, relative, and the cutoff */
    const float per_z = 0x1.cd682ep-23f;  /* of z, relative, divided by e */
    const float growth = ((per_square * input->deviation) * input->deviation) + shift_minimum;
    const float shift = (growth < 1.0f) ? growth : 1.0f;
    const float widen = (widest + shift) + 1.0f;
    const float error = value_error + (widen * (shift + per_z));
    iris_reach_t reach;

    reach.square = 1.0f;
    reach.root = iris_root_bound(reach.square);
    reach.held = 0.0f;
    reach.error = (error < 1.0f) ? error : 1.0f;
    return reach;
}

/*
 * q[lane] = sum over the kernels so far of A * kernel, for the rows of one block.
 * Input: kernels up to the block's.
 */
static void iris_sequence_products(
    const iris_workspace_t *const workspace,
    const uint32_t block,
    float q[IRIS_LANES])
{
    const uint32_t n_known = (block + 1U) * IRIS_LANES;
    const uint32_t first = ((IRIS_LANES * block) * n_known) / 2U;
    const IRIS_TABLE float *const rows = &iris_sequence_triangle[first];
    uint32_t known;
    float q_0 = 0.0f;

    /* Loop bound: IRIS_SEQUENCE_BLOCKS * IRIS_LANES. */
    for (known = 0U; known < n_known; ++known) {
        const IRIS_TABLE float *const row = &rows[known * IRIS_LANES];
        const float value = workspace->sequence_kernels[known];

        q_0 += value * row[0U];
    }
    q[0U] = q_0;
}

/*
 * Adds a block's q to the estimates, and returns what of |q|^2 no rounding can have made.
 * Input: reach and its root of this x.
 */
static float iris_sequence_add(
    iris_workspace_t *const workspace,
    const uint32_t block,
    const iris_reach_t *const reach,
    const float q[IRIS_LANES])
{
    const uint32_t first = (block * 2U) * IRIS_LANES;
    const IRIS_TABLE float *const per_error = &iris_sequence_row_error[first];
    const IRIS_TABLE float *const per_reach = &per_error[IRIS_LANES];
    float square = reach->held;
    uint32_t lane;
    uint32_t p;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        const float deviation = (per_error[lane] * reach->error)
            + (per_reach[lane] * reach->root);
        const float beyond = iris_magnitude(q[lane]) - deviation;
        const float sure = (beyond > 0.0f) ? beyond : 0.0f;

        square += sure * sure;
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const uint32_t row = (block * IRIS_N_DECISIONS) + p;
        const IRIS_TABLE float *const weight =
            &iris_sequence_weights[row * IRIS_LANES];
        float sum = workspace->sequence_estimate[p];

        sum += q[0U] * weight[0U];
        workspace->sequence_estimate[p] = sum;
    }
    return square;
}

/*
 * Narrows every decision's interval: by Cauchy-Schwarz what the kernels so far leave open is at
 * most the norm of what they leave of the normal times that of what they leave of phi(x).
 */
static void iris_sequence_narrow(
    iris_workspace_t *const workspace,
    const uint32_t block,
    const iris_reach_t *const reach)
{
    const float shrink = 0x1.ffffe6p-1f;  /* what is certain of |q|^2, per unit of it */
    const float slack = 0x1.000042p-21f;  /* roundings here, per unit of K(x, x) */
    const float result_error = 0x1.000042p-22f;  /* relative, of the last additions */
    const float rest = (reach->square - (shrink * reach->held))
        + (slack * reach->square);
    const float across = iris_root_bound((rest > 0.0f) ? rest : 0.0f);
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const uint32_t index = (block * IRIS_N_DECISIONS) + p;
        const float f = workspace->sequence_estimate[p]
            + iris_sequence_intercept[p];
        const float open = ((iris_sequence_residual[index] * across)
            + (iris_sequence_per_error[index] * reach->error))
            + (iris_sequence_per_reach[index] * reach->root);
        const float radius = (open + iris_sequence_minimum[p])
            + (iris_magnitude(f) * result_error);

        iris_narrow(workspace, p, f - radius, f + radius);
    }
}

/*
 * Bounds the decisions by the kernels of a few vectors, tested after each block of them.
 * Input: x prepared; kernel_evals so far.
 * Result: whether the intervals give the label; then *result has it. kernel_evals is written.
 */
static bool iris_bound_sequence(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    const float largest = 0x1p+60f;  /* more would overflow below, and bound nothing */
    iris_reach_t reach = iris_reach(input);
    const bool usable = (reach.square <= largest) && (reach.error <= largest);
    bool decided = false;
    uint32_t i;

    for (i = 0U; i < IRIS_N_DECISIONS; ++i) {
        workspace->sequence_estimate[i] = 0.0f;
    }
    if (usable) {
        float total[IRIS_LANES];
        uint32_t block = 0U;

        /* Loop bound: IRIS_SEQUENCE_BLOCKS. */
        while ((block < IRIS_SEQUENCE_BLOCKS) && !decided
            && ((input->max_kernel_evals - result->kernel_evals)
                >= IRIS_LANES)) {
            const uint32_t first = block * IRIS_LANES;
            const uint32_t word = block * IRIS_BLOCK_WORDS;

            iris_block_totals(
                &iris_sequence_vectors[word], input->x, total);
            for (i = 0U; i < IRIS_LANES; ++i) {
                const float value = iris_kernel_value(total[i]);

                workspace->sequence_kernels[first + i] = value;
            }
            iris_sequence_products(workspace, block, total);
            reach.held = iris_sequence_add(workspace, block, &reach, total);
            iris_sequence_narrow(workspace, block, &reach);
            result->kernel_evals += IRIS_LANES;
            decided = iris_proved(workspace, result);
            ++block;
        }
    }
    return decided;
}

/*
 * Asks the early exits in turn, until one decides. Input: x prepared.
 * Result: whether one has decided; then *result is written in full, otherwise kernel_evals and
 * in_range are.
 */
static bool iris_early_exits(
    iris_workspace_t *const workspace,
    iris_prepared_t *const input,
    iris_result_t *const result)
{
    bool decided;

    result->kernel_evals = 0U;
    iris_prove_nothing(workspace);
    result->in_range = true;
    decided = iris_sign_map(workspace, input, result);
    result->stage = IRIS_STAGE_SIGN_MAP;
    if (!decided) {
        decided = iris_bound_sequence(workspace, input, result);
        result->stage = IRIS_STAGE_BOUND_SEQUENCE;
    }
    return decided;
}
/* iris_accept: as in replay-cortex-m7 */

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

    if (iris_exact_sum(workspace, input)) {
        result->certified = iris_sign(workspace, result);
        result->kernel_evals += IRIS_SUM_EVALS;
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
        status = iris_sum(workspace, input, result);
    }
    return status;
}

/*
 * The answer of the first stage that decides, with input->max_kernel_evals
 * full kernel evaluations at most: where the sums would exceed them, the answer is what is
 * proved by then. Input: x prepared. Status as of the exact sums.
 */
static iris_status_t iris_answer_within(
    iris_workspace_t *const workspace,
    iris_prepared_t *const input,
    iris_result_t *const result)
{
    const bool decided = iris_early_exits(workspace, input, result);
    iris_status_t status = IRIS_OK;

    if (!decided) {
        const uint32_t left = input->max_kernel_evals - result->kernel_evals;

        if (left >= IRIS_SUM_EVALS) {
            status = iris_sum(workspace, input, result);
        } else {
            (void)iris_proved(workspace, result);
        }
    }
    return status;
}
/* iris_classify: as in cascade-cortex-m7 */

/* The contract is in the header. */
iris_status_t iris_classify_within(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    uint32_t max_kernel_evals,
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
        input.max_kernel_evals = max_kernel_evals;
        status = iris_answer_within(workspace, &input, &answer);
        if (status == IRIS_OK) {
            *result = answer;
        }
    }
    return status;
}
/* iris_decision: as in replay-cortex-m7 */
/* iris_checksum_word: as in linear-host */

/* An element's bits. Volatile: memory is read, not replaced by what the compiler knows of it. */
static uint32_t iris_float_at(const volatile IRIS_TABLE float *const element)
{
    iris_bits_t word;

    word.value = *element;
    return word.bits;
}

/* An integer. */
static uint32_t iris_integer_at(const volatile IRIS_TABLE uint16_t *const element)
{
    return *element;
}

/* A word. */
static uint32_t iris_word_at(const volatile IRIS_TABLE uint32_t *const element)
{
    return *element;
}

/* The types of tables. */
typedef enum {
    IRIS_TYPE_FLOAT,
    IRIS_TYPE_UINT16,
    IRIS_TYPE_UINT32
} iris_type_t;

/* The elements of a table under the name of their type. */
typedef union {
    const volatile IRIS_TABLE float *as_float;
    const volatile IRIS_TABLE uint16_t *as_uint16;
    const volatile IRIS_TABLE uint32_t *as_uint32;
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
static const IRIS_TABLE iris_table_t iris_tables[24U] = {
    { { .as_float = iris_scale_0_offset_high }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_scale_0_factor }, IRIS_TYPE_FLOAT, 2U },
    { { .as_uint32 = iris_map_outer }, IRIS_TYPE_UINT32, 1U },
    { { .as_uint32 = iris_map_inner }, IRIS_TYPE_UINT32, 1U },
    { { .as_uint16 = iris_map_ranks }, IRIS_TYPE_UINT16, 1U },
    { { .as_float = iris_sequence_vectors }, IRIS_TYPE_FLOAT, 4U },
    { { .as_float = iris_sequence_triangle }, IRIS_TYPE_FLOAT, 3U },
    { { .as_float = iris_sequence_weights }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_sequence_row_error }, IRIS_TYPE_FLOAT, 4U },
    { { .as_float = iris_sequence_residual }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_sequence_per_error }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_sequence_per_reach }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_sequence_intercept }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_sequence_minimum }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_vectors }, IRIS_TYPE_FLOAT, 6U },
    { { .as_float = iris_coefficients }, IRIS_TYPE_FLOAT, 3U },
    { { .as_uint16 = iris_group_ends }, IRIS_TYPE_UINT16, 2U },
    { { .as_uint16 = iris_group_decisions }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_intercept }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_minimum_bound }, IRIS_TYPE_FLOAT, 1U },
    { { .as_float = iris_known_inputs }, IRIS_TYPE_FLOAT, 4U },
    { { .as_uint16 = iris_known_labels }, IRIS_TYPE_UINT16, 2U },
    { { .as_float = iris_known_lower }, IRIS_TYPE_FLOAT, 2U },
    { { .as_float = iris_known_upper }, IRIS_TYPE_FLOAT, 2U }
};

/* Word i of a table. Input: i < its n_words. */
static uint32_t iris_table_word(
    const IRIS_TABLE iris_table_t *const table,
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

/* One step over a table: at most STEP_WORDS words, and the comparison after the last. */
static iris_status_t iris_test_table(
    iris_self_test_t *const state)
{
    const uint32_t all_ones = 0xFFFFFFFFUL;
    const IRIS_TABLE iris_table_t *const table = &iris_tables[state->part];
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
        const volatile IRIS_TABLE uint32_t *const expected = &iris_checksums[state->part];
        const uint32_t found = state->checksum ^ all_ones;

        if (found != *expected) {
            status = IRIS_ERROR_CORRUPT;
        }
        state->position = 0U;
        ++state->part;
    }
    return status;
}
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
    iris_input_t x[IRIS_N_FEATURES];
    uint32_t j;

    /* An input is taken from data memory. */
    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        x[j] = iris_known_inputs[first + j];
    }

    status = iris_accept(&state->workspace, x, &input);
    if (status == IRIS_OK) {
        result.kernel_evals = 0U;
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

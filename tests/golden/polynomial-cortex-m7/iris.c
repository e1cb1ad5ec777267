/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.1.0, target cortex-m7, float32, mode exact.
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

/* |v|, of any v: clears the sign bit. */
static float iris_magnitude(const float v)
{
    iris_bits_t number;

    number.value = v;
    number.bits &= 0x7FFFFFFFUL;
    return number.value;
}

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

    if (iris_any_excess(x, 0x52800000UL) != 0U) {
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

/* The class with most votes; of equal ones the first. */
static uint32_t iris_winner(
    const iris_workspace_t *const workspace)
{
    uint32_t winner = 0U;
    uint32_t c;

    for (c = 1U; c < IRIS_N_CLASSES; ++c) {
        if (workspace->votes[c] > workspace->votes[winner]) {
            winner = c;
        }
    }
    return winner;
}

/* Whether the winner beats a rival under every outcome of the pairs that are not sure. */
static bool iris_beats(
    const iris_workspace_t *const workspace,
    const uint32_t winner,
    const uint32_t rival)
{
    const uint32_t own = workspace->sure[winner];
    const uint32_t other = workspace->possible[rival];

    return (own > other) || ((own == other) && (winner < rival));
}

/* Whether a class beats every other one under every outcome of the pairs that are not sure. */
static bool iris_is_settled(
    const iris_workspace_t *const workspace,
    const uint32_t leader)
{
    bool settled = true;
    uint32_t c;

    for (c = 0U; c < IRIS_N_CLASSES; ++c) {
        if ((c != leader) && !iris_beats(workspace, leader, c)) {
            settled = false;
        }
    }
    return settled;
}

/* The number of the pair of two classes. Input: they are different. */
static uint32_t iris_pair_of(
    const uint32_t a,
    const uint32_t b)
{
    const uint32_t i = (a < b) ? a : b;
    const uint32_t j = (a < b) ? b : a;

    return (((i * (((2U * IRIS_N_CLASSES) - i) - 1U)) / 2U) + (j - i)) - 1U;
}

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
    iris_polynomial_sum(workspace, input);
    result->certified = iris_vote(workspace, result);
    result->kernel_evals = IRIS_SUM_EVALS;
    result->stage = IRIS_STAGE_POLYNOMIAL_SUM;
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

        iris_polynomial_sum(workspace, &input);
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

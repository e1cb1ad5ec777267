/* kmcompile iris.pkl --target cortex-m7 */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target cortex-m7, float32, mode statistical.
 * Model: a model of the tests.
 * SHA-256 of the model: b6084aba3d5daece10f5b2b7429c6990517e8e257083a9a0a7e7cead7a029f14.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * All functions are reentrant: no mutable globals, no heap, no recursion. Every loop ends after a
 * number of turns that is fixed here, whatever the input or a damaged table holds. The arguments
 * of one call must not overlap.
 *
 * Constants: 492 bytes of tables and 168 bytes of their checksums. RAM: a workspace of 172 bytes,
 * which is the caller's. The longest path of any input has 589 operations, which are counted as
 * multiply-adds, and 3 full kernel evaluations. Stack, flash and worst-case instructions depend on
 * the compiler: report.json and report.html, which are written beside this file, have them for the
 * image that was built.
 *
 * The tables are static constants. IRIS_TABLE_SECTION, defined where iris.c is compiled, places
 * them: an attribute such as __attribute__((section(".tcm"))).
 *
 * The last sum bounds the error of its decision p, against the trained model in real arithmetic,
 * by 1.00001 sum_i |beta_pi| e_i + minimum_bound_p + 2.38420e-7 |decision_p|, e_i being the bound
 * of the error of the kernel K(s_i, x), which grows with d, and d >= the distance of the prepared
 * input from the exactly prepared one. The names are those of tables in iris.c.
 *
 * Not covered: bit flips in code, names, registers and stack; the self-test covers the tables.
 * Not here: iris_classify_within, because no early exit of this program proves bounds;
 * iris_decision_float, because the input is float already.
 *
 * Most inputs are answered by an early exit, whose thresholds were calibrated on samples: a label
 * may differ from the trained model's, rarely.
 * iris_audit estimates how often.
 */
#ifndef IRIS_H
#define IRIS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IRIS_N_FEATURES 2U
#define IRIS_N_CLASSES 2U
#define IRIS_N_DECISIONS 1U  /* >= 0 for class 1 */
#define IRIS_N_STAGES 5U
#define IRIS_STAGE_LINEAR_FILTER 0U
#define IRIS_STAGE_REDUCED_SET_1 1U
#define IRIS_STAGE_REDUCED_SET_2 2U
#define IRIS_STAGE_NEAREST_VECTORS 3U
#define IRIS_STAGE_EXACT_SUM 4U
#define IRIS_INPUT_LIMIT 2.8823037615171174e+17f
#define IRIS_WORKSPACE_BYTES (sizeof(iris_workspace_t))

typedef float iris_input_t;

typedef enum {
    IRIS_OK = 0,
    IRIS_ERROR_NULL,        /* a pointer is NULL */
    IRIS_ERROR_NOT_FINITE,  /* a feature is NaN or infinite */
    IRIS_ERROR_RANGE,       /* the input exceeds a limit: see classify */
    IRIS_ERROR_CORRUPT      /* a table or an answer is not what it was */
} iris_status_t;

/*
 * lower and upper bound the decision: in real arithmetic the trained model's lies between them,
 * for x as it was received and whatever is rounded here. The comment at IRIS_N_DECISIONS says what
 * its sign means.
 * certified: the label is the same for all decisions that are possible within such bounds. It is
 * false where x lies so near a boundary that float does not tell.
 *
 * Where a calibrated early exit decided, they are the band around its estimate: not proved, of use
 * for the label only, and certified is false. Far from 0 the decision may lie outside the band.
 */
typedef struct {
    int32_t label;          /* index into iris_class_names */
    float lower;
    float upper;
    uint32_t kernel_evals;  /* full kernel evaluations spent: at most 3 */
    uint16_t stage;         /* which decided: one of IRIS_STAGE_ */
    bool certified;         /* the label is proved to be the model's */
    bool in_range;          /* false: x is unlike the samples of the calibration, as far as it was
                               looked at; then the exact sums have answered */
} iris_result_t;

/* The caller's memory for one call; its contents need not be kept or cleared between calls. */
typedef struct {
    float prepared_0[2U];    /* the prepared input */
    float decision[1U];      /* decision values */
    float bound[1U];         /* >= their errors */
    float row_sum[1U];       /* sums of one group of vectors */
    float row_error[1U];     /* and of their errors */
    uint32_t nonzeros[2U];   /* features that are not 0 */
    float projected[3U];     /* inner products with the input */
    float estimate[2U];      /* of a reduced set: decisions, spread */
    float earlier[2U];       /* the estimates, for the stages behind it */
    float running[1U];       /* decisions as far as they are summed */
    float kernel_total[8U];  /* in the projection; score; exact */
    float approximate[8U];   /* kernels in the projection */
    uint32_t heap[8U];       /* slots by score */
    uint32_t touched[2U];    /* a bit a lane: exact total is known */
    uint32_t n_touched;      /* such bits */
} iris_workspace_t;

/* What iris_audit is to do and has found. */
typedef struct {
    uint32_t period;       /* one input in `period` is checked in the mean; 0: none */
    uint32_t state;        /* of the random numbers: any value to begin with */
    uint32_t queries;      /* inputs that were answered; the counters stay at their largest value */
    uint32_t checked;      /* those of them that the exact sums were computed for */
    uint32_t differences;  /* those of the checked ones whose label was another */
    uint32_t unlike_period;       /* how seldom others are checked by dissimilarity; 0: none */
    uint32_t unlike_checked;      /* inputs that were checked by it, which `checked` leaves out */
    uint32_t unlike_differences;  /* those of them whose label was another */
} iris_audit_t;

/* The state of a self-test in steps; all zero before the first step. */
typedef struct {
    iris_workspace_t workspace;
    uint32_t part;      /* table or known answer that is being tested */
    uint32_t position;  /* words of the table that have been read */
    uint32_t checksum;
    iris_status_t status;  /* a failure stays */
    bool done;          /* passed, or failed */
} iris_self_test_t;

/*
 * Classifies one input.
 * Input: x of 2 features as the model was trained with, before any preprocessing; each
 * finite and |x_j| <= IRIS_INPUT_LIMIT. Nothing is clipped.
 * x must not change during the call, and the rounding mode must be to nearest.
 * Result: IRIS_OK with *result written in full, or
 * IRIS_ERROR_NULL, _NOT_FINITE, _RANGE or _CORRUPT with *result untouched.
 */
iris_status_t iris_classify(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_result_t *result);

/* iris_classify_float: as in linear-host */

/*
 * Gives the exact sums of one input, by which the trained model decides: no early exit is asked.
 * Input and status as of iris_classify; decision is untouched unless
 * IRIS_OK is returned.
 */
iris_status_t iris_decision(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    float decision[IRIS_N_DECISIONS]);

/*
 * Classifies one input as iris_classify does and, for a random share of the inputs,
 * computes the exact sums, too, counts whether the label is another, and answers with the exact
 * sums' result. *audit is the caller's, with all counters 0 at first.
 * Input and status as of iris_classify.
 *
 * differences / checked estimates the probability of another label. With confidence 1 - a that
 * probability is at most the Clopper-Pearson limit, the (1 - a) quantile of the distribution
 * Beta(differences + 1, checked - differences): with no difference about 4.6 / checked at 99 %.
 *
 * With unlike_period > 0, inputs that the period leaves out and a calibrated exit answered are
 * checked, too: the more an input is unlike the samples of the calibration, the likelier. It is
 * drawn with probability w / unlike_period (or 1), 1 / w being about the share of the samples
 * whose |x|^2 lies as far out; w is from 1 to 4. Of inputs like the samples, about 2 in
 * unlike_period are drawn. These are counted apart: they tell whether the exits suit what is
 * unusual, and are no estimate of how often labels differ.
 */
iris_status_t iris_audit(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_result_t *result,
    iris_audit_t *audit);

/*
 * Compares the checksum (CRC-32C) of every table, then asks known inputs and compares the labels
 * and, by their intervals, the decisions: these also hold for a compiler that contracts.
 * Known inputs are asked of the exact sums; the early exits are covered by the checksums of their
 * tables.
 * Result: IRIS_OK or IRIS_ERROR_CORRUPT.
 * Keeps one iris_self_test_t on the stack.
 */
iris_status_t iris_self_test(void);

/*
 * The self-test in steps, for systems with a watchdog: each reads at most 256 words of a
 * table or asks one known input. Call until state->done, at most 45 times, or until another
 * status than IRIS_OK: IRIS_ERROR_NULL or _CORRUPT.
 */
iris_status_t iris_self_test_step(
    iris_self_test_t *state);

/* Text of the classes (UTF-8) and of the stages, for people. */
extern const char *const iris_class_names[IRIS_N_CLASSES];
extern const char *const iris_stage_names[IRIS_N_STAGES];

#ifdef __cplusplus
}
#endif

#endif

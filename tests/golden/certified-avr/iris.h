/* kmcompile iris.pkl --target avr */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target avr, float32, mode certified.
 * Model: a model of the tests.
 * SHA-256 of the model: b6084aba3d5daece10f5b2b7429c6990517e8e257083a9a0a7e7cead7a029f14.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * All functions are reentrant: no mutable globals, no heap, no recursion. Every loop ends after a
 * number of turns that is fixed here, whatever the input or a damaged table holds. The arguments
 * of one call must not overlap.
 *
 * Constants: 198 bytes of tables and 96 bytes of their checksums. RAM: a workspace of 44 bytes,
 * which is the caller's. The longest path of any input has 319 operations, which are counted as
 * multiply-adds, and 5 full kernel evaluations. Stack, flash and worst-case instructions depend on
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
 * Not here: iris_audit, because every early exit is proved: there is no risk to estimate;
 * iris_decision_float, because the input is float already.
 *
 * A certified early exit answers only where it has proved the label: it is the trained model's in
 * real arithmetic, for x as it was received, whatever is rounded here, contraction and flushed
 * subnormals included. No sample takes part in the proof. It needs arithmetic as in IEEE 754,
 * which fast-math breaks, and memory that is intact.
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
#define IRIS_N_STAGES 3U
#define IRIS_STAGE_SIGN_MAP 0U
#define IRIS_STAGE_BOUND_SEQUENCE 1U
#define IRIS_STAGE_EXACT_SUM 2U
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
 */
typedef struct {
    int32_t label;          /* index into iris_class_names */
    float lower;
    float upper;
    uint32_t kernel_evals;  /* full kernel evaluations spent: at most 5 */
    uint16_t stage;         /* which decided: one of IRIS_STAGE_ */
    bool certified;         /* the label is proved to be the model's */
    bool in_range;          /* always true: this program was not calibrated */
} iris_result_t;

/* The caller's memory for one call; its contents need not be kept or cleared between calls. */
typedef struct {
    float prepared_0[2U];         /* the prepared input */
    float decision[1U];           /* decision values */
    float bound[1U];              /* >= their errors */
    float row_sum[1U];            /* sums of one group of vectors */
    float row_error[1U];          /* and of their errors */
    float least[1U];              /* what is proved of the decisions: from */
    float most[1U];               /* and to */
    float sequence_kernels[2U];   /* kernels of the bound sequence */
    float sequence_estimate[1U];  /* what they give of f */
} iris_workspace_t;

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
 * Classifies one input as iris_classify does, with max_kernel_evals
 * full kernel evaluations at most; other work is not limited. Where these do not go as far as
 * a stage that decides, lower and upper are what is proved by then, the label is that of the
 * middle of what is proved, certified is false and stage is the last certified exit.
 * Input and status as of iris_classify.
 */
iris_status_t iris_classify_within(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    uint32_t max_kernel_evals,
    iris_result_t *result);

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
 * table or asks one known input. Call until state->done, at most 27 times, or until another
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

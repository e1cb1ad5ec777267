/* kmcompile iris.pkl --target host */
/* SPDX-License-Identifier: LicenseRef-Owner */
/*
 * kmcompile 0.2.0, target host, float32, mode exact.
 * Model: a model of the tests.
 * SHA-256 of the model: 38614765dd624cc771233f349a20a233ff72c9cf6e68727b81d7231f80004932.
 * LicenseRef-Owner: whoever ran the command owns this file; kmcompile claims no copyright in it.
 *
 * All functions are reentrant: no mutable globals, no heap, no recursion. Every loop ends after a
 * number of turns that is fixed here, whatever the input or a damaged table holds. The arguments
 * of one call must not overlap.
 *
 * Constants: 148 bytes of tables and 36 bytes of their checksums. RAM: a workspace of 24 bytes,
 * which is the caller's. The longest path of any input has 39 operations, which are counted as
 * multiply-adds, and 3 inner products. Stack, flash and worst-case instructions depend on the
 * compiler: report.json and report.html, which are written beside this file, have them for the
 * image that was built.
 *
 * The tables are static constants. IRIS_TABLE_SECTION, defined where iris.c is compiled, places
 * them: an attribute such as __attribute__((section(".tcm"))).
 *
 * The last sum bounds the error of its decision p, against the trained model in real arithmetic,
 * by bound_per_length_p |x| + bound_per_deviation_p d + minimum_bound_p + 2.38420e-7 |decision_p|,
 * x being the prepared input, and d >= the distance of the prepared input from the exactly
 * prepared one. The names are those of tables in iris.c.
 *
 * Not covered: bit flips in code, names, registers and stack; the self-test covers the tables.
 * Not here: iris_classify_within and iris_audit, because this program has no early exit to limit
 * or to watch; iris_decision_float, because the input is float already.
 */
#ifndef IRIS_H
#define IRIS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IRIS_N_FEATURES 2U
#define IRIS_N_CLASSES 3U
#define IRIS_N_DECISIONS 3U  /* one a class */
#define IRIS_N_STAGES 1U
#define IRIS_STAGE_LINEAR_SUM 0U
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
 * lower and upper bound the winner's decision: in real arithmetic the trained model's lies between
 * them, for x as it was received and whatever is rounded here. The comment at IRIS_N_DECISIONS
 * says what its sign means.
 * certified: the label is the same for all decisions that are possible within such bounds. It is
 * false where x lies so near a boundary that float does not tell.
 */
typedef struct {
    int32_t label;          /* index into iris_class_names */
    float lower;
    float upper;
    uint32_t kernel_evals;  /* inner products spent: 3 for every input */
    uint16_t stage;         /* which decided: one of IRIS_STAGE_ */
    bool certified;         /* the label is proved to be the model's */
    bool in_range;          /* always true: this program was not calibrated */
} iris_result_t;

/* The caller's memory for one call; its contents need not be kept or cleared between calls. */
typedef struct {
    float decision[3U];  /* decision values */
    float bound[3U];     /* >= their errors */
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

/*
 * Does as iris_classify.
 * Firmware that calls it takes programs of every number format.
 */
static inline iris_status_t iris_classify_float(
    iris_workspace_t *workspace,
    const float x[IRIS_N_FEATURES],
    iris_result_t *result)
{
    return iris_classify(workspace, x, result);
}

/*
 * Gives the decision values of one input, by which iris_classify decides.
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
 * Result: IRIS_OK or IRIS_ERROR_CORRUPT.
 * Keeps one iris_self_test_t on the stack.
 */
iris_status_t iris_self_test(void);

/*
 * The self-test in steps, for systems with a watchdog: each reads at most 256 words of a
 * table or asks one known input. Call until state->done, at most 12 times, or until another
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

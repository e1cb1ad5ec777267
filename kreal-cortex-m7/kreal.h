/* kmcompile kreal.npz --target cortex-m7 --mode exact --max-flash 4000000 */
/*
 * kmcompile 0.1.0, target cortex-m7, float32, mode exact.
 * Model: scale -> clip to [0, 1] -> SVC, intersection kernel, 402 support vectors of 19 features.
 * SHA-256 of the model: 977134a61fd70870cd9fb9d2a8091b0d0e759257c6918aa0cdb47820fb2dddc1.
 *
 * All functions are reentrant: no mutable globals, no heap, no recursion. Every loop ends after a
 * number of turns that is fixed here, whatever the input or a damaged table holds. The arguments
 * of one call must not overlap. The worst-case stack is in report.json.
 *
 * Not covered: bit flips in code, names, registers and stack; the self-test covers the tables.
 * Not here: kreal_classify_within and kreal_audit, because this program has no early exit to limit
 * or to watch; kreal_classify_float, because the input is float already.
 */
#ifndef KREAL_H
#define KREAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KREAL_N_FEATURES 19U
#define KREAL_N_CLASSES 7U
#define KREAL_N_DECISIONS 21U  /* pairs (0, 1), (0, 2), ...: > 0 for the first */
#define KREAL_N_STAGES 1U
#define KREAL_INPUT_LIMIT 7.205759403792794e+16f
#define KREAL_WORKSPACE_BYTES (sizeof(kreal_workspace_t))

typedef float kreal_input_t;

typedef enum {
    KREAL_OK = 0,
    KREAL_ERROR_NULL,        /* a pointer is NULL */
    KREAL_ERROR_NOT_FINITE,  /* a feature is NaN or infinite */
    KREAL_ERROR_RANGE,       /* the input exceeds a limit: see classify */
    KREAL_ERROR_CORRUPT      /* a table or an answer is not what it was */
} kreal_status_t;

/*
 * lower and upper bound the decision of the closest pair that the winner won: in real arithmetic
 * the trained model's lies between them, for x as it was received and whatever is rounded here.
 * The comment at KREAL_N_DECISIONS says what its sign means.
 * certified: the label is the same for all decisions that are possible within such bounds. It is
 * false where x lies so near a boundary that float does not tell.
 */
typedef struct {
    int32_t label;          /* index into kreal_class_names */
    float lower;
    float upper;
    uint32_t kernel_evals;  /* full kernel evaluations spent: 397 for every input */
    uint16_t stage;         /* of kreal_stage_names: which decided */
    bool certified;         /* the label is proved to be the model's */
    bool in_range;          /* always true: this program was not calibrated */
} kreal_result_t;

/* The caller's memory for one call; its contents need not be kept or cleared between calls. */
typedef struct {
    float prepared_0[19U];  /* the prepared input */
    float decision[21U];    /* decision values */
    float bound[21U];       /* >= their errors */
    float row_sum[6U];      /* sums of one group of vectors */
    float row_error[6U];    /* and of their errors */
    uint32_t votes[7U];     /* of each class */
    uint32_t sure[7U];      /* those that no rounding can take away */
    uint32_t possible[7U];  /* those that rounding might give */
} kreal_workspace_t;

/* The state of a self-test in steps; all zero before the first step. */
typedef struct {
    kreal_workspace_t workspace;
    uint32_t part;      /* table or known answer that is being tested */
    uint32_t position;  /* words of the table that have been read */
    uint32_t checksum;
    kreal_status_t status;  /* a failure stays */
    bool done;          /* passed, or failed */
} kreal_self_test_t;

/*
 * Classifies one input.
 * Input: x of 19 features as the model was trained with, before any preprocessing; each
 * finite and |x_j| <= KREAL_INPUT_LIMIT. Nothing is clipped.
 * x must not change during the call, and the rounding mode must be to nearest.
 * Result: KREAL_OK with *result written in full, or
 * KREAL_ERROR_NULL, _NOT_FINITE, _RANGE or _CORRUPT with *result untouched.
 */
kreal_status_t kreal_classify(
    kreal_workspace_t *workspace,
    const kreal_input_t x[KREAL_N_FEATURES],
    kreal_result_t *result);

/*
 * Gives the decision values of one input, by which kreal_classify decides.
 * Input and status as there; decision is untouched unless KREAL_OK is returned.
 */
kreal_status_t kreal_decision(
    kreal_workspace_t *workspace,
    const kreal_input_t x[KREAL_N_FEATURES],
    float decision[KREAL_N_DECISIONS]);

/*
 * Compares the checksum (CRC-32C) of every table, then asks known inputs and compares the labels
 * and, by their intervals, the decisions: these also hold for a compiler that contracts.
 * Result: KREAL_OK or KREAL_ERROR_CORRUPT.
 * Keeps one kreal_self_test_t on the stack.
 */
kreal_status_t kreal_self_test(void);

/*
 * The same in steps, for systems with a watchdog: each reads at most 256 words of a table
 * or asks one known input. Call until state->done, at most 56 times, or until another
 * status than KREAL_OK: KREAL_ERROR_NULL or _CORRUPT.
 */
kreal_status_t kreal_self_test_step(
    kreal_self_test_t *state);

/* Text of the classes (UTF-8) and of the stages, for people. */
extern const char *const kreal_class_names[KREAL_N_CLASSES];
extern const char *const kreal_stage_names[KREAL_N_STAGES];

#ifdef __cplusplus
}
#endif

#endif

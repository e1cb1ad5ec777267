/*
 * Puts queries to the emitted C, one after the other: classify, and classify_within where the
 * program has it. Compiled with the program's own file by library.py.
 */
#include <stddef.h>

#include "iris.h"

#ifdef FLUSH
#include <xmmintrin.h>
/* Subnormals are 0 from here on, or again numbers. */
#define FLUSH_SUBNORMALS(on) _mm_setcsr((_mm_getcsr() & ~0x8040U) | ((on) ? 0x8040U : 0U))
#else
#define FLUSH_SUBNORMALS(on) ((void)(on))
#endif

/* The entry that is asked: of floats, or of codes, which the inputs are as floats. */
#ifdef TOLERANCE
#define CLASSIFY iris_predict
#define CLASSIFY_WITHIN iris_predict_within
typedef iris_prediction_t result_t;
#else
typedef iris_result_t result_t;
#endif
#ifdef TOLERANCE
/* Of a regression no program in codes is asked. */
#elif defined(FLOAT_ENTRY)
#define CLASSIFY iris_classify_float
#define CLASSIFY_WITHIN iris_classify_within_float
#else
#define CLASSIFY iris_classify
#define CLASSIFY_WITHIN iris_classify_within
#endif
#ifdef CODES
typedef iris_input_t asked_t;
#else
typedef float asked_t;
#endif

static void take_over(const float input[], asked_t x[])
{
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        x[j] = (asked_t)input[j];
    }
}

/* As library.py reads it. */
typedef struct {
    int32_t label;
    float value, lower, upper;
    uint32_t kernel_evals, stage, certified, in_range, status;
} answer_t;

static answer_t answer_of(const iris_status_t status, const result_t *const result)
{
    answer_t answer = { 0, 0.0f, 0.0f, 0.0f, 0U, 0U, 0U, 0U, 0U };

    answer.status = (uint32_t)status;
    if (status == IRIS_OK) {
#ifdef TOLERANCE
        answer.label = -1;
        answer.value = result->value;
        answer.certified = ((result->upper - result->lower) < TOLERANCE) ? 1U : 0U;
#else
        answer.label = result->label;
        answer.certified = result->certified ? 1U : 0U;
#endif
        answer.lower = result->lower;
        answer.upper = result->upper;
        answer.kernel_evals = result->kernel_evals;
        answer.stage = result->stage;
        answer.in_range = result->in_range ? 1U : 0U;
    }
    return answer;
}

void ask(const uint32_t n_queries, const float inputs[], answer_t answers[]);
void ask(const uint32_t n_queries, const float inputs[], answer_t answers[])
{
    iris_workspace_t workspace;
    result_t result;
    uint32_t query;

    FLUSH_SUBNORMALS(1);
    for (query = 0U; query < n_queries; ++query) {
        asked_t x[IRIS_N_FEATURES];
        iris_status_t status;

        take_over(&inputs[(size_t)query * IRIS_N_FEATURES], x);
        status = CLASSIFY(&workspace, x, &result);
        answers[query] = answer_of(status, &result);
    }
    FLUSH_SUBNORMALS(0);
}

#ifdef WITHIN
void ask_within(
    const uint32_t n_queries, const float inputs[], const uint32_t limit, answer_t answers[]);
void ask_within(
    const uint32_t n_queries, const float inputs[], const uint32_t limit, answer_t answers[])
{
    iris_workspace_t workspace;
    result_t result;
    uint32_t query;

    FLUSH_SUBNORMALS(1);
    for (query = 0U; query < n_queries; ++query) {
        asked_t x[IRIS_N_FEATURES];
        iris_status_t status;

        take_over(&inputs[(size_t)query * IRIS_N_FEATURES], x);
        status = CLASSIFY_WITHIN(&workspace, x, limit, &result);
        answers[query] = answer_of(status, &result);
    }
    FLUSH_SUBNORMALS(0);
}
#endif

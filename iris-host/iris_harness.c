/* kmcompile iris.npz --target host */
/*
 * What verification runs: queries and answers as 32-bit words, without input or output of its
 * own. Not needed on a board.
 *
 * A query is the bits of 4 floats. A record is the status of classify, the label, the
 * bits of lower and upper, kernel_evals, stage, certified + 2 in_range, the status of decision and the
 * bits of 3 decisions; 0 stands for what was not written.
 */
#include "iris.h"

#define IRIS_HARNESS_INPUT_WORDS 4U
#define IRIS_HARNESS_RECORD_WORDS 11U

uint32_t iris_harness_input_words(void);
uint32_t iris_harness_record_words(void);
void iris_harness_query(const uint32_t input[], uint32_t record[]);
void iris_harness_batch(
    uint32_t n_queries,
    const uint32_t inputs[],
    uint32_t records[]);
uint32_t iris_harness_self_test(void);

/* A float and its bits. */
typedef union {
    float value;
    uint32_t bits;
} iris_harness_bits_t;

/* The bits of a float. */
static uint32_t iris_harness_bits(const float value)
{
    iris_harness_bits_t number;

    number.value = value;
    return number.bits;
}

/* Words of a query. */
uint32_t iris_harness_input_words(void)
{
    return IRIS_HARNESS_INPUT_WORDS;
}

/* Words of a record. */
uint32_t iris_harness_record_words(void)
{
    return IRIS_HARNESS_RECORD_WORDS;
}

/* Asks classify and decision of one input; *record is all 0 before. */
static void iris_harness_answer(
    const iris_input_t x[IRIS_N_FEATURES],
    uint32_t record[])
{
    iris_workspace_t workspace;
    iris_result_t result;
    float decision[IRIS_N_DECISIONS];
    iris_status_t status;

    status = iris_classify(&workspace, x, &result);
    record[0] = (uint32_t)status;
    if (status == IRIS_OK) {
        record[1] = (uint32_t)result.label;
        record[2] = iris_harness_bits(result.lower);
        record[3] = iris_harness_bits(result.upper);
        record[4] = result.kernel_evals;
        record[5] = result.stage;
        record[6] = (result.certified ? 1U : 0U) + (result.in_range ? 2U : 0U);
    }
    status = iris_decision(&workspace, x, decision);
    record[7] = (uint32_t)status;
    if (status == IRIS_OK) {
        uint32_t p;

        for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
            record[8U + p] = iris_harness_bits(decision[p]);
        }
    }
}

/* Answers one query by both entry points. */
void iris_harness_query(const uint32_t input[], uint32_t record[])
{
    iris_input_t x[IRIS_N_FEATURES];
    uint32_t word;

    for (word = 0U; word < IRIS_N_FEATURES; ++word) {
        iris_harness_bits_t feature;

        feature.bits = input[word];
        x[word] = feature.value;
    }
    for (word = 0U; word < IRIS_HARNESS_RECORD_WORDS; ++word) {
        record[word] = 0U;
    }
    iris_harness_answer(x, record);
}

/* Answers queries that stand one after the other; so do the records. */
void iris_harness_batch(
    uint32_t n_queries,
    const uint32_t inputs[],
    uint32_t records[])
{
    uint32_t query;

    for (query = 0U; query < n_queries; ++query) {
        iris_harness_query(
            &inputs[query * IRIS_HARNESS_INPUT_WORDS],
            &records[query * IRIS_HARNESS_RECORD_WORDS]);
    }
}

/* The status of the self-test. */
uint32_t iris_harness_self_test(void)
{
    const iris_status_t status = iris_self_test();

    return (uint32_t)status;
}

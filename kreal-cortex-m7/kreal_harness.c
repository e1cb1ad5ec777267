/* kmcompile kreal.npz --target cortex-m7 --mode exact --max-flash 4000000 */
/*
 * What verification runs: queries and answers as 32-bit words, without input or output of its
 * own. Not needed on a board.
 *
 * A query is the bits of 19 floats. A record is the status of classify, the label, the
 * bits of lower and upper, kernel_evals, stage, certified + 2 in_range, the status of decision and the
 * bits of 21 decisions; 0 stands for what was not written.
 */
#include "kreal.h"

#define KREAL_HARNESS_INPUT_WORDS 19U
#define KREAL_HARNESS_RECORD_WORDS 29U

uint32_t kreal_harness_input_words(void);
uint32_t kreal_harness_record_words(void);
void kreal_harness_query(const uint32_t input[], uint32_t record[]);
void kreal_harness_batch(
    uint32_t n_queries,
    const uint32_t inputs[],
    uint32_t records[]);
uint32_t kreal_harness_self_test(void);

/* A float and its bits. */
typedef union {
    float value;
    uint32_t bits;
} kreal_harness_bits_t;

/* The bits of a float. */
static uint32_t kreal_harness_bits(const float value)
{
    kreal_harness_bits_t number;

    number.value = value;
    return number.bits;
}

/* Words of a query. */
uint32_t kreal_harness_input_words(void)
{
    return KREAL_HARNESS_INPUT_WORDS;
}

/* Words of a record. */
uint32_t kreal_harness_record_words(void)
{
    return KREAL_HARNESS_RECORD_WORDS;
}

/* Asks classify and decision of one input; *record is all 0 before. */
static void kreal_harness_answer(
    const kreal_input_t x[KREAL_N_FEATURES],
    uint32_t record[])
{
    kreal_workspace_t workspace;
    kreal_result_t result;
    float decision[KREAL_N_DECISIONS];
    kreal_status_t status;

    status = kreal_classify(&workspace, x, &result);
    record[0] = (uint32_t)status;
    if (status == KREAL_OK) {
        record[1] = (uint32_t)result.label;
        record[2] = kreal_harness_bits(result.lower);
        record[3] = kreal_harness_bits(result.upper);
        record[4] = result.kernel_evals;
        record[5] = result.stage;
        record[6] = (result.certified ? 1U : 0U) + (result.in_range ? 2U : 0U);
    }
    status = kreal_decision(&workspace, x, decision);
    record[7] = (uint32_t)status;
    if (status == KREAL_OK) {
        uint32_t p;

        for (p = 0U; p < KREAL_N_DECISIONS; ++p) {
            record[8U + p] = kreal_harness_bits(decision[p]);
        }
    }
}

/* Answers one query by both entry points. */
void kreal_harness_query(const uint32_t input[], uint32_t record[])
{
    kreal_input_t x[KREAL_N_FEATURES];
    uint32_t word;

    for (word = 0U; word < KREAL_N_FEATURES; ++word) {
        kreal_harness_bits_t feature;

        feature.bits = input[word];
        x[word] = feature.value;
    }
    for (word = 0U; word < KREAL_HARNESS_RECORD_WORDS; ++word) {
        record[word] = 0U;
    }
    kreal_harness_answer(x, record);
}

/* Answers queries that stand one after the other; so do the records. */
void kreal_harness_batch(
    uint32_t n_queries,
    const uint32_t inputs[],
    uint32_t records[])
{
    uint32_t query;

    for (query = 0U; query < n_queries; ++query) {
        kreal_harness_query(
            &inputs[query * KREAL_HARNESS_INPUT_WORDS],
            &records[query * KREAL_HARNESS_RECORD_WORDS]);
    }
}

/* The status of the self-test. */
uint32_t kreal_harness_self_test(void)
{
    const kreal_status_t status = kreal_self_test();

    return (uint32_t)status;
}

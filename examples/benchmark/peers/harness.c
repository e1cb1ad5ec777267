/* What the runners and the programs of the host call: a query is the bits of the features, its
   record the index of the class. */
#include <stdint.h>

#include "peer.h"

uint32_t peer_classify(const float x[N_FEATURES]);
uint32_t peer_harness_input_words(void);
uint32_t peer_harness_record_words(void);
void peer_harness_query(const uint32_t input[], uint32_t record[]);
void peer_harness_batch(uint32_t n_queries, const uint32_t inputs[], uint32_t records[]);
uint32_t peer_harness_self_test(void);

uint32_t peer_harness_input_words(void)
{
    return N_FEATURES;
}

uint32_t peer_harness_record_words(void)
{
    return 1U;
}

void peer_harness_query(const uint32_t input[], uint32_t record[])
{
    union {
        float value;
        uint32_t bits;
    } feature;
    float x[N_FEATURES];

    for (uint32_t j = 0U; j < N_FEATURES; j++) {
        feature.bits = input[j];
        x[j] = feature.value;
    }
    record[0] = peer_classify(x);
}

void peer_harness_batch(uint32_t n_queries, const uint32_t inputs[], uint32_t records[])
{
    for (uint32_t query = 0U; query < n_queries; query++) {
        peer_harness_query(&inputs[query * N_FEATURES], &records[query]);
    }
}

uint32_t peer_harness_self_test(void)
{
    return 0U;
}

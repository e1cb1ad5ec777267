/* Answers the queries of a file, for callgrind: host_main QUERIES N. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "peer.h"

void peer_harness_batch(uint32_t n_queries, const uint32_t inputs[], uint32_t records[]);

int main(int argc, char **argv)
{
    const size_t n = (argc > 2) ? strtoul(argv[2], NULL, 10) : 0U;
    uint32_t *inputs = malloc(n * N_FEATURES * sizeof(*inputs));
    uint32_t *records = malloc(n * sizeof(*records));
    FILE *file = (argc > 1) ? fopen(argv[1], "rb") : NULL;

    if ((file == NULL) || (fread(inputs, N_FEATURES * sizeof(*inputs), n, file) != n)) {
        return 1;
    }
    peer_harness_batch((uint32_t)n, inputs, records);
    return 0;
}

/* The heap of a peer that wants one; dropped from the image where nothing calls malloc. */
#include <stdint.h>

#define HEAP_BYTES 65536U

void *_sbrk(int n_bytes);

static uint8_t heap[HEAP_BYTES] __attribute__((aligned(8)));

void *_sbrk(int n_bytes)
{
    static uint32_t used;
    uint8_t *const start = &heap[used];

    if ((uint32_t)n_bytes > HEAP_BYTES - used) {
        return (void *)-1;
    }
    used += (uint32_t)n_bytes;
    return start;
}

/*
 * Applies a patch, damaged ones and foreign ones: prints what went wrong, a line for each failure.
 * Arguments: old image, new image, patch, number of mutations, 1 if the patch works in place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iris_patch.h"

static uint64_t random_state = 88172645463325252ULL;

static uint32_t draw(uint32_t n)
{
    random_state ^= random_state << 13U;
    random_state ^= random_state >> 7U;
    random_state ^= random_state << 17U;
    return (uint32_t)(random_state >> 32U) % n;
}

static uint8_t *read_file(const char *path, size_t *n)
{
    FILE *const file = fopen(path, "rb");
    uint8_t *content;

    fseek(file, 0L, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    content = malloc(*n);
    if (fread(content, 1U, *n, file) != *n) {
        exit(2);
    }
    fclose(file);
    return content;
}

static void mend(uint8_t *patch, size_t n)
{
    uint32_t state = 0xFFFFFFFFUL;

    for (size_t i = 0U; i < n; ++i) {
        if (i < 12U || i >= 16U) {
            state ^= patch[i];
            for (int bit = 0; bit < 8; ++bit) {
                state = (state >> 1U) ^ (0x82F63B78UL & (0U - (state & 1U)));
            }
        }
    }
    state ^= 0xFFFFFFFFUL;
    for (int i = 0; i < 4; ++i) {
        patch[12 + i] = (uint8_t)(state >> (8 * i));
    }
}

int main(int count, char **arguments)
{
    size_t n_old, n_new, n_patch;
    uint8_t *const old = read_file(arguments[1], &n_old);
    uint8_t *const new = read_file(arguments[2], &n_new);
    uint8_t *const patch = read_file(arguments[3], &n_patch);
    const unsigned long times = strtoul(arguments[4], NULL, 10);
    const int in_place = arguments[5][0] == '1';
    const size_t n_space = (n_old > n_new) ? n_old : n_new;
    uint8_t *const space = malloc(n_new);
    uint8_t *const both = malloc(n_space);
    uint32_t size = 0U;
    iris_patch_status_t status;

    (void)count;
    status = iris_patch(old, (uint32_t)n_old, patch, (uint32_t)n_patch, space, (uint32_t)n_new, &size);
    if (status != IRIS_PATCH_OK || size != n_new || memcmp(space, new, n_new) != 0) {
        printf("to another place: %d\n", (int)status);
    }
    memcpy(both, old, n_old);
    status = iris_patch(both, (uint32_t)n_old, patch, (uint32_t)n_patch, both, (uint32_t)n_space, &size);
    if (in_place && (status != IRIS_PATCH_OK || memcmp(both, new, n_new) != 0)) {
        printf("in place: %d\n", (int)status);
    }
    if (!in_place && (status != IRIS_PATCH_ERROR_PLACE || memcmp(both, old, n_old) != 0)) {
        printf("in place without right: %d\n", (int)status);
    }
    status = iris_patch(new, (uint32_t)n_new, patch, (uint32_t)n_patch, space, (uint32_t)n_new, &size);
    if (status != IRIS_PATCH_ERROR_FOREIGN) {
        printf("of another image: %d\n", (int)status);
    }
    status = iris_patch(old, (uint32_t)n_old, patch, (uint32_t)n_patch, space, (uint32_t)n_new - 1U, &size);
    if (status != IRIS_PATCH_ERROR_SPACE) {
        printf("into too little: %d\n", (int)status);
    }
    for (unsigned long time = 0U; time < times; ++time) {
        const size_t n = draw(8U) ? n_patch : 1U + draw((uint32_t)n_patch);
        const int mends = (int)draw(2U);
        uint8_t *const mutated = malloc(n);

        memcpy(mutated, patch, n);
        for (uint32_t change = 1U + draw(3U); change > 0U; --change) {
            mutated[draw(2U) ? draw(n < 96U ? (uint32_t)n : 96U) : draw((uint32_t)n)] = (uint8_t)draw(256U);
        }
        if (mends && n >= 16U) {
            mutated[8] = (uint8_t)n;
            mutated[9] = (uint8_t)(n >> 8U);
            mutated[10] = (uint8_t)(n >> 16U);
            mutated[11] = (uint8_t)(n >> 24U);
            mend(mutated, n);
        }
        memset(space, 0, n_new);
        status = iris_patch(old, (uint32_t)n_old, mutated, (uint32_t)n, space, (uint32_t)n_new, &size);
        if (status == IRIS_PATCH_OK && memcmp(space, new, n_new) != 0) {
            printf("mutation %lu made another image\n", time);
        }
        free(mutated);
    }
    free(old);
    free(new);
    free(patch);
    free(space);
    free(both);
    return 0;
}

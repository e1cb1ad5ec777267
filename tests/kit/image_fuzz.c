/*
 * Mutates an image and opens it: prints how many were refused, how many were accepted, and how
 * many of the accepted ones have another content although nobody mended their checksum.
 * Arguments: image, number of mutations, seed, 1 to mend checksums. Every image lies in memory of
 * its own, so that a sanitizer sees a read beyond its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iris.h"

#define MOST (1U << 22U)

static uint8_t original[MOST];
static uint8_t mutated[MOST + 64U];
static uint64_t random_state;

static uint32_t draw(uint32_t n)
{
    random_state ^= random_state << 13U;
    random_state ^= random_state >> 7U;
    random_state ^= random_state << 17U;
    return (uint32_t)(random_state >> 32U) % n;
}

static uint32_t checksum_of(const uint8_t *bytes, size_t n, uint32_t state)
{
    for (size_t i = 0U; i < n; ++i) {
        state ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit) {
            state = (state >> 1U) ^ (0x82F63B78UL & (0U - (state & 1U)));
        }
    }
    return state;
}

static void mend(uint8_t *image, size_t n)
{
    if (n >= 16U) {
        uint32_t state = checksum_of(image, 12U, 0xFFFFFFFFUL);
        state = checksum_of(&image[16], n - 16U, state) ^ 0xFFFFFFFFUL;
        memcpy(&image[12], &state, 4U);
    }
}

static size_t mutate(size_t n)
{
    static const uint32_t words[] = {
        0U, 1U, 2U, 0xFFFFFFFFUL, 0x7FFFFFFFUL, 0x80000000UL, 0x7FC00000UL, 0x7F800000UL,
        0xFF800000UL, 0x7F7FFFFFUL, 0x00010000UL, 0x0000FFFFUL, 0x40000000UL, 0x20000000UL};
    const uint32_t times = 1U + draw(3U);
    /* Half of the places lie in the head, the counts and the first numbers. */
    const uint32_t near = (n < 160U) ? (uint32_t)n : 160U;

    for (uint32_t time = 0U; time < times; ++time) {
        const uint32_t place = draw(2U) ? draw(near) : draw((uint32_t)n);
        const uint32_t word = place & ~3U;
        uint32_t value;

        switch (draw(8U)) {
        case 0U:
            mutated[place] ^= (uint8_t)(1U << draw(8U));
            break;
        case 1U:
            mutated[place] = (uint8_t)draw(256U);
            break;
        case 2U:
        case 3U:
            value = words[draw(sizeof words / sizeof words[0])];
            if (word + 4U <= n) {
                memcpy(&mutated[word], &value, 4U);
            }
            break;
        case 4U:
            memcpy(&value, &mutated[word < n - 4U ? word : 0U], 4U);
            value += draw(2U) ? 1U + draw(8U) : 0U - 1U - draw(8U);
            memcpy(&mutated[word < n - 4U ? word : 0U], &value, 4U);
            break;
        case 5U:
            n = draw(4U) ? n - draw((uint32_t)n > 64U ? 64U : (uint32_t)n) : draw((uint32_t)n);
            n = (n < 8U) ? 8U : n;
            value = (uint32_t)n;
            if (draw(2U)) {
                memcpy(&mutated[8], &value, 4U);
            }
            return n;
        case 6U:
            for (uint32_t i = place; i < n && i < place + 16U; ++i) {
                mutated[i] = (uint8_t)draw(256U);
            }
            break;
        default:
            value = 8U * (1U + draw(8U));
            for (uint32_t i = 0U; i < value; ++i) {
                mutated[n + i] = (uint8_t)draw(256U);
            }
            n += value;
            value = (uint32_t)n;
            memcpy(&mutated[8], &value, 4U);
            return n;
        }
    }
    return n;
}

int main(int count, char **arguments)
{
    FILE *const file = fopen(arguments[1], "rb");
    const size_t length = fread(original, 1U, MOST, file);
    const unsigned long times = strtoul(arguments[2], NULL, 10);
    const int mends = arguments[4][0] == '1';
    unsigned long refused = 0U, accepted = 0U, foreign = 0U, answers = 0U;

    (void)count;
    fclose(file);
    random_state = strtoull(arguments[3], NULL, 10) * 0x9E3779B97F4A7C15ULL + 1U;
    for (unsigned long time = 0U; time < times; ++time) {
        size_t n = length;
        uint8_t *image;
        iris_model_t model;
        iris_status_t status;

        memcpy(mutated, original, length);
        n = mutate(n);
        if (mends) {
            mend(mutated, n);
        }
        image = aligned_alloc(8U, (n + 7U) & ~(size_t)7U);
        image = realloc(image, n);
        memcpy(image, mutated, n);
        status = iris_open(image, (uint32_t)n, &model);
        if (status != IRIS_OK) {
            ++refused;
        } else {
            iris_workspace_t workspace;
            float x[IRIS_N_FEATURES];
            float decision[IRIS_N_DECISIONS];
            IRIS_ANSWER result;

            ++accepted;
            if (n < length || memcmp(image, original, length) != 0) {
                ++foreign;
            }
            for (uint32_t query = 0U; query < 3U; ++query) {
                for (uint32_t j = 0U; j < IRIS_N_FEATURES; ++j) {
                    x[j] = (query == 0U) ? 0.0f : (float)draw(2000U) * 0.01f;
                }
                answers += IRIS_CALL(&workspace, &model, x, &result) == IRIS_OK;
#ifdef IRIS_CALL_OF_CODES
                iris_input_t codes[IRIS_N_FEATURES];

                for (uint32_t j = 0U; j < IRIS_N_FEATURES; ++j) {
                    codes[j] = (iris_input_t)((query == 0U) ? IRIS_CODE_LOW : (int)draw(65536U));
                }
                answers += IRIS_CALL_OF_CODES(&workspace, &model, codes, &result) == IRIS_OK;
#endif
                (void)IRIS_DECISION(&workspace, &model, x, decision);
            }
            (void)iris_self_test(&model);
        }
        if (status != IRIS_OK) {
            iris_workspace_t workspace;
            float x[IRIS_N_FEATURES] = {0.0f};
            IRIS_ANSWER result;

            if (IRIS_CALL(&workspace, &model, x, &result) != IRIS_ERROR_NULL) {
                printf("a refused model answered\n");
                return 1;
            }
        }
        free(image);
    }
    printf("%lu %lu %lu %lu\n", refused, accepted, foreign, answers);
    return 0;
}

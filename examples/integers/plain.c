/*
 * The C that everybody writes first, in float32: a kernel value for each support vector, one loop
 * over vectors and one over features, then a sum and a vote for each pair of classes.
 */
/* Products and sums in one instruction where there is one, as gcc makes them unless told not to. */
#pragma GCC optimize("fp-contract=fast")

#include "plain.h"
#include "plain_exp.h"
#include "plain_tables.h"

uint32_t plain_classify(const float input[N_FEATURES])
{
    float x[N_FEATURES];
    float kernel[N_VECTORS];
    uint32_t votes[N_CLASSES] = { 0U };
    uint32_t pair = 0U;
    uint32_t best = 0U;

    for (uint32_t j = 0U; j < N_FEATURES; ++j) {
#if IS_SCALED
        x[j] = (input[j] - mean[j]) / scale[j];
#else
        x[j] = input[j];
#endif
    }
    for (uint32_t i = 0U; i < N_VECTORS; ++i) {
        float distance = 0.0f;

        for (uint32_t j = 0U; j < N_FEATURES; ++j) {
            const float difference = x[j] - vectors[i][j];

            distance += difference * difference;
        }
        kernel[i] = plain_exp_negative(GAMMA * distance);
    }
    for (uint32_t a = 0U; a < N_CLASSES; ++a) {
        for (uint32_t b = a + 1U; b < N_CLASSES; ++b) {
            float sum = intercepts[pair];

            for (uint32_t i = starts[a]; i < starts[a + 1U]; ++i) {
                sum += coefficients[b - 1U][i] * kernel[i];
            }
            for (uint32_t i = starts[b]; i < starts[b + 1U]; ++i) {
                sum += coefficients[a][i] * kernel[i];
            }
            ++votes[(sum > 0.0f) ? a : b];
            ++pair;
        }
    }
    for (uint32_t a = 1U; a < N_CLASSES; ++a) {
        best = (votes[a] > votes[best]) ? a : best;
    }
    return best;
}

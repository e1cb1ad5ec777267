/* The loop that everybody writes first: what the emitted C is held against. */
#include <math.h>

#include "plain_tables.h"

float plain_decision(const float x[N_FEATURES])
{
    float sum = INTERCEPT;

    for (int i = 0; i < N_VECTORS; i++) {
        float distance = 0.0f;

        for (int j = 0; j < N_FEATURES; j++) {
            const float difference = x[j] - vectors[i][j];

            distance += difference * difference;
        }
        sum += coefficients[i] * expf(-GAMMA * distance);
    }
    return sum;
}

/* Times the emitted C and the plain loop in turns on the same queries; prints both medians. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model.h"

#define ROUNDS 15

float plain_decision(const float x[MODEL_N_FEATURES]);

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static model_workspace_t workspace;
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    const int repeat = argc > 3 ? atoi(argv[3]) : 1;
    float *x = malloc((size_t)n * MODEL_N_FEATURES * sizeof *x);
    double ours[ROUNDS], plain[ROUNDS];
    volatile float sink = 0.0f;
    FILE *file = fopen(argv[1], "rb");

    if (x == NULL || file == NULL || fread(x, sizeof *x * MODEL_N_FEATURES, (size_t)n, file) != (size_t)n) {
        return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();

        for (int r = 0; r < repeat; r++) {
            for (int q = 0; q < n; q++) {
                model_result_t result;

                if (model_classify(&workspace, &x[q * MODEL_N_FEATURES], &result) != MODEL_OK) {
                    return 1;
                }
                sink += result.lower;
            }
        }
        ours[round] = (seconds() - start) / repeat / n;
        start = seconds();
        for (int r = 0; r < repeat; r++) {
            for (int q = 0; q < n; q++) {
                sink += plain_decision(&x[q * MODEL_N_FEATURES]);
            }
        }
        plain[round] = (seconds() - start) / repeat / n;
    }
    qsort(ours, ROUNDS, sizeof *ours, compare);
    qsort(plain, ROUNDS, sizeof *plain, compare);
    printf("%.0f %.0f\n", 1e9 * ours[ROUNDS / 2], 1e9 * plain[ROUNDS / 2]);
    free(x);
    fclose(file);
    return 0;
}

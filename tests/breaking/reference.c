/*
 * The decision values of a kernel machine in __float128: 113 bits.
 *
 * A plain restatement of kmcompile/model/kernel_machine.py that shares no code with it. Compiled on
 * the fly by quadruple.py with gcc and libquadmath.
 */
#include <quadmath.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum kernel { LINEAR, POLY, RBF, SIGMOID, LAPLACIAN, CHI2, INTERSECTION, ADDITIVE_CHI2, MATERN,
    RATIONAL_QUADRATIC };
enum step { AFFINE, CLIP, PROJECTION, NORMALIZE_L1, NORMALIZE_L2, NORMALIZE_MAX };

/* As quadruple.py declares it. */
typedef struct {
    int32_t n_features, n_vectors, n_decisions, kernel, degree, n_steps, widest;
    double gamma, coef0, alpha;
    const double *vectors;      /* [vector][feature] */
    const double *coefficients; /* [decision][vector] */
    const double *intercept;    /* [decision] */
    const int32_t *steps;       /* [step][2]: its kind and the features that leave it */
    const double *values;       /* of all steps, one after the other */
} machine_t;

/* scikit-learn leaves rows of nearly zeros as they are: 10 eps. */
static const double NEARLY_ZERO = 10.0 * 2.220446049250313e-16;

static void normalize(const int32_t kind, const int32_t n, __float128 x[])
{
    __float128 size = 0;

    for (int32_t j = 0; j < n; ++j) {
        const __float128 magnitude = fabsq(x[j]);

        if (kind == NORMALIZE_L1) {
            size += magnitude;
        } else if (kind == NORMALIZE_L2) {
            size += magnitude * magnitude;
        } else if (magnitude > size) {
            size = magnitude;
        }
    }
    if (kind == NORMALIZE_L2) {
        size = sqrtq(size);
    }
    for (int32_t j = 0; (j < n) && (size >= NEARLY_ZERO); ++j) {
        x[j] /= size;
    }
}

/* Applies all steps to x in place; y is as wide. */
static void prepare(const machine_t *const machine, __float128 x[], __float128 y[])
{
    const double *values = machine->values;
    int32_t n = machine->n_features;

    for (int32_t step = 0; step < machine->n_steps; ++step) {
        const int32_t kind = machine->steps[2 * step], n_out = machine->steps[(2 * step) + 1];

        if (kind == AFFINE) {
            for (int32_t j = 0; j < n; ++j) {
                x[j] = (x[j] - values[j]) * values[n + j];
            }
            values += 2 * n;
        } else if (kind == CLIP) {
            for (int32_t j = 0; j < n; ++j) {
                x[j] = (x[j] < values[0]) ? values[0] : (x[j] > values[1]) ? values[1] : x[j];
            }
            values += 2;
        } else if (kind == PROJECTION) {
            for (int32_t row = 0; row < n_out; ++row) {
                y[row] = 0;
                for (int32_t j = 0; j < n; ++j) {
                    y[row] += values[(row * n) + j] * x[j];
                }
            }
            for (int32_t row = 0; row < n_out; ++row) {
                x[row] = y[row];
            }
            values += n_out * n;
        } else {
            normalize(kind, n, x);
        }
        n = n_out;
    }
}

/* What a feature adds to the number that a kernel is a function of. */
static __float128 term(const int32_t kernel, const __float128 s, const __float128 given)
{
    /* Both kernels of chi2 count a negative feature as 0. */
    const bool of_chi2 = (kernel == CHI2) || (kernel == ADDITIVE_CHI2);
    const __float128 x = (of_chi2 && (given < 0)) ? 0 : given;
    const __float128 d = s - x;

    switch (kernel) {
    case RBF:
    case MATERN:
    case RATIONAL_QUADRATIC:
        return d * d;
    case LAPLACIAN:
        return fabsq(d);
    case CHI2:
    case ADDITIVE_CHI2:
        return ((s + x) > 0) ? (d * d) / (s + x) : 0;
    case INTERSECTION:
        return (d < 0) ? s : x;
    default:
        return s * x;
    }
}

static __float128 kernel(const machine_t *const machine, const double s[], const __float128 x[],
    const int32_t n)
{
    __float128 total = 0, value = 1;

    for (int32_t j = 0; j < n; ++j) {
        total += term(machine->kernel, s[j], x[j]);
    }
    if ((machine->kernel == RBF) || (machine->kernel == LAPLACIAN) || (machine->kernel == CHI2)) {
        value = expq(-(__float128)machine->gamma * total);
    } else if (machine->kernel == MATERN) {
        const __float128 z = machine->gamma * sqrtq(total);
        const __float128 factors[3] = { 1, 1 + z, 1 + z + ((z * z) / 3) };

        value = factors[machine->degree] * expq(-z);
    } else if (machine->kernel == RATIONAL_QUADRATIC) {
        value = powq(1 + (machine->gamma * total), -(__float128)machine->alpha);
    } else if (machine->kernel == ADDITIVE_CHI2) {
        value = -total;
    } else if ((machine->kernel == LINEAR) || (machine->kernel == INTERSECTION)) {
        value = total;
    } else {
        const __float128 v = (machine->gamma * total) + machine->coef0;

        if (machine->kernel == SIGMOID) {
            value = tanhq(v);
        } else {
            for (int32_t power = 0; power < machine->degree; ++power) {
                value *= v;
            }
        }
    }
    return value;
}

/*
 * f = high + low and size = sum |beta K| + |b| of every decision: [query][decision].
 * Result: 0, or 1 without memory.
 */
int32_t decide(const machine_t *const machine, const uint32_t n_queries, const float inputs[],
    double high[], double low[], double size[])
{
    const int32_t n = (machine->n_steps > 0) ? machine->steps[(2 * machine->n_steps) - 1]
                                             : machine->n_features;
    __float128 *const x = malloc(2 * sizeof(__float128) * (size_t)machine->widest);
    __float128 *const f = malloc(2 * sizeof(__float128) * (size_t)machine->n_decisions);

    if ((x == NULL) || (f == NULL)) {
        free(x);
        free(f);
        return 1;
    }
    for (uint32_t query = 0; query < n_queries; ++query) {
        __float128 *const sizes = &f[machine->n_decisions];

        for (int32_t j = 0; j < machine->n_features; ++j) {
            x[j] = inputs[((size_t)query * (size_t)machine->n_features) + (size_t)j];
        }
        prepare(machine, x, &x[machine->widest]);
        for (int32_t p = 0; p < machine->n_decisions; ++p) {
            f[p] = machine->intercept[p];
            sizes[p] = fabsq(f[p]);
        }
        for (int32_t i = 0; i < machine->n_vectors; ++i) {
            const __float128 value = kernel(machine, &machine->vectors[i * n], x, n);

            for (int32_t p = 0; p < machine->n_decisions; ++p) {
                const __float128 term = machine->coefficients[(p * machine->n_vectors) + i] * value;

                f[p] += term;
                sizes[p] += fabsq(term);
            }
        }
        for (int32_t p = 0; p < machine->n_decisions; ++p) {
            const size_t place = ((size_t)query * (size_t)machine->n_decisions) + (size_t)p;

            high[place] = (double)f[p];
            low[place] = (double)(f[p] - high[place]);
            size[place] = (double)sizes[p];
        }
    }
    free(x);
    free(f);
    return 0;
}

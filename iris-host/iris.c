/* kmcompile iris.npz --target host */
/*
 * kmcompile 0.1.0, target host, float32, mode exact.
 * Model: SVC, intersection kernel, 37 support vectors of 4 features.
 * SHA-256 of the model: a3c3b711f6b583ae4d8d36d7f8462de62a900167f7fee581fa98e0edfb37bec5.
 *
 * The stages, in order: prepare, exact_sum, vote. Where they leave the label open, the replay
 * computes the sums again in double.
 * Every float operation stands in the order in which it was verified. Build without contraction
 * (-ffp-contract=off) for results that are identical to the bit; the bounds and the certificates
 * hold with contraction, too.
 */
#include "iris.h"

#include <float.h>
#include <stddef.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) \
    || (defined(__FINITE_MATH_ONLY__) && (__FINITE_MATH_ONLY__ > 0))
#error "fast-math reorders the sums: neither the results nor their bounds would hold"
#endif
#if FLT_EVAL_METHOD != 0
#error "float expressions must be evaluated in float: set FLT_EVAL_METHOD to 0 (-mfpmath=sse)"
#endif

#if (FLT_RADIX != 2) || (FLT_MANT_DIG != 24) || (FLT_MAX_EXP != 128)
#error "float must be the 32-bit type of IEEE 754"
#endif

#define IRIS_N_PREPARED 4U    /* features after the preprocessing */
#define IRIS_LANES 16U        /* support vectors of a block, side by side */
#define IRIS_N_BLOCKS 4U      /* the last ones of a group filled up */
#define IRIS_BLOCK_WORDS 64U  /* N_PREPARED * LANES */
#define IRIS_N_ROWS 2U        /* decisions that a vector is part of */
#define IRIS_N_GROUPS 3U      /* of vectors with the same ones */

/* A float and its bits. */
typedef union {
    float value;
    uint32_t bits;
} iris_bits_t;

/* An input on its way through the preprocessing. */
typedef struct {
    const float *x;
    float deviation;  /* >= the distance of x from the exactly prepared input */
    float length;     /* >= the Euclidean norm of x, where it is needed */
    const float *raw;  /* the input as it was received */
} iris_prepared_t;

const char *const iris_class_names[IRIS_N_CLASSES] = {
    "0",
    "1",
    "2"
};

const char *const iris_stage_names[IRIS_N_STAGES] = {
    "exact_sum",
    "replay"
};

/* support vectors: [block][feature][lane] */
static const float iris_vectors[256U] = {
    0x1.466666p+2f, 0x1.333334p+2f, 0x1.4p+2f, 0x1.2p+2f, 0x1.4p+2f, 0x1.466666p+2f,
    0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f,
    0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.a66666p+1f, 0x1.b33334p+1f,
    0x1.8p+1f, 0x1.266666p+1f, 0x1.cp+1f, 0x1.e66666p+1f, 0x1.e66666p+1f, 0x1.e66666p+1f,
    0x1.e66666p+1f, 0x1.e66666p+1f, 0x1.e66666p+1f, 0x1.e66666p+1f, 0x1.e66666p+1f, 0x1.e66666p+1f,
    0x1.e66666p+1f, 0x1.e66666p+1f, 0x1.b33334p+0f, 0x1.e66666p+0f, 0x1.99999ap+0f, 0x1.4cccccp+0f,
    0x1.99999ap+0f, 0x1.e66666p+0f, 0x1.e66666p+0f, 0x1.e66666p+0f, 0x1.e66666p+0f, 0x1.e66666p+0f,
    0x1.e66666p+0f, 0x1.e66666p+0f, 0x1.e66666p+0f, 0x1.e66666p+0f, 0x1.e66666p+0f, 0x1.e66666p+0f,
    0x1p-1f, 0x1.99999ap-3f, 0x1.99999ap-3f, 0x1.333334p-2f, 0x1.333334p-1f, 0x1.99999ap-2f,
    0x1.99999ap-2f, 0x1.99999ap-2f, 0x1.99999ap-2f, 0x1.99999ap-2f, 0x1.99999ap-2f, 0x1.99999ap-2f,
    0x1.99999ap-2f, 0x1.99999ap-2f, 0x1.99999ap-2f, 0x1.99999ap-2f, 0x1.b9999ap+2f, 0x1.ap+2f,
    0x1.933334p+2f, 0x1.39999ap+2f, 0x1.4cccccp+2f, 0x1.866666p+2f, 0x1.8cccccp+2f, 0x1.79999ap+2f,
    0x1.933334p+2f, 0x1.866666p+2f, 0x1.b33334p+2f, 0x1.acccccp+2f, 0x1.8p+2f, 0x1.8p+2f,
    0x1.59999ap+2f, 0x1.8p+2f, 0x1.8cccccp+1f, 0x1.666666p+1f, 0x1.a66666p+1f, 0x1.333334p+1f,
    0x1.59999ap+1f, 0x1.733334p+1f, 0x1.19999ap+1f, 0x1.99999ap+1f, 0x1.4p+1f, 0x1.666666p+1f,
    0x1.666666p+1f, 0x1.8p+1f, 0x1.733334p+1f, 0x1.59999ap+1f, 0x1.8p+1f, 0x1.b33334p+1f,
    0x1.39999ap+2f, 0x1.266666p+2f, 0x1.2cccccp+2f, 0x1.a66666p+1f, 0x1.f33334p+1f, 0x1.2cccccp+2f,
    0x1.2p+2f, 0x1.333334p+2f, 0x1.39999ap+2f, 0x1.2cccccp+2f, 0x1.333334p+2f, 0x1.4p+2f,
    0x1.2p+2f, 0x1.466666p+2f, 0x1.2p+2f, 0x1.2p+2f, 0x1.8p+0f, 0x1.8p+0f, 0x1.99999ap+0f, 0x1p+0f,
    0x1.666666p+0f, 0x1.666666p+0f, 0x1.8p+0f, 0x1.ccccccp+0f, 0x1.8p+0f, 0x1.333334p+0f,
    0x1.666666p+0f, 0x1.b33334p+0f, 0x1.8p+0f, 0x1.99999ap+0f, 0x1.8p+0f, 0x1.99999ap+0f,
    0x1.4p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f,
    0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f,
    0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.466666p+2f, 0x1.266666p+1f, 0x1.4p+1f,
    0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f,
    0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.4p+1f, 0x1.a66666p+1f, 0x1.8p+1f,
    0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f,
    0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1.8p+1f, 0x1p+0f, 0x1.19999ap+0f,
    0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f,
    0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.19999ap+0f,
    0x1.19999ap+0f, 0x1.19999ap+0f, 0x1.39999ap+2f, 0x1.ap+2f, 0x1.8p+2f, 0x1.933334p+2f,
    0x1.8cccccp+2f, 0x1.866666p+2f, 0x1.ccccccp+2f, 0x1.f9999ap+2f, 0x1.933334p+2f, 0x1.866666p+2f,
    0x1.8p+2f, 0x1.b9999ap+2f, 0x1.8cccccp+2f, 0x1.8cccccp+2f, 0x1.8cccccp+2f, 0x1.8cccccp+2f,
    0x1.4p+1f, 0x1.99999ap+1f, 0x1.19999ap+1f, 0x1.59999ap+1f, 0x1.666666p+1f, 0x1.8p+1f,
    0x1.8p+1f, 0x1.e66666p+1f, 0x1.666666p+1f, 0x1.4cccccp+1f, 0x1.8p+1f, 0x1.8cccccp+1f,
    0x1.b33334p+1f, 0x1.b33334p+1f, 0x1.b33334p+1f, 0x1.b33334p+1f, 0x1.2p+2f, 0x1.466666p+2f,
    0x1.4p+2f, 0x1.39999ap+2f, 0x1.333334p+2f, 0x1.39999ap+2f, 0x1.733334p+2f, 0x1.99999ap+2f,
    0x1.466666p+2f, 0x1.666666p+2f, 0x1.333334p+2f, 0x1.466666p+2f, 0x1.59999ap+2f, 0x1.59999ap+2f,
    0x1.59999ap+2f, 0x1.59999ap+2f, 0x1.b33334p+0f, 0x1p+1f, 0x1.8p+0f, 0x1.ccccccp+0f,
    0x1.ccccccp+0f, 0x1.ccccccp+0f, 0x1.99999ap+0f, 0x1p+1f, 0x1.8p+0f, 0x1.666666p+0f,
    0x1.ccccccp+0f, 0x1.266666p+1f, 0x1.266666p+1f, 0x1.266666p+1f, 0x1.266666p+1f, 0x1.266666p+1f
};

/* dual coefficients: [block][row][lane], 0 where a block is filled up */
static const float iris_coefficients[128U] = {
    0x1.59cfb8p-2f, 0x0p+0f, 0x1.047b0ep-5f, 0x1.2a3fa4p-2f, 0x1.5bfa56p-5f, 0x1.795282p-3f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x1.ccabc4p-4f, 0x1.d8543cp-5f, 0x1.113d72p-6f, 0x1.238c1p-3f, 0x1.097452p-4f, 0x1.049928p-4f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x1.da8076p-4f, -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x0p+0f,
    -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x1.c58834p-4f, 0x1p+0f,
    0x1.22d8a8p-4f, 0x1.58292ep-1f, 0x1.4a411ap-3f, 0x1.8d4f16p-3f, 0x1p+0f, 0x1p+0f, 0x1p+0f,
    0x1p+0f, 0x1.3369c4p-1f, 0x1.229846p-2f, 0x1p+0f, 0x1.a8ca92p-5f, 0x1p+0f, 0x1.a2dfdap-2f,
    0x0p+0f, -0x1.d8b3a2p-4f, -0x1.174c1cp-1f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.69cadap-2f, -0x0p+0f, -0x0p+0f, -0x0p+0f,
    -0x0p+0f, -0x0p+0f, -0x0p+0f, -0x1.bf2a68p-7f, -0x1.be89b2p-6f, -0x0p+0f, -0x1.35fabcp-6f,
    -0x0p+0f, -0x1.6c3218p-5f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1p+0f, -0x1.28f7c6p-1f, -0x1p+0f,
    -0x1p+0f, -0x1p+0f, -0x1p+0f, -0x1.39c936p-1f, -0x0p+0f, -0x1p+0f, -0x1.8dd8f8p-1f, -0x1p+0f,
    -0x1.e501acp-2f, -0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f
};

/* the block after a group's last one: [group] */
static const uint16_t iris_group_ends[3U] = {
    1U, 3U, 4U
};

/* what a row adds to: [group][row] */
static const uint16_t iris_group_decisions[6U] = {
    0U, 1U, 0U, 2U, 1U, 2U
};

/* b: [decision] */
static const float iris_intercept[3U] = {
    0x1.00bc52p+0f, 0x1.01e962p+0f, 0x1.001deap+0f
};

/* errors that no input changes: [decision] */
static const float iris_minimum_bound[3U] = {
    0x1.9f43cep-27f, 0x1.4347d6p-25f, 0x1.8f3006p-27f
};

/* b: [decision] */
static const double iris_replay_intercept[3U] = {
    0x1.00bc51cc17938p+0, 0x1.01e962a1a3c12p+0, 0x1.001dea31e5f3fp+0
};

/* errors that no input changes: [decision] */
static const double iris_replay_minimum_bound[3U] = {
    0x1.1719d459d3d49p-1014, 0x1.13a96a56e8ad8p-1014, 0x1.5b8cc21402023p-1014
};

/* what the vectors' table leaves off */
static const float iris_replay_vectors_low[256U] = {
    0x1.99999ap-24f, -0x1.99999ap-23f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x1.99999ap-24f, 0x1.99999ap-24f,
    0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f,
    0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-25f,
    -0x1.99999ap-24f, 0x0p+0f, 0x1.99999ap-25f, 0x0p+0f, 0x1.99999ap-25f, 0x1.99999ap-25f,
    0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f,
    0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f, -0x1.99999ap-25f,
    0x1.99999ap-26f, -0x1.99999ap-26f, 0x1.99999ap-25f, -0x1.99999ap-26f, 0x1.99999ap-26f,
    0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f,
    0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, 0x1.99999ap-26f, 0x0p+0f,
    -0x1.99999ap-29f, -0x1.99999ap-29f, -0x1.99999ap-27f, -0x1.99999ap-26f, -0x1.99999ap-28f,
    -0x1.99999ap-28f, -0x1.99999ap-28f, -0x1.99999ap-28f, -0x1.99999ap-28f, -0x1.99999ap-28f,
    -0x1.99999ap-28f, -0x1.99999ap-28f, -0x1.99999ap-28f, -0x1.99999ap-28f, -0x1.99999ap-28f,
    -0x1.99999ap-24f, 0x0p+0f, -0x1.99999ap-23f, -0x1.99999ap-24f, 0x1.99999ap-23f,
    0x1.99999ap-24f, 0x1.99999ap-23f, -0x1.99999ap-24f, -0x1.99999ap-23f, 0x1.99999ap-24f,
    -0x1.99999ap-23f, 0x1.99999ap-23f, 0x0p+0f, 0x0p+0f, -0x1.99999ap-24f, 0x0p+0f,
    0x1.99999ap-24f, 0x1.99999ap-25f, 0x1.99999ap-25f, -0x1.99999ap-24f, -0x1.99999ap-25f,
    -0x1.99999ap-24f, -0x1.99999ap-25f, -0x1.99999ap-25f, 0x0p+0f, 0x1.99999ap-25f,
    0x1.99999ap-25f, 0x0p+0f, -0x1.99999ap-24f, -0x1.99999ap-25f, 0x0p+0f, -0x1.99999ap-24f,
    -0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-23f, 0x1.99999ap-25f, -0x1.99999ap-24f,
    0x1.99999ap-23f, 0x0p+0f, -0x1.99999ap-23f, -0x1.99999ap-24f, 0x1.99999ap-23f,
    -0x1.99999ap-23f, 0x0p+0f, 0x0p+0f, 0x1.99999ap-24f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    -0x1.99999ap-26f, 0x0p+0f, 0x1.99999ap-26f, 0x1.99999ap-26f, 0x0p+0f, 0x1.99999ap-25f, 0x0p+0f,
    -0x1.99999ap-25f, 0x1.99999ap-26f, -0x1.99999ap-25f, 0x0p+0f, -0x1.99999ap-26f, 0x0p+0f,
    -0x1.99999ap-26f, 0x0p+0f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f,
    0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f,
    0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f, 0x1.99999ap-24f,
    0x1.99999ap-24f, 0x1.99999ap-25f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x1.99999ap-25f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.99999ap-26f,
    -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f,
    -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f,
    -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-26f, -0x1.99999ap-24f,
    0x0p+0f, 0x0p+0f, -0x1.99999ap-23f, 0x1.99999ap-23f, 0x1.99999ap-24f, 0x1.99999ap-23f,
    -0x1.99999ap-24f, -0x1.99999ap-23f, 0x1.99999ap-24f, 0x0p+0f, -0x1.99999ap-24f,
    0x1.99999ap-23f, 0x1.99999ap-23f, 0x1.99999ap-23f, 0x1.99999ap-23f, 0x0p+0f, -0x1.99999ap-25f,
    -0x1.99999ap-25f, -0x1.99999ap-25f, 0x1.99999ap-25f, 0x0p+0f, 0x0p+0f, 0x1.99999ap-25f,
    0x1.99999ap-25f, 0x1.99999ap-24f, 0x0p+0f, 0x1.99999ap-24f, -0x1.99999ap-24f, -0x1.99999ap-24f,
    -0x1.99999ap-24f, -0x1.99999ap-24f, 0x0p+0f, 0x1.99999ap-24f, 0x0p+0f, -0x1.99999ap-24f,
    -0x1.99999ap-23f, -0x1.99999ap-24f, -0x1.99999ap-23f, -0x1.99999ap-24f, 0x1.99999ap-24f,
    0x1.99999ap-24f, -0x1.99999ap-23f, 0x1.99999ap-24f, -0x1.99999ap-24f, -0x1.99999ap-24f,
    -0x1.99999ap-24f, -0x1.99999ap-24f, -0x1.99999ap-25f, 0x0p+0f, 0x0p+0f, 0x1.99999ap-25f,
    0x1.99999ap-25f, 0x1.99999ap-25f, -0x1.99999ap-26f, 0x0p+0f, 0x0p+0f, 0x1.99999ap-26f,
    0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f, 0x1.99999ap-25f,
    0x1.99999ap-25f
};

/* what the coefficients' leaves off */
static const float iris_replay_coefficients_low[128U] = {
    -0x1.7a222p-27f, 0x0p+0f, 0x1.8cfaacp-30f, 0x1.613a5p-27f, -0x1.5651d4p-31f, 0x1.397b8ep-29f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x1.934c74p-29f, 0x1.af484p-39f, -0x1.33939cp-32f, -0x1.5398a2p-29f, 0x1.8ac06p-31f,
    0x1.84101p-30f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.0ec43p-30f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.9ff058p-29f,
    0x0p+0f, -0x1.bba6f8p-30f, 0x1.736e0ep-28f, -0x1.8fbdf4p-28f, 0x1.20ee7ep-30f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.a1ce1p-26f, 0x1.d2085p-27f, 0x0p+0f, 0x1.cb2744p-30f, 0x0p+0f,
    0x1.f1a52p-29f, 0x0p+0f, -0x1.9cc92cp-29f, 0x1.cfaacep-26f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x1.6dc3dap-27f, 0x0p+0f, 0x0p+0f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.b2071ep-34f, 0x1.10ec2ap-31f, 0x0p+0f,
    0x1.ce5e16p-31f, 0x0p+0f, 0x1.8123b4p-31f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x1.d30e36p-28f,
    0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f, -0x1.f5e18cp-26f, 0x0p+0f, 0x0p+0f, -0x1.b9ce92p-26f,
    0x0p+0f, -0x1.2ce23cp-27f, 0x0p+0f, 0x0p+0f, 0x0p+0f, 0x0p+0f
};

/* inputs of the self-test: [answer][feature] */
static const float iris_known_inputs[96U] = {
    0x1.acccccp+2f, 0x1.8p+1f, 0x1.4p+2f, 0x1.b33334p+0f, 0x1.4cccccp+2f, 0x1.59999ap+1f,
    0x1.f33334p+1f, 0x1.666666p+0f, 0x1.4p+2f, 0x1.8p+1f, 0x1.99999ap+0f, 0x1.99999ap-3f,
    0x1.8p+2f, 0x1.19999ap+1f, 0x1.4p+2f, 0x1.8p+0f, 0x1.39999ap+2f, 0x1.4p+1f, 0x1.2p+2f,
    0x1.b33334p+0f, 0x1.466666p+2f, 0x1.4p+1f, 0x1.8p+1f, 0x1.19999ap+0f, 0x1.39999ap+2f,
    0x1.333334p+1f, 0x1.a66666p+1f, 0x1p+0f, 0x1.4p+2f, 0x1.266666p+1f, 0x1.a66666p+1f, 0x1p+0f,
    0x1.933334p+2f, 0x1.4p+1f, 0x1.39999ap+2f, 0x1.8p+0f, 0x1.8p+2f, 0x1.8p+1f, 0x1.333334p+2f,
    0x1.ccccccp+0f, 0x1.8cccccp+2f, 0x1.666666p+1f, 0x1.333334p+2f, 0x1.ccccccp+0f, 0x1.79999ap+2f,
    0x1.99999ap+1f, 0x1.333334p+2f, 0x1.ccccccp+0f, 0x1.ap+2f, 0x1.99999ap+1f, 0x1.466666p+2f,
    0x1p+1f, 0x1.466666p+2f, 0x1.e66666p+1f, 0x1.e66666p+0f, 0x1.99999ap-2f, 0x1.8p+2f,
    0x1.733334p+1f, 0x1.2p+2f, 0x1.8p+0f, 0x1.8p+2f, 0x1.59999ap+1f, 0x1.466666p+2f,
    0x1.99999ap+0f, 0x1.333334p+2f, 0x1.b33334p+1f, 0x1.e66666p+0f, 0x1.99999ap-3f, 0x1.8cccccp+2f,
    0x1.19999ap+1f, 0x1.2p+2f, 0x1.8p+0f, 0x1.8cccccp+2f, 0x1.b33334p+1f, 0x1.59999ap+2f,
    0x1.266666p+1f, 0x1.866666p+2f, 0x1.8p+1f, 0x1.39999ap+2f, 0x1.ccccccp+0f, 0x1.b33334p+2f,
    0x1.666666p+1f, 0x1.333334p+2f, 0x1.666666p+0f, 0x1.b9999ap+2f, 0x1.8cccccp+1f, 0x1.39999ap+2f,
    0x1.8p+0f, 0x1.4p+2f, 0x1.cp+1f, 0x1.99999ap+0f, 0x1.333334p-1f, 0x1.b9999ap+2f,
    0x1.8cccccp+1f, 0x1.466666p+2f, 0x1.266666p+1f
};

/* their labels: [answer] */
static const uint16_t iris_known_labels[24U] = {
    2U, 1U, 0U, 2U, 2U, 1U, 1U, 1U, 1U, 2U, 2U, 2U, 2U, 0U, 1U, 2U, 0U, 1U, 2U, 2U, 1U, 1U, 0U, 2U
};

/* least decisions: [answer][decision] */
static const float iris_known_lower[72U] = {
    -0x1.25ec8cp+0f, -0x1.0919a2p+0f, -0x1.60511cp-3f, -0x1.1ddb16p+0f, -0x1.143996p-1f,
    0x1.ff8688p-1f, 0x1.002336p+0f, 0x1.ffe5c6p-1f, 0x1.57d992p+0f, -0x1.5b31a4p+0f,
    -0x1.015c5ep+0f, -0x1.8e19fep-3f, -0x1.42a07ep+0f, -0x1.000a6cp+0f, -0x1.72e7dcp-2f,
    -0x1.001a52p+0f, -0x1.6af7fcp-6f, 0x1.2292b4p+0f, -0x1.001a52p+0f, -0x1.f3805cp-4f,
    0x1.ffc41p-1f, -0x1.001764p+0f, -0x1.7a6544p-4f, 0x1.155a76p+0f, -0x1.613b7p+0f,
    -0x1.0be1bcp+0f, 0x1.fd12d4p-4f, -0x1.25ec7cp+0f, -0x1.ffc5ecp-1f, -0x1.1cccf4p-1f,
    -0x1.3ec7f8p+0f, -0x1.10740ep+0f, -0x1.61435ap-1f, -0x1.0bdc2p+0f, -0x1.e1cfep-1f,
    -0x1.ab8a5p-3f, -0x1.0eb1d4p+0f, -0x1.0338eep+0f, -0x1.003a6cp+0f, 0x1.0004a4p+0f,
    0x1.ffd044p-1f, 0x1.c3e9cap+0f, -0x1.2f848p+0f, -0x1.cbf134p-1f, 0x1.ff6056p-1f,
    -0x1.4b35a4p+0f, -0x1.0b0ceap+0f, -0x1.6af65p-1f, 0x1.0488b4p+0f, 0x1.ffe05p-1f, 0x1.98fafp+0f,
    -0x1.5b31ap+0f, -0x1.f2b46p-1f, 0x1.ab8d2ap-1f, -0x1.001c5ap+0f, -0x1.ffd7b6p-1f,
    -0x1.aa9b68p+0f, -0x1.25ec8p+0f, -0x1.0441d2p+0f, -0x1.908214p-1f, -0x1.391cb2p+0f,
    -0x1.df0e38p-1f, 0x1.ffa646p-1f, -0x1.177992p+0f, -0x1.d6d97ep-1f, 0x1.e66c06p-1f,
    0x1.000d2ap+0f, 0x1.ffe5a8p-1f, 0x1.ae71ccp+0f, -0x1.1a4f3ap+0f, -0x1.0e308ap+0f,
    -0x1.006cfcp+0f
};

/* largest decisions: [answer][decision] */
static const float iris_known_upper[72U] = {
    -0x1.25e11p+0f, -0x1.09135ap+0f, -0x1.5ba044p-3f, -0x1.1dd026p+0f, -0x1.142e02p-1f,
    0x1.004692p+0f, 0x1.002d0ep+0f, 0x1.fff002p-1f, 0x1.584342p+0f, -0x1.5b2698p+0f,
    -0x1.01565ep+0f, -0x1.89a762p-3f, -0x1.42959ep+0f, -0x1.00048p+0f, -0x1.70d0d4p-2f,
    -0x1.000faap+0f, -0x1.699b04p-6f, 0x1.230b2p+0f, -0x1.000fcap+0f, -0x1.f32964p-4f,
    0x1.0059ccp+0f, -0x1.000cd8p+0f, -0x1.7a0e7cp-4f, 0x1.15d25ep+0f, -0x1.61302cp+0f,
    -0x1.0bdbap+0f, 0x1.031536p-3f, -0x1.25e12p+0f, -0x1.ffb98cp-1f, -0x1.1ba764p-1f,
    -0x1.3ebca4p+0f, -0x1.106ddep+0f, -0x1.601cfep-1f, -0x1.0bd0bcp+0f, -0x1.e1c378p-1f,
    -0x1.a6f71p-3f, -0x1.0ea648p+0f, -0x1.03329ep+0f, -0x1.ff4782p-1f, 0x1.000fp+0f,
    0x1.ffdb04p-1f, 0x1.c4590ap+0f, -0x1.2f793cp+0f, -0x1.cbe504p-1f, 0x1.003faap+0f,
    -0x1.4b2a58p+0f, -0x1.0b06c2p+0f, -0x1.69d208p-1f, 0x1.0492bp+0f, 0x1.ffeab8p-1f,
    0x1.9965e4p+0f, -0x1.5b269cp+0f, -0x1.f2a878p-1f, 0x1.aca67ep-1f, -0x1.0010c2p+0f,
    -0x1.ffcb02p-1f, -0x1.aa04c4p+0f, -0x1.25e11cp+0f, -0x1.043b9ap+0f, -0x1.8f5a44p-1f,
    -0x1.39114ap+0f, -0x1.df01ep-1f, 0x1.0066b2p+0f, -0x1.176e0ap+0f, -0x1.d6ccfap-1f,
    0x1.e797a2p-1f, 0x1.00175ap+0f, 0x1.fff04p-1f, 0x1.aedf08p+0f, -0x1.1a43a2p+0f,
    -0x1.0e2a32p+0f, -0x1.ffaa6p-1f
};

/* CRC-32C of each table, in the order of the tables */
static const uint32_t iris_checksums[14U] = {
    2450871027UL, 2906033659UL, 3128416247UL, 654372245UL, 1144172193UL, 314993720UL, 1987746793UL,
    388665639UL, 344757113UL, 128150677UL, 4186576224UL, 641194386UL, 3307057262UL, 2112171848UL
};

/* |v|, of any v: clears the sign bit. */
static float iris_magnitude(const float v)
{
    iris_bits_t number;

    number.value = v;
    number.bits &= 0x7FFFFFFFUL;
    return number.value;
}

/*
 * sqrt(v), correctly rounded, one bit a step as on paper, in integers. The radicand is
 * significand * 2^25 or * 2^26, whichever leaves an even exponent, so its root has 25 bits.
 * Before each step remainder = (radicand - root^2) / bit < 2^28, and root + bit is tried:
 * (root + bit)^2 <= radicand says that remainder >= 2 root + bit.
 * Input: v >= 0, finite; subnormal numbers are allowed.
 * Result: the float nearest to sqrt(v); sqrt(0) = 0. A leaf function.
 */
static float iris_square_root(const float v)
{
    const uint32_t leading_bit = 0x00800000UL;
    const uint32_t twelve = 0x06000000UL;  /* in the exponent of a float */
    const float two_to_24 = 0x1p+24f;
    const bool subnormal = v < 0x1p-126f;
    iris_bits_t number;
    uint32_t exponent;
    uint32_t shift;
    uint32_t remainder;
    uint32_t twice_root = 0U;
    uint32_t bit;

    if (v <= 0.0f) {
        return v;
    }
    number.value = v;
    if (subnormal) {
        number.value *= two_to_24;
    }
    exponent = number.bits >> 23U;
    shift = 2U - (exponent & 1U);
    remainder = ((number.bits & (leading_bit - 1U)) | leading_bit) << shift;
    for (bit = leading_bit << 1U; bit > 0U; bit >>= 1U) {
        const uint32_t trial = twice_root + bit;

        if (remainder >= trial) {
            remainder -= trial;
            twice_root = trial + bit;
        }
        remainder <<= 1U;
    }
    /* Rounds the root to 24 bits. It is never half-way: the square of an odd root is odd. The
       leading bit of the root adds the 1 that is missing in the exponent. */
    number.bits = (((exponent + 127U) >> 1U) - 1U) << 23U;
    number.bits += (twice_root + 2U) >> 2U;
    /* sqrt(2^24) = 2^12 */
    number.bits -= subnormal ? twelve : 0U;
    return number.value;
}

/* Sum of n x_j^2: feature j goes to partial sum j modulo 4, the partial sums are added in order. */
static float iris_sum_of_squares(const float x[], const uint32_t n)
{
    float partial_0 = 0.0f;
    float partial_1 = 0.0f;
    float partial_2 = 0.0f;
    float partial_3 = 0.0f;
    uint32_t j;

    for (j = 0U; (j + 4U) <= n; j += 4U) {
        partial_0 += x[j] * x[j];
        partial_1 += x[j + 1U] * x[j + 1U];
        partial_2 += x[j + 2U] * x[j + 2U];
        partial_3 += x[j + 3U] * x[j + 3U];
    }
    if (j < n) {
        partial_0 += x[j] * x[j];
    }
    if ((j + 1U) < n) {
        partial_1 += x[j + 1U] * x[j + 1U];
    }
    if ((j + 2U) < n) {
        partial_2 += x[j + 2U] * x[j + 2U];
    }
    return ((partial_0 + partial_1) + partial_2) + partial_3;
}

/*
 * sqrt(factor * sum of x_j^2 + minimum), which is at least the Euclidean norm of x: factor holds
 * the relative errors of the sum and of this bound, minimum the underflows.
 */
static float iris_length(
    const float x[],
    const uint32_t n,
    const float factor,
    const float minimum)
{
    const float squares = iris_sum_of_squares(x, n);

    return iris_square_root((factor * squares) + minimum);
}

/* Bit 31 is set if |v| > limit, both as the bits of floats, which order as the magnitudes do. */
static uint32_t iris_excess(const float v, const uint32_t limit)
{
    iris_bits_t number;

    number.value = v;
    return limit - (number.bits & 0x7FFFFFFFUL);
}

/* 1 if any feature's magnitude is greater than a limit, otherwise 0. */
static uint32_t iris_any_excess(
    const iris_input_t x[IRIS_N_FEATURES],
    const uint32_t limit)
{
    uint32_t excess = 0U;
    uint32_t j;

    for (j = 0U; j < 4U; j += 4U) {
        excess |= iris_excess(x[j], limit);
        excess |= iris_excess(x[j + 1U], limit);
        excess |= iris_excess(x[j + 2U], limit);
        excess |= iris_excess(x[j + 3U], limit);
    }
    return excess >> 31U;
}

/*
 * Refuses an input that is not finite or that exceeds IRIS_INPUT_LIMIT:
 * up to it no later intermediate can overflow.
 */
static iris_status_t iris_check(
    const iris_input_t x[IRIS_N_FEATURES])
{
    const uint32_t largest_finite = 0x7F7FFFFFUL;
    iris_status_t status = IRIS_OK;

    if (iris_any_excess(x, 0x5C800000UL) != 0U) {
        status = (iris_any_excess(x, largest_finite) != 0U)
            ? IRIS_ERROR_NOT_FINITE : IRIS_ERROR_RANGE;
    }
    return status;
}

/* There is no preprocessing: the kernel gets the input itself, which is exact. Input: x checked. */
static iris_prepared_t iris_prepare(
    iris_workspace_t *const workspace,
    const iris_input_t x[IRIS_N_FEATURES])
{
    iris_prepared_t state;

    state.x = x;
    state.deviation = 0.0f;
    state.raw = x;
    state.length = iris_length(x, IRIS_N_FEATURES,
        0x1.000054p+0f, 0x1.000042p-122f);
    (void)workspace;
    return state;
}

/* What the error of a kernel value depends on, for one query. */
typedef struct {
    float sum_error;  /* of sum_j min(s_j, x_j) */
    bool usable;
} iris_kernel_terms_t;

/*
 * Bounds the error of a sum of minima: those are exact, move by at most what s_j and x_j move, and
 * adding them rounds. Input: deviation >= |x - prepared x| and length >= |prepared x|.
 */
static iris_kernel_terms_t iris_kernel_prepare(
    const iris_prepared_t *const input)
{
    iris_kernel_terms_t terms;

    terms.sum_error = ((0x1.000046p-21f * input->length)
        + (0x1.000042p+1f * input->deviation)) + 0x1.867ef4p-18f;
    terms.usable = true;
    return terms;
}

/* One feature's part of sum_j min(s_j, x_j). */
static float iris_kernel_term(const float x, const float s)
{
    return (x < s) ? x : s;
}

/* K(s, x). Input: total = sum_j min(s_j, x_j). */
static float iris_kernel_value(const float total)
{
    return total;
}

/*
 * K(s, x) for the vectors of a block.
 * Input: total[lane] = sum_j min(s_j, x_j).
 * Result: value[lane] within error[lane] of the trained kernel at the exact input.
 */
static void iris_kernel_values(
    const iris_kernel_terms_t *const terms,
    const float total[IRIS_LANES],
    float value[IRIS_LANES],
    float error[IRIS_LANES])
{
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        const float k = iris_kernel_value(total[lane]);

        value[lane] = k;
        error[lane] = terms->sum_error + (iris_magnitude(k) * 0x1.600078p-20f);
    }
}

/*
 * total[lane] = sum over the features of the term, for the vectors of one block, each in
 * the order of the features.
 * Input: block = the first word of the block's vectors, [feature][lane].
 */
static void iris_block_totals(
    const float block[IRIS_BLOCK_WORDS],
    const float x[IRIS_N_PREPARED],
    float total[IRIS_LANES])
{
    uint32_t j;
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        total[lane] = 0.0f;
    }
    for (j = 0U; j < 4U; j += 4U) {
        const float *const s = &block[j * IRIS_LANES];

        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            float sum = total[lane];

            sum += iris_kernel_term(x[j + 0U],
                s[lane + (0U * IRIS_LANES)]);
            sum += iris_kernel_term(x[j + 1U],
                s[lane + (1U * IRIS_LANES)]);
            sum += iris_kernel_term(x[j + 2U],
                s[lane + (2U * IRIS_LANES)]);
            sum += iris_kernel_term(x[j + 3U],
                s[lane + (3U * IRIS_LANES)]);
            total[lane] = sum;
        }
    }
}

/* Adds one block's share to every row's running sum of values and of errors. */
static void iris_add_block(
    iris_workspace_t *const workspace,
    const uint32_t block,
    const float value[IRIS_LANES],
    const float error[IRIS_LANES])
{
    const uint32_t first = block * IRIS_N_ROWS;
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t index = (first + row) * IRIS_LANES;
        const float *const coef = &iris_coefficients[index];
        float sum = coef[0] * value[0];
        float sum_error = coef[0] * error[0];

        uint32_t lane;

        for (lane = 1U; lane < IRIS_LANES; ++lane) {
            sum += coef[lane] * value[lane];
            sum_error += coef[lane] * error[lane];
        }
        workspace->row_sum[row] += sum;
        workspace->row_error[row] += sum_error;
    }
}

/*
 * Adds a group's rows to the decisions they belong to, and clears them. Within a group the
 * coefficients of a row have one sign, so |sum of coefficient * error| bounds the row's error.
 * A decision's index is checked, so that a damaged table cannot write elsewhere.
 * Result: whether all indices were valid.
 */
static bool iris_add_group(
    iris_workspace_t *const workspace,
    const uint32_t group)
{
    const uint32_t first = group * IRIS_N_ROWS;
    bool valid = true;
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t p = iris_group_decisions[first + row];

        if (p < IRIS_N_DECISIONS) {
            workspace->decision[p] += workspace->row_sum[row];
            workspace->bound[p] += iris_magnitude(workspace->row_error[row]);
        } else {
            valid = false;
        }
        workspace->row_sum[row] = 0.0f;
        workspace->row_error[row] = 0.0f;
    }
    return valid;
}

/*
 * decision[p] = sum over i of beta_pi K(s_i, x) + b_p, bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * Result: false if a table of the groups is damaged; then the decisions are not to be used.
 */
static bool iris_exact_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    const iris_kernel_terms_t terms =
        iris_kernel_prepare(input);
    float total[IRIS_LANES];
    float value[IRIS_LANES];
    float error[IRIS_LANES];
    bool valid = true;
    uint32_t group = 0U;
    uint32_t block;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->decision[p] = 0.0f;
        workspace->bound[p] = 0.0f;
    }
    for (p = 0U; p < IRIS_N_ROWS; ++p) {
        workspace->row_sum[p] = 0.0f;
        workspace->row_error[p] = 0.0f;
    }
    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        const uint32_t first = block * IRIS_BLOCK_WORDS;
        const float *const vectors = &iris_vectors[first];

        iris_block_totals(vectors, input->x, total);
        iris_kernel_values(&terms, total, value, error);
        iris_add_block(workspace, block, value, error);
        if ((group < IRIS_N_GROUPS)
            && ((block + 1U) == iris_group_ends[group])) {
            valid = iris_add_group(workspace, group) && valid;
            ++group;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const float f = workspace->decision[p] + iris_intercept[p];
        const float rounding = iris_magnitude(f) * 0x1.000042p-22f;
        const float summed = (workspace->bound[p] * 0x1.00007cp+0f) + rounding;
        const float bound = summed + iris_minimum_bound[p];

        workspace->decision[p] = f;
        /* If the kernel's errors are not usable, every value may be off as far as it can be. */
        workspace->bound[p] = terms.usable ? bound : (rounding + 0x1.2e31fap+5f);
    }
    return valid && (group == IRIS_N_GROUPS);
}

/*
 * Counts, for each class, the votes, the sure ones (the pair's interval excludes 0) and the
 * possible ones (it does not exclude the class). Pairs in the order (0, 1), (0, 2), ...
 * Input: the decisions and their bounds, in the workspace.
 */
static void iris_count_votes(
    iris_workspace_t *const workspace)
{
    uint32_t p = 0U;
    uint32_t i;
    uint32_t j;

    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        workspace->votes[i] = 0U;
        workspace->sure[i] = 0U;
        workspace->possible[i] = 0U;
    }
    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        for (j = i + 1U; j < IRIS_N_CLASSES; ++j) {
            const float f = workspace->decision[p];
            const float lower = f - workspace->bound[p];
            const float upper = f + workspace->bound[p];

            workspace->votes[(f > 0.0f) ? i : j] += 1U;
            workspace->sure[i] += (lower > 0.0f) ? 1U : 0U;
            workspace->sure[j] += (upper < 0.0f) ? 1U : 0U;
            /* Written so that a bound that is no number excludes neither. */
            workspace->possible[i] += (upper < 0.0f) ? 0U : 1U;
            workspace->possible[j] += (lower > 0.0f) ? 0U : 1U;
            ++p;
        }
    }
}

/* The class with most votes; of equal ones the first. */
static uint32_t iris_winner(
    const iris_workspace_t *const workspace)
{
    uint32_t winner = 0U;
    uint32_t c;

    for (c = 1U; c < IRIS_N_CLASSES; ++c) {
        if (workspace->votes[c] > workspace->votes[winner]) {
            winner = c;
        }
    }
    return winner;
}

/* Whether the winner beats a rival under every outcome of the pairs that are not sure. */
static bool iris_beats(
    const iris_workspace_t *const workspace,
    const uint32_t winner,
    const uint32_t rival)
{
    const uint32_t own = workspace->sure[winner];
    const uint32_t other = workspace->possible[rival];

    return (own > other) || ((own == other) && (winner < rival));
}

/*
 * The label by votes, the interval of the pair with the smallest margin among those that the
 * winner won, and the certificate: the label is the same under every outcome of the pairs whose
 * interval holds 0.
 */
static void iris_vote(
    iris_workspace_t *const workspace,
    iris_result_t *const result)
{
    float smallest = 0x1p+127f;
    uint32_t winner;
    uint32_t p = 0U;
    uint32_t i;
    uint32_t j;

    iris_count_votes(workspace);
    winner = iris_winner(workspace);
    result->label = (int32_t)winner;
    result->lower = 0.0f;
    result->upper = 0.0f;
    result->certified = true;
    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        if ((i != winner) && !iris_beats(workspace, winner, i)) {
            result->certified = false;
        }
        for (j = i + 1U; j < IRIS_N_CLASSES; ++j) {
            const float f = workspace->decision[p];
            const float margin = iris_magnitude(f);
            const uint32_t pair_winner = (f > 0.0f) ? i : j;

            if ((pair_winner == winner) && (margin < smallest)) {
                smallest = margin;
                result->lower = f - workspace->bound[p];
                result->upper = f + workspace->bound[p];
            }
            ++p;
        }
    }
}

/*
 * The functions of the replay: the exact sums once more in double, where float leaves the label
 * open. The order of every sum is that of float.
 */
#if (DBL_MANT_DIG != 53) || (DBL_MAX_EXP != 1024)
#error "double must be the 64-bit type of IEEE 754: compile the model with --replay none"
#endif

/* A double and its bits. */
typedef union {
    double value;
    uint64_t bits;
} iris_replay_bits_t;

/* An input on its way through the preprocessing in double. */
typedef struct {
    const double *x;
    double deviation;  /* >= the distance of x from the exactly prepared input */
    double length;     /* >= the Euclidean norm of x, where it is needed */
} iris_replay_prepared_t;

/* |v|, of any v: clears the sign bit. */
static double iris_replay_magnitude(const double v)
{
    iris_replay_bits_t number;

    number.value = v;
    number.bits &= 0x7FFFFFFFFFFFFFFFULL;
    return number.value;
}

/* A float that is at most v: more than rounding and a flushed subnormal is taken away first. */
static float iris_replay_below(const double v)
{
    return (float)(v - ((iris_replay_magnitude(v) * 0x1p-23) + 0x1p-126));
}

/* A float that is at least v. */
static float iris_replay_above(const double v)
{
    return -iris_replay_below(-v);
}

/*
 * sqrt(v) by two steps of Heron's, (y + v / y) / 2, from the root in float.
 * Input: 0 <= v <= 2^126.
 * Result: within a relative error of 2^-52 from v = 2^-180 on, 0 below 2^-192.
 */
static double iris_replay_square_root(const double v)
{
    const bool tiny = v < 0x1p-64;
    const double scaled = v * (tiny ? 0x1p+128 : 1.0);
    double root = 0.0;

    /* Written so that NaN, which only a damaged table can give, is not lost. */
    if (!(scaled < 0x1p-64)) {
        root = (double)iris_square_root((float)scaled);
        root = 0.5 * (root + (scaled / root));
        root = 0.5 * (root + (scaled / root));
        root *= (tiny ? 0x1p-64 : 1.0);
    }
    return root;
}

/* Sum of n x_j^2: feature j goes to partial sum j modulo 4, the partial sums are added in order. */
static double iris_replay_sum_of_squares(const double x[], const uint32_t n)
{
    double partial_0 = 0.0;
    double partial_1 = 0.0;
    double partial_2 = 0.0;
    double partial_3 = 0.0;
    uint32_t j;

    for (j = 0U; (j + 4U) <= n; j += 4U) {
        partial_0 += x[j] * x[j];
        partial_1 += x[j + 1U] * x[j + 1U];
        partial_2 += x[j + 2U] * x[j + 2U];
        partial_3 += x[j + 3U] * x[j + 3U];
    }
    if (j < n) {
        partial_0 += x[j] * x[j];
    }
    if ((j + 1U) < n) {
        partial_1 += x[j + 1U] * x[j + 1U];
    }
    if ((j + 2U) < n) {
        partial_2 += x[j + 2U] * x[j + 2U];
    }
    return ((partial_0 + partial_1) + partial_2) + partial_3;
}

/*
 * sqrt(factor * sum of x_j^2 + minimum), which is at least the Euclidean norm of x: factor holds
 * the relative errors of the sum and of this bound, minimum the underflows.
 */
static double iris_replay_length(
    const double x[],
    const uint32_t n,
    const double factor,
    const double minimum)
{
    const double squares = iris_replay_sum_of_squares(x, n);

    return iris_replay_square_root((factor * squares) + minimum);
}

/*
 * Converts the input as it was received and applies the preprocessing in double.
 * Input: checked. deviation begins with what is lost of subnormal features on a machine that
 * reads them as 0.
 */
static iris_replay_prepared_t iris_replay_prepare(
    iris_replay_workspace_t *const workspace,
    const iris_prepared_t *const input)
{
    iris_replay_prepared_t state;
    uint32_t j;

    for (j = 0U; j < IRIS_N_FEATURES; ++j) {
        workspace->prepared_0[j] = (double)input->raw[j];
    }
    state.x = workspace->prepared_0;
    state.deviation = 0x1.0000400000001p-125;
    state.length = iris_replay_length(state.x, IRIS_N_FEATURES,
        0x1.000040000000ap+0, 0x1.0000400000001p-180);
    return state;
}

/* What the error of a kernel value depends on, for one query. */
typedef struct {
    double sum_error;  /* of sum_j min(s_j, x_j) */
    bool usable;
} iris_replay_kernel_terms_t;

/*
 * Bounds the error of a sum of minima: those are exact, move by at most what s_j and x_j move, and
 * adding them rounds. Input: deviation >= |x - prepared x| and length >= |prepared x|.
 */
static iris_replay_kernel_terms_t iris_replay_kernel_prepare(
    const iris_replay_prepared_t *const input)
{
    iris_replay_kernel_terms_t terms;

    terms.sum_error = ((0x1.0000400000003p-50 * input->length)
        + (0x1.0000400000001p+1 * input->deviation)) + 0x1.8819cc147b04ap-46;
    terms.usable = true;
    return terms;
}

/* One feature's part of sum_j min(s_j, x_j). */
static double iris_replay_kernel_term(const double x, const double s)
{
    return (x < s) ? x : s;
}

/* K(s, x). Input: total = sum_j min(s_j, x_j). */
static double iris_replay_kernel_value(const double total)
{
    return total;
}

/*
 * K(s, x) for the vectors of a block.
 * Input: total[lane] = sum_j min(s_j, x_j).
 * Result: value[lane] within error[lane] of the trained kernel at the exact input.
 */
static void iris_replay_kernel_values(
    const iris_replay_kernel_terms_t *const terms,
    const double total[IRIS_LANES],
    double value[IRIS_LANES],
    double error[IRIS_LANES])
{
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        const double k = iris_replay_kernel_value(total[lane]);

        value[lane] = k;
        error[lane] = terms->sum_error + (iris_replay_magnitude(k) * 0x1.28c35057efbp-48);
    }
}

/* A word of the vectors' table with its low part: the sum is exact. */
static double iris_replay_vector_word(const uint32_t i)
{
    const double high = (double)iris_vectors[i];

    return high + (double)iris_replay_vectors_low[i];
}

/* A word of the coefficients' table with its low part: the sum is exact. */
static double iris_replay_coefficient(const uint32_t i)
{
    const double high = (double)iris_coefficients[i];

    return high + (double)iris_replay_coefficients_low[i];
}

/* total[lane] = sum over the features of the term, each in the order of the features. */
static void iris_replay_block_totals(
    const uint32_t block,
    const double x[IRIS_N_PREPARED],
    double total[IRIS_LANES])
{
    uint32_t word = block * IRIS_BLOCK_WORDS;
    uint32_t j;
    uint32_t lane;

    for (lane = 0U; lane < IRIS_LANES; ++lane) {
        total[lane] = 0.0;
    }
    for (j = 0U; j < IRIS_N_PREPARED; ++j) {
        for (lane = 0U; lane < IRIS_LANES; ++lane) {
            const double s = iris_replay_vector_word(word + lane);

            total[lane] += iris_replay_kernel_term(x[j], s);
        }
        word += IRIS_LANES;
    }
}

/* Adds one block's share to every row's running sum of values and of errors. */
static void iris_replay_add_block(
    iris_replay_workspace_t *const workspace,
    const uint32_t block,
    const double value[IRIS_LANES],
    const double error[IRIS_LANES])
{
    const uint32_t first = block * IRIS_N_ROWS;
    uint32_t row;
    uint32_t lane;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t index = (first + row) * IRIS_LANES;
        double sum = iris_replay_coefficient(index) * value[0];
        double sum_error = iris_replay_coefficient(index) * error[0];

        for (lane = 1U; lane < IRIS_LANES; ++lane) {
            const double coef = iris_replay_coefficient(index + lane);

            sum += coef * value[lane];
            sum_error += coef * error[lane];
        }
        workspace->row_sum[row] += sum;
        workspace->row_error[row] += sum_error;
    }
}

/*
 * Adds a group's rows to the decisions they belong to, and clears them. Within a group the
 * coefficients of a row have one sign, so |sum of coefficient * error| bounds the row's error.
 * A decision's index is checked, so that a damaged table cannot write elsewhere.
 * Result: whether all indices were valid.
 */
static bool iris_replay_add_group(
    iris_replay_workspace_t *const workspace,
    const uint32_t group)
{
    const uint32_t first = group * IRIS_N_ROWS;
    bool valid = true;
    uint32_t row;

    for (row = 0U; row < IRIS_N_ROWS; ++row) {
        const uint32_t p = iris_group_decisions[first + row];

        if (p < IRIS_N_DECISIONS) {
            workspace->decision[p] += workspace->row_sum[row];
            workspace->bound[p] += iris_replay_magnitude(workspace->row_error[row]);
        } else {
            valid = false;
        }
        workspace->row_sum[row] = 0.0;
        workspace->row_error[row] = 0.0;
    }
    return valid;
}

/*
 * decision[p] = sum over i of beta_pi K(s_i, x) + b_p, bound[p] >= |decision[p] - exact value|.
 * Input: x prepared; deviation >= its distance from the exactly prepared input.
 * Result: false if a table of the groups is damaged; then the decisions are not to be used.
 */
static bool iris_replay_exact_sum(
    iris_replay_workspace_t *const workspace,
    const iris_replay_prepared_t *const input)
{
    const iris_replay_kernel_terms_t terms =
        iris_replay_kernel_prepare(input);
    double total[IRIS_LANES];
    double value[IRIS_LANES];
    double error[IRIS_LANES];
    bool valid = true;
    uint32_t group = 0U;
    uint32_t block;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        workspace->decision[p] = 0.0;
        workspace->bound[p] = 0.0;
    }
    for (p = 0U; p < IRIS_N_ROWS; ++p) {
        workspace->row_sum[p] = 0.0;
        workspace->row_error[p] = 0.0;
    }
    for (block = 0U; block < IRIS_N_BLOCKS; ++block) {
        iris_replay_block_totals(block, input->x, total);
        iris_replay_kernel_values(&terms, total, value, error);
        iris_replay_add_block(workspace, block, value, error);
        if ((group < IRIS_N_GROUPS)
            && ((block + 1U) == iris_group_ends[group])) {
            valid = iris_replay_add_group(workspace, group) && valid;
            ++group;
        }
    }
    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const double f = workspace->decision[p] + iris_replay_intercept[p];
        const double rounding = iris_replay_magnitude(f) * 0x1.0000400000001p-51;
        const double summed = (workspace->bound[p] * 0x1.000040000001ep+0) + rounding;
        const double bound = summed + iris_replay_minimum_bound[p];

        workspace->decision[p] = f;
        /* If the kernel's errors are not usable, every value may be off as far as it can be. */
        workspace->bound[p] = terms.usable ? bound : (rounding + 0x1.2e31f85008085p+5);
    }
    return valid && (group == IRIS_N_GROUPS);
}

/*
 * Counts, for each class, the votes, the sure ones (the pair's interval excludes 0) and the
 * possible ones (it does not exclude the class). Pairs in the order (0, 1), (0, 2), ...
 * Input: the decisions and their bounds, in the workspace.
 */
static void iris_replay_count_votes(
    iris_replay_workspace_t *const workspace)
{
    uint32_t p = 0U;
    uint32_t i;
    uint32_t j;

    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        workspace->votes[i] = 0U;
        workspace->sure[i] = 0U;
        workspace->possible[i] = 0U;
    }
    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        for (j = i + 1U; j < IRIS_N_CLASSES; ++j) {
            const double f = workspace->decision[p];
            const double lower = f - workspace->bound[p];
            const double upper = f + workspace->bound[p];

            workspace->votes[(f > 0.0) ? i : j] += 1U;
            workspace->sure[i] += (lower > 0.0) ? 1U : 0U;
            workspace->sure[j] += (upper < 0.0) ? 1U : 0U;
            /* Written so that a bound that is no number excludes neither. */
            workspace->possible[i] += (upper < 0.0) ? 0U : 1U;
            workspace->possible[j] += (lower > 0.0) ? 0U : 1U;
            ++p;
        }
    }
}

/* The class with most votes; of equal ones the first. */
static uint32_t iris_replay_winner(
    const iris_replay_workspace_t *const workspace)
{
    uint32_t winner = 0U;
    uint32_t c;

    for (c = 1U; c < IRIS_N_CLASSES; ++c) {
        if (workspace->votes[c] > workspace->votes[winner]) {
            winner = c;
        }
    }
    return winner;
}

/* Whether the winner beats a rival under every outcome of the pairs that are not sure. */
static bool iris_replay_beats(
    const iris_replay_workspace_t *const workspace,
    const uint32_t winner,
    const uint32_t rival)
{
    const uint32_t own = workspace->sure[winner];
    const uint32_t other = workspace->possible[rival];

    return (own > other) || ((own == other) && (winner < rival));
}

/*
 * The label by votes, the interval of the pair with the smallest margin among those that the
 * winner won, and the certificate: the label is the same under every outcome of the pairs whose
 * interval holds 0.
 */
static void iris_replay_vote(
    iris_replay_workspace_t *const workspace,
    iris_result_t *const result)
{
    double smallest = 0x1p+127;
    uint32_t winner;
    uint32_t p = 0U;
    uint32_t i;
    uint32_t j;

    iris_replay_count_votes(workspace);
    winner = iris_replay_winner(workspace);
    result->label = (int32_t)winner;
    result->lower = 0.0f;
    result->upper = 0.0f;
    result->certified = true;
    for (i = 0U; i < IRIS_N_CLASSES; ++i) {
        if ((i != winner) && !iris_replay_beats(workspace, winner, i)) {
            result->certified = false;
        }
        for (j = i + 1U; j < IRIS_N_CLASSES; ++j) {
            const double f = workspace->decision[p];
            const double margin = iris_replay_magnitude(f);
            const uint32_t pair_winner = (f > 0.0) ? i : j;

            if ((pair_winner == winner) && (margin < smallest)) {
                smallest = margin;
                result->lower = iris_replay_below(f - workspace->bound[p]);
                result->upper = iris_replay_above(f + workspace->bound[p]);
            }
            ++p;
        }
    }
}

/*
 * Label, interval and certificate of an input in double; *result takes them.
 * Input: checked; raw as it was received.
 * Result: false if a table of the groups is damaged; then *result is not to be used.
 */
static bool iris_replay(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    iris_replay_workspace_t *const own = &workspace->replay;
    const iris_replay_prepared_t prepared =
        iris_replay_prepare(own, input);
    const bool valid = iris_replay_exact_sum(own, &prepared);

    iris_replay_vote(own, result);
    return valid;
}

/*
 * Checks x and prepares it.
 * Result: IRIS_OK with *input prepared, or why x is refused.
 */
static iris_status_t iris_accept(
    iris_workspace_t *const workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_prepared_t *const input)
{
    iris_status_t status = iris_check(x);

    if (status == IRIS_OK) {
        *input = iris_prepare(workspace, x);
    }
    return status;
}

/*
 * The answer of the exact sums and, where they leave the label open, of the same in double. What
 * answers stays in the workspace with its bounds.
 * Input: x prepared.
 * Result: IRIS_OK with *result written but for in_range, or
 * IRIS_ERROR_CORRUPT.
 */
static iris_status_t iris_sum(
    iris_workspace_t *const workspace,
    const iris_prepared_t *const input,
    iris_result_t *const result)
{
    iris_status_t status = IRIS_ERROR_CORRUPT;

    if (iris_exact_sum(workspace, input)) {
        iris_vote(workspace, result);
        result->kernel_evals = 37U;
        result->stage = 0U;
        status = IRIS_OK;
        if (!result->certified) {
            if (iris_replay(workspace, input, result)) {
                result->kernel_evals += 37U;
                result->stage = 1U;
            } else {
                status = IRIS_ERROR_CORRUPT;
            }
        }
    }
    return status;
}

/* The contract is in the header. */
iris_status_t iris_classify(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    iris_result_t *result)
{
    iris_prepared_t input;
    iris_result_t answer;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (result == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept(workspace, x, &input);
    if (status == IRIS_OK) {
        answer.in_range = true;
        status = iris_sum(workspace, &input, &answer);
        if (status == IRIS_OK) {
            *result = answer;
        }
    }
    return status;
}

/* The contract is in the header. */
iris_status_t iris_decision(
    iris_workspace_t *workspace,
    const iris_input_t x[IRIS_N_FEATURES],
    float decision[IRIS_N_DECISIONS])
{
    iris_prepared_t input;
    iris_status_t status;

    if ((workspace == NULL) || (x == NULL) || (decision == NULL)) {
        return IRIS_ERROR_NULL;
    }
    status = iris_accept(workspace, x, &input);
    if (status == IRIS_OK) {
        if (iris_exact_sum(workspace, &input)) {
            uint32_t p;

            for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
                decision[p] = workspace->decision[p];
            }
        } else {
            status = IRIS_ERROR_CORRUPT;
        }
    }
    return status;
}

/*
 * CRC-32C (Castagnoli, reflected) of one more 32-bit word, its low byte first: defined on values,
 * so it is the same in either byte order. Bit by bit: a table of its own would have to be tested.
 */
static uint32_t iris_checksum_word(const uint32_t checksum, const uint32_t word)
{
    uint32_t state = checksum ^ word;
    uint32_t bit;

    for (bit = 0U; bit < 32U; ++bit) {
        state = (state >> 1U) ^ (0x82F63B78UL & (0U - (state & 1U)));
    }
    return state;
}

/* An element's bits. Volatile: memory is read, not replaced by what the compiler knows of it. */
static uint32_t iris_float_at(const volatile float *const element)
{
    iris_bits_t word;

    word.value = *element;
    return word.bits;
}

/* The same of an integer. */
static uint32_t iris_integer_at(const volatile uint16_t *const element)
{
    return *element;
}

/* The lower or the upper half of an element's bits. */
static uint32_t iris_double_at(
    const volatile double *const element,
    const uint32_t half)
{
    iris_replay_bits_t word;

    word.value = *element;
    return (uint32_t)((word.bits >> (32U * half)) & 0xFFFFFFFFULL);
}

/* The number of words of a table; 0 for a number that no table has. */
static uint32_t iris_table_length(const uint32_t table)
{
    uint32_t length = 0U;

    switch (table) {
    case 0U:
        length = 256U;
        break;
    case 1U:
        length = 128U;
        break;
    case 2U:
        length = 3U;
        break;
    case 3U:
        length = 6U;
        break;
    case 4U:
        length = 3U;
        break;
    case 5U:
        length = 3U;
        break;
    case 6U:
        length = 6U;
        break;
    case 7U:
        length = 6U;
        break;
    case 8U:
        length = 256U;
        break;
    case 9U:
        length = 128U;
        break;
    case 10U:
        length = 96U;
        break;
    case 11U:
        length = 24U;
        break;
    case 12U:
        length = 72U;
        break;
    case 13U:
        length = 72U;
        break;
    default:
        break;
    }
    return length;
}

/* A word's bits; 0 for a number that no table has. Input: i < its length. */
static uint32_t iris_table_word(const uint32_t table, const uint32_t i)
{
    uint32_t word = 0U;

    switch (table) {
    case 0U:
        word = iris_float_at(&iris_vectors[i]);
        break;
    case 1U:
        word = iris_float_at(&iris_coefficients[i]);
        break;
    case 2U:
        word = iris_integer_at(&iris_group_ends[i]);
        break;
    case 3U:
        word = iris_integer_at(&iris_group_decisions[i]);
        break;
    case 4U:
        word = iris_float_at(&iris_intercept[i]);
        break;
    case 5U:
        word = iris_float_at(&iris_minimum_bound[i]);
        break;
    case 6U:
        word = iris_double_at(
            &iris_replay_intercept[i / 2U], i % 2U);
        break;
    case 7U:
        word = iris_double_at(
            &iris_replay_minimum_bound[i / 2U], i % 2U);
        break;
    case 8U:
        word = iris_float_at(&iris_replay_vectors_low[i]);
        break;
    case 9U:
        word = iris_float_at(&iris_replay_coefficients_low[i]);
        break;
    case 10U:
        word = iris_float_at(&iris_known_inputs[i]);
        break;
    case 11U:
        word = iris_integer_at(&iris_known_labels[i]);
        break;
    case 12U:
        word = iris_float_at(&iris_known_lower[i]);
        break;
    case 13U:
        word = iris_float_at(&iris_known_upper[i]);
        break;
    default:
        break;
    }
    return word;
}

/* One step over a table: at most 256 words, and the comparison after the last. */
static iris_status_t iris_test_table(
    iris_self_test_t *const state)
{
    const uint32_t length = iris_table_length(state->part);
    iris_status_t status = IRIS_OK;
    uint32_t count;

    if (state->position == 0U) {
        state->checksum = 0xFFFFFFFFUL;
    }
    for (count = 0U; count < 256U; ++count) {
        if (state->position < length) {
            const uint32_t word = iris_table_word(state->part, state->position);

            state->checksum = iris_checksum_word(state->checksum, word);
            ++state->position;
        }
    }
    if (state->position >= length) {
        const volatile uint32_t *const expected = &iris_checksums[state->part];
        const uint32_t found = state->checksum ^ 0xFFFFFFFFUL;

        if (found != *expected) {
            status = IRIS_ERROR_CORRUPT;
        }
        state->position = 0U;
        ++state->part;
    }
    return status;
}

/* Whether all decisions of a known answer lie within its intervals; NaN does not. */
static bool iris_within(
    const float decision[IRIS_N_DECISIONS],
    const uint32_t answer)
{
    const uint32_t first = answer * IRIS_N_DECISIONS;
    bool within = true;
    uint32_t p;

    for (p = 0U; p < IRIS_N_DECISIONS; ++p) {
        const float lower = iris_known_lower[first + p];
        const float upper = iris_known_upper[first + p];

        within = within && (decision[p] >= lower) && (decision[p] <= upper);
    }
    return within;
}

/* Sums one known input: the label is exact, the decisions lie within their intervals. */
static iris_status_t iris_test_answer(
    iris_self_test_t *const state)
{
    const uint32_t answer = state->part - 14U;
    const uint32_t first = answer * IRIS_N_FEATURES;
    const int32_t label = (int32_t)iris_known_labels[answer];
    iris_prepared_t input;
    iris_result_t result;
    iris_status_t status;
    bool agrees = false;

    status = iris_accept(
        &state->workspace, &iris_known_inputs[first], &input);
    if (status == IRIS_OK) {
        status = iris_sum(&state->workspace, &input, &result);
    }
    if (status == IRIS_OK) {
        agrees = iris_within(state->workspace.decision, answer);
        agrees = agrees && (result.label == label);
    }
    if (!agrees) {
        status = IRIS_ERROR_CORRUPT;
    }
    ++state->part;
    return status;
}

/* The contract is in the header. */
iris_status_t iris_self_test_step(
    iris_self_test_t *state)
{
    if (state == NULL) {
        return IRIS_ERROR_NULL;
    }
    if ((state->status != IRIS_OK) || (state->part > 38U)) {
        /* A failure stays one; a part that does not exist comes from a damaged state. */
        state->status = IRIS_ERROR_CORRUPT;
    } else if (state->part < 14U) {
        state->status = iris_test_table(state);
    } else if (state->part < 38U) {
        state->status = iris_test_answer(state);
    } else {
        state->done = true;
    }
    if (state->status != IRIS_OK) {
        state->done = true;
    }
    return state->status;
}

/* The contract is in the header. */
iris_status_t iris_self_test(void)
{
    iris_self_test_t state;
    iris_status_t status = IRIS_OK;
    uint32_t step;

    state.part = 0U;
    state.position = 0U;
    state.checksum = 0U;
    state.status = IRIS_OK;
    state.done = false;
    for (step = 0U; step < 39U; ++step) {
        if ((status == IRIS_OK) && !state.done) {
            status = iris_self_test_step(&state);
        }
    }
    /* What has not been tested to the end has not passed. */
    return state.done ? status : IRIS_ERROR_CORRUPT;
}

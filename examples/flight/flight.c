/*
 * The software of a small lander, as far as its camera goes. One call of `guard_harness_query` is
 * one cycle: a frame and a telecommand come in, a telemetry frame goes out. `flight.py` runs it.
 *
 * `guard` looks for the landing pad in every frame. It answers in steps of constant work (--step),
 * tells frames that are like nothing it was trained with (--monitor), counts what it does
 * (--telemetry), and has its tables in RAM, twice (--redundancy 2).
 * `pad` is asked before the landing: its label is proved for every frame within the camera's noise
 * of the one received (--input-tolerance).
 * `landmarks` names ten landmarks. Its model is an image (--tables image) in one of two banks, and
 * is replaced in flight.
 */
#include <stddef.h>

#include "guard.h"
#include "landmarks.h"
#include "landmarks_patch.h"
#include "pad.h"

#define N_PIXELS 64U
#define PAYLOAD_WORDS 256U
#define INPUT_WORDS (2U + PAYLOAD_WORDS + N_PIXELS)
#define REPORT_WORDS 12U
#define RECORD_WORDS (REPORT_WORDS + GUARD_TELEMETRY_WORDS)
#define BANK_BYTES 524288U
#define PATCH_BYTES 524288U
#define TABLE_STEPS 4U   /* of the tests, a cycle */
#define IMAGE_STEPS 16U

/* What a telecommand asks; its argument is given with it. */
#define COMMAND_NONE 0U
#define COMMAND_LOAD 1U        /* the payload goes to this byte of the patch */
#define COMMAND_APPLY 2U       /* a patch of so many bytes makes the other bank's image */
#define COMMAND_FLIP_TABLE 3U  /* for the test only: radiation flips this bit of a table in RAM */
#define COMMAND_FLIP_IMAGE 4U  /* for the test only: and this one of the bank in use */

void flight_flip_table(uint32_t bit);
uint32_t guard_harness_input_words(void);
uint32_t guard_harness_record_words(void);
void guard_harness_query(const uint32_t input[], uint32_t record[]);
uint32_t guard_harness_self_test(void);

/* A bank for an image, which must lie at a multiple of 8 bytes. */
typedef union {
    uint8_t bytes[BANK_BYTES];
    uint64_t aligned;
} bank_t;

/* All memory of the application. */
static struct {
    bool begun;
    bank_t bank[2];
    uint32_t bank_in_use;
    uint32_t bank_bytes;
    uint32_t restored;
    uint32_t patch_bytes;
    uint8_t patch[PATCH_BYTES];
    landmarks_model_t model;
    landmarks_workspace_t workspace;
    landmarks_self_test_t image_test;
    guard_job_t job;
    pad_workspace_t pad_workspace;
    guard_self_test_t table_test;
    guard_telemetry_t telemetry;
} flight;

/* Copies bytes: the image of the emulated boards has no C library. */
static void copy(void *const to, const void *const from, const uint32_t n_bytes)
{
    uint8_t *const target = (uint8_t *)to;
    const uint8_t *const source = (const uint8_t *)from;
    uint32_t i;

    for (i = 0U; i < n_bytes; ++i) {
        target[i] = source[i];
    }
}

/* Puts the image that the code was linked with into the first bank, and opens it. */
static void begin(void)
{
    flight.begun = true;
    copy(flight.bank[0].bytes, landmarks_image, landmarks_image_bytes);
    flight.bank_bytes = landmarks_image_bytes;
    (void)landmarks_open(flight.bank[0].bytes, BANK_BYTES, &flight.model);
    (void)guard_telemetry_reset(&flight.telemetry);
}

/* Puts the payload, four bytes a word and the first byte highest, at a place of the patch. */
static void load(const uint32_t payload[PAYLOAD_WORDS], const uint32_t place)
{
    uint32_t i;

    if ((place <= PATCH_BYTES) && ((4U * PAYLOAD_WORDS) <= (PATCH_BYTES - place))) {
        for (i = 0U; i < (4U * PAYLOAD_WORDS); ++i) {
            flight.patch[place + i] = (uint8_t)(payload[i / 4U] >> (24U - (8U * (i % 4U))));
        }
    }
}

/* Makes the new image in the other bank, and takes it if it opens. Result: what the patch says. */
static landmarks_patch_status_t apply(const uint32_t patch_bytes)
{
    const uint32_t other = 1U - flight.bank_in_use;
    landmarks_model_t model;
    landmarks_patch_status_t status;
    uint32_t bytes;

    status = landmarks_patch(
        flight.bank[flight.bank_in_use].bytes, flight.bank_bytes, flight.patch, patch_bytes,
        flight.bank[other].bytes, BANK_BYTES, &bytes);
    if ((status == LANDMARKS_PATCH_OK)
        && (landmarks_open(flight.bank[other].bytes, BANK_BYTES, &model) == LANDMARKS_OK)) {
        flight.model = model;
        flight.bank_in_use = other;
        flight.bank_bytes = bytes;
        flight.image_test = (landmarks_self_test_t){ 0 };
    }
    return status;
}

static uint32_t obey(const uint32_t command, const uint32_t argument, const uint32_t payload[])
{
    uint32_t answer = 0U;

    switch (command) {
    case COMMAND_LOAD:
        load(payload, argument);
        break;
    case COMMAND_APPLY:
        answer = (uint32_t)apply(argument);
        flight.patch_bytes = argument;
        break;
    case COMMAND_FLIP_TABLE:
        flight_flip_table(argument);
        break;
    case COMMAND_FLIP_IMAGE:
        flight.bank[flight.bank_in_use].bytes[(argument / 8U) % flight.bank_bytes] ^=
            (uint8_t)(1U << (argument % 8U));
        break;
    default:
        break;
    }
    return answer;
}

/* Tests a few blocks of the guard's tables, and begins anew where all were tested. */
static void scrub(void)
{
    uint32_t step;

    for (step = 0U; step < TABLE_STEPS; ++step) {
        (void)guard_self_test_step(&flight.table_test);
        (void)guard_telemetry_step(&flight.telemetry, &flight.table_test);
        if (flight.table_test.done) {
            flight.table_test = (guard_self_test_t){ 0 };
        }
    }
}

/*
 * Takes the other bank, whose image must open, and makes the damaged one again by the patch, as it
 * was made before.
 */
static void restore(void)
{
    const uint32_t other = 1U - flight.bank_in_use;

    if (landmarks_open(flight.bank[other].bytes, BANK_BYTES, &flight.model) == LANDMARKS_OK) {
        flight.bank_in_use = other;
        flight.bank_bytes = flight.model.image_bytes;
        (void)apply(flight.patch_bytes);
        ++flight.restored;
    }
}

/* Tests a part of the image in use. */
static void test_image(void)
{
    uint32_t step;

    for (step = 0U; step < IMAGE_STEPS; ++step) {
        const landmarks_status_t status =
            landmarks_self_test_step(&flight.image_test, &flight.model);
        const bool done = flight.image_test.done;

        if (done) {
            flight.image_test = (landmarks_self_test_t){ 0 };
        }
        if (status != LANDMARKS_OK) {
            restore();
        }
    }
}

/* Asks the guard in steps, each of which would be one turn of a scheduler. */
static guard_status_t watch(const float x[N_PIXELS], guard_result_t *const result, uint32_t *const n)
{
    guard_status_t status = guard_begin_float(&flight.job, x);
    uint32_t step = 0U;

    if (status == GUARD_OK) {
        do {
            status = guard_step(&flight.job, result);
            ++step;
        } while ((status == GUARD_BUSY) && (step < GUARD_MAX_STEPS));
    }
    *n = step;
    (void)guard_telemetry_count(&flight.telemetry, status, result);
    return status;
}

uint32_t guard_harness_input_words(void)
{
    return INPUT_WORDS;
}

uint32_t guard_harness_record_words(void)
{
    return RECORD_WORDS;
}

void guard_harness_query(const uint32_t input[], uint32_t record[])
{
    float x[N_PIXELS];
    guard_result_t guarded = { 0 };
    landmarks_result_t named = { 0 };
    pad_result_t seen = { 0 };

    if (!flight.begun) {
        begin();
    }
    copy(x, &input[2U + PAYLOAD_WORDS], sizeof x);
    record[0] = obey(input[0], input[1], &input[2]);
    record[1] = (uint32_t)watch(x, &guarded, &record[2]);
    record[3] = (uint32_t)guarded.label;
    record[4] = (guarded.certified ? 1U : 0U) + (guarded.in_range ? 2U : 0U);
    record[5] = (uint32_t)landmarks_classify_float(
        &flight.workspace, &flight.model, x, &named);
    record[6] = (uint32_t)named.label;
    record[7] = named.certified ? 1U : 0U;
    (void)pad_classify_float(&flight.pad_workspace, x, &seen);
    record[8] = seen.certified ? 1U : 0U;
    scrub();
    test_image();
    record[9] = flight.bank_in_use;
    record[10] = flight.bank_bytes;
    record[11] = flight.restored;
    copy(&record[REPORT_WORDS], &flight.telemetry, sizeof flight.telemetry);
}

uint32_t guard_harness_self_test(void)
{
    return (uint32_t)guard_self_test();
}

/*
 * The emitted guard.c with its first copy of the tables in RAM, where radiation flips bits, and a
 * function that flips one: the tables have no names outside of guard.c.
 */
#define GUARD_TABLES_IN_RAM
#include "guard.c"

void flight_flip_table(uint32_t bit);

/* Flips a bit of the guard's support vectors, whatever type they have. */
void flight_flip_table(uint32_t bit)
{
    uint8_t *const bytes = (uint8_t *)&guard_vectors;

    bytes[(bit / 8U) % (uint32_t)sizeof(guard_vectors)] ^= (uint8_t)(1U << (bit % 8U));
}

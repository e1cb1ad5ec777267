/*
 * The emitted guard.c with its first copy of the tables in RAM, where radiation flips bits, and a
 * function that flips one: the tables have no names outside of guard.c.
 */
#define GUARD_TABLES_IN_RAM
#include "guard.c"

void flight_flip_table(uint32_t bit);

/* Flips a bit of the guard's centres of expansion. */
void flight_flip_table(uint32_t bit)
{
    guard_bits_t number;
    const uint32_t element = (bit / 32U) % (uint32_t)(sizeof(guard_local_centres) / sizeof(guard_local_centres[0]));

    number.value = guard_local_centres[element];
    number.bits ^= (uint32_t)1U << (bit % 32U);
    guard_local_centres[element] = number.value;
}

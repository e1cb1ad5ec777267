/* Stands for Zephyr's header: the cycles that it counts. */
#ifndef STAND_IN_KERNEL_H
#define STAND_IN_KERNEL_H

#include <stdint.h>

/* A counter that each look finds 10 further, at 64 MHz. */
static inline uint32_t k_cycle_get_32(void)
{
    static uint32_t cycles;
    cycles += 10U;
    return cycles;
}

static inline uint32_t sys_clock_hw_cycles_per_sec(void)
{
    return 64000000U;
}

#endif

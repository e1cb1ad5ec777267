/* Stands for ESP-IDF's header (6.2-dev, components/esp_hw_support): each look is 10 cycles further. */
#include <stdint.h>
typedef uint32_t esp_cpu_cycle_count_t;
static inline esp_cpu_cycle_count_t esp_cpu_get_cycle_count(void)
{
    static esp_cpu_cycle_count_t cycles;
    cycles += 10U;
    return cycles;
}

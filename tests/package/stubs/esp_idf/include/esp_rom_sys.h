/* Stands for ESP-IDF's header (6.2-dev, components/esp_rom). */
#include <stdint.h>
static inline uint32_t esp_rom_get_cpu_ticks_per_us(void)
{
    return 240U;
}

/* Stands for ESP-IDF's header (6.2-dev): the log is the standard error. */
#include <stdio.h>
#define ESP_LOGE(tag, format, ...) fprintf(stderr, "E %s: " format "\n", tag, ##__VA_ARGS__)

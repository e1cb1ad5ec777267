/* Stands for Zephyr's header. */
#include <stdio.h>
#define printk printf

/* Runs an AVR program in simavr and counts the cycles of every call of some functions, from entry to
   return, callees included. Arguments: mcu=NAME, clock=HZ, flash=FILE of the bytes of the flash,
   out=FILE, and entry=ADDRESS for each function. A line of the file out is the number of the
   function, as they are given, and the cycles. Serial port 0 of the part is the standard input and
   output. A call begins at the function's first instruction: the call itself does not count, the
   return does. Ends on SIGTERM. Written for libsimavr 1.6. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <avr_uart.h>
#include <sim_avr.h>
#include <sim_io.h>

#define MOST_ENTRIES 256U
#define ADDRESS_BYTES 3U /* of a return address, where the program counter has 22 bits */

static uint32_t entries[MOST_ENTRIES];
static size_t n_entries;
static uint8_t waiting[1U << 16]; /* bytes of the standard input for the part */
static size_t n_waiting;
static size_t n_given;
static bool is_full;
static avr_irq_t *to_part;
static volatile sig_atomic_t ended;

static void on_end(int signal_number)
{
    (void)signal_number;
    ended = 1;
}

static void log_to_stderr(struct avr_t *avr, const int level, const char *format, va_list values)
{
    (void)avr;
    if (level <= LOG_ERROR) {
        vfprintf(stderr, format, values);
    }
}

static void on_sent(struct avr_irq_t *irq, uint32_t value, void *param)
{
    const uint8_t byte = (uint8_t)value;
    (void)irq;
    (void)param;
    if (write(STDOUT_FILENO, &byte, 1U) != 1) {
        ended = 1;
    }
}

static void on_full(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)param;
    is_full = (value != 0U);
}

/* The part looks whether a byte has come, and none waits inside. */
static void on_empty(struct avr_irq_t *irq, uint32_t value, void *param)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    (void)irq;
    (void)value;
    (void)param;
    is_full = false;
    if ((n_given == n_waiting) && (poll(&input, 1U, 0) == 1)) {
        const ssize_t n_read = read(STDIN_FILENO, waiting, sizeof(waiting));
        n_waiting = (n_read > 0) ? (size_t)n_read : 0U;
        n_given = 0U;
    }
    while ((n_given < n_waiting) && !is_full) {
        avr_raise_irq(to_part, waiting[n_given]);
        n_given++;
    }
}

static bool connect_port(avr_t *avr)
{
    uint32_t flags = 0U; /* no text on the console, no sleep where the part polls */
    avr_irq_t *sent = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT);
    avr_irq_t *empty = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON);
    avr_irq_t *full = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF);
    to_part = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    if ((sent == NULL) || (empty == NULL) || (full == NULL) || (to_part == NULL)) {
        return false;
    }
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(sent, on_sent, NULL);
    avr_irq_register_notify(empty, on_empty, NULL);
    avr_irq_register_notify(full, on_full, NULL);
    return true;
}

static bool load_flash(avr_t *avr, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t n_bytes = 0U;
    bool is_whole = false;
    if (file != NULL) {
        n_bytes = fread(avr->flash, 1U, avr->flashend + 1U, file);
        is_whole = (fgetc(file) == EOF) && (ferror(file) == 0);
        fclose(file);
    }
    avr->codeend = (uint32_t)n_bytes;
    return is_whole && (n_bytes > 0U);
}

static uint32_t stack_pointer(const avr_t *avr)
{
    return avr->data[R_SPL] | ((uint32_t)avr->data[R_SPH] << 8U);
}

static int run(avr_t *avr, FILE *out)
{
    bool inside = false;
    size_t entered = 0U;
    uint32_t back = 0U;
    uint32_t stack = 0U;
    avr_cycle_count_t start = 0U;
    while (ended == 0) {
        const int state = avr_run(avr);
        if ((state != cpu_Running) && (state != cpu_Sleeping)) {
            fprintf(stderr, "the part stopped at %#" PRIx32 "\n", avr->pc);
            return 1;
        }
        if (inside) {
            if ((avr->pc == back) && (stack_pointer(avr) == (stack + ADDRESS_BYTES))) {
                inside = false;
                fprintf(out, "%zu %" PRIu64 "\n", entered, avr->cycle - start);
            }
            continue;
        }
        for (size_t i = 0U; i < n_entries; i++) {
            if (avr->pc == entries[i]) {
                const uint8_t *pushed;
                stack = stack_pointer(avr);
                pushed = &avr->data[stack + 1U];
                back = (((uint32_t)pushed[0] << 16U) | ((uint32_t)pushed[1] << 8U) | pushed[2]) << 1U;
                start = avr->cycle;
                entered = i;
                inside = true;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *mcu = "";
    const char *flash = "";
    const char *counts = "";
    uint32_t clock_hz = 0U;
    int code = 1;
    for (int i = 1; i < argc; i++) {
        if ((strncmp(argv[i], "entry=", 6U) == 0) && (n_entries < MOST_ENTRIES)) {
            entries[n_entries] = (uint32_t)strtoul(argv[i] + 6, NULL, 0);
            n_entries++;
        } else if (strncmp(argv[i], "mcu=", 4U) == 0) {
            mcu = argv[i] + 4;
        } else if (strncmp(argv[i], "clock=", 6U) == 0) {
            clock_hz = (uint32_t)strtoul(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "flash=", 6U) == 0) {
            flash = argv[i] + 6;
        } else if (strncmp(argv[i], "out=", 4U) == 0) {
            counts = argv[i] + 4;
        }
    }
    avr_global_logger_set(log_to_stderr);
    signal(SIGTERM, on_end);
    avr_t *avr = avr_make_mcu_by_name(mcu);
    FILE *out = fopen(counts, "w");
    if ((avr == NULL) || (out == NULL)) {
        return 1;
    }
    avr_init(avr);
    avr->frequency = clock_hz;
    avr->run_cycle_limit = 1U; /* one instruction a call of avr_run */
    if (!load_flash(avr, flash) || !connect_port(avr)) {
        fprintf(stderr, "%s has no port 0, or %s does not fit its flash\n", mcu, flash);
    } else if (avr->address_size != ADDRESS_BYTES) {
        fprintf(stderr, "%s has return addresses of %d bytes\n", mcu, avr->address_size);
    } else {
        code = run(avr, out);
    }
    return (fclose(out) == 0) ? code : 1;
}

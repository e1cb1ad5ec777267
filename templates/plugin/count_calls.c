/* QEMU TCG plugin (API version 1): counts the instructions of every call of some functions, from
   entry to return, callees included. Arguments: out=FILE, entry=ADDRESS for each function, and
   traps=ADDRESS and traps_end=ADDRESS, between which the code of traps is. A line of the file is
   the number of the function, as they are given, and the count; with cycles=FILE also the fewest
   and the most clock cycles, or -1 twice if those of an instruction are not known.

   Counted per translation block: a block that starts at the entry begins a call; the block
   executed before it ends with the call instruction, so that its end is the return address; the
   block that starts there ends the call. Some emulators report no size of an instruction: then the
   return address is within LONGEST_CALL bytes behind the call, where nothing else can begin than
   what follows it. Conditional instructions count whether they act or not.
   A trap, as of a SPARC without a free register window, leaves a block in its middle: what it
   executes is not counted, and the rest of the block, which begins a new one, only once.
   A line of the file of cycles has an instruction's address, that of the next one in memory, its
   fewest and most cycles where the next one follows, and the same where another one does. Within a
   block the next one follows; of its last instruction the block that begins next tells.
   Debian ships no header: the prototypes are those of qemu-plugin.h in QEMU 7.2. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define LONGEST_CALL 4U /* bytes, of CPUs whose emulators report no sizes: AVR */

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

typedef void (*tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*tb_exec_cb_t)(unsigned int vcpu_index, void *userdata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_cb_t callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, tb_exec_cb_t callback,
                                          enum qemu_plugin_cb_flags flags, void *userdata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                               char **argv);

typedef struct {
    uint64_t start;
    uint64_t last; /* address of its last instruction */
    uint64_t last_size;
    uint64_t n_insns;
    size_t entry; /* the function that begins here, or n_entries */
    uint64_t on;  /* address of what follows in memory */
    int64_t low;  /* cycles where that follows, or UNKNOWN */
    int64_t high;
    int64_t more_low; /* what is to add where another one follows; may be negative */
    int64_t more_high;
} block_t;

#define UNKNOWN (-1)

typedef struct {
    uint64_t address;
    uint64_t on;
    int64_t cycles[4]; /* fewest and most where the next one follows, and where another one does */
} cycles_t;

#define MOST_ENTRIES 256U

static uint64_t entries[MOST_ENTRIES];
static size_t n_entries;
static size_t entered;
static FILE *out;
static bool inside;
static uint64_t count;
static const block_t *caller;
static const block_t *previous;
static uint64_t traps;
static uint64_t traps_end;
static bool trapped;
static cycles_t *known; /* sorted by address */
static size_t n_known;
static int64_t low;
static int64_t high;
static bool all_known;
static bool timed; /* whether cycles are asked for */

/* Whether a block starts where a call from the end of another returns to. */
static bool follows(const block_t *block, const block_t *call)
{
    const uint64_t distance = block->start - call->last;
    return (call->last_size != 0U) ? (distance == call->last_size)
                                   : ((distance > 0U) && (distance <= LONGEST_CALL));
}

/* The instructions of a block from one of its addresses on; CPUs with such traps have one size. */
static uint64_t rest_of(const block_t *block, uint64_t address)
{
    const bool within = (block->start <= address) && (address <= block->last);
    return (within && (block->last_size != 0U))
               ? (((block->last - address) / block->last_size) + 1U) : 0U;
}

static int by_address(const void *a, const void *b)
{
    const uint64_t first = ((const cycles_t *)a)->address;
    const uint64_t second = ((const cycles_t *)b)->address;
    return (first > second) - (first < second);
}

static bool read_cycles(const char *path)
{
    FILE *file = fopen(path, "r");
    cycles_t one;
    bool is_whole = (file != NULL);
    while (is_whole
           && (fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                      &one.address, &one.on, &one.cycles[0], &one.cycles[1], &one.cycles[2],
                      &one.cycles[3]) == 6)) {
        if ((n_known & (n_known - 1U)) == 0U) { /* full: twice the room, from a power of two on */
            cycles_t *moved = realloc(known, ((n_known == 0U) ? 1U : (2U * n_known)) * sizeof(one));
            is_whole = (moved != NULL);
            known = is_whole ? moved : known;
        }
        if (is_whole) {
            known[n_known] = one;
            n_known++;
        }
    }
    is_whole = is_whole && (feof(file) != 0);
    if (file != NULL) {
        fclose(file);
    }
    if (n_known > 0U) {
        qsort(known, n_known, sizeof(*known), by_address);
    }
    return is_whole;
}

/* The cycles of a block without what depends on where its last instruction goes. */
static void add_cycles(block_t *block, const struct qemu_plugin_tb *tb)
{
    block->low = 0;
    block->high = 0;
    for (size_t i = 0U; i < block->n_insns; i++) {
        const cycles_t wanted = { .address = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i)) };
        const cycles_t *one = (n_known == 0U) ? NULL
            : bsearch(&wanted, known, n_known, sizeof(*known), by_address);
        if (one == NULL) {
            block->low = UNKNOWN;
            return;
        }
        block->low += one->cycles[0];
        block->high += one->cycles[1];
        block->more_low = one->cycles[2] - one->cycles[0];
        block->more_high = one->cycles[3] - one->cycles[1];
        block->on = one->on;
    }
}

static void on_block(unsigned int vcpu_index, void *userdata)
{
    const block_t *block = userdata;
    if (vcpu_index != 0U) {
        return;
    }
    if ((block->start >= traps) && (block->start < traps_end)) {
        trapped = true;
        return;
    }
    if (inside && trapped) {
        count -= rest_of(previous, block->start);
    }
    trapped = false;
    if (inside && (block->start != previous->on)) {
        low += previous->more_low;
        high += previous->more_high;
    }
    if (inside && follows(block, caller)) {
        inside = false;
        fprintf(out, "%zu %" PRIu64, entered, count);
        if (timed) {
            fprintf(out, " %" PRId64 " %" PRId64, all_known ? low : UNKNOWN,
                    all_known ? high : UNKNOWN);
        }
        fputc('\n', out);
    } else if (!inside && (block->entry < n_entries) && (previous != NULL)) {
        inside = true;
        entered = block->entry;
        caller = previous;
        count = 0U;
        low = 0;
        high = 0;
        all_known = true;
    }
    if (inside) {
        count += block->n_insns;
        low += block->low;
        high += block->high;
        all_known = all_known && (block->low != UNKNOWN);
    }
    previous = block;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    /* Lives as long as the process: a block may be translated again, never freed. */
    block_t *block = calloc(1U, sizeof(*block));
    const size_t n_insns = qemu_plugin_tb_n_insns(tb);
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1U);
    (void)id;
    if (block == NULL) {
        abort();
    }
    block->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0U));
    block->last = qemu_plugin_insn_vaddr(last);
    block->last_size = qemu_plugin_insn_size(last);
    block->n_insns = n_insns;
    block->entry = 0U;
    while ((block->entry < n_entries) && (entries[block->entry] != block->start)) {
        block->entry++;
    }
    add_cycles(block, tb);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
                               char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if ((strncmp(argv[i], "entry=", 6U) == 0) && (n_entries < MOST_ENTRIES)) {
            entries[n_entries] = strtoull(argv[i] + 6, NULL, 0);
            n_entries++;
        } else if (strncmp(argv[i], "traps=", 6U) == 0) {
            traps = strtoull(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "traps_end=", 10U) == 0) {
            traps_end = strtoull(argv[i] + 10, NULL, 0);
        } else if (strncmp(argv[i], "out=", 4U) == 0) {
            out = fopen(argv[i] + 4, "w");
        } else if (strncmp(argv[i], "cycles=", 7U) == 0) {
            timed = read_cycles(argv[i] + 7);
            if (!timed) {
                return 1;
            }
        }
    }
    if (out == NULL) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}

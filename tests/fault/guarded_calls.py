"""Callers whose memory is watched, and one that flips each bit of each table."""

from __future__ import annotations

# A caller whose memory is watched: everything is 0xA5 before a call, with canaries around it.
GUARDED = """
#include <stdio.h>
#include <string.h>
#include "@FIRST@"
typedef struct { uint8_t before[64]; iris_workspace_t value; uint8_t after[64]; } workspace_t;
typedef struct { uint8_t before[64]; iris_result_t value; uint8_t after[64]; } guarded_result_t;
typedef struct { uint8_t before[64]; float value[IRIS_N_DECISIONS]; uint8_t after[64]; } sums_t;
static workspace_t workspace;
static guarded_result_t result;
static sums_t sums;
static void poison(void)
{
    memset(&workspace, 0xA5, sizeof workspace);
    memset(&result, 0xA5, sizeof result);
    memset(&sums, 0xA5, sizeof sums);
}
static int differs(const void *memory, size_t size)
{
    const uint8_t *const bytes = memory;
    for (size_t i = 0U; i < size; ++i) {
        if (bytes[i] != 0xA5U) {
            return 1;
        }
    }
    return 0;
}
static int canary_died(void)
{
    return differs(workspace.before, 64U) || differs(workspace.after, 64U)
        || differs(result.before, 64U) || differs(result.after, 64U)
        || differs(sums.before, 64U) || differs(sums.after, 64U);
}
static int answer_written(void)
{
    return differs(&result, sizeof result) || differs(&sums, sizeof sums);
}
static void require(int condition, const char *what, unsigned number)
{
    if (!condition) {
        printf("%s (%u)\\n", what, number);
    }
}
"""

# The model's own file is included, so that its static tables have names here; the pages they
# are on are made writable. The compiler may take a table's value for granted, as on a board:
# the self-test has to read the memory all the same.
FLIP_MAIN = (
    GUARDED.replace("@FIRST@", "iris.c")
    + """
#include <sys/mman.h>
#include <unistd.h>
typedef struct { const char *name; const volatile void *start; size_t size; } table_t;
static const table_t tables[] = {
@TABLES@
};
static const float queries[][IRIS_N_FEATURES] = { { 0.0f }, { 1.0f }, @INPUTS@ };
static void make_writable(const table_t *table)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)table->start & ~(page - 1U);
    const size_t size = (uintptr_t)table->start + table->size - first;
    require(mprotect((void *)first, size, PROT_READ | PROT_WRITE) == 0, table->name, 0U);
}
static void ask(const char *name, unsigned number)
{
    for (size_t q = 0U; q < sizeof queries / sizeof queries[0]; ++q) {
        poison();
        (void)iris_classify(&workspace.value, queries[q], &result.value);
        (void)iris_decision(&workspace.value, queries[q], sums.value);
        require(!canary_died(), name, number);
        require(result.value.label < (int32_t)IRIS_N_CLASSES, name, number);
    }
}
int main(void)
{
    unsigned flipped = 0U;
    require(iris_self_test() == IRIS_OK, "healthy", 0U);
    for (size_t t = 0U; t < sizeof tables / sizeof tables[0]; ++t) {
        make_writable(&tables[t]);
        for (unsigned bit = 0U; bit < 8U * tables[t].size; ++bit) {
            volatile uint8_t *const byte = (volatile uint8_t *)tables[t].start + bit / 8U;
            const uint8_t mask = (uint8_t)(1U << (bit % 8U));
            *byte ^= mask;
            require(iris_self_test() == IRIS_ERROR_CORRUPT, tables[t].name, bit);
            ask(tables[t].name, bit);
            *byte ^= mask;
            ++flipped;
        }
    }
    require(iris_self_test() == IRIS_OK, "healthy again", 0U);
    require(flipped == @BITS@, "bits flipped", flipped);
    return 0;
}
"""
)


def flip_main(emitted, main: str = FLIP_MAIN) -> str:
    """Return the program for a model: its tables by name, and two ordinary queries."""
    program = emitted.program
    tables = [(table.name, table.n_bytes) for table in program.tables()]
    tables.append(("checksums", 4 * len(tables)))
    lines = [f'    {{ "{name}", &iris_{name}, sizeof iris_{name} }},' for name, _ in tables]
    rows = [", ".join(f"{value!r}f" for value in row) for row in emitted.queries[:2].tolist()]
    parts = {
        "@TABLES@": "\n".join(lines),
        "@INPUTS@": ", ".join(f"{{ {row} }}" for row in rows),
        "@BITS@": str(8 * sum(size for _, size in tables)),
    }
    for place, text in parts.items():
        main = main.replace(place, text)
    return main

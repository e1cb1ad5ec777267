/* Stands for Zephyr's header (the new API of ztest, since 3.4 the only one):
   the same macros, and a main that runs the tests. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#define zassert_true(condition)                                            \
    do {                                                                   \
        if (!(condition)) {                                                \
            printf("FAIL %s: %s\n", __func__, #condition);                 \
            exit(1);                                                       \
        }                                                                  \
    } while (0)
#define zassert_equal(a, b) zassert_true((a) == (b))
#define ZTEST(suite, name)                                                 \
    static void suite##_##name(void);                                      \
    __attribute__((constructor)) static void run_##suite##_##name(void)    \
    {                                                                      \
        suite##_##name();                                                  \
        printf("PASS %s\n", #name);                                        \
    }                                                                      \
    static void suite##_##name(void)
#define ZTEST_SUITE(name, predicate, setup, before, after, teardown)       \
    int main(void) { return (predicate) == NULL ? 0 : 1; }                 \
    struct suite_##name { int unused; }

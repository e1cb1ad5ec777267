/* Stands for OSAL's ut_assert (Caelum rc4, Draco rc5, 7.0.0): a failed check makes the program fail. */
#ifndef UTASSERT_H
#define UTASSERT_H
#include <stdbool.h>
void UtAssertEx(bool expression, const char *file, int line, const char *text, ...)
    __attribute__((format(printf, 4, 5)));
#define UtAssert_True(Expression, ...) UtAssertEx(Expression, __FILE__, __LINE__, __VA_ARGS__)
#endif

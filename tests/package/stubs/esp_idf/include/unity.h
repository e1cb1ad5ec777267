/* Stands for Unity's header with ESP-IDF's TEST_CASE (6.2-dev, unity_test_runner.h): a test case
   is registered by a constructor; here the constructor runs the case. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define TEST_ASSERT_TRUE(condition)                                  \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("%d:FAIL\n", __LINE__);                           \
            exit(1);                                                 \
        }                                                            \
    } while (0)
#define TEST_ASSERT_EQUAL(expected, actual) TEST_ASSERT_TRUE((expected) == (actual))
#define TEST_ASSERT_EQUAL_INT32(expected, actual) \
    TEST_ASSERT_TRUE((int32_t)(expected) == (int32_t)(actual))
#define TEST_NAME_OF(line, part) TEST_JOINED(line, part)
#define TEST_JOINED(line, part) test_##part##_##line
#define TEST_CASE(name, tags)                                                     \
    static void TEST_NAME_OF(__LINE__, case)(void);                               \
    static void __attribute__((constructor)) TEST_NAME_OF(__LINE__, register)(void) \
    {                                                                             \
        TEST_NAME_OF(__LINE__, case)();                                           \
        printf("%s %s:PASS\n", tags, name);                                       \
    }                                                                             \
    static void TEST_NAME_OF(__LINE__, case)(void)

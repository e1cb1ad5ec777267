// Stands for gtest_main.
#include <gtest/gtest.h>

int main()
{
  for (const auto test : ::testing::tests) {test();}
  return ::testing::failures == 0 && !::testing::tests.empty() ? 0 : 1;
}

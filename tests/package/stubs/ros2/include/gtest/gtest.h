// Stands for GoogleTest 1.11 (gtest_vendor of Humble): the macros that a package's tests use.
#ifndef GTEST_GTEST_H_
#define GTEST_GTEST_H_

#include <cstdio>
#include <vector>

namespace testing
{

class Test
{
public:
  virtual ~Test() = default;
  virtual void TestBody() = 0;
  void run()
  {
    SetUp();
    TestBody();
  }

protected:
  static void SetUpTestSuite() {}
  static void TearDownTestSuite() {}
  virtual void SetUp() {}
};

inline std::vector<void (*)()> tests;
inline int failures = 0;
inline void fail(const char * what, int line)
{
  std::printf("line %d: %s\n", line, what);
  failures++;
}

}  // namespace testing

#define TEST_OF(parent, suite, name) \
  class suite ## name : public parent \
  { \
    void TestBody() override; \
public: \
    static void run_alone() \
    { \
      SetUpTestSuite(); \
      suite ## name().run(); \
      TearDownTestSuite(); \
    } \
  }; \
  [[maybe_unused]] static const bool suite ## name ## _added = \
    (::testing::tests.push_back(suite ## name::run_alone), true); \
  void suite ## name::TestBody()
#define TEST(suite, name) TEST_OF(::testing::Test, suite, name)
#define TEST_F(suite, name) TEST_OF(suite, suite, name)
#define EXPECT_TRUE(c) do {if (!(c)) {::testing::fail(#c, __LINE__);}} while (0)
#define EXPECT_EQ(a, b) EXPECT_TRUE((a) == (b))
#define EXPECT_LE(a, b) EXPECT_TRUE((a) <= (b))
#define ASSERT_TRUE(c) do {if (!(c)) {::testing::fail(#c, __LINE__); return;}} while (0)
#define ASSERT_EQ(a, b) ASSERT_TRUE((a) == (b))

#endif  // GTEST_GTEST_H_

// Stands for GoogleTest: a check that fails says where, and ends the program.
#ifndef GTEST_H
#define GTEST_H
#include <cstdlib>
#include <iostream>
#include <vector>

namespace testing {

class Check {
  public:
    Check(bool holds, const char* text, const char* file, int line) : m_holds(holds) {
        *this << file << ":" << line << ": " << text;
    }
    ~Check() {
        if (!m_holds) {
            std::cerr << std::endl;
            std::exit(1);
        }
    }
    template <typename T>
    Check& operator<<(const T& value) {
        if (!m_holds) {
            std::cerr << value;
        }
        return *this;
    }

  private:
    bool m_holds;
};

inline std::vector<void (*)()>& tests() {
    static std::vector<void (*)()> all;
    return all;
}

struct Registration {
    explicit Registration(void (*test)()) { tests().push_back(test); }
};

inline void InitGoogleTest(int*, char**) {}

}  // namespace testing

inline int RUN_ALL_TESTS() {
    for (void (*test)() : testing::tests()) {
        test();
    }
    std::cout << testing::tests().size() << " tests passed" << std::endl;
    return 0;
}

#define TEST(suite, name)                                                \
    static void suite##_##name();                                        \
    static const testing::Registration suite##_##name##_(suite##_##name); \
    static void suite##_##name()
#define GTEST_CHECK(holds, text) testing::Check((holds), (text), __FILE__, __LINE__)
#define ASSERT_EQ(a, b) GTEST_CHECK((a) == (b), #a " == " #b)
#define ASSERT_LT(a, b) GTEST_CHECK((a) < (b), #a " < " #b)
#define ASSERT_LE(a, b) GTEST_CHECK((a) <= (b), #a " <= " #b)
#define ASSERT_GT(a, b) GTEST_CHECK((a) > (b), #a " > " #b)
#define ASSERT_GE(a, b) GTEST_CHECK((a) >= (b), #a " >= " #b)
#endif

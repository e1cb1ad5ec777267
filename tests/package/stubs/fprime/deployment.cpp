// A deployment of one component: a query, one that is refused, and a whole self-test.
#include <cstdio>
#include <limits>

#include "Iris.hpp"

int main()
{
    Models::Iris iris("iris");
    Models::IrisAnswer answer;
    Models::IrisFeatures x = {{5.0f, 0.0f, 0.0f, 0.0f}};
    Models::IrisStatus status = iris.ask(x, answer);
    std::printf("status %d, label %d, certified %d\n", status.e, answer.label, answer.certified);
    x.elements[0] = std::numeric_limits<float>::infinity();
    std::printf("status %d\n", iris.ask(x, answer).e);
    for (int i = 0; i < 4000; i++) {
        iris.selfTest();
    }
    x.elements[0] = 5.0f;
    std::printf("status %d\n", iris.ask(x, answer).e);
    return 0;
}

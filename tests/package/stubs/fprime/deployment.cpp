// Two models in one program, as a topology would connect them: each query of standard input goes
// to Models.Iris and Models.Disease by turns through their ports, and its answer is printed.
#include <cstdio>

#include "Models/Disease/Disease.hpp"
#include "Models/Iris/Iris.hpp"

// The self-test has no workspace of its own.
static_assert(sizeof(Models::IrisMachine) < 2 * sizeof(iris_workspace_t), "one workspace");

template <typename Features>
static bool read(Features& x) {
    for (U32 i = 0; i < Features::SIZE; i++) {
        if (std::scanf("%f", &x[i]) != 1) {
            return false;
        }
    }
    return true;
}

int main() {
    Models::Iris iris("iris");
    Models::Disease disease("disease");
    iris.init(0);
    disease.init(0);
    iris.setIdBase(0x1000);
    disease.setIdBase(0x2000);
    Models::IrisFeatures flower;
    Models::DiseaseFeatures patient;
    while (read(flower) && read(patient)) {
        Models::IrisAnswer label;
        Models::DiseaseAnswer value;
        const Models::IrisStatus named = iris.get_ask_InputPort(0)->invoke(flower, label);
        const Models::DiseaseStatus rated = disease.get_ask_InputPort(0)->invoke(patient, value);
        std::printf("%d %d ", named.e, label.get_label());
        std::printf("%d %.9g\n", rated.e, static_cast<F64>(value.get_value()));
        iris.get_selfTest_InputPort(0)->invoke(0);
    }
    return 0;
}

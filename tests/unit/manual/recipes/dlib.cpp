// Train a machine with dlib, save it as svm.dat, and print its values and samples.
#include <dlib/svm.h>

#include <iostream>

using namespace dlib;
typedef matrix<double, 0, 1> sample_type;
typedef radial_basis_kernel<sample_type> kernel_type;

int main()
{
    std::vector<sample_type> samples;
    std::vector<double> labels;
    for (int i = 0; i < 80; ++i) {
        sample_type x(3);
        x = i * 37 % 41 / 10.0, 100 + i * 23 % 17 * 3.0, i * 11 % 7 * 0.01;
        samples.push_back(x);
        labels.push_back(x(0) + x(2) * 20 > 2.5 ? 1 : -1);
    }
    normalized_function<decision_function<kernel_type>> model;
    model.normalizer.train(samples);
    std::vector<sample_type> normalized;
    for (const auto &x : samples) {
        normalized.push_back(model.normalizer(x));
    }
    svm_c_trainer<kernel_type> trainer;
    trainer.set_kernel(kernel_type(0.3));
    trainer.set_c(10);
    model.function = trainer.train(normalized, labels);
    serialize("svm.dat") << model;
    std::cout.precision(17);
    for (const auto &x : samples) {
        std::cout << model(x) << ' ' << trans(x);
    }
}

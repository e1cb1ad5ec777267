// Stands for what fpp-to-cpp makes of Iris.fpp and for the headers of F´ that this includes.
#ifndef IRIS_COMPONENT_AC_HPP
#define IRIS_COMPONENT_AC_HPP
#include <cstdint>
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using I32 = std::int32_t;
using F32 = float;
using FwIndexType = std::int16_t;

namespace Models {

struct IrisFeatures {
    F32 elements[4];
    const F32& operator[](U32 i) const { return elements[i]; }
};

struct IrisStatus {
    enum T { OK, REFUSED, CORRUPT };
    IrisStatus(T value) : e(value) {}
    T e;
};

struct IrisAnswer {
    I32 label = -1;
    bool certified = false;
    U32 evals = 0;
    void set_label(I32 value) { label = value; }
    void set_lower(F32) {}
    void set_upper(F32) {}
    void set_kernelEvals(U32 value) { evals = value; }
    void set_stage(U16) {}
    void set_certified(bool value) { certified = value; }
    void set_inRange(bool) {}
};

class IrisComponentBase {
  public:
    explicit IrisComponentBase(const char*) {}
    virtual ~IrisComponentBase() = default;
    IrisStatus ask(const IrisFeatures& x, IrisAnswer& answer) { return ask_handler(0, x, answer); }
    void selfTest() { selfTest_handler(0, 0); }

  protected:
    virtual IrisStatus ask_handler(FwIndexType, const IrisFeatures&, IrisAnswer&) = 0;
    virtual void selfTest_handler(FwIndexType, U32) = 0;
};

}  // namespace Models
#endif

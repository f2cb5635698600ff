// One way to run a convolution. Each implementation is a class of this kind; convolution.cpp picks one for a shape.
#pragma once

#include "weft/backend/cpu/convolution.h"

namespace weft::cpu {

class Convolution::Way {
  public:
    virtual ~Way() = default;
    virtual std::size_t scratch_bytes() const = 0;
    virtual void run(const void* first, const void* second, void* result, void* scratch) const = 0;
    virtual std::string implementation() const = 0;
};

}  // namespace weft::cpu

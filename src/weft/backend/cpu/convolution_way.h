// One way to run a convolution. Each implementation is a class of this kind; convolution.cpp picks one for a shape.
#pragma once

#include "weft/backend/cpu/convolution.h"

namespace weft::cpu {

class Convolution::Way {
  public:
    /// Whether the way is for a block of images, one of several that run each on one thread, and share packed weights: with those of
    /// `first`, where that is one.
    struct Block {
        bool is_one = false;
        const Way* first = nullptr;
    };

    virtual ~Way() = default;
    virtual std::size_t scratch_bytes() const = 0;
    virtual void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const = 0;
    /// Of a block of images alone.
    virtual std::size_t packed_bytes() const { return 0; }
    virtual void pack(const void* weights, void* packed) const { (void)weights, (void)packed; }
    virtual std::string implementation() const = 0;
};

}  // namespace weft::cpu

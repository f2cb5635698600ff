// One way to run a convolution. Each implementation is a class of this kind; convolution.cpp picks one for a shape.
#pragma once

#include <functional>
#include <memory>

#include "weft/backend/cpu/convolution.h"

namespace weft::cpu {

class Convolution::Way {
  public:
    /// Convolution::Use.
    struct Use {
        bool block = false, kept = false;
        const Way* first = nullptr;
        bool packs() const { return block || kept; }
    };

    virtual ~Way() = default;
    virtual std::size_t scratch_bytes() const = 0;
    virtual void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const = 0;
    /// Of one that packs() alone.
    virtual std::size_t packed_bytes() const { return 0; }
    virtual void pack(const void* weights, void* packed) const { (void)weights, (void)packed; }
    virtual std::string implementation() const = 0;
};

/// Another way, for one that stands on it.
using MakeWay = std::function<std::unique_ptr<const Convolution::Way>(ConvolutionKind, const ConvolutionShape&,
                                                                      const ConvolutionStrides&)>;

}  // namespace weft::cpu

// A convolution of one block of images as oneDNN runs it: the primitive, how its operands lie, the reorders that lead there, and the
// handles a thread points at its memory. Only where oneDNN was found. Callers: backend/cpu/onednn_convolution.cpp.
#pragma once

#include <dnnl.hpp>
#include <optional>
#include <string>

#include "weft/backend/cpu/convolution.h"

namespace weft::cpu::onednn {

constexpr std::size_t aligned = 64;

inline std::size_t round_up(std::size_t bytes) { return (bytes + aligned - 1) / aligned * aligned; }

/// The processor, never destroyed: others may still run at exit.
dnnl::engine& engine();

/// One operand as the user lays it out, and as the primitive takes it; a reorder between them if these differ.
struct Operand {
    dnnl::memory::desc user, inner;
    dnnl::primitive reorder;  // towards the primitive, or from it for a result
    bool reordered = false;

    std::size_t bytes() const { return reordered ? round_up(inner.get_size()) : 0; }
    void connect(bool result);  ///< puts a reorder between the two
};

/// The primitive for one size of block.
struct Program {
    dnnl::primitive primitive;
    Operand first, second, result;
    std::size_t scratchpad = 0;
    dnnl::memory::desc scratchpad_desc;
    std::string name;
};

/// Handles that a thread points at its block's memory: oneDNN's objects, made once.
struct Handles {
    Handles(const Program& p)
        : stream(engine()),
          first{bare(p.first.user), bare(p.first.inner)},
          second{bare(p.second.user), bare(p.second.inner)},
          result{bare(p.result.user), bare(p.result.inner)},
          scratchpad(bare(p.scratchpad_desc)) {}
    static dnnl::memory bare(const dnnl::memory::desc& desc) { return dnnl::memory(desc, engine(), DNNL_MEMORY_NONE); }
    struct Pair {
        dnnl::memory user, inner;
    };
    dnnl::stream stream;
    Pair first, second, result;
    dnnl::memory scratchpad;
};

/// For a block of `images`; `weights` is the layout to use, or the library's choice. dnnl::error where it has nothing for this.
Program convolution_program(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides,
                            std::int64_t images, const std::optional<dnnl::memory::desc>& weights);

}  // namespace weft::cpu::onednn

// Convolutions of every type, and their two gradients. A Convolution is prepared once for a shape and layout (a
// library's primitive is slow to make) and run many times, from any thread, without a look-up; what it runs on,
// implementation() says. Results are the same bits for any number of threads. Fastest where activations are
// channels-last and dense. Callers: runtime/ (a binding holds its convolutions).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "weft/backend/cpu/convolution_shape.h"
#include "weft/core/dtype.h"

namespace weft::cpu {

class Convolution {
  public:
    /// ShapeError for sizes that do not fit together, negative padding, or strides and dilations below 1.
    Convolution(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides);
    /// Forward or backward_input whose weights many runs read: they are packed once for all.
    struct Use {
        bool block = false;  // for a block of images, one of several, on one thread
        bool kept = false;   // the weights stay as they are from run to run
        const Convolution* first =
            nullptr;  // of a block: one for a block of another size, whose packed weights it reads
    };
    Convolution(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides,
                const Use& use);
    Convolution(Convolution&&) noexcept;
    Convolution& operator=(Convolution&&) noexcept;
    ~Convolution();

    /// Bytes that run needs, on a 64-byte boundary; fixed when prepared.
    std::size_t scratch_bytes() const;
    /// Of one with a Use: what its weights take as run() reads them; 0: it reads them as they lie.
    std::size_t packed_bytes() const;
    void pack(const void* weights, void* packed) const;
    /// forward: input, weight -> output. backward_input (the transposed convolution): output gradient, weight -> input
    /// gradient. backward_weight: input, output gradient -> weight gradient. The result is overwritten, and overlaps
    /// nothing. `packed`: where packed_bytes() is above 0, what pack() made of `second`.
    void run(const void* first, const void* second, void* result, void* scratch, const void* packed = nullptr) const;
    /// "weft", or the library's name of what it runs.
    std::string implementation() const;

    class Way;  // one implementation

  private:
    std::unique_ptr<const Way> way_;
};

/// Output size along an axis, as PyTorch's: floor((in + pad_lo + pad_hi - dilation (kernel - 1) - 1) / stride) + 1, at
/// least 0.
std::int64_t convolution_output_size(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad_lo,
                                     std::int64_t pad_hi, std::int64_t dilation);

/// How many images at a time cost, each, no more than all of them.
std::int64_t convolution_images(const ConvolutionShape& shape);

}  // namespace weft::cpu

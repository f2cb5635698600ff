// weft's own convolution for float and double: windows gathered a block of positions at a time, multiplied by the
// weights with the own matrix product; depthwise ones directly, channel beside channel. Blocks depend on sizes alone;
// the gradient of the weights is summed block by block in their order. The same bits for any number of threads and
// instruction set. Caller: backend/cpu/convolution.cpp, which has checked the shape.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weft/backend/cpu/line_products.h"
#include "weft/backend/cpu/weight_order.h"

namespace weft::cpu {

template <class T>
class OwnConvolution {
  public:
    /// `slots`: threads that run at most at once.
    OwnConvolution(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides, int slots);

    /// What run() wants; a weight's gradient: with the sums of its blocks.
    std::int64_t scratch_elements() const { return (gradient() ? shared_ : 0) + slots_ * each_slot_; }
    /// What the weights take in the order in which run() reads them, and that order; none for a weight's gradient.
    std::int64_t packed_elements() const { return gradient() ? 0 : shared_; }
    void pack(const T* weights, T* packed) const;
    /// As Convolution::run; `packed`: what pack() made of `second`.
    void run(const T* first, const T* second, const T* packed, T* result, T* scratch) const;

  private:
    struct Part {  // one set of windows, and where its weights begin
        Windows windows;
        WeightOrder order;
        std::int64_t weights, first_block, rows_each, taps_each;
        std::optional<LineProducts<T>> lines;  // if it is made so, without gathering
    };
    bool gradient() const { return kind_ == ConvolutionKind::backward_weight; }
    void plan_scratch();
    void convolve_block(const Part& part, std::int64_t block, const T* source, const T* packed, T* destination,
                        T* space) const;
    void convolve_depthwise(const Part& part, std::int64_t begin, std::int64_t end, const T* source, const T* packed,
                            T* destination) const;
    void weight_gradient(const T* input, const T* output, T* result, T* scratch) const;
    void accumulate_lines(const T* input, const T* output, std::int64_t block, T* partial, T* space) const;
    void accumulate_rows(const T* input, const T* output, std::int64_t begin, std::int64_t end, T* partial,
                         T* space) const;
    void accumulate_depthwise(const T* input, const T* output, std::int64_t begin, std::int64_t end, T* partial) const;

    ConvolutionKind kind_;
    ConvolutionShape shape_;
    ConvolutionStrides strides_;
    int slots_;
    bool depthwise_;
    std::int64_t destination_channels_;  // of one group
    std::vector<Part> parts_;
    std::int64_t blocks_ = 0, partials_ = 0, weights_ = 0;  // partials: sums of the weights' gradient
    std::int64_t shared_ = 0, each_slot_ = 0, columns_ = 0, tile_ = 0;
};

}  // namespace weft::cpu

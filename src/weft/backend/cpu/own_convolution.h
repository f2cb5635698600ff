// weft's own convolution for float and double: products of lines, or of windows gathered a block of positions and some taps
// at a time, by the weights with the own matrix product; depthwise ones directly, channel beside channel. Blocks depend on sizes alone;
// the gradient of the weights is summed block by block in their order. The same bits for any number of threads and
// instruction set. Caller: backend/cpu/convolution.cpp, which has checked the shape.
#pragma once

#include <algorithm>
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
    struct Rows {
        std::int64_t begin, end;
    };
    struct Part {  // one set of windows, and where its weights begin
        Windows windows;
        WeightOrder order;
        std::int64_t weights = 0, first_block = 0, rows_each = 0, taps_each = 0;
        std::optional<LineProducts<T>> lines = {};  // if it is made so, without gathering
        Rows rows_of(std::int64_t block) const {
            return {block * rows_each, std::min(windows.rows(), (block + 1) * rows_each)};
        }
    };
    bool gradient() const { return kind_ == ConvolutionKind::backward_weight; }
    void plan_scratch();
    void convolve_block(const Part& part, std::int64_t block, const T* source, const T* packed, T* destination,
                        T* space) const;
    void convolve_windows(const Part& part, Rows of, const T* source, const T* weights, T* destination, T* space) const;
    void convolve_depthwise(const Part& part, std::int64_t block, const T* source, const T* packed,
                            T* destination) const;
    void weight_gradient(const T* input, const T* output, T* result, T* scratch) const;
    void accumulate_block(std::int64_t block, const T* input, const T* output, T* partial, T* space) const;
    void accumulate_windows(const Part& part, Rows of, const T* input, const T* output, T* sums, T* space) const;
    void accumulate_depthwise(const Part& part, std::int64_t block, const T* input, const T* output, T* partial) const;

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

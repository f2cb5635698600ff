// A convolution's weights in the order in which products of windows read them, and back: for each group a matrix for each place of the kernel, from
// the channels that are read to those that are made. Callers: backend/cpu/own_convolution.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/backend/cpu/columns.h"
#include "weft/backend/cpu/moved_matrix.h"

namespace weft::cpu {

class WeightOrder {
  public:
    /// As windows of a convolution of this kind read them; `depthwise`: all groups at once, of one channel each.
    WeightOrder(ConvolutionKind kind, const ConvolutionShape& shape, const WindowStrides& weights,
                const Windows& windows, bool depthwise);

    std::int64_t size() const { return groups_ * each_group(); }
    /// packed[group][tap][channel that is read][channel that is made]; depthwise: [tap][group].
    template <class T>
    void pack(const T* weights, T* packed) const;
    template <class T>
    void unpack(const T* packed, T* weights) const;

  private:
    std::int64_t taps() const { return static_cast<std::int64_t>(taps_.size()); }
    std::int64_t each_group() const { return taps() * read_ * made_; }
    std::int64_t apart() const;
    struct Moved {  // where a matrix of so many rows, and all channels that are made, begins among weights, and packed
        std::int64_t weights;
        MatrixSteps weight_steps;
        std::int64_t packed;
        MatrixSteps packed_steps;
        std::int64_t rows;
    };
    template <class F>
    void for_each_matrix(F&& f) const;

    std::vector<std::int64_t> taps_;     // where in a kernel they stand
    std::int64_t groups_, read_, made_;  // channels of a group
    std::int64_t group_step_, read_step_, made_step_;
};

}  // namespace weft::cpu

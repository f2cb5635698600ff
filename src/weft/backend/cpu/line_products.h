// A convolution as products of lines, where pixels hold their channels: what a line of the result reads of a line of the source are rows that overlap,
// each a step behind the one before, so nothing is gathered; lines with padding are copied once, with zeros beside them. The same bits for any blocks
// and threads: sizes say what a line's products are. Caller: backend/cpu/own_convolution.cpp.
#pragma once

#include "weft/backend/cpu/columns.h"

namespace weft::cpu {

template <class T>
class LineProducts {
  public:
    /// Of windows that fit, to so many channels a pixel.
    LineProducts(const Windows& windows, std::int64_t made);
    /// Whether it takes less time than gathering: taps of a line lie side by side, and lines, and what is summed up for each pixel, are long.
    static bool fit(const Windows& windows, std::int64_t made);

    std::int64_t blocks() const { return windows_.batch * windows_.axis[0].count * of_image_; }
    std::int64_t scratch_elements() const { return copied_ + products_; }
    /// `weights`: [tap][channel that is read][channel that is made].
    void run(std::int64_t block, const T* source, const T* weights, T* destination, T* space) const;

  private:
    struct Lines {  // of the result, from `first` on; where the image's begin
        std::int64_t first, count;
        T* to;
    };
    struct Read {  // where line x of a source's plane lies, or would lie
        const T* plane;
        std::int64_t line;
    };
    bool padded() const { return left_ > 0 || right_ > 0; }
    Read copied(const T* plane, const Lines& lines, T* to) const;
    std::int64_t first_read(std::int64_t line) const;
    std::int64_t last_read(std::int64_t line) const;

    Windows windows_;
    std::int64_t made_, of_image_, each_;  // blocks of an image; lines of a block
    std::int64_t left_, right_;            // pixels of zeros beside a line
    std::int64_t copied_ = 0, products_;   // numbers of scratch
};

}  // namespace weft::cpu

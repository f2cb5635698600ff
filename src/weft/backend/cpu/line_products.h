// A convolution as products of lines, to pixels that hold their channels: what a line of the result reads of a line of the source are rows that overlap,
// each a step behind the one before, so nothing is gathered (of taps that lie apart each by itself). Lines are read as they lie, or copied once: with
// zeros beside them where there is padding, turned where channels lie in planes. The same bits for any blocks and threads: sizes say what a line's
// products are. Caller: backend/cpu/own_convolution.cpp.
#pragma once

#include "weft/backend/cpu/columns.h"

namespace weft::cpu {

template <class T>
class LineProducts {
  public:
    /// Of windows that fit, to so many channels a pixel.
    LineProducts(const Windows& windows, std::int64_t made);
    /// Whether it takes less time than gathering: lines, and what is summed up at once for each pixel, are long.
    static bool fit(const Windows& windows, std::int64_t made);
    /// Whether the gradient of the weights does.
    static bool gradient_fits(const Windows& windows, std::int64_t made);

    std::int64_t blocks() const { return windows_.batch * windows_.axis[0].count * of_image_; }
    std::int64_t scratch_elements() const { return copied_ + products_; }
    /// `weights`: [tap][channel that is read][channel that is made].
    void run(std::int64_t block, const T* source, const T* weights, T* destination, T* space) const;

    /// What a block adds to the gradient of the weights, in that order; `gradient`: what the destination has.
    void add_gradient(std::int64_t block, const T* source, const T* gradient, T* weights, T* space) const;

  private:
    struct Lines {  // of an image's plane, from `first` on, and where that lies in the destination
        std::int64_t image, first, count, at;
    };
    struct Read {  // lines of a source's plane, so far apart
        const T* plane;
        std::int64_t line;
    };
    Lines lines_of(std::int64_t block) const;
    template <class F>
    void for_each_product(const Lines& lines, const T* source, T* space, F&& f) const;
    std::int64_t pixel() const { return copies_ ? windows_.channels : windows_.source.spatial[2]; }
    std::int64_t next_line() const { return windows_.destination.spatial[1] * windows_.axis[1].step; }
    Read copied(const T* plane, const Lines& lines, T* to) const;
    std::int64_t first_read(std::int64_t line) const;
    std::int64_t last_read(std::int64_t line) const;

    Windows windows_;
    std::int64_t made_, of_image_, each_;  // blocks of an image; lines of a block
    std::int64_t left_, right_;            // pixels of zeros beside a line
    std::int64_t together_;                // taps of a product
    bool copies_;                          // lines, pixel behind pixel
    std::int64_t sums_;                    // numbers that a product joins for each of its own
    std::int64_t copied_ = 0, products_;   // numbers of scratch
};

}  // namespace weft::cpu

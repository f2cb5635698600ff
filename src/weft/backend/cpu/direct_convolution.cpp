#include "weft/backend/cpu/direct_convolution.h"

#include <algorithm>
#include <vector>

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/isa/direct_rows.h"
#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

DirectRows best_direct_rows() { return WEFT_OF_BEST_ISA(direct_rows); }

std::size_t bytes(std::int64_t floats) { return aligned(static_cast<std::size_t>(floats) * sizeof(float)); }

/// Whether pixels of a line are their channels, one behind the other.
bool holds_channels(const ConvolutionShape& s, const WindowStrides& input) {
    return input.channel == 1 && input.spatial[2] == s.in_channels;
}

class Direct final : public Convolution::Way {
  public:
    Direct(const ConvolutionShape& shape, const ConvolutionStrides& strides, const Use& use)
        : s_(shape),
          strides_(strides),
          rows_(best_direct_rows()),
          packed_outside_(use.packs() && (!use.first || dynamic_cast<const Direct*>(use.first))) {
        constexpr std::int64_t longest = 1024;  // places of a row, of which threads are to have several to share
        pieces_ = divide_up(s_.out[2], longest), piece_ = divide_up(s_.out[2], pieces_);
        line_ = (piece_ - 1) * s_.stride[2] + (s_.kernel[2] - 1) * s_.dilation[2] + 1;
        lines_each_ = s_.in_channels * line_;
        by_pixels_ = holds_channels(s_, strides.input);
        channel_ = by_pixels_ ? 1 : line_, pixel_ = by_pixels_ ? s_.in_channels : 1;
        constexpr std::int64_t most = 8 << 10;  // numbers of the lines that are copied at a time: a first-level cache's
        const std::int64_t overlap = (s_.kernel[1] - 1) * s_.dilation[1] + 1;
        band_ = std::clamp<std::int64_t>((most / lines_each_ - overlap) / s_.stride[1] + 1, 1, s_.out[1]);
        band_lines_ = (band_ - 1) * s_.stride[1] + overlap;
        bands_ = divide_up(s_.out[1], band_);
        tasks_ = s_.batch * bands_ * pieces_;
        slots_ = use.block ? 1 : slots_for(tasks_);
        packed_ = bytes(divide_up(s_.out_channels, rows_.lanes) * taps() * rows_.lanes);
        for (std::int64_t k1 = 0; k1 < s_.kernel[1]; ++k1)
            for (std::int64_t c = 0; c < s_.in_channels; ++c)
                for (std::int64_t k2 = 0; k2 < s_.kernel[2]; ++k2)
                    offsets_.push_back(k1 * s_.dilation[1] * lines_each_ + c * channel_ + k2 * s_.dilation[2] * pixel_);
    }

    std::size_t scratch_bytes() const override {
        return (packed_outside_ ? 0 : packed_) + static_cast<std::size_t>(slots_) * copied_bytes();
    }
    std::size_t packed_bytes() const override { return packed_outside_ ? packed_ : 0; }
    std::string implementation() const override { return "weft, direct"; }

    /// Each vector of channels with its weights for all taps; the last one ends with the channels.
    void pack(const void* weights, void* packed) const override {
        const WindowStrides& w = strides_.weight;
        auto* from = static_cast<const float*>(weights);
        auto* to = static_cast<float*>(packed);
        for (std::int64_t o = 0; o < s_.out_channels; o += rows_.lanes) {
            const std::int64_t first = std::min(o, s_.out_channels - rows_.lanes);
            for (std::int64_t k1 = 0; k1 < s_.kernel[1]; ++k1)
                for (std::int64_t c = 0; c < s_.in_channels; ++c)
                    for (std::int64_t k2 = 0; k2 < s_.kernel[2]; ++k2)
                        for (int v = 0; v < rows_.lanes; ++v)
                            *to++ = from[(first + v) * w.batch + c * w.channel + k1 * w.spatial[1] + k2 * w.spatial[2]];
        }
    }

    void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        auto* weights = static_cast<const float*>(packed);
        if (!packed_outside_) {
            pack(second, memory);
            weights = reinterpret_cast<const float*>(memory);
            memory += packed_;
        }
        for_each_task(tasks_, slots_, [&](std::int64_t task, int slot) {
            auto* lines = reinterpret_cast<float*>(memory + static_cast<std::size_t>(slot) * copied_bytes());
            const std::int64_t n = task / pieces_ / bands_;
            run_block(static_cast<const float*>(first) + n * strides_.input.batch, weights,
                      static_cast<float*>(result) + n * strides_.output.batch, task / pieces_ % bands_ * band_,
                      task % pieces_ * piece_, lines);
        });
    }

  private:
    std::int64_t taps() const { return s_.kernel[1] * s_.in_channels * s_.kernel[2]; }
    std::size_t copied_bytes() const { return bytes(band_lines_ * lines_each_); }

    /// A band of rows from `first` on, of each a piece from place x on.
    void run_block(const float* picture, const float* weights, float* result, std::int64_t first, std::int64_t x,
                   float* lines) const {
        const std::int64_t last = std::min(first + band_, s_.out[1]);
        const std::int64_t top = first * s_.stride[1] - s_.pad_lo[1];
        const std::int64_t below = (last - 1) * s_.stride[1] - s_.pad_lo[1] + (s_.kernel[1] - 1) * s_.dilation[1] + 1;
        for (std::int64_t line = std::max<std::int64_t>(top, 0); line < std::min(below, s_.in[1]); ++line)
            copy_line(picture + line * strides_.input.spatial[1], x, lines + (line - top) * lines_each_);
        const std::int64_t of_row = s_.in_channels * s_.kernel[2], d = s_.dilation[1];
        for (std::int64_t y = first; y < last; ++y) {
            // Of the kernel's rows those that lie inside the picture.
            const std::int64_t from = y * s_.stride[1] - s_.pad_lo[1];
            const std::int64_t begin = from >= 0 ? 0 : std::min(divide_up(-from, d), s_.kernel[1]);
            const std::int64_t end = from >= s_.in[1] ? 0 : std::min((s_.in[1] - 1 - from) / d + 1, s_.kernel[1]);
            const DirectRow row{.offsets = offsets_.data() + begin * of_row,
                                .step = s_.stride[2] * pixel_,
                                .taps = std::max<std::int64_t>(end - begin, 0) * of_row,
                                .places = std::min(piece_, s_.out[2] - x),
                                .channels = s_.out_channels,
                                .result_step = strides_.output.spatial[2],
                                .vector_step = taps() * rows_.lanes};
            rows_.run(row, lines + (from - top) * lines_each_, weights + begin * of_row * rows_.lanes,
                      result + y * strides_.output.spatial[1] + x * strides_.output.spatial[2]);
        }
    }

    /// What places from x on read of the channels' lines, as they lie, each by itself or pixels that hold them, with zeros where there are no
    /// pixels.
    void copy_line(const float* from, std::int64_t x, float* to) const {
        const std::int64_t begin = x * s_.stride[2] - s_.pad_lo[2];
        const std::int64_t first = std::clamp<std::int64_t>(-begin, 0, line_);
        const std::int64_t last = std::clamp(s_.in[2] - begin, first, line_);
        const std::int64_t lines = by_pixels_ ? 1 : s_.in_channels;
        for (std::int64_t i = 0; i < lines; ++i, from += strides_.input.channel, to += line_ * pixel_) {
            std::fill(to, to + first * pixel_, 0.0F);
            std::copy_n(from + (begin + first) * pixel_, (last - first) * pixel_, to + first * pixel_);
            std::fill(to + last * pixel_, to + line_ * pixel_, 0.0F);
        }
    }

    ConvolutionShape s_;
    ConvolutionStrides strides_;
    DirectRows rows_;
    bool packed_outside_;
    bool by_pixels_;
    std::int64_t piece_, pieces_;             // places of a row at a time
    std::int64_t line_, lines_each_;          // numbers of a channel's line as it is copied, of all channels'
    std::int64_t channel_, pixel_;            // from a channel, and a pixel, to the next one of a copied line
    std::int64_t band_, band_lines_, bands_;  // rows of the result at a time, and the lines that they read
    std::int64_t tasks_;
    int slots_;
    std::size_t packed_;
    std::vector<std::int64_t> offsets_;
};

}  // namespace

std::unique_ptr<const Convolution::Way> direct_convolution(const ConvolutionShape& s, const ConvolutionStrides& strides,
                                                           const Convolution::Way::Use& use) {
    // Of fewer products copying lines is what takes time. By ones libraries get near the arithmetic of more; in steps, which they do not, weights are
    // read once for each row.
    constexpr std::int64_t least_products = 9, most_by_ones = 108, most_weights = 512 << 10;
    const std::int64_t products = s.in_channels * s.kernel[1] * s.kernel[2], places = s.batch * s.out[1] * s.out[2];
    const bool pixels = holds_channels(s, strides.input), steps = pixels && s.stride[1] * s.stride[2] > 1;
    if (!best_direct_rows().run || products < least_products) return nullptr;
    if (steps ? products * s.out_channels > most_weights : products > most_by_ones) return nullptr;
    if (s.groups != 1 || s.in[0] * s.kernel[0] * s.out[0] != 1 || s.kernel[1] * s.kernel[2] == 1) return nullptr;
    if (places == 0 || s.in[1] * s.in[2] == 0 || s.out_channels < best_direct_rows().lanes) return nullptr;
    if (strides.output.channel != 1 || !(pixels || strides.input.spatial[2] == 1)) return nullptr;
    return std::make_unique<Direct>(s, strides, use);
}

}  // namespace weft::cpu

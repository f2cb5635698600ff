#include "weft/backend/cpu/few_channels.h"

#include <algorithm>

#include "weft/backend/cpu/few_channels_places.h"
#include "weft/backend/cpu/few_channels_weights.h"
#include "weft/backend/cpu/gemm.h"
#include "weft/backend/cpu/isa/moved_lines.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t most_inputs = 4, least_others = 8;

/// Of a convolution that reads so many: a library's time is that of 16, and products of short sums take longer. Without vectors of 64 bytes it is that of
/// 8, and products of lines, of pixels that hold their channels, take less; the more so where there are more places than pixels.
std::int64_t most_outputs(ConvolutionKind kind, const ConvolutionShape& s, const ConvolutionStrides& strides) {
    bool halves = best_isa() == Isa::avx2 && strides.input.channel == 1;
    bool large = kind == ConvolutionKind::forward || few::product(s.kernel) > 4;
    if (s.in_channels < 16 || (halves && large)) return 4;
    return s.in_channels < 32 ? 6 : 8;
}

AddMovedLines best_add_moved_lines() { return WEFT_OF_BEST_ISA(add_moved_lines); }

/// A convolution, or the gradient of its input: rows are made of what is read, a band of its lines at a time, and added to the planes of the
/// result.
class FewChannels final : public Convolution::Way {
  public:
    FewChannels(ConvolutionKind kind, const ConvolutionShape& s, const ConvolutionStrides& strides)
        : s_(s),
          forward_(kind == ConvolutionKind::forward),
          few_(forward_ ? s.out_channels : s.in_channels),
          many_(forward_ ? s.in_channels : s.out_channels),
          read_(forward_ ? s.in : s.out),
          made_(forward_ ? s.out : s.in),
          weight_(strides.weight),
          from_(forward_ ? strides.input : strides.output),
          to_(forward_ ? strides.output : strides.input),
          rows_(few_ * few::product(s.kernel)),
          band_(few::lines_of_band(rows_, read_)),
          add_(best_add_moved_lines()) {
        std::int64_t pixels = band_ * read_[2];
        slots_ = static_cast<int>(std::clamp<std::int64_t>(s.batch, 1, ThreadPool::instance().threads()));
        packed_ = aligned(static_cast<std::size_t>(rows_ * many_) * sizeof(float));
        planes_ = aligned(static_cast<std::size_t>(few_ * few::product(made_)) * sizeof(float));
        product_ = aligned(static_cast<std::size_t>(rows_ * pixels) * sizeof(float));
        each_slot_ = planes_ + product_ + aligned(gemm_scratch_bytes(float32, rows_, pixels, many_));
    }

    std::size_t scratch_bytes() const override { return packed_ + static_cast<std::size_t>(slots_) * each_slot_; }
    std::string implementation() const override { return "weft, added from a product"; }

    void run(const void* first, const void* second, void* result, void* scratch, const void*) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        auto* weights = reinterpret_cast<float*>(memory);
        pack(static_cast<const float*>(second), weights);
        auto image = [&](std::int64_t n, int slot) {
            std::byte* own = memory + packed_ + static_cast<std::size_t>(slot) * each_slot_;
            make(weights, static_cast<const float*>(first) + n * from_.batch,
                 static_cast<float*>(result) + n * to_.batch, own);
        };
        parallel_for(s_.batch, image, slots_);
    }

  private:
    void pack(const float* weights, float* to) const {
        std::int64_t own = forward_ ? weight_.batch : weight_.channel,
                     other = forward_ ? weight_.channel : weight_.batch;
        few::for_each_place(few_, s_.kernel, [&](std::int64_t row, std::int64_t c, const Spatial& k) {
            const float* from = weights + c * own + few::place_offset(weight_, k);
            for (std::int64_t m = 0; m < many_; ++m) to[row * many_ + m] = from[m * other];
        });
    }

    void make(const float* weights, const float* from, float* to, std::byte* own) const {
        auto* planes = reinterpret_cast<float*>(own);
        auto* rows = reinterpret_cast<float*>(own + planes_);
        std::fill(planes, planes + few_ * few::product(made_), 0.0F);
        std::int64_t step = from_.spatial[most_spatial - 1], lines = read_[0] * read_[1];
        for (std::int64_t line = 0; line < lines; line += band_) {
            std::int64_t end = std::min(lines, line + band_), pixels = (end - line) * read_[2];
            Matrix a{weights, many_, 1}, b{from + line * read_[2] * step, from_.channel, step};
            gemm(float32, rows_, pixels, many_, a, b, rows, pixels, false, {},
                 {own + planes_ + product_, each_slot_ - planes_ - product_});
            add(rows, pixels, line, end, planes);
        }
        store(planes, to);
    }

    /// Rows of the lines from `begin` to `end`, where they belong.
    void add(const float* rows, std::int64_t pixels, std::int64_t begin, std::int64_t end, float* planes) const {
        std::int64_t taps = s_.kernel[2], row = 0;
        for (std::int64_t c = 0; c < few_; ++c)
            for (std::int64_t k0 = 0; k0 < s_.kernel[0]; ++k0)
                for (std::int64_t k1 = 0; k1 < s_.kernel[1]; ++k1, row += taps) {
                    few::ReadRange i0(s_, 0, k0), i1(s_, 1, k1);
                    for (std::int64_t line = begin; line < end; ++line) {
                        std::int64_t x0 = line / read_[1], x1 = line % read_[1];
                        std::int64_t y0 = forward_ ? x0 - i0.offset : x0, y1 = forward_ ? x1 - i1.offset : x1;
                        if (!i0.holds(y0) || !i1.holds(y1)) continue;
                        std::int64_t to = forward_ ? y0 * made_[1] + y1 : i0.input(y0) * made_[1] + i1.input(y1);
                        add_line(rows + row * pixels + (line - begin) * read_[2], pixels,
                                 planes + (c * made_[0] * made_[1] + to) * made_[2]);
                    }
                }
    }

    /// Of each place along the last axis a line, `between` numbers behind the one before.
    void add_line(const float* from, std::int64_t between, float* to) const {
        std::int64_t taps = s_.kernel[2], pad = s_.pad_lo[2], apart = s_.dilation[2];
        if (s_.stride[2] == 1) {
            std::int64_t sign = forward_ ? 1 : -1;
            return add_({taps, between, -sign * pad, sign * apart, read_[2], made_[2]}, from, to);
        }
        for (std::int64_t k = 0; k < taps; ++k) {  // of a gradient alone
            few::ReadRange range(s_, 2, k);
            for (std::int64_t y = range.first; y < range.last; ++y) to[range.input(y)] += from[k * between + y];
        }
    }

    void store(const float* planes, float* to) const {
        std::int64_t plane = few::product(made_), step = to_.spatial[2];
        for (std::int64_t line = 0; line < made_[0] * made_[1]; ++line) {
            float* place = to + line / made_[1] * to_.spatial[0] + line % made_[1] * to_.spatial[1];
            for (std::int64_t c = 0; c < few_; ++c) {
                const float* from = planes + c * plane + line * made_[2];
                if (step == 1)
                    std::copy(from, from + made_[2], place + c * to_.channel);
                else
                    for (std::int64_t i = 0; i < made_[2]; ++i) place[c * to_.channel + i * step] = from[i];
            }
        }
    }

    ConvolutionShape s_;
    bool forward_;
    std::int64_t few_, many_;  // channels of what is made, and of what is read
    Spatial read_, made_;
    WindowStrides weight_, from_, to_;
    std::int64_t rows_, band_;  // of the product; lines of a band
    AddMovedLines add_;
    int slots_;
    std::size_t packed_, planes_, product_, each_slot_;
};

bool by_ones(const ConvolutionShape& s) { return s.stride[0] == 1 && s.stride[1] == 1 && s.stride[2] == 1; }

}  // namespace

std::unique_ptr<const Convolution::Way> few_channels_convolution(ConvolutionKind kind, const ConvolutionShape& s,
                                                                 const ConvolutionStrides& strides) {
    constexpr std::int64_t most_made = 4 << 20;  // numbers that a line of pixels becomes: it is not cut
    bool some =
        s.batch > 0 && s.in_channels > 0 && s.out_channels > 0 && few::product(s.in) > 0 && few::product(s.out) > 0;
    if (!some || s.groups != 1) return nullptr;
    if (kind == ConvolutionKind::backward_input) {
        bool few = s.in_channels <= most_inputs && s.out_channels >= least_others &&
                   s.in_channels * few::product(s.kernel) * s.out[2] <= most_made;
        if (!few || !few::evenly_spaced(s.out, strides.output)) return nullptr;
        return std::make_unique<FewChannels>(kind, s, strides);
    }
    // What strides skip would be computed as well.
    bool few = s.out_channels <= most_outputs(kind, s, strides) && s.in_channels >= least_others && by_ones(s);
    if (!few || !few::evenly_spaced(s.in, strides.input)) return nullptr;
    if (s.out_channels * few::product(s.kernel) * s.in[2] > most_made) return nullptr;
    if (kind == ConvolutionKind::backward_weight) return few_channels_weight_gradient(s, strides);
    return std::make_unique<FewChannels>(kind, s, strides);
}

}  // namespace weft::cpu

#include "weft/backend/cpu/winograd_gradient.h"

#include <atomic>

#include "weft/backend/cpu/winograd_tiles.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

using namespace winograd;

/// For each of 16 places a matrix of sums, in_channels x out_channels, over the tiles of a part; parts are joined in their order. Where the
/// matrices are large, or tiles few, there is one part, and what is done to a block of tiles is shared out.
class TileSums final : public Convolution::Way {
  public:
    TileSums(const ConvolutionShape& shape, const ConvolutionStrides& strides, const MakeWay& direct)
        : direct_{direct, ConvolutionKind::backward_weight, shape, strides},
          s_(shape),
          strides_(strides),
          input_(shape.in, strides.input),
          gradient_(shape.out, strides.output),
          tiles_(shape.batch, gradient_),
          gemm_(own::kernels<float>()),
          slots_(ThreadPool::instance().threads()) {
        // By sizes alone, for sums are the same then for any number of threads.
        std::int64_t sums = s_.in_channels * s_.out_channels, parts = tiles_.count() / least_part;
        parts_ = sums >= large || (sums >= middling && parts < 2) ? 1 : std::clamp<std::int64_t>(parts, 2, most_parts);
        shared_ = parts_ == 1;
        each_ = tiles_at_a_time(divide_up(tiles_.count(), parts_), s_.in_channels, s_.out_channels, balanced());
        of_input_ = Matrices(each_, s_.in_channels), of_gradient_ = Matrices(each_, s_.out_channels);
        sums_ = Matrices(s_.in_channels, s_.out_channels);
        zeros_.assign(static_cast<std::size_t>(std::max(s_.in_channels, s_.out_channels)), 0.0f);
    }

    static constexpr std::int64_t least_tiles = 128;

    std::size_t scratch_bytes() const override {
        return static_cast<std::size_t>(parts_ * sums_.elements() + slots_ * slot_elements()) * sizeof(float);
    }
    std::string implementation() const override { return "weft, Winograd"; }

    void run(const void* first, const void* second, void* result, void* scratch, const void*) const override {
        auto* sums = static_cast<float*>(scratch);
        auto* of_slots = sums + parts_ * sums_.elements();
        parallel_for(
            parts_,
            [&](std::int64_t part, int slot) {
                add_part(part, static_cast<const float*>(first), static_cast<const float*>(second),
                         of_slots + slot * slot_elements(), sums + part * sums_.elements());
            },
            shared_ ? 1 : slots_);
        std::atomic<bool> finite{true};
        std::int64_t across = divide_up(s_.out_channels, given_out);
        parallel_for(divide_up(s_.in_channels, given_in) * across, [&](std::int64_t index) {
            if (!give(index / across * given_in, index % across * given_out, sums, static_cast<float*>(result)))
                finite = false;
        });
        if (!finite) direct_.run(first, second, result);
    }

  private:
    static constexpr std::int64_t given_in = 16, given_out = 32;  // channels at a time
    static constexpr std::int64_t large = 32 * 1024, middling = 4 * 1024, least_part = 256, most_parts = 8;

    /// So many tiles that sums, which each block reads and writes, take no more of memory's time than what is made of pixels.
    std::int64_t balanced() const { return s_.in_channels * s_.out_channels / (s_.in_channels + s_.out_channels); }
    std::int64_t slot_elements() const { return of_input_.elements() + of_gradient_.elements(); }

    void add_part(std::int64_t part, const float* input, const float* gradient, float* space, float* sums) const {
        std::int64_t first = begin_of(part, parts_, tiles_.count()), last = begin_of(part + 1, parts_, tiles_.count());
        for (std::int64_t begin = first; begin < last; begin += each_) {
            std::int64_t end = std::min(last, begin + each_);
            constexpr std::int64_t together = 8;  // tiles
            auto take_some = [&](std::int64_t some) {
                std::int64_t from = begin + some * together;
                take(begin, from, std::min(end, from + together), input, gradient, space);
            };
            auto multiply_at = [&](std::int64_t place) { multiply(place, end - begin, space, begin > first, sums); };
            for_each(divide_up(end - begin, together), take_some);
            for_each(places, multiply_at);
        }
    }
    template <class F>
    void for_each(std::int64_t count, const F& f) const {
        if (shared_) return parallel_for(count, f);
        for (std::int64_t i = 0; i < count; ++i) f(i);
    }

    /// Tiles [begin, end) of a block that begins at `block`.
    void take(std::int64_t block, std::int64_t begin, std::int64_t end, const float* input, const float* gradient,
              float* space) const {
        const WinogradKernels& kernel = kernels();
        tiles_.for_each(begin, end, [&](std::int64_t tile, std::int64_t n, std::int64_t y, std::int64_t x) {
            PixelSquare<4, const float> from(input_, input + n * input_.batch_step, y - s_.pad_lo[1], x - s_.pad_lo[2],
                                             zeros_.data());
            kernel.take_pixels(from.pixels, s_.in_channels, space + (tile - block) * of_input_.row, of_input_.step);
            PixelSquare<2, const float> of(gradient_, gradient + n * gradient_.batch_step, y, x, zeros_.data());
            kernel.take_gradient(of.pixels, s_.out_channels,
                                 space + of_input_.elements() + (tile - block) * of_gradient_.row, of_gradient_.step);
        });
    }

    void multiply(std::int64_t place, std::int64_t tiles, const float* space, bool accumulate, float* sums) const {
        std::int64_t width = gemm_.most_columns;
        int count = 0;
        for (std::int64_t column = 0; column < s_.out_channels; column += count * width) {
            count = own::panels_at(gemm_, own::pairs_panels(gemm_, s_.in_channels), column, s_.out_channels);
            std::int64_t row_tiles = divide_up(s_.in_channels, count == 2 ? gemm_.paired_rows : gemm_.most_rows);
            GemmTile<float> tile{};
            tile.panels = count, tile.paired = count == 2, tile.b_panel = width;
            tile.b = space + of_input_.elements() + place * of_gradient_.step + column;
            tile.b_row = of_gradient_.row;
            tile.k = tiles;
            tile.columns = static_cast<int>(std::min(width, s_.out_channels - column));
            tile.a_row = 1, tile.a_column = of_input_.row;
            tile.c_row = sums_.row;
            tile.accumulate = accumulate;
            tile.fetch = tile.b;
            for (std::int64_t i = 0; i < row_tiles; ++i) {
                std::int64_t row = begin_of(i, row_tiles, s_.in_channels);
                tile.rows = static_cast<int>(begin_of(i + 1, row_tiles, s_.in_channels) - row);
                tile.a = space + place * of_input_.step + row;
                tile.c = sums + place * sums_.step + row * sums_.row + column;
                tile.next_c = tile.c + tile.rows * sums_.row;
                gemm_.tile(tile);
            }
        }
    }

    /// The gradients of the weights of some channels of the input and of the output: so many that lines of memory are written whole.
    bool give(std::int64_t first_in, std::int64_t first_out, float* sums, float* result) const {
        float made[9 * given_out];
        bool finite = true;
        std::int64_t count = std::min(given_out, s_.out_channels - first_out);
        const WindowStrides& w = strides_.weight;
        for (std::int64_t c = first_in; c < std::min(s_.in_channels, first_in + given_in); ++c) {
            float* total = sums + c * sums_.row + first_out;
            for (std::int64_t part = 1; part < parts_; ++part)
                for (int place = 0; place < places; ++place)
                    gemm_.add(total + place * sums_.step, total + part * sums_.elements() + place * sums_.step, count);
            finite &= kernels().give_weights(total, sums_.step, count, made);
            for (std::int64_t o = 0; o < count; ++o) {
                float* to = result + (first_out + o) * w.batch + c * w.channel;
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) to[i * w.spatial[1] + j * w.spatial[2]] = made[(3 * i + j) * count + o];
            }
        }
        return finite;
    }

    Direct direct_;
    ConvolutionShape s_;
    ConvolutionStrides strides_;
    Picture input_, gradient_;
    Tiles tiles_;
    const GemmKernels<float>& gemm_;
    int slots_;
    bool shared_;
    std::int64_t parts_, each_;
    Matrices of_input_, of_gradient_, sums_;
    std::vector<float> zeros_;  // a pixel outside the picture
};

}  // namespace

std::unique_ptr<const Convolution::Way> winograd_gradient(const ConvolutionShape& shape,
                                                          const ConvolutionStrides& strides, const MakeWay& direct) {
    if (Tiles(shape.batch, Picture(shape.out, strides.output)).count() < TileSums::least_tiles) return nullptr;
    return std::make_unique<TileSums>(shape, strides, direct);
}

}  // namespace weft::cpu

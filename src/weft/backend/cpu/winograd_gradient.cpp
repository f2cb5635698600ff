#include "weft/backend/cpu/winograd_gradient.h"

#include <atomic>

#include "weft/backend/cpu/own_convolution.h"
#include "weft/backend/cpu/winograd_tiles.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

using namespace winograd;

/// For each of 16 places a matrix of sums, in_channels x out_channels, over the tiles of a part; parts are joined in their order.
class InWeights final : public Convolution::Way {
  public:
    InWeights(const ConvolutionShape& shape, const ConvolutionStrides& strides)
        : s_(shape),
          strides_(strides),
          input_(shape.in, strides.input),
          gradient_(shape.out, strides.output),
          tiles_(shape.batch, gradient_),
          gemm_(own::kernels<float>()),
          slots_(ThreadPool::instance().threads()),
          parts_(parts_of(tiles_.count(), shape.in_channels * shape.out_channels)) {
        each_ = std::min(divide_up(tiles_.count(), parts_), tiles_at_a_time(s_.in_channels, s_.out_channels));
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
            slots_);
        std::atomic<bool> finite{true};
        parallel_for(s_.in_channels, [&](std::int64_t c) {
            if (!give(c, sums, static_cast<float*>(result))) finite = false;
        });
        if (!finite) run_directly(first, second, result);
    }

  private:
    /// By sizes alone, for sums are the same then for any number of threads.
    static std::int64_t parts_of(std::int64_t tiles, std::int64_t weights) {
        constexpr std::int64_t most = 8, most_elements = std::int64_t{8} << 20;
        std::int64_t least = tiles >= 2 * least_tiles ? 2 : 1;
        return std::clamp(std::min(tiles / (2 * least_tiles), most_elements / (places * weights)), least, most);
    }
    std::int64_t slot_elements() const { return of_input_.elements() + of_gradient_.elements(); }

    void add_part(std::int64_t part, const float* input, const float* gradient, float* space, float* sums) const {
        std::int64_t first = own::begin_of(part, parts_, tiles_.count()),
                     last = own::begin_of(part + 1, parts_, tiles_.count());
        for (std::int64_t begin = first; begin < last; begin += each_) {
            std::int64_t end = std::min(last, begin + each_);
            take(begin, end, input, gradient, space);
            multiply(end - begin, space, begin > first, sums);
        }
    }

    void take(std::int64_t begin, std::int64_t end, const float* input, const float* gradient, float* space) const {
        const WinogradKernels& kernel = kernels();
        tiles_.for_each(begin, end, [&](std::int64_t tile, std::int64_t n, std::int64_t y, std::int64_t x) {
            Square<4, const float> from(input_, input + n * input_.batch_step, y - s_.pad_lo[1], x - s_.pad_lo[2],
                                        zeros_.data());
            kernel.take_pixels(from.pixels, s_.in_channels, space + (tile - begin) * of_input_.row, of_input_.step);
            Square<2, const float> of(gradient_, gradient + n * gradient_.batch_step, y, x, zeros_.data());
            kernel.take_gradient(of.pixels, s_.out_channels,
                                 space + of_input_.elements() + (tile - begin) * of_gradient_.row, of_gradient_.step);
        });
    }

    void multiply(std::int64_t tiles, const float* space, bool accumulate, float* sums) const {
        std::int64_t row_tiles = divide_up(s_.in_channels, gemm_.most_rows), width = gemm_.most_columns;
        for (int place = 0; place < places; ++place)
            for (std::int64_t column = 0; column < s_.out_channels; column += width) {
                GemmTile<float> tile{};
                tile.b = space + of_input_.elements() + place * of_gradient_.step + column;
                tile.b_row = of_gradient_.row;
                tile.k = tiles;
                tile.columns = static_cast<int>(std::min(width, s_.out_channels - column));
                tile.a_row = 1, tile.a_column = of_input_.row;
                tile.c_row = sums_.row;
                tile.accumulate = accumulate;
                tile.fetch = tile.b;
                for (std::int64_t i = 0; i < row_tiles; ++i) {
                    std::int64_t row = own::begin_of(i, row_tiles, s_.in_channels);
                    tile.rows = static_cast<int>(own::begin_of(i + 1, row_tiles, s_.in_channels) - row);
                    tile.a = space + place * of_input_.step + row;
                    tile.c = sums + place * sums_.step + row * sums_.row + column;
                    gemm_.tile(tile);
                }
            }
    }

    /// The gradients of the weights of one channel of the input.
    bool give(std::int64_t channel, float* sums, float* result) const {
        constexpr std::int64_t together = 64;
        float made[9 * together];
        bool finite = true;
        for (std::int64_t o = 0; o < s_.out_channels; o += together) {
            std::int64_t count = std::min(together, s_.out_channels - o);
            float* total = sums + channel * sums_.row + o;
            for (std::int64_t part = 1; part < parts_; ++part)
                for (int place = 0; place < places; ++place)
                    gemm_.add(total + place * sums_.step, total + part * sums_.elements() + place * sums_.step, count);
            finite &= kernels().give_weights(total, sums_.step, count, made);
            float* to = result + o * strides_.weight.batch + channel * strides_.weight.channel;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    float* place = to + i * strides_.weight.spatial[1] + j * strides_.weight.spatial[2];
                    for (std::int64_t k = 0; k < count; ++k)
                        place[k * strides_.weight.batch] = made[(3 * i + j) * count + k];
                }
        }
        return finite;
    }

    void run_directly(const void* first, const void* second, void* result) const {
        OwnConvolution<float> own(ConvolutionKind::backward_weight, s_, strides_, slots_);
        BufferHandle space = Buffer::allocate(static_cast<std::size_t>(own.scratch_elements()) * sizeof(float));
        own.run(static_cast<const float*>(first), static_cast<const float*>(second), nullptr,
                static_cast<float*>(result), reinterpret_cast<float*>(space->data()));
    }

    ConvolutionShape s_;
    ConvolutionStrides strides_;
    Picture input_, gradient_;
    Tiles tiles_;
    const GemmKernels<float>& gemm_;
    int slots_;
    std::int64_t parts_, each_;
    Matrices of_input_, of_gradient_, sums_;
    std::vector<float> zeros_;  // a pixel outside the picture
};

}  // namespace

std::unique_ptr<const Convolution::Way> winograd_gradient(const ConvolutionShape& shape,
                                                          const ConvolutionStrides& strides) {
    if (Tiles(shape.batch, Picture(shape.out, strides.output)).count() < InWeights::least_tiles) return nullptr;
    return std::make_unique<InWeights>(shape, strides);
}

}  // namespace weft::cpu

#include "weft/backend/cpu/winograd.h"

#include <atomic>

#include "weft/backend/cpu/winograd_gradient.h"
#include "weft/backend/cpu/winograd_tiles.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace winograd {

const WinogradKernels& kernels() { return WEFT_OF_BEST_ISA(winograd_kernels); }

void Direct::run(const void* first, const void* second, void* result) const {
    std::unique_ptr<const Convolution::Way> way = make(kind, shape, strides);
    BufferHandle scratch = Buffer::allocate(way->scratch_bytes());
    way->run(first, second, result, scratch->data(), nullptr);
}

}  // namespace winograd

namespace {

using namespace winograd;

/// A convolution as one of `sources` channels into `destinations`: forward, or of a result's gradient with the weights turned round.
struct Roles {
    bool forward;
    std::int64_t sources, destinations, pad[2];
    Picture source, destination;
    std::int64_t source_step, destination_step;  // of the weights
    WindowStrides weight;

    Roles(ConvolutionKind kind, const ConvolutionShape& s, const ConvolutionStrides& lies)
        : forward(kind == ConvolutionKind::forward),
          sources(forward ? s.in_channels : s.out_channels),
          destinations(forward ? s.out_channels : s.in_channels),
          pad{forward ? s.pad_lo[1] : 2 - s.pad_lo[1], forward ? s.pad_lo[2] : 2 - s.pad_lo[2]},
          source(forward ? s.in : s.out, forward ? lies.input : lies.output),
          destination(forward ? s.out : s.in, forward ? lies.output : lies.input),
          source_step(forward ? lies.weight.channel : lies.weight.batch),
          destination_step(forward ? lies.weight.batch : lies.weight.channel),
          weight(lies.weight) {}
    /// Elements from the first weight of a kernel to that of place (i, j).
    std::int64_t weight_at(int i, int j) const {
        return (forward ? i : 2 - i) * weight.spatial[1] + (forward ? j : 2 - j) * weight.spatial[2];
    }
};

class InPixels final : public Convolution::Way {
  public:
    InPixels(ConvolutionKind kind, const ConvolutionShape& shape, const ConvolutionStrides& strides, const Use& use,
             const MakeWay& direct)
        : direct_{direct, kind, shape, strides},
          r_(kind, shape, strides),
          tiles_(shape.batch, r_.destination),
          gemm_(own::kernels<float>()),
          slots_(use.block ? 1 : ThreadPool::instance().threads()),
          packed_outside_(use.packs()) {
        each_ = tiles_at_a_time(tiles_.count(), r_.sources, r_.destinations);
        if (slots_ > 1 && tiles_.count() >= enough * each_) share_evenly();
        blocks_ = divide_up(tiles_.count(), each_);
        panels_ = divide_up(r_.destinations, gemm_.most_columns);
        taken_ = Matrices(each_, r_.sources), made_ = Matrices(each_, r_.destinations);
        zeros_.assign(static_cast<std::size_t>(r_.sources), 0.0f);
        far_ = static_cast<std::int64_t>(weight_bytes()) > second_level_bytes;
    }

    std::size_t scratch_bytes() const override {
        return (packed_outside_ ? 0 : weight_bytes()) + static_cast<std::size_t>(slots_) * slot_bytes();
    }
    std::size_t packed_bytes() const override { return packed_outside_ ? weight_bytes() : 0; }
    std::string implementation() const override { return "weft, Winograd"; }

    /// packed[place][panel][source][column of the panel]
    void pack(const void* weights, void* packed) const override {
        constexpr std::int64_t together = 16;
        std::int64_t chunks = divide_up(r_.sources, together);
        parallel_for(panels_ * chunks, [&](std::int64_t index) {
            std::int64_t panel = index / chunks, first = index % chunks * together;
            for (std::int64_t c = first; c < std::min(r_.sources, first + together); ++c)
                pack(panel, c, static_cast<const float*>(weights), static_cast<float*>(packed));
        });
    }

    void run(const void* first, const void* second, void* result, void* scratch, const void* packed) const override {
        auto* memory = static_cast<std::byte*>(scratch);
        if (!packed) {
            pack(second, memory);
            packed = memory, memory += weight_bytes();
        }
        Run run{static_cast<const float*>(first), static_cast<const float*>(packed), static_cast<float*>(result),
                memory};
        if (slots_ == 1 || blocks_ >= enough)
            parallel_for(
                blocks_, [&](std::int64_t block, int slot) { whole_block(run, block, slot); }, slots_);
        else
            for (std::int64_t block = 0; block < blocks_; ++block) shared_block(run, block);
        if (!run.finite) direct_.run(first, second, result);
    }

  private:
    struct Run {
        const float *source, *weights;
        float* result;
        std::byte* memory;
        std::atomic<bool> finite{true};
    };
    /// Tiles of a block, and what is made of them.
    struct Block {
        std::int64_t begin, end;
        float *taken, *made;
    };

    static constexpr std::int64_t enough = 4;  // blocks that threads can share

    /// As many blocks for each thread, where they are few: who has none left waits for others'. (784 tiles on two: 7 blocks take the time of 8.)
    void share_evenly() {
        constexpr std::int64_t few = 4, least_tiles = 32;
        std::int64_t blocks = divide_up(tiles_.count(), each_);
        if (blocks < few * slots_)
            each_ =
                std::max(std::min(least_tiles, each_), divide_up(tiles_.count(), divide_up(blocks, slots_) * slots_));
    }

    std::int64_t panel_elements() const { return r_.sources * gemm_.most_columns; }
    std::size_t weight_bytes() const {
        return static_cast<std::size_t>(places * panels_ * panel_elements()) * sizeof(float);
    }
    std::size_t slot_bytes() const {
        return static_cast<std::size_t>(taken_.elements() + made_.elements()) * sizeof(float);
    }

    void pack(std::int64_t panel, std::int64_t source, const float* weights, float* packed) const {
        constexpr int widest = 32;
        float of_panel[9 * widest];
        std::int64_t width = gemm_.most_columns, columns = std::min(width, r_.destinations - panel * width);
        const float* from = weights + source * r_.source_step + panel * width * r_.destination_step;
        for (std::int64_t d = 0; d < columns; ++d)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    of_panel[(3 * i + j) * width + d] = from[d * r_.destination_step + r_.weight_at(i, j)];
        for (int place = 0; place < 9; ++place)
            std::fill(of_panel + place * width + columns, of_panel + (place + 1) * width, 0.0f);
        kernels().take_weights(of_panel, width, packed + panel * panel_elements() + source * width,
                               panels_ * panel_elements());
    }

    Block block_at(const Run& run, std::int64_t index, int slot) const {
        auto* memory = reinterpret_cast<float*>(run.memory + static_cast<std::size_t>(slot) * slot_bytes());
        return {index * each_, std::min(tiles_.count(), (index + 1) * each_), memory, memory + taken_.elements()};
    }
    void whole_block(Run& run, std::int64_t index, int slot) const {
        Block block = block_at(run, index, slot);
        take(run, block, block.begin, block.end);
        multiply(run, block, 0, panels_);
        give(run, block, 0, panels_);
    }
    /// By all threads: first the tiles are shared out, then the panels.
    void shared_block(Run& run, std::int64_t index) const {
        constexpr std::int64_t together = 8, most_parts = 8;
        Block block = block_at(run, index, 0);
        parallel_for(divide_up(block.end - block.begin, together), [&](std::int64_t some) {
            std::int64_t begin = block.begin + some * together;
            take(run, block, begin, std::min(block.end, begin + together));
        });
        std::int64_t parts = std::min(panels_, most_parts);
        parallel_for(parts, [&](std::int64_t part) {
            std::int64_t begin = begin_of(part, parts, panels_), end = begin_of(part + 1, parts, panels_);
            multiply(run, block, begin, end);
            give(run, block, begin, end);
        });
    }

    void take(const Run& run, const Block& block, std::int64_t begin, std::int64_t end) const {
        const WinogradKernels& kernel = kernels();
        tiles_.for_each(begin, end, [&](std::int64_t tile, std::int64_t n, std::int64_t y, std::int64_t x) {
            PixelSquare<4, const float> from(r_.source, run.source + n * r_.source.batch_step, y - r_.pad[0],
                                             x - r_.pad[1], zeros_.data());
            kernel.take_pixels(from.pixels, r_.sources, block.taken + (tile - block.begin) * taken_.row, taken_.step);
        });
    }

    /// 16 products, each with the panels [begin, end) of the weights, which are read as they follow each other in memory.
    void multiply(const Run& run, const Block& block, std::int64_t begin, std::int64_t end) const {
        std::int64_t rows = block.end - block.begin;
        std::int64_t pieces = divide_up(r_.sources, own::depth), width = gemm_.most_columns;
        constexpr std::int64_t line = 16;
        for (int place = 0; place < places; ++place)
            for (std::int64_t panel = begin, count = 0; panel < end; panel += count) {
                count = own::panels_at(gemm_, own::pairs_panels(gemm_, rows), panel * width,
                                       std::min(end * width, r_.destinations));
                std::int64_t row_tiles = divide_up(rows, count == 2 ? gemm_.paired_rows : gemm_.most_rows);
                for (std::int64_t piece = 0; piece < pieces; ++piece) {
                    std::int64_t k = begin_of(piece, pieces, r_.sources),
                                 k_end = begin_of(piece + 1, pieces, r_.sources);
                    GemmTile<float> tile{};
                    tile.b = run.weights + (place * panels_ + panel) * panel_elements() + k * width;
                    tile.b_row = width;
                    tile.k = k_end - k;
                    tile.columns = static_cast<int>(std::min(width, r_.destinations - panel * width));
                    tile.a_row = taken_.row, tile.a_column = 1;
                    tile.c_row = made_.row;
                    tile.accumulate = k > 0;
                    tile.panels = static_cast<int>(count), tile.paired = count == 2, tile.b_panel = panel_elements();
                    const float* next = tile.b + count * tile.k * width;  // the next panel or place, for nearly all
                    bool last = piece + 1 == pieces && panel + count == end;
                    if (last) next = run.weights + ((place + 1) % places * panels_ + begin) * panel_elements();
                    for (std::int64_t i = 0; i < row_tiles; ++i) {
                        std::int64_t row = begin_of(i, row_tiles, rows);
                        tile.rows = static_cast<int>(begin_of(i + 1, row_tiles, rows) - row);
                        tile.a = block.taken + place * taken_.step + row * taken_.row + k;
                        tile.c = block.made + place * made_.step + row * made_.row + panel * width;
                        tile.next_c = tile.c + tile.rows * made_.row;
                        std::int64_t lines = gemm_.asked_for(tile.rows, tile.k, tile.paired);
                        bool fetches = far_ && i * lines < count * width / line * tile.k;
                        tile.fetch = fetches ? next + i * lines * line : tile.b;
                        tile.fetch_step = fetches ? line : 0;
                        gemm_.tile(tile);
                    }
                }
            }
    }

    void give(Run& run, const Block& block, std::int64_t begin, std::int64_t end) const {
        const WinogradKernels& kernel = kernels();
        std::int64_t first = begin * gemm_.most_columns;
        std::int64_t channels = std::min(end * gemm_.most_columns, r_.destinations) - first;
        bool finite = true;
        tiles_.for_each(block.begin, block.end, [&](std::int64_t tile, std::int64_t n, std::int64_t y, std::int64_t x) {
            PixelSquare<2, float> to(r_.destination, run.result + n * r_.destination.batch_step + first, y, x, nullptr);
            finite &= kernel.give_pixels(block.made + (tile - block.begin) * made_.row + first, made_.step, channels,
                                         to.pixels);
        });
        if (!finite) run.finite = false;
    }

    Direct direct_;
    Roles r_;
    Tiles tiles_;
    const GemmKernels<float>& gemm_;
    int slots_;
    bool packed_outside_, far_;  // far: weights come from beyond the second-level cache
    std::int64_t each_, blocks_, panels_;
    Matrices taken_, made_;
    std::vector<float> zeros_;  // a pixel outside the picture
};

/// Whether it is of the kind, and not so small that transforms, or pixels of tiles that lie outside, take what multiplications give.
bool pays(const ConvolutionShape& s, const ConvolutionStrides& lies) {
    constexpr std::int64_t least_channels = 16, least_pixels = 36;
    constexpr std::int64_t most_kernels = 1 << 20;  // 64 MB of transformed weights
    bool flat = s.in[0] == 1 && s.out[0] == 1 && s.kernel[0] == 1 && s.pad_lo[0] == 0 && s.groups == 1;
    bool beside = lies.input.channel == 1 && lies.output.channel == 1;
    bool small = std::min(s.in_channels, s.out_channels) < least_channels || s.batch == 0;
    if (!flat || !beside || small || s.in_channels * s.out_channels > most_kernels) return false;
    for (int axis : {1, 2})
        if (s.kernel[axis] != 3 || s.stride[axis] != 1 || s.dilation[axis] != 1 || s.pad_lo[axis] > 2) return false;
    auto covered = [](const Spatial& sizes) { return 4 * divide_up(sizes[1], 2) * divide_up(sizes[2], 2); };
    auto pixels = [](const Spatial& sizes) { return sizes[1] * sizes[2]; };
    std::int64_t less = std::min(pixels(s.in), pixels(s.out));
    return less >= least_pixels && 2 * covered(s.out) < 3 * pixels(s.out) && 2 * covered(s.in) < 3 * pixels(s.in);
}

}  // namespace

std::unique_ptr<const Convolution::Way> winograd_convolution(ConvolutionKind kind, const ConvolutionShape& shape,
                                                             const ConvolutionStrides& strides,
                                                             const Convolution::Way::Use& use, const MakeWay& direct) {
    if (!pays(shape, strides)) return nullptr;
    if (kind == ConvolutionKind::backward_weight) return winograd_gradient(shape, strides, direct);
    return std::make_unique<InPixels>(kind, shape, strides, use, direct);
}

}  // namespace weft::cpu

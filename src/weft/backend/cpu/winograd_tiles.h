// What Winograd's convolution and its gradient share: which squares of pixels there are and where they lie, how what the transforms make of
// them lies in memory, and what is done where that is not finite. Callers: backend/cpu/winograd*.cpp.
#pragma once

#include <algorithm>
#include <vector>

#include "weft/backend/cpu/convolution_way.h"
#include "weft/backend/cpu/gemm_multiplication.h"
#include "weft/backend/cpu/isa/winograd.h"
#include "weft/base/integers.h"

namespace weft::cpu::winograd {

inline constexpr int places = WinogradKernels::places;

const WinogradKernels& kernels();

/// A flat picture (or a batch of them), channels side by side.
struct Picture {
    std::int64_t height, width;
    std::int64_t batch_step, row_step, pixel_step;

    Picture(const Spatial& sizes, const WindowStrides& strides)
        : height(sizes[1]),
          width(sizes[2]),
          batch_step(strides.batch),
          row_step(strides.spatial[1]),
          pixel_step(strides.spatial[2]) {}
};

/// The addresses of side x side pixels of a picture from (y, x) on; `outside` for those that lie outside it.
template <int side, class Number>
struct PixelSquare {
    Number* pixels[side * side];

    PixelSquare(const Picture& picture, Number* data, std::int64_t y, std::int64_t x, Number* outside) {
        Number* first = data + y * picture.row_step + x * picture.pixel_step;
        bool within = y >= 0 && x >= 0 && y + side <= picture.height && x + side <= picture.width;
        for (int i = 0; i < side; ++i)
            for (int j = 0; j < side; ++j) {
                bool inside = within || (y + i >= 0 && y + i < picture.height && x + j >= 0 && x + j < picture.width);
                pixels[i * side + j] = inside ? first + i * picture.row_step + j * picture.pixel_step : outside;
            }
    }
};

/// The tiles of 2 x 2 pixels that cover a batch of pictures, row by row.
struct Tiles {
    std::int64_t batch, down, across;

    Tiles(std::int64_t batch_, const Picture& picture)
        : batch(batch_), down(divide_up(picture.height, 2)), across(divide_up(picture.width, 2)) {}
    std::int64_t count() const { return batch * down * across; }

    /// Calls f(tile, n, y, x) for each of [begin, end); (y, x) is its first pixel.
    template <class F>
    void for_each(std::int64_t begin, std::int64_t end, F&& f) const {
        std::int64_t n = begin / (down * across), i = begin / across % down, j = begin % across;
        for (std::int64_t tile = begin; tile < end; ++tile) {
            f(tile, n, 2 * i, 2 * j);
            if (++j < across) continue;
            j = 0;
            if (++i < down) continue;
            i = 0, ++n;
        }
    }
};

/// How the 16 matrices that a transform makes lie in memory: a row for each tile. They do not lie a whole number of pages apart, nor rows a
/// simple part of one, for all of them are written, or read, at a time.
struct Matrices {
    std::int64_t row = 0, step = 0;  // elements from one row, one matrix to the next

    Matrices() = default;
    Matrices(std::int64_t rows, std::int64_t columns) {
        constexpr std::int64_t line = 16, page = 1024;
        row = divide_up(columns, line) * line;
        if (row % (page / 8) == 0) row += line;
        step = rows * row;
        step += page - step % page + 5 * line;
    }
    std::int64_t elements() const { return places * step; }
};

/// How many of `tiles` are transformed and multiplied at a time: what comes of them stays in the second-level cache, or they are so many that
/// what they are multiplied by costs little to read.
inline std::int64_t tiles_at_a_time(std::int64_t tiles, std::int64_t sources, std::int64_t destinations,
                                    std::int64_t least = 0) {
    constexpr std::int64_t near = 384 * 1024, enough = 112, most = 256;
    auto each = places * static_cast<std::int64_t>(sizeof(float)) * (sources + destinations);
    std::int64_t wanted = std::clamp(std::max(near / each, least), enough, most);
    return divide_up(tiles, divide_up(tiles, wanted));
}

/// A convolution by another way, once, in memory of its own.
struct Direct {
    MakeWay make;
    ConvolutionKind kind;
    ConvolutionShape shape;
    ConvolutionStrides strides;

    void run(const void* first, const void* second, void* result) const;
};

}  // namespace weft::cpu::winograd

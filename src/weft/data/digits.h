// The built-in data set: an endless stream of hand-drawn-looking digits, 28 x 28 grey values (0 paper, 255 ink),
// generated. Picture i of a seed and a split is the same on every machine, in whatever order pictures are drawn and
// however many. Needs no file. Callers: data/registry.cpp, users (data::digits()), ./run demo.
#pragma once

#include <cstdint>
#include <span>

#include "weft/data/dataset.h"

namespace weft::data {

inline constexpr int digit_side = 28;

enum class Split : std::uint8_t { train, valid, test };

/// Draws picture `index` of a split into 28 * 28 bytes, row by row; gives the digit that it shows.
int draw_digit(std::uint64_t seed, Split split, std::uint64_t index, std::span<std::uint8_t> pixels);

struct DigitsOptions {
    std::uint64_t seed = 1;
    std::int64_t train = 10000, valid = 2000, test = 2000;  // how many pictures
    bool flat = true;                                       // (n, 784), else (n, 28, 28)
    bool scaled = true;                                     // batches hold 0 .. 1, else 0 .. 255
};

/// The first pictures of each split. ValueError if a size is negative.
DataSplits digits(const DigitsOptions& options = {});
/// One split alone, with grey values 0 .. 255 in (size, 28, 28).
Dataset digits_split(Split split, std::int64_t size, std::uint64_t seed);

}  // namespace weft::data

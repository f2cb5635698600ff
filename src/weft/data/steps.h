// The steps of preparation, a function a family, and how their numbers travel: data/prepare.cpp puts them together. Callers: data/steps_*.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/data/prepare.h"

namespace weft::data {

std::vector<StepKind> scaling_steps();    // scale, standardize, gcn
std::vector<StepKind> shape_steps();      // reshape, flatten, one_hot, patches, grid_patches
std::vector<StepKind> whitening_steps();  // pca, zca
std::vector<StepKind> picture_steps();    // grey, yuv, lcn

/// The numbers of one example.
std::size_t width_of(const Array& x);

/// Row `row` of x as it stands in a batch, as float64. DTypeError for complex numbers.
void row_numbers(const Dataset& set, std::int64_t row, double* to);
/// Calls f with the numbers of each row, in order, a few rows in memory at a time.
void for_each_row(const Dataset& set, const std::function<void(const double* row)>& f);
/// Rows first .. first + count - 1 as float64 (count, width).
Array block_of(const Dataset& set, std::int64_t first, std::int64_t count);

/// What makes a new example of an old one. It owns all that it uses, and may run in several threads at once.
using RowMap = std::function<void(const double* from, double* to)>;
/// x of examples of another shape: float64 stays so, all else becomes float32. In memory now, or where rows are read when a batch wants
/// them, then.
Dataset mapped(const Dataset& set, const Dims& example, RowMap map);

/// State as named arrays, and back: FileError if there is none of this name.
Array array_of(const std::vector<double>& numbers);
const Array& part(const NamedState& state, const char* name);
std::vector<double> numbers_in(const NamedState& state, const char* name);

/// (channels, height, width) of examples that are pictures, with or without channels; ShapeError for others.
struct PictureDims {
    std::int64_t channels, height, width;
};
PictureDims picture_dims(const Dims& example, const char* step);

}  // namespace weft::data

// Pairs of examples of another data set, half of them of one class, half of two: what a siamese network learns from (Bromley et al., 1993).
// Callers: data/registry.cpp (the source `pairs`), users.
#pragma once

#include <cstdint>

#include "weft/data/dataset.h"

namespace weft::data {

/// Inputs `left` (x) and `right`; y `same` is 1 for two of one class (every other pair), else 0; targets `left_class` and `right_class`.
/// Which rows make a pair follows from the seed and the labels alone. ValueError unless y is a class number an example, of two classes or
/// more, or count < 1.
Dataset pairs_of(const Dataset& set, std::int64_t count, std::uint64_t seed);

}  // namespace weft::data

// A data set cut into folds, each held out once while the others are learned from (Stone, 1974). Which rows are in a fold follows from the
// seed and the targets alone. Callers: data/registry.cpp (the source `fold`), users.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/data/dataset.h"

namespace weft::data {

struct FoldOptions {
    std::int64_t folds = 5;
    bool stratified = false;  // each fold has each class's share; y is class numbers (n)
    std::uint64_t seed = 1;
};

/// The fold of each row, from 0; sizes differ by one row at most. ValueError if there are fewer rows than folds, or stratified folds of
/// targets that are no class numbers.
std::vector<std::int64_t> folds_of(const Dataset& set, const FoldOptions& options);

/// These rows alone, in this order; where rows are read when a batch wants them, they still are. IndexError if one is not there.
Dataset picked_rows(const Dataset& set, const std::vector<std::int64_t>& rows);

}  // namespace weft::data

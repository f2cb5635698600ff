// The order of an epoch in which each batch holds sequences of near lengths: rows wait in the bucket of their length, in the order of the
// epoch, until a batch is full. So the batches are as random as the rows are, and follow from them. Caller: data/batches.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/data/dataset.h"

namespace weft::data {

struct BucketOrder {
    struct Batch {
        std::int64_t first = 0, count = 0;  // its rows in `order`
        std::int64_t width = 0;             // where its bucket ends
    };
    std::vector<std::int64_t> order;  // of rows
    std::vector<Batch> batches;
};

/// `order`: of the epoch; empty: as the data lie. `ends`: of the buckets, ascending. `drop`: batches that never became full are left out.
/// ValueError if the data have no lengths, or the ends do not ascend.
BucketOrder bucket_order(const Dataset& set, std::int64_t size, const std::vector<std::int64_t>& order,
                         std::vector<std::int64_t> ends, bool drop);

}  // namespace weft::data

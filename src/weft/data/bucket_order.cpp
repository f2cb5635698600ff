#include "weft/data/bucket_order.h"

#include <algorithm>
#include <functional>

#include "weft/base/error.h"
#include "weft/data/batches.h"

namespace weft::data {
namespace {

const std::int64_t* lengths_of(const Dataset& set) {
    if (!set.has_lengths())
        throw ValueError(
            "buckets: these data do not say how long each of their sequences is, so all are of one length");
    return set.lengths.data<std::int64_t>();
}

}  // namespace

BucketOrder bucket_order(const Dataset& set, std::int64_t size, const std::vector<std::int64_t>& order,
                         std::vector<std::int64_t> ends, bool drop) {
    const std::int64_t* lengths = lengths_of(set);
    bool ascend = std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>()) == ends.end();
    if (!ascend || ends.empty() || ends[0] < 1) throw ValueError("buckets: their ends are lengths in ascending order");
    while (!ends.empty() && ends.back() >= set.x.dims[1]) ends.pop_back();
    if (ends.empty() || ends.back() < set.x.dims[1]) ends.push_back(set.x.dims[1]);
    std::vector<std::vector<std::int64_t>> waiting(ends.size());
    BucketOrder found;
    auto leave = [&](std::size_t bucket) {
        std::vector<std::int64_t>& rows = waiting[bucket];
        found.batches.push_back(
            {static_cast<std::int64_t>(found.order.size()), static_cast<std::int64_t>(rows.size()), ends[bucket]});
        found.order.insert(found.order.end(), rows.begin(), rows.end());
        rows.clear();
    };
    for (std::int64_t place = 0; place < set.size(); ++place) {
        std::int64_t row = order.empty() ? place : order[static_cast<std::size_t>(place)];
        auto bucket = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), lengths[row]) - ends.begin());
        waiting[bucket].push_back(row);
        if (static_cast<std::int64_t>(waiting[bucket].size()) == size) leave(bucket);
    }
    for (std::size_t bucket = 0; bucket < waiting.size(); ++bucket)
        if (!drop && !waiting[bucket].empty()) leave(bucket);
    return found;
}

std::vector<std::int64_t> bucket_ends(const Dataset& set, std::int64_t count) {
    const std::int64_t* lengths = lengths_of(set);
    if (count < 1) throw ValueError(text("buckets: ", count, " buckets are none"));
    std::vector<std::int64_t> sorted(lengths, lengths + set.size()), ends;
    std::sort(sorted.begin(), sorted.end());
    auto rows = static_cast<std::int64_t>(sorted.size());
    for (std::int64_t i = 1; i <= count && rows; ++i)
        ends.push_back(sorted[static_cast<std::size_t>((i * rows + count - 1) / count - 1)]);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return ends;
}

}  // namespace weft::data

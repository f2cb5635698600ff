#include "weft/compile/memory.h"

#include <algorithm>
#include <numeric>

#include "weft/base/integers.h"

namespace weft {
namespace {

struct Taken {
    std::size_t offset, bytes;
    std::int32_t last, owner;  // the lifetime whose it is now
};

// The start of the smallest gap of at least `bytes` between what is taken (sorted by offset), or the end of all.
std::size_t best_gap(const std::vector<Taken>& taken, std::size_t bytes) {
    std::size_t at = 0, best = SIZE_MAX, best_size = SIZE_MAX;
    for (const Taken& t : taken) {
        if (t.offset > at && t.offset - at >= bytes && t.offset - at < best_size) best = at, best_size = t.offset - at;
        at = std::max(at, t.offset + t.bytes);
    }
    return best == SIZE_MAX ? at : best;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes) {
    MemoryPlan plan;
    plan.offsets.assign(lifetimes.size(), 0);
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lifetimes[a].first < lifetimes[b].first; });
    std::vector<Taken> taken;
    for (std::size_t i : order) {
        const Lifetime& life = lifetimes[i];
        std::size_t bytes = aligned(life.bytes);
        if (bytes == 0) continue;
        std::size_t offset = SIZE_MAX;
        if (life.may_reuse >= 0) {  // the dying buffer's place, if it still ends here (it may have been reused already)
            auto at = std::find_if(taken.begin(), taken.end(), [&](const Taken& t) {
                return t.owner == life.may_reuse && t.bytes >= bytes && t.last == life.first;
            });
            if (at != taken.end()) {
                offset = at->offset;
                at->last = life.last, at->owner = static_cast<std::int32_t>(i);
            }
        }
        if (offset == SIZE_MAX) {
            std::erase_if(taken, [&](const Taken& t) { return t.last < life.first; });
            offset = best_gap(taken, bytes);
            auto at = std::lower_bound(taken.begin(), taken.end(), offset,
                                       [](const Taken& t, std::size_t o) { return t.offset < o; });
            taken.insert(at, {offset, bytes, life.last, static_cast<std::int32_t>(i)});
        }
        plan.offsets[i] = offset;
        plan.bytes = std::max(plan.bytes, offset + bytes);
    }
    return plan;
}

}  // namespace weft

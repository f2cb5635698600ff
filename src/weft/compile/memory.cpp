#include "weft/compile/memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

#include "weft/base/integers.h"

namespace weft {
namespace {

/// Memory that lifetimes take and give back.
class ArenaBlocks {
  public:
    explicit ArenaBlocks(std::size_t lifetimes) : blocks_(lifetimes) {}

    /// The smallest gap that is large enough, of those the first, or else the end of all.
    std::size_t take(std::int32_t lifetime, std::size_t bytes, std::int32_t last) {
        std::size_t offset = end_;
        if (auto gap = by_size_.lower_bound({bytes, 0}); gap == by_size_.end()) {
            end_ += bytes;
        } else {
            std::size_t size = gap->first;
            offset = gap->second;
            fill(offset, size);
            if (size > bytes) leave(offset + bytes, size - bytes);
        }
        hold(lifetime, {offset, bytes, last});
        return offset;
    }
    /// The block of `before`, whole, if it is that one's still and ends here: the first byte, or SIZE_MAX.
    std::size_t inherit(std::int32_t before, std::int32_t lifetime, std::size_t bytes, std::int32_t here,
                        std::int32_t last) {
        Block block = blocks_[at(before)];
        if (block.bytes < bytes || block.last != here) return SIZE_MAX;
        blocks_[at(before)].bytes = 0;
        block.last = last;
        hold(lifetime, block);
        return block.offset;
    }
    /// What was read for the last time before this step is free.
    void give_back(std::int32_t step) {
        while (!ends_.empty() && ends_.top().first < step) {
            Block& block = blocks_[at(ends_.top().second)];
            ends_.pop();
            if (block.bytes > 0) release(block.offset, block.bytes);
            block.bytes = 0;
        }
    }

  private:
    struct Block {
        std::size_t offset = 0, bytes = 0;  // 0: it has none, or another one has it now
        std::int32_t last = 0;
    };

    void hold(std::int32_t lifetime, const Block& block) {
        blocks_[at(lifetime)] = block;
        ends_.push({block.last, lifetime});
    }
    void leave(std::size_t offset, std::size_t bytes) {
        gaps_[offset] = bytes;
        by_size_.insert({bytes, offset});
    }
    void fill(std::size_t offset, std::size_t bytes) {
        gaps_.erase(offset);
        by_size_.erase({bytes, offset});
    }
    /// A gap, one with those beside it; at the end of all, that comes nearer.
    void release(std::size_t offset, std::size_t bytes) {
        auto next = gaps_.lower_bound(offset);
        if (next != gaps_.end() && next->first == offset + bytes) {
            bytes += next->second;
            fill(next->first, next->second);
        }
        auto before = gaps_.lower_bound(offset);
        if (before != gaps_.begin() && std::prev(before)->first + std::prev(before)->second == offset) {
            auto [first, size] = *std::prev(before);
            fill(first, size);
            offset = first, bytes += size;
        }
        if (offset + bytes == end_)
            end_ = offset;
        else
            leave(offset, bytes);
    }

    std::vector<Block> blocks_;                              // by lifetime
    std::map<std::size_t, std::size_t> gaps_;                // bytes by offset
    std::set<std::pair<std::size_t, std::size_t>> by_size_;  // the same
    using End = std::pair<std::int32_t, std::int32_t>;       // the last step, and whose
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::size_t end_ = 0;
};

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes) {
    MemoryPlan plan;
    plan.offsets.assign(lifetimes.size(), 0);
    std::vector<std::int32_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return lifetimes[at(a)].first < lifetimes[at(b)].first; });
    ArenaBlocks blocks(lifetimes.size());
    for (std::int32_t i : order) {
        const Lifetime& life = lifetimes[at(i)];
        std::size_t bytes = aligned(life.bytes), offset = SIZE_MAX;
        if (bytes == 0) continue;
        if (life.may_reuse >= 0)  // the dying buffer's place
            offset = blocks.inherit(life.may_reuse, i, bytes, life.first, life.last);
        if (offset == SIZE_MAX) {
            blocks.give_back(life.first);
            offset = blocks.take(i, bytes, life.last);
        }
        plan.offsets[at(i)] = offset;
        plan.bytes = std::max(plan.bytes, offset + bytes);
    }
    return plan;
}

}  // namespace weft

// Values by a hash of what they stand for, so that equal things are found to be one: open addressing, in one piece of memory, for graphs
// are gathered and rewritten through it. Nothing is taken out. Callers: graph/graph.cpp, rewrite/rewrite.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "weft/base/hash.h"

namespace weft {

template <class Value>
class ContentTable {
  public:
    explicit ContentTable(std::size_t expected = 0) { reserve(expected); }
    void reserve(std::size_t expected) {
        if (std::size_t slots = std::bit_ceil(std::max<std::size_t>(32, 2 * expected)); slots > slots_.size())
            move_to(slots);
    }
    /// What is known under this key, or `value`, which is from now on; and whether that is so.
    std::pair<Value, bool> known(const Hash128& key, Value value) {
        if (2 * (used_ + 1) > slots_.size()) move_to(2 * slots_.size());
        Slot& slot = find(slots_, stored(key));
        if (slot.used()) return {slot.value, false};
        slot = {stored(key), value};
        ++used_;
        return {value, true};
    }
    /// Another value for a key that is known.
    void exchange(const Hash128& key, Value value) { find(slots_, stored(key)).value = value; }
    std::size_t size() const { return used_; }

  private:
    struct Slot {
        Hash128 key;
        Value value{};
        bool used() const { return key.high || key.low; }
    };
    /// A key of zeros is that of a free slot: the one content in 2^128 that has it is taken for that of another key.
    static Hash128 stored(const Hash128& key) { return key.high || key.low ? key : Hash128{1, 0}; }
    static Slot& find(std::vector<Slot>& slots, const Hash128& key) {
        std::size_t mask = slots.size() - 1, at = key.low & mask;
        while (slots[at].used() && !(slots[at].key == key)) at = (at + 1) & mask;
        return slots[at];
    }
    void move_to(std::size_t count) {
        std::vector<Slot> wider(count);
        for (const Slot& slot : slots_)
            if (slot.used()) find(wider, slot.key) = slot;
        slots_ = std::move(wider);
    }
    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

}  // namespace weft

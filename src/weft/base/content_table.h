// Values by a hash of what they stand for, so that equal things are found to be one: for graphs are gathered and rewritten through it. What
// is known lies side by side in the order in which it came, and is found by open addressing in a table of eight bytes a slot. Nothing is
// taken out. Callers: graph/graph.cpp, rewrite/rewrite.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "weft/base/hash.h"
#include "weft/base/integers.h"

namespace weft {

template <class Value>
class ContentTable {
  public:
    explicit ContentTable(std::size_t expected = 0) { reserve(expected); }
    void reserve(std::size_t expected) {
        entries_.reserve(expected);
        if (std::size_t slots = std::bit_ceil(std::max<std::size_t>(32, 2 * expected)); slots > slots_.size())
            move_to(slots);
    }
    /// What is known under this key, or `value`, which is from now on; and whether that is so.
    std::pair<Value, bool> known(const Hash128& key, Value value) {
        if (2 * (entries_.size() + 1) > slots_.size()) move_to(2 * slots_.size());
        Slot& slot = find(key);
        if (slot.entry >= 0) return {entries_[at(slot.entry)].value, false};
        slot = {static_cast<std::int32_t>(entries_.size()), tag(key)};
        entries_.push_back({key, value});
        return {value, true};
    }
    /// Another value for a key that is known.
    void exchange(const Hash128& key, Value value) { entries_[at(find(key).entry)].value = value; }
    std::size_t size() const { return entries_.size(); }

  private:
    struct Entry {
        Hash128 key;
        Value value;
    };
    struct Slot {
        std::int32_t entry = -1;
        std::uint32_t tag = 0;  // a part of the key: another key's entry is not looked at
    };
    static std::uint32_t tag(const Hash128& key) { return static_cast<std::uint32_t>(key.high); }
    Slot& find(const Hash128& key) {
        std::size_t mask = slots_.size() - 1, place = key.low & mask;
        auto other = [&](const Slot& slot) {
            return slot.entry >= 0 && (slot.tag != tag(key) || !(entries_[at(slot.entry)].key == key));
        };
        while (other(slots_[place])) place = (place + 1) & mask;
        return slots_[place];
    }
    void move_to(std::size_t count) {
        slots_.assign(count, {});
        for (std::size_t i = 0; i < entries_.size(); ++i)
            find(entries_[i].key) = {static_cast<std::int32_t>(i), tag(entries_[i].key)};
    }
    std::vector<Slot> slots_;
    std::vector<Entry> entries_;
};

}  // namespace weft

// Values by a hash of what they stand for, so that equal things are found to be one: for graphs are gathered and rewritten through it. What
// is known lies side by side in the order in which it came, and is found by open addressing in a table of eight bytes a slot. Nothing is
// taken out. Callers: graph/graph.cpp, rewrite/rewrite.cpp, compile/partition_groups.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "weft/base/hash.h"
#include "weft/base/integers.h"

namespace weft {

/// A key whose slot lies near those of keys with a `place` near its own, so that the caches hold it: a number that grows as things come, by which
/// what is equal is alike (of an operation its latest input); -1: none. Chosen by the hash alone, slots came from memory one by one, which took
/// more than all else of a large graph's gathering.
inline Hash128 key_near(const Hash128& hash, std::int32_t place) {
    return {hash.high,
            std::uint64_t{static_cast<std::uint32_t>(place + 1)} << 32 | static_cast<std::uint32_t>(hash.low)};
}

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
    bool other(const Slot& slot, const Hash128& key) const {
        return slot.entry >= 0 && (slot.tag != tag(key) || !(entries_[at(slot.entry)].key == key));
    }
    // The slots of its place first. Where these are full, for many things have one place or none, others that all of the key says: far from each
    // other, for whole runs of slots are full where places have as many.
    Slot& find(const Hash128& key) {
        constexpr std::size_t beside = 16;
        std::size_t mask = slots_.size() - 1;
        if (std::size_t group = key.low >> 32; group > 0) {
            std::size_t place = 2 * group + (key.low & 7);
            for (std::size_t end = place + beside; place < end; ++place)
                if (Slot& slot = slots_[place & mask]; !other(slot, key)) return slot;
        }
        std::uint64_t mixed = (key.high ^ key.low) * 0x9e3779b97f4a7c15ull;
        std::size_t place = mixed >> 32, step = mixed | 1;  // odd: all slots come by
        while (other(slots_[place & mask], key)) place += step;
        return slots_[place & mask];
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

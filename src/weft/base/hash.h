// 128-bit hashing of structures: what the plan cache is keyed by. Not for secrets.
// The mixer is two multiply-xorshift lanes with different odd constants (after Steele, Lea & Flood, "SplitMix", 2014).
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <type_traits>

namespace weft {

struct Hash128 {
    std::uint64_t high = 0, low = 0;
    friend bool operator==(const Hash128&, const Hash128&) = default;
};

class Hasher {
  public:
    void add(std::uint64_t word) {
        high_ = mix(high_ ^ word, 0xbf58476d1ce4e5b9ull) + 0x9e3779b97f4a7c15ull;
        low_ = mix(low_ + word, 0x94d049bb133111ebull) ^ 0xd1b54a32d192ed03ull;
    }
    void add(std::string_view bytes) {
        add(bytes.size());
        while (!bytes.empty()) {
            std::uint64_t word = 0;
            std::size_t count = bytes.size() < 8 ? bytes.size() : 8;
            std::memcpy(&word, bytes.data(), count);
            add(word);
            bytes.remove_prefix(count);
        }
    }
    Hash128 result() const { return {mix(high_, 0x94d049bb133111ebull), mix(low_ ^ high_, 0xbf58476d1ce4e5b9ull)}; }

  private:
    static std::uint64_t mix(std::uint64_t x, std::uint64_t odd) {
        x = (x ^ (x >> 30)) * odd;
        return x ^ (x >> 29);
    }
    std::uint64_t high_ = 0x243f6a8885a308d3ull, low_ = 0x13198a2e03707344ull;
};

}  // namespace weft

template <>
struct std::hash<weft::Hash128> {
    std::size_t operator()(const weft::Hash128& h) const noexcept { return h.low; }
};

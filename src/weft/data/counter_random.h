// Random numbers that are a function of (seed, stream, count): the n-th number of a stream is the same whatever was
// drawn before, so a picture or an order can be made again from its index alone. The function is SplitMix64's finaliser
// (Steele, Lea & Flood, 2014), keyed twice. Only +, -, *, / and shifts are used: the same bits on every machine.
// Callers: data/.
#pragma once

#include <cstdint>

namespace weft::data {

class CounterRandom {
  public:
    CounterRandom(std::uint64_t seed, std::uint64_t stream) : key_(mix(mix(seed + golden) ^ (stream + golden) * odd)) {}

    std::uint64_t at(std::uint64_t count) const { return mix(key_ + golden * (count + 1)); }
    std::uint64_t next() { return at(count_++); }

    /// From [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    /// From 0 .. bound-1; the bias is below bound / 2^64.
    std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
    }
    /// Bell-shaped with mean 0 and deviation 1, within +-3.5: a sum of four uniforms (no logarithm, whose last bit is
    /// the library's).
    double bell() {
        constexpr double deviation = 0.57735026918962576451;  // sqrt(4 / 12)
        double sum = -2;
        for (int i = 0; i < 4; ++i) sum += uniform();
        return sum / deviation;
    }

  private:
    __extension__ using Wide = unsigned __int128;
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ull, odd = 0xd1b54a32d192ed03ull;
    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        return x ^ (x >> 31);
    }
    std::uint64_t key_, count_ = 0;
};

}  // namespace weft::data

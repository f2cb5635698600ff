// Sums stay in registers over a few places at a time: a line is loaded and stored once for them. They are added one after the other, so every
// set gives the same bits.
#include "weft/backend/cpu/isa/moved_lines.h"

#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

using V = Vec<float>;
constexpr int together = 4;

/// Where line k has what belongs to x: [first, last).
struct Range {
    std::int64_t first, last;
    Range(const MovedLines& l, std::int64_t k) {
        std::int64_t shift = l.shift + k * l.shift_each;
        first = shift < 0 ? -shift : 0;
        last = l.from - shift < l.to ? l.from - shift : l.to;
        if (last < first) last = first;
    }
};

/// `places` lines from place k on, of which line t begins at from + t * step, moved to where x is.
template <int places>
void add(const MovedLines& l, std::int64_t k, const float* from, float* to) {
    std::int64_t step = l.between + l.shift_each, base = k * step + l.shift;
    std::int64_t inner = 0, end = l.to;  // where all have something
    for (int t = 0; t < places; ++t) {
        Range range(l, k + t);
        inner = range.first > inner ? range.first : inner, end = range.last < end ? range.last : end;
    }
    if (end < inner) inner = end = l.to;
    auto some = [&](std::int64_t first, std::int64_t last) {
        for (int t = 0; t < places; ++t) {
            Range range(l, k + t);
            std::int64_t x = range.first > first ? range.first : first, until = range.last < last ? range.last : last;
            for (; x < until; ++x) to[x] += from[base + t * step + x];
        }
    };
    some(0, inner);
    std::int64_t x = inner;
    for (; x + V::lanes <= end; x += V::lanes) {
        typename V::Type sum = V::load(to + x);
        for (int t = 0; t < places; ++t) sum = V::add(sum, V::load(from + base + t * step + x));
        V::store(to + x, sum);
    }
    if (int count = static_cast<int>(end - x); count > 0) {
        typename V::Type sum = V::load(to + x, count);
        for (int t = 0; t < places; ++t) sum = V::add(sum, V::load(from + base + t * step + x, count));
        V::store(to + x, sum, count);
    }
    some(end, l.to);
}

}  // namespace

void add_moved_lines(const MovedLines& l, const float* from, float* to) {
    std::int64_t k = 0;
    for (; k + together <= l.places; k += together) add<together>(l, k, from, to);
    if (l.places - k == 3) add<3>(l, k, from, to);
    if (l.places - k == 2) add<2>(l, k, from, to);
    if (l.places - k == 1) add<1>(l, k, from, to);
}

}  // namespace weft::cpu::WEFT_ISA

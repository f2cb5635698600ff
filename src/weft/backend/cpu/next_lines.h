// Lines of memory that are read soon, which the tiles of a product take along, one with each row of b or each second: there is nothing to wait for,
// and room for as many requests. Callers: backend/cpu/gemm_ahead.h, gemm_multiplication.h, small_products.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "weft/backend/cpu/gemm.h"

namespace weft::cpu::own {

inline constexpr std::int64_t line_bytes = 64;

class NextLines {
  public:
    NextLines() = default;
    /// Share `part` of `parts` of all.
    explicit NextLines(std::span<const ReadNext> all, std::int64_t part = 0, std::int64_t parts = 1) {
        for (const ReadNext& one : all) {
            std::int64_t lines = (one.bytes + line_bytes - 1) / line_bytes, begin = part * lines / parts;
            add(static_cast<const std::byte*>(one.from) + begin * line_bytes, (part + 1) * lines / parts - begin);
        }
    }
    void add(const std::byte* from, std::int64_t lines) {
        if (lines > 0 && count_ < most_read_next) spans_[count_++] = {from, lines};
    }
    /// Where the next `count` of them begin, or nearly so many; null: there are none left.
    const void* take(std::int64_t count) {
        if (at_ == count_) return nullptr;
        Span& span = spans_[at_];
        const std::byte* from = span.from;
        span.from += count * line_bytes, span.lines -= count;
        if (span.lines <= 0) ++at_;
        return from;
    }

    /// How many there are from there on; 0: none.
    std::int64_t left() const { return at_ == count_ ? 0 : spans_[at_].lines; }

  private:
    struct Span {
        const std::byte* from;
        std::int64_t lines;
    };
    Span spans_[most_read_next];
    int at_ = 0, count_ = 0;
};

}  // namespace weft::cpu::own

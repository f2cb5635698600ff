// What the tiles of a product ask for while they compute: lines of memory that are read next, one with each row of b (of tall tiles, each second).
// Callers: backend/cpu/gemm_multiplication.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weft/backend/cpu/next_lines.h"

namespace weft::cpu::own {

/// Of a tile: where the first line lies, and how many operands further the next; 0: nothing is asked for.
template <class Operand>
struct Fetch {
    const Operand* from;
    std::int64_t step;
};

template <class Operand>
inline constexpr std::int64_t line = line_bytes / sizeof(Operand);

/// What of a is read next, as lines that lie a step apart: tiles take `each` of them along, a line of memory wide, in so many sweeps.
template <class Operand>
struct NextOfA {
    const Operand* from = nullptr;
    std::int64_t step = 0, each = 1, wide = 1, sweeps = 0, across = 0;
    bool left() const { return sweeps > 0; }
    Fetch<Operand> take() {
        Fetch<Operand> fetch{from + across * line<Operand>, step};
        if (++across == wide) across = 0, from += each * step;
        --sweeps;
        return fetch;
    }
};

/// What of b is read next, as `places` lines a step apart, and such again, each further across, until there were so many.
template <class Operand>
struct NextOfB {
    const Operand* from = nullptr;
    std::int64_t step = 0, across = 0, places = 1, lines = 0, place = 0;
    bool left() const { return lines > 0; }
    Fetch<Operand> take(std::int64_t most) {
        Fetch<Operand> fetch{from + place * step, step};
        std::int64_t taken = std::min(most, places - place);
        lines -= taken, place += taken;
        if (place == places) place = 0, from += across;
        return fetch;
    }
};

/// What is read behind the product; `none`: an address that nothing is asked for from.
template <class Operand>
Fetch<Operand> fetch_behind(NextLines& behind, std::int64_t lines, const Operand* none) {
    auto from = static_cast<const Operand*>(behind.take(lines));
    return from ? Fetch<Operand>{from, line<Operand>} : Fetch<Operand>{none, 0};
}

}  // namespace weft::cpu::own

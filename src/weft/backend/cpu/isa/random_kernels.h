// The vectorised generator, once an instruction set. Callers: backend/cpu/made_load.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// Words of `random_blocks_at_once` blocks of Philox4x32-10 from block number `first` on, under two key words and a stream, in order.
inline constexpr int random_blocks_at_once = 16;
using RandomBlocks = void (*)(std::uint32_t* to, std::uint64_t first, const std::uint32_t* key, std::uint32_t stream);
/// Words number first, first + step, ... of the same stream, each from a block of its own.
using RandomApart = void (*)(std::uint32_t* to, std::uint64_t first, std::int64_t step, std::int64_t count,
                             const std::uint32_t* key, std::uint32_t stream);

#define WEFT_RANDOM_TABLE(isa)               \
    namespace isa {                          \
    extern const RandomBlocks random_blocks; \
    extern const RandomApart random_apart;   \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_RANDOM_TABLE)
#undef WEFT_RANDOM_TABLE

}  // namespace weft::cpu

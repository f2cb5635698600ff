// Register allocation for straight-line code, apart from any assembler: values in, registers and movements out. Where registers
// run out, the value whose next use lies furthest waits in memory (Belady, 1966). Invariants lie in memory from the start; some
// keep a register for the whole of a loop. verify() replays the result and throws where a register or a place in memory holds
// anything but what a line expects.
// Callers: kernel_code.cpp, tests.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::cpu::emit {

enum class Bank : std::uint8_t { vectors, masks };
inline constexpr std::size_t bank_count = 2;

/// One thing to do: values by number, -1 for none. `clobbers`: every register is lost meanwhile (a call).
struct Demand {
    std::int32_t gives = -1;
    std::array<std::int32_t, 3> takes{-1, -1, -1};
    bool clobbers = false;
};

struct ValueInfo {
    Bank bank = Bank::vectors;
    bool invariant = false;    // in memory from the start
    std::int32_t pinned = -1;  // the register that an invariant keeps, and holds from the start
};

struct Movement {
    enum class Kind : std::uint8_t { perform, fill, spill } kind = Kind::perform;
    std::int32_t what = -1;  // the demand; or the value that moves between its register and memory
    std::int32_t to = -1;    // the register of the result, or of the value
    std::array<std::int32_t, 3> from{-1, -1, -1};  // the registers of a demand's operands
    std::int32_t slot = -1;                        // of a value in memory; -1 for an invariant
};

struct Allocation {
    std::vector<Movement> movements;
    std::int32_t slots = 0;   // places in memory that spilled values need
    std::int32_t spills = 0;  // movements to memory
};

/// `available`: registers of each bank, numbered from 0.
Allocation allocate(std::span<const Demand> demands, std::span<const ValueInfo> values,
                    std::array<int, bank_count> available);

/// How many values of a bank, invariants not counted, are alive at once at most.
int pressure(std::span<const Demand> demands, std::span<const ValueInfo> values, Bank bank);

/// InternalError that names the movement and what is wrong with it.
void verify(const Allocation& allocation, std::span<const Demand> demands, std::span<const ValueInfo> values,
            std::array<int, bank_count> available);

}  // namespace weft::cpu::emit

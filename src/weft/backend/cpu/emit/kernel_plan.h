// Vector code laid out for loops over rows of elements: what is done once a row, what for every vector of a row (several vectors
// side by side where registers allow), which constants and row values keep a register, and where everything else lies.
// Callers: emitter.cpp, tests.
#pragma once

#include <array>
#include <optional>

#include "weft/backend/cpu/emit/registers.h"
#include "weft/backend/cpu/emit/vector_code.h"

namespace weft::cpu::emit {

/// The words that the code is handed: elements of a row; rows; each stream's address at the first element, which the code moves on; the bytes
/// from row to row of each; the bytes from element to element (read where the stream is strided).
struct Arguments {
    std::size_t streams;
    std::size_t words() const { return 2 + 3 * streams; }
    std::size_t base(std::size_t stream) const { return 2 + stream; }
    std::size_t row_step(std::size_t stream) const { return 2 + streams + stream; }
    std::size_t step(std::size_t stream) const { return 2 + 2 * streams + stream; }
};

struct PlanOptions {
    int vector_bytes = 64;
    std::array<int, bank_count> registers{31, 6};
    bool masks_are_vectors = false;             // truth values lie in vector registers
    std::array<int, bank_count> joining{0, 1};  // registers of each bank that joining needs beside those it joins in
    int unroll = 0;                             // vectors side by side; 0: as registers allow,
    int most = 4;                               // but no more than these
    bool reads_memory = false;  // instructions have operands there: what is the same for a row and has no register
    bool long_rows = false;     // what a row begins and ends with is little of it
};

/// Of whole vectors in memory, 4 KB: the first-level cache is to have room for arrays beside them.
inline constexpr std::size_t most_whole_constants = 64;

/// A sequence of demands with its registers. Task i belongs to demand i.
struct Part {
    struct Task {
        std::int32_t line;
        int copy;   // which of the vectors side by side
        bool keep;  // not the line itself: its value goes to its home
        // By their lines, operands that are read from memory: the second (a first one has changed places with it), and what is added to a product.
        std::int32_t second = -1, third = -1;
    };
    std::vector<Task> tasks;
    Allocation allocation;
};

struct KernelPlan {
    VectorCode code;
    int lane_bytes = 4, lanes = 16, unroll = 1;
    // Once a row; `unroll` vectors, the common path; one vector, perhaps not full, the complete path, and the common one where there is one.
    // Where all is computed once a row, what is done there has a common path as well, with which the others go on.
    Part row, body, rest, common_rest, common_row;
    std::vector<std::int32_t> homes;  // by line: the place of a row value, or -1
    std::int32_t home_count = 0, spill_slots = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> pinned;  // line, register
    // The first of the registers in which stores are joined: `unroll` for each, in order; one for all where they are accumulated.
    std::int32_t accumulators_at = -1;
    // Sums lie in the frame, and pass through that one register: it is constants, and vectors side by side, that have the others.
    bool sums_in_frame = false;
    // The first of those in which columns that are accumulated may wait while rows pass, `unroll` for each such store; -1: there are none.
    std::int32_t waiting_at = -1;
    bool chain = false;  // its lines wait for each other longer than a processor looks ahead

    /// The line of a value of a part.
    std::int32_t line_of(std::int32_t value) const { return value % static_cast<std::int32_t>(code.lines.size()); }
};

/// Nothing where stores are to be joined and there are too few registers for it, or calls that would lose them.
std::optional<KernelPlan> plan_kernel(VectorCode code, const PlanOptions& options);

}  // namespace weft::cpu::emit

// A prepared reduction, run: rows of several axes, whose innermost is long. Each run along it is joined by itself, where it lies or by
// machine code, instead of being copied into a block of its row.
#include <array>
#include <cstring>

#include "weft/backend/cpu/emit/vector_code.h"
#include "weft/backend/cpu/reduction_kernel.h"

namespace weft::cpu {

/// A run is joined from the first lane on: so that this is the one behind the last run's end, lanes are turned after each. They stay turned:
/// what is folded later, by halves, lies across from each other all the same.
void ReductionKernel::join_runs(Thread& thread, std::int64_t flat, std::int64_t count) const {
    for (std::int64_t done = 0; done < count;) {
        std::int64_t part = std::min(run_ - (flat + done) % run_, count - done);
        straight_ ? join_straight(thread, flat + done, part) : join(thread, flat + done, part);
        turn_lanes(thread, part);
        done += part;
    }
}

void ReductionKernel::join_straight(Thread& thread, std::int64_t flat, std::int64_t count) const {
    runner_.seek(thread.context, flat);
    for (const Output& output : outputs_) {
        const auto* from = static_cast<const std::byte*>(thread.loads[output.load]);
        output.loops->lanes(thread.base + output.lanes_at, from + output.straight.offset(thread.context.at), count, 0);
    }
}

/// Lane i takes the value of lane i + by.
void ReductionKernel::turn_lanes(Thread& thread, std::int64_t by) const {
    constexpr std::size_t lanes_count = emit::joined_lanes;
    std::size_t first = static_cast<std::size_t>(by) % lanes_count;
    if (first == 0) return;
    for (const Output& output : outputs_) {
        std::byte* lanes = thread.base + output.lanes_at;
        std::array<std::byte, lanes_bytes> turned;
        std::size_t all = lanes_count * output.width(), before = first * output.width();
        std::memcpy(turned.data(), lanes + before, all - before);
        std::memcpy(turned.data() + all - before, lanes, before);
        std::memcpy(lanes, turned.data(), all);
    }
}

}  // namespace weft::cpu

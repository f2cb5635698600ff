// A prepared reduction, run: rows of several axes, whose innermost is long. Each run along it is joined by itself, where it lies or by
// machine code, instead of being copied into a block of its row.
#include <array>
#include <cstring>

#include "weft/backend/cpu/emit/vector_code.h"
#include "weft/backend/cpu/reduction_kernel.h"

namespace weft::cpu {

void ReductionKernel::join_runs(Thread& thread, std::int64_t flat, std::int64_t count) const {
    if (straight_) return join_straight(thread, flat, count);
    // A run is joined from the first lane on: so that this is the one behind the last run's end, lanes are turned after each. They stay turned:
    // what is folded later, by halves, lies across from each other all the same.
    for (std::int64_t done = 0; done < count;) {
        std::int64_t part = std::min(run_ - (flat + done) % run_, count - done);
        join(thread, flat + done, part);
        turn_lanes(thread, part);
        done += part;
    }
}

/// What comes before the first lane's turn is joined by itself.
void ReductionKernel::join_straight(Thread& thread, std::int64_t flat, std::int64_t count) const {
    constexpr auto lanes_count = static_cast<std::int64_t>(emit::joined_lanes);
    runner_.seek(thread.context, flat);
    std::int64_t* at = thread.context.at;
    std::size_t inner = runner_.dims().size() - 1;
    for (std::int64_t done = 0; done < count;) {
        std::int64_t part = std::min(run_ - at[inner], count - done), lane = done % lanes_count,
                     head = lane > 0 ? std::min(part, lanes_count - lane) : 0;
        for (const Output& output : outputs_) {
            const auto* from = static_cast<const std::byte*>(thread.loads[output.load]) + output.straight.offset(at);
            auto size = static_cast<std::int64_t>(output.width());
            std::byte* lanes = thread.base + output.lanes_at;
            if (head > 0) output.loops->columns(lanes + lane * size, nullptr, from, 1, head, head, 0, false, false);
            if (part > head) output.loops->lanes(lanes, from + head * size, part - head, 0);
        }
        done += part, at[inner] = 0;
        for (std::size_t axis = inner; axis-- > 0 && ++at[axis] == runner_.dims()[axis];) at[axis] = 0;
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

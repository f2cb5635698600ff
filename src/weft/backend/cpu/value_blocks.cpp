#include "weft/backend/cpu/value_blocks.h"

#include <cstring>

#include "weft/backend/cpu/block_kernel.h"

namespace weft::cpu {
namespace {

Feed feed_of(const Access& load, const Stream& stream, const Dims& dims, DType value) {
    if (!load.plain()) return Feed::copied;
    if (stream.uniform()) return Feed::uniform;
    return stream.memory == value && stream.contiguous(dims) ? Feed::direct : Feed::copied;
}

}  // namespace

ValueBlocks::ValueBlocks(const Loop& loop, const Dims& dims, const std::vector<Stream>& streams, bool emitted)
    : dtype_(loop.program.dtype(loop.program.outputs[0])) {
    std::vector<Feed> feeds;
    std::size_t moving = 1;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        feeds.push_back(feed_of(loop.loads[i], streams[i], dims, loop.program.inputs[i]));
        moving += feeds.back() == Feed::direct;
    }
    runner_ = BlockRunner(loop.program, dims, streams, feeds, block_loops(best_isa()), moving, false,
                          IndexedBlocks(loop, dims, streams).loads());
    bytes_ = rows_at_ = aligned(runner_.scratch_bytes());
    if (!emitted) return;
    source_ = emit::EmittedSource(loop, loop.program, dims, streams);
    Stream made{dtype_, Dims(dims.size())};
    auto step = static_cast<std::int64_t>(size_of(dtype_));
    for (std::size_t axis = dims.size(); axis-- > 0; step *= dims[axis]) made.strides[axis] = step;
    rows_ = emit::EmittedRows(source_.program(), dims, source_.streams(), {made});
    picked_at_ = rows_at_ + aligned(rows_.scratch_bytes());
    bytes_ = picked_at_ + source_.bytes();
}

ValueBlocks::Thread ValueBlocks::thread(std::byte* scratch, const void* const* loads) const {
    Thread thread{runner_.context(scratch), scratch, loads};
    if (!rows_) runner_.begin(thread.context, loads);
    return thread;
}

void ValueBlocks::fill(Thread& thread, std::int64_t flat, std::int64_t count, void* to) const {
    auto width = static_cast<std::int64_t>(size_of(dtype_));
    if (!rows_) {
        runner_.run(thread.context, thread.loads, flat, count);
        const void* values = thread.context.value[runner_.program().outputs[0].slot];
        std::memcpy(to, values, static_cast<std::size_t>(count * width));
        return;
    }
    source_.fill(thread.loads, flat, count, thread.base + picked_at_);
    std::size_t loads = source_.streams().size();
    rows_.run(flat, count, thread.base + rows_at_, [&](std::size_t i) -> const void* {
        if (i == loads) return static_cast<std::byte*>(to) - flat * width;
        return source_.base(i, thread.loads, flat, thread.base + picked_at_);
    });
}

}  // namespace weft::cpu

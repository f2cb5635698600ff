#include "weft/backend/cpu/emit/emitted_source.h"

#include <algorithm>
#include <utility>

namespace weft::cpu::emit {
namespace {

constexpr std::int64_t block_bytes = 16384;  // half of a small first-level cache

}  // namespace

EmittedSource::EmittedSource(const Loop& loop, Program program, const Dims& dims, const std::vector<Stream>& streams)
    : program_(std::move(program)), indexed_(loop, dims, streams, true) {
    std::int64_t widest = 1;
    for (const IndexedLoad& load : indexed_.loads())
        widest = std::max(widest, static_cast<std::int64_t>(size_of(load.memory())));
    block_ = std::max(block_, block_bytes / widest);
    std::vector<bool> read(streams.size(), !indexed_ && !loop.scatter);  // a loop without indices is taken as it is
    for (const Instruction& at : program_.code)
        if (at.opcode == Opcode::input) read[static_cast<std::size_t>(at.a)] = true;
    std::vector<std::int32_t> number(streams.size(), -1);
    std::vector<DType> inputs = std::exchange(program_.inputs, {});
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (!read[i]) continue;
        number[i] = static_cast<std::int32_t>(loads_.size());
        loads_.push_back(i);
        program_.inputs.push_back(inputs[i]);
        Stream stream = streams[i];
        stream.counted = counted(loop.loads[i], stream);
        if (!loop.loads[i].plain() && !stream.counted) {
            auto step = static_cast<std::int64_t>(size_of(stream.memory));
            for (std::size_t axis = dims.size(); axis-- > 0; step *= dims[axis]) stream.strides[axis] = step;
        }
        streams_.push_back(std::move(stream));
    }
    draws_ = std::any_of(loop.loads.begin(), loop.loads.end(),
                         [](const Access& load) { return load.source == Source::random; });
    for (std::size_t i = 0; i < streams.size(); ++i)
        if (read[i] && loop.loads[i].plain() && streams[i].contiguous(dims))
            ahead_.push_back({i, static_cast<std::int64_t>(size_of(streams[i].memory))});
    for (Instruction& at : program_.code)
        if (at.opcode == Opcode::input) at.a = number[static_cast<std::size_t>(at.a)];
}

}  // namespace weft::cpu::emit

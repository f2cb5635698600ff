#include "weft/backend/cpu/block_runner.h"

#include <algorithm>
#include <cstring>

#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

constexpr std::size_t first_level = 24 * 1024;  // bytes that the blocks of a program may fill together
constexpr std::int64_t most_elements = 1024, least_elements = 256;  // elements a block; of one byte four times as many

/// Walks runs along the innermost axis: calls visit(pointer, elements) for each, in order.
template <class Byte, class Visit>
void walk(const Stream& stream, const Dims& dims, const std::int64_t* start, std::int64_t* at, Byte* memory,
          std::int64_t count, Visit visit) {
    std::size_t axes = dims.size();
    if (axes == 0) return visit(memory, count);
    Byte* pointer = memory + stream.offset(start);
    std::int64_t run = std::min(count, dims[axes - 1] - start[axes - 1]);
    visit(pointer, run);
    if (run == count) return;
    std::copy(start, start + axes, at);
    pointer -= start[axes - 1] * stream.strides[axes - 1];
    for (count -= run; count > 0; count -= run) {
        for (std::size_t axis = axes - 1; axis-- > 0;) {
            pointer += stream.strides[axis];
            if (++at[axis] < dims[axis]) break;
            pointer -= stream.strides[axis] * dims[axis];
            at[axis] = 0;
        }
        run = std::min(count, dims[axes - 1]);
        visit(pointer, run);
    }
}

}  // namespace

BlockRunner::BlockRunner(const Program& program, Dims dims, std::vector<Stream> loads, std::vector<Feed> feeds,
                         const BlockLoops& loops, std::size_t streams, bool copy_inputs,
                         const std::vector<IndexedLoad>& indexed)
    : dims_(std::move(dims)),
      loads_(std::move(loads)),
      feeds_(std::move(feeds)),
      indexed_(indexed),
      indexed_of_(loads_.size(), -1),
      move_(loops.move),
      read_only_(!copy_inputs) {
    for (std::size_t k = 0; k < indexed_.size(); ++k) indexed_of_[indexed_[k].load()] = static_cast<std::int32_t>(k);
    program_ = prepare(program, feeds_, loops, copy_inputs);
    elements_ = element_count(dims_);
    std::size_t used = static_cast<std::size_t>(program_.registers) + streams;
    for (block_ = most_elements * 4 / static_cast<std::int64_t>(std::clamp<std::size_t>(program_.widest, 1, 4));
         block_ > least_elements && used * static_cast<std::size_t>(block_) * program_.widest > first_level;)
        block_ /= 2;
    // A little more than a power of two, so that registers do not fall on each other's lines of the cache.
    register_bytes_ = static_cast<std::ptrdiff_t>(aligned(static_cast<std::size_t>(block_) * program_.widest) + 3 * 64);
    std::size_t bytes = aligned(static_cast<std::size_t>(program_.slots) * sizeof(void*));
    cells_at_ = bytes;
    bytes += aligned(program_.cells.size() * 16);
    index_at_ = bytes;
    bytes += aligned(2 * (dims_.size() + 1) * sizeof(std::int64_t));
    half_at_ = bytes;
    bytes += aligned(static_cast<std::size_t>(block_) * 2);
    registers_at_ = bytes;
    scratch_bytes_ = bytes + static_cast<std::size_t>(program_.registers) * static_cast<std::size_t>(register_bytes_);
}

BlockRunner::Context BlockRunner::context(void* scratch) const {
    auto* base = static_cast<std::byte*>(scratch);
    auto* index = reinterpret_cast<std::int64_t*>(base + index_at_);
    return {static_cast<void**>(scratch), base + cells_at_, base + registers_at_, index,
            index + dims_.size() + 1,     base + half_at_};
}

void BlockRunner::begin(Context& context, const void* const* loads) const {
    for (std::size_t slot = 0; slot < program_.homes.size(); ++slot) {
        context.value[slot] = program_.homes[slot] < 0 ? nullptr : home(context, static_cast<std::int32_t>(slot));
    }
    for (const auto& [slot, constant] : program_.constants) {
        context.value[slot] = const_cast<std::byte*>(constant.bytes);
    }
    std::byte* cell = context.cells;
    for (std::int32_t slot : program_.cells) context.value[slot] = cell, cell += 16;
    std::fill(context.at, context.at + dims_.size(), 0);
    for (std::size_t i = 0; i < loads_.size(); ++i) {
        if (program_.inputs[i] < 0) continue;
        void* to = context.value[program_.inputs[i]];
        if (feeds_[i] == Feed::uniform) gather(context, i, loads[i], to, 1);
        if (feeds_[i] == Feed::stationary) gather(context, i, loads[i], to, std::min(block_, elements_));
    }
    for (const BlockProgram::At& at : program_.once) call(context, at, 1);
    for (const auto& spread : program_.spreads) {
        move_.gather(context.value[spread.to], context.value[spread.from], 0, std::min(block_, elements_), spread.size);
    }
}

void BlockRunner::feed(Context& context, const void* const* loads, std::int64_t count) const {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
        std::int32_t slot = program_.inputs[i];
        if (slot < 0) continue;
        if (feeds_[i] == Feed::direct) {
            context.value[slot] =
                const_cast<std::byte*>(static_cast<const std::byte*>(loads[i]) + loads_[i].offset(context.at));
        } else if (indexed_of_[i] >= 0) {
            gather_indexed(context, indexed_[static_cast<std::size_t>(indexed_of_[i])], loads, count);
        } else if (feeds_[i] == Feed::copied) {
            if (within_a_run(context, i, count)) {
                context.value[slot] =
                    const_cast<std::byte*>(static_cast<const std::byte*>(loads[i]) + loads_[i].offset(context.at));
                continue;
            }
            context.value[slot] = home(context, slot);
            gather(context, i, loads[i], context.value[slot], count);
        }
    }
}

bool BlockRunner::within_a_run(const Context& context, std::size_t input, std::int64_t count) const {
    const Stream& stream = loads_[input];
    if (!read_only_ || dims_.empty() || stream.memory != program_.input_types[input]) return false;
    return stream.strides.back() == static_cast<std::int64_t>(size_of(stream.memory)) &&
           context.at[dims_.size() - 1] + count <= dims_[dims_.size() - 1];
}

void BlockRunner::gather(Context& context, std::size_t input, const void* memory, void* to, std::int64_t count) const {
    const Stream& stream = loads_[input];
    std::size_t size = size_of(stream.memory);
    bool half = stream.memory != program_.input_types[input];
    auto* out = half ? context.half : static_cast<std::byte*>(to);
    std::int64_t stride = stream.strides.empty() ? 0 : stream.strides.back();
    walk(stream, dims_, context.at, context.walk, static_cast<const std::byte*>(memory), count,
         [&](const std::byte* from, std::int64_t run) {
             move_.gather(out, from, stride, run, size);
             out += run * static_cast<std::int64_t>(size);
         });
    if (half) move_.widen(static_cast<float*>(to), context.half, stream.memory, count);
}

// Nothing is ever stored where an indexed load lies, so its elements may be read there.
void BlockRunner::gather_indexed(Context& context, const IndexedLoad& load, const void* const* loads,
                                 std::int64_t count) const {
    std::int32_t slot = program_.inputs[load.load()];
    bool half = load.memory() != program_.input_types[load.load()];
    const void* there = load.in_place(loads, context.at, count);
    if (there && !half) {
        context.value[slot] = const_cast<void*>(there);
        return;
    }
    void* to = context.value[slot] = home(context, slot);
    if (!there) {
        load.fill(loads, context.at, count, half ? context.half : to);
        there = context.half;
    }
    if (half) move_.widen(static_cast<float*>(to), there, load.memory(), count);
}

void BlockRunner::store(Context& context, const Stream& stream, const Dims& dims, const std::int64_t* at, void* memory,
                        const void* values, DType dtype, std::int64_t count) const {
    std::size_t size = size_of(stream.memory);
    auto* from = static_cast<const std::byte*>(values);
    if (stream.memory != dtype) {  // a half type, computed in float32
        move_.narrow(context.half, stream.memory, static_cast<const float*>(values), count);
        from = context.half;
    }
    std::int64_t stride = stream.strides.empty() ? static_cast<std::int64_t>(size) : stream.strides.back();
    walk(stream, dims, at, context.walk, static_cast<std::byte*>(memory), count, [&](std::byte* to, std::int64_t run) {
        move_.scatter(to, stride, from, run, size);
        from += run * static_cast<std::int64_t>(size);
    });
}

}  // namespace weft::cpu

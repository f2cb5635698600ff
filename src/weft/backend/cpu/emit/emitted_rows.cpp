#include "weft/backend/cpu/emit/emitted_rows.h"

#include <algorithm>

namespace weft::cpu::emit {

StreamKind kind_of(const Stream& stream, const Dims& dims, bool store) {
    std::int64_t step = dims.empty() ? 0 : stream.strides.back();
    if (dims.empty() || step == static_cast<std::int64_t>(size_of(stream.memory)))
        return {stream.memory, store || !dims.empty() ? Mode::contiguous : Mode::uniform};
    return {stream.memory, step == 0 && !store ? Mode::uniform : Mode::strided};
}

EmittedRows::EmittedRows(std::shared_ptr<const CompiledKernel> kernel, Dims dims, const std::vector<Stream>& streams)
    : kernel_(std::move(kernel)), dims_(std::move(dims)) {
    bool point = dims_.empty();
    if (point) dims_.push_back(1);
    for (const Stream& stream : streams) {
        if (point) strides_.push_back(0);
        strides_.insert(strides_.end(), stream.strides.begin(), stream.strides.end());
    }
}

std::size_t EmittedRows::scratch_bytes() const {
    return kernel_ ? (2 + 3 * kernel_->streams + dims_.size()) * sizeof(std::int64_t) : 0;
}

EmittedRows::Walk EmittedRows::start(std::int64_t* words, std::int64_t flat) const {
    std::size_t axes = dims_.size();
    Walk walk{words, words + 2 + 3 * kernel_->streams};
    unravel(flat, dims_, walk.at);
    for (std::size_t i = 0; i < kernel_->streams; ++i) {
        const std::int64_t* strides = strides_.data() + i * axes;
        words[3 + 3 * i] = axes > 1 ? strides[axes - 2] : 0;
        words[4 + 3 * i] = strides[axes - 1];
    }
    return walk;
}

std::int64_t EmittedRows::aim(Walk& walk, std::int64_t count) const {
    std::size_t axes = dims_.size();
    std::int64_t inner = dims_[axes - 1], column = walk.at[axes - 1];
    bool whole_rows = column == 0 && count >= inner && axes > 1;
    walk.words[0] = whole_rows ? inner : std::min(count, inner - column);
    walk.words[1] = whole_rows ? std::min(count / inner, dims_[axes - 2] - walk.at[axes - 2]) : 1;
    return walk.words[0] * walk.words[1];
}

std::int64_t EmittedRows::offset(const Walk& walk, std::size_t stream) const {
    const std::int64_t* strides = strides_.data() + stream * dims_.size();
    std::int64_t bytes = 0;
    for (std::size_t axis = 0; axis < dims_.size(); ++axis) bytes += walk.at[axis] * strides[axis];
    return bytes;
}

void EmittedRows::advance(Walk& walk) const {
    std::size_t axes = dims_.size();
    walk.at[axes - 1] += walk.words[0];
    if (walk.at[axes - 1] < dims_[axes - 1] || axes == 1) return;
    walk.at[axes - 1] = 0;
    walk.at[axes - 2] += walk.words[1];
    for (std::size_t axis = axes - 1; axis-- > 1 && walk.at[axis] >= dims_[axis];) {
        walk.at[axis] = 0;
        ++walk.at[axis - 1];
    }
}

}  // namespace weft::cpu::emit

#include "weft/backend/cpu/emit/emitted_rows.h"

#include <algorithm>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu::emit {

namespace {

constexpr std::size_t far_bytes = std::size_t{24} << 20;  // of what is joined: from beyond the caches

/// How a stream moves along the innermost axis.
StreamKind kind_of(const Stream& stream, bool store) {
    bool point = stream.strides.empty();
    std::int64_t step = point ? 0 : stream.strides.back();
    if (stream.counted) return {stream.memory, step == 0 ? Mode::same_number : Mode::counting};
    if (point && store && size_of(stream.memory) >= 4) return {stream.memory, Mode::number};
    if (point ? store : step == static_cast<std::int64_t>(size_of(stream.memory)))
        return {.memory = stream.memory,
                .mode = Mode::contiguous,
                .ahead = stream.ahead && !store,
                .near = stream.near && stream.ahead && !store,
                .replaced = stream.replaced && stream.ahead && !store};
    return {stream.memory, step == 0 && !store ? Mode::uniform : Mode::strided};
}

}  // namespace

EmittedRows::EmittedRows(const Program& program, Dims dims, const std::vector<Stream>& loads,
                         const std::vector<Stream>& stores, const EmitOptions* options, bool past)
    : dims_(std::move(dims)) {
    if (emission() == Emission::off) return;
    std::vector<StreamKind> in, out;
    for (const Stream& stream : loads) in.push_back(kind_of(stream, false));
    for (std::size_t i = 0; i < stores.size(); ++i) {
        out.push_back(kind_of(stores[i], true));
        bool whole = stores[i].memory == program.dtype(program.outputs[i]) && size_of(stores[i].memory) >= 4;
        if (past && whole && out.back().mode == Mode::contiguous) out.back().mode = Mode::past;
    }
    kernel_ = options ? compile_kernel(program, in, out, best_isa(), *options)
                      : kernel_for(program, in, out, best_isa(), element_count(dims_));
    place(loads);
    place(stores);
    bool point = dims_.empty();  // of which no step is read
    if (point) dims_.push_back(1);
    in.insert(in.end(), out.begin(), out.end());
    if (one_axis() && !point) keep_steps(in);
}

EmittedRows::EmittedRows(const Program& program, Dims dims, const std::vector<Stream>& loads,
                         const std::vector<std::pair<Reduction, DType>>& joined, Mode how)
    : dims_(std::move(dims)) {
    if (emission() == Emission::off) return;
    std::vector<StreamKind> in, out;
    std::vector<Stream> still;
    for (const Stream& stream : loads) in.push_back(kind_of(stream, false));
    std::size_t bytes = 0;
    for (const Stream& stream : loads)
        if (!stream.uniform()) bytes += static_cast<std::size_t>(element_count(dims_)) * size_of(stream.memory);
    for (auto [reduction, dtype] : joined) {
        out.push_back({dtype, how, reduction, how == Mode::accumulated && bytes >= far_bytes});
        still.push_back({dtype, Dims(dims_.size())});
        if (how == Mode::accumulated) still.back().strides.back() = static_cast<std::int64_t>(size_of(dtype));
    }
    kernel_ = how == Mode::accumulated ? kernel_for_columns(program, in, out, best_isa(), dims_.back())
                                       : kernel_for(program, in, out, best_isa());
    place(loads);
    place(still);
}

EmittedRows::EmittedRows(const Program& program, Dims dims, const std::vector<Stream>& loads,
                         const std::vector<Reduction>& reductions, const std::vector<Stream>& results,
                         const std::vector<Stream>& stored, bool past)
    : dims_(std::move(dims)) {
    if (emission() == Emission::off) return;
    std::vector<StreamKind> in, out;
    std::vector<Stream> over_rows = results;
    for (const Stream& stream : loads) in.push_back(kind_of(stream, false));
    for (const Stream& stream : stored) out.push_back(kind_of(stream, true));
    if (past) out.back().mode = Mode::past;
    for (std::size_t i = 0; i < results.size(); ++i) {
        out.push_back({results[i].memory, Mode::folded, reductions[i]});
        over_rows[i].strides.push_back(0);
    }
    kernel_ = kernel_for_rows(program, in, out, best_isa(), dims_.back());
    place(loads);
    place(stored);
    place(over_rows);
}

/// The streams' strides; of a single point, one that does not matter.
void EmittedRows::place(const std::vector<Stream>& streams) {
    for (const Stream& stream : streams) {
        nexts_.push_back(stream.next);
        if (dims_.empty()) strides_.push_back(0);
        strides_.insert(strides_.end(), stream.strides.begin(), stream.strides.end());
    }
}

// A row alone: where its streams lie in the next one is told to none, unless they are asked for ahead.
void EmittedRows::keep_steps(const std::vector<StreamKind>& kinds) {
    bool read = std::any_of(kinds.begin(), kinds.end(),
                            [](const StreamKind& kind) { return kind.mode == Mode::strided || kind.ahead; });
    if (!read) return;
    for (std::size_t i = 0; i < strides_.size(); ++i)
        steps_.push_back(nexts_[i] != 0 ? nexts_[i] : dims_[0] * strides_[i]);
    steps_.insert(steps_.end(), strides_.begin(), strides_.end());
}

EmittedRows::Walk EmittedRows::start(std::int64_t* words, std::int64_t flat) const {
    std::size_t axes = dims_.size();
    Walk walk{words, words + arguments().words()};
    unravel(flat, dims_, walk.at);
    for (std::size_t i = 0; i < kernel_->streams; ++i) {
        const std::int64_t* strides = strides_.data() + i * axes;
        words[arguments().row_step(i)] = axes > 1 ? strides[axes - 2] : 0;
        words[arguments().step(i)] = strides[axes - 1];
    }
    return walk;
}

std::size_t EmittedRows::cursor_bytes(std::int64_t rows, std::int64_t step) const {
    if (!kernel_) return 0;
    std::size_t axes = dims_.size();
    std::int64_t last = strides_[(kernel_->streams - 1) * axes];  // of the last stream, along the first axis
    bool axis = axes == 2 && dims_[0] == rows && last == step;
    bool parts = axes == 1 && rows > 0 && dims_[0] % rows == 0 && dims_[0] / rows * last == step;
    if (!axis && !parts) return 0;
    return sizeof(Cursor) + (arguments().words() + kernel_->streams) * sizeof(std::int64_t);
}

EmittedRows::Cursor& EmittedRows::cursor_in(std::byte* memory, std::int64_t rows) const {
    std::size_t axes = dims_.size();
    std::int64_t flat = axes == 1 ? dims_[0] / rows : 0;
    auto* cursor = new (memory) Cursor{{make_rows}, kernel_->entry(), arguments(), flat};
    std::int64_t* words = cursor->words();
    words[0] = dims_[axes - 1], words[1] = 1;
    for (std::size_t i = 0; i < kernel_->streams; ++i) {
        const std::int64_t* strides = strides_.data() + i * axes;
        words[arguments().row_step(i)] = axes == 1 ? flat * strides[0] : strides[0];
        words[arguments().step(i)] = strides[axes - 1];
    }
    return *cursor;
}

// Between parts of a few rows this is all that there is, so it is short.
void EmittedRows::make_rows(RowCursor& cursor, std::int64_t count) {
    auto& at = static_cast<Cursor&>(cursor);
    std::int64_t *words = at.words(), *places = at.places();
    if (at.flat > 0)
        words[0] = count * at.flat;
    else
        words[1] = count;
    for (std::size_t i = 0; i < at.arguments.streams; ++i) {
        words[at.arguments.base(i)] = places[i];
        places[i] += count * words[at.arguments.row_step(i)];
    }
    at.code(words);
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

std::int64_t EmittedRows::aim_rows(Walk& walk, std::int64_t rows, std::int64_t width) const {
    std::size_t axis = dims_.size() - 2;
    walk.words[0] = width;
    return walk.words[1] = std::min(rows, dims_[axis] - walk.at[axis]);
}

void EmittedRows::advance(Walk& walk) const {
    std::size_t axes = dims_.size();
    walk.at[axes - 1] += walk.words[0];
    if (walk.at[axes - 1] < dims_[axes - 1] || axes == 1) return;
    walk.at[axes - 1] = 0;
    advance_rows(walk);
}

void EmittedRows::advance_rows(Walk& walk) const {
    std::size_t axes = dims_.size();
    walk.at[axes - 2] += walk.words[1];
    for (std::size_t axis = axes - 1; axis-- > 1 && walk.at[axis] >= dims_[axis];) {
        walk.at[axis] = 0;
        ++walk.at[axis - 1];
    }
}

}  // namespace weft::cpu::emit

#include "weft/backend/cpu/indexed_load.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "weft/backend/cpu/made_load.h"
#include "weft/backend/cpu/strided.h"

namespace weft::cpu {
namespace {

/// What one tensor of indices picks, where nothing else moves, from each of `rows` rows: an index is read and made a place once for
/// them. `size` 0: no index is negative. Elements of four bytes are joined in a register, for a loop that stores each is bounded by
/// that (a million by 1,024 indices, four rows of them: 354 us, and 202).
template <class T>
void pick(T* to, const std::byte* array, std::int64_t row_step, std::int64_t rows, const std::int64_t* from,
          std::int64_t count, std::int64_t size, std::int64_t step) {
    using Four = std::uint32_t __attribute__((vector_size(16)));
    std::int64_t i = 0;
    if constexpr (std::is_same_v<T, std::uint32_t>)
        for (; i + 4 <= count; i += 4) {
            std::int64_t at[4];
            for (int k = 0; k < 4; ++k) at[k] = from_front(from[i + k], size) * step;
            const std::byte* line = array;
            for (std::int64_t row = 0; row < rows; ++row, line += row_step) {
                auto element = [&](int k) { return *reinterpret_cast<const T*>(line + at[k]); };
                Four four = {element(0), element(1), element(2), element(3)};
                std::memcpy(to + row * count + i, &four, sizeof four);
            }
        }
    for (; i < count; ++i) {
        const std::byte* line = array + from_front(from[i], size) * step;
        for (std::int64_t row = 0; row < rows; ++row, line += row_step)
            to[row * count + i] = *reinterpret_cast<const T*>(line);
    }
}

}  // namespace

IndexedLoad::IndexedLoad(const Loop& loop, std::size_t load, Dims dims, const std::vector<Stream>& streams)
    : load_(load),
      width_(size_of(loop.loads[load].dtype)),
      memory_(loop.loads[load].dtype),
      access_(loop.loads[load]),
      walk_(access_, loop, std::move(dims), streams[load].strides, streams) {}

const void* IndexedLoad::in_place(const void* const* loads, const std::int64_t* at, std::int64_t count) const {
    std::size_t axes = walk_.dims.size();
    bool dense = access_.source == Source::memory && walk_.moving.empty() && axes > 0 &&
                 walk_.strides.back() == static_cast<std::int64_t>(width_) && at[axes - 1] + count <= walk_.dims.back();
    if (!dense) return nullptr;
    Cursor start = walk_.cursor(at);
    return static_cast<const std::byte*>(loads[load_]) + start.array + walk_.still_places(start, loads);
}

void IndexedLoad::fill(const void* const* loads, const std::int64_t* start, std::int64_t count, void* to) const {
    auto* out = static_cast<std::byte*>(to);
    bool rows_at_once = walk_.in_rows(static_cast<std::int64_t>(width_)) || picks_from_rows();
    walk_.runs(start, count, rows_at_once, [&](const Cursor& here, std::int64_t rows, std::int64_t run) {
        if (rows > 1)
            out = walk_.moving.empty() ? fill_rows(here, loads, rows, out) : pick_rows(here, loads, rows, run, out);
        else
            out = fill_run(here, loads, run, out);
    });
}

std::byte* IndexedLoad::fill_run(const Cursor& cursor, const void* const* loads, std::int64_t count,
                                 std::byte* to) const {
    if (access_.source != Source::memory) {
        auto width = static_cast<std::int64_t>(width_);
        std::int64_t number = number_at(loads[load_], memory_) + cursor.array / width;
        make_values(access_, loads, number, walk_.strides.empty() ? 0 : walk_.strides.back() / width, count, to);
        return to + count * width;
    }
    const auto* from = static_cast<const std::byte*>(loads[load_]) + cursor.array + walk_.still_places(cursor, loads);
    if (!walk_.moving.empty()) return pick_run(cursor, from, loads, count, to);
    std::int64_t stride = walk_.strides.empty() ? 0 : walk_.strides.back();
    with_width(memory_, [&]<class T>(TypeTag<T>) {
        copy_run(reinterpret_cast<T*>(to), 1, reinterpret_cast<const T*>(from),
                 stride / static_cast<std::int64_t>(sizeof(T)), count);
    });
    return to + count * static_cast<std::int64_t>(width_);
}

std::byte* IndexedLoad::fill_rows(const Cursor& cursor, const void* const* loads, std::int64_t rows,
                                  std::byte* to) const {
    const WalkedIndex& index = walk_.still[0];
    std::size_t axis = walk_.dims.size() - 2, bytes = static_cast<std::size_t>(walk_.dims.back()) * width_;
    const auto* array = static_cast<const std::byte*>(loads[load_]) + cursor.array;
    const auto* at = static_cast<const std::byte*>(loads[index.load]) + cursor.indices[0];
    constexpr std::int64_t ahead =
        4;  // rows whose first lines are asked for early: no processor foresees where they lie
    std::int64_t soon = std::min<std::int64_t>(static_cast<std::int64_t>(bytes), 256);
    for (std::int64_t row = 0; row < rows;
         ++row, array += walk_.strides[axis], at += index.strides[axis], to += bytes) {
        if (row + ahead < rows) {
            std::int64_t next = *reinterpret_cast<const std::int64_t*>(at + ahead * index.strides[axis]);
            const std::byte* line = array + ahead * walk_.strides[axis] + from_front(next, index.size) * index.step;
            for (std::int64_t k = 0; k < soon; k += 64) __builtin_prefetch(line + k);
        }
        std::int64_t place = from_front(*reinterpret_cast<const std::int64_t*>(at), index.size) * index.step;
        copy_bytes(to, array + place, bytes);
    }
    return to;
}

bool IndexedLoad::picks() const {
    return access_.source == Source::memory && walk_.moving.size() == 1 && walk_.strides.back() == 0 &&
           walk_.moving[0].dtype == DType::int64 &&
           walk_.moving[0].inner() == static_cast<std::int64_t>(sizeof(std::int64_t));
}

bool IndexedLoad::picks_from_rows() const {
    std::size_t axes = walk_.dims.size();
    return axes > 1 && picks() && walk_.still.empty() && walk_.moving[0].strides[axes - 2] == 0;
}

std::byte* IndexedLoad::pick_rows(const Cursor& cursor, const void* const* loads, std::int64_t rows, std::int64_t count,
                                  std::byte* to) const {
    const WalkedIndex& index = walk_.moving[0];
    std::int64_t step = walk_.strides[walk_.dims.size() - 2];
    const auto* from = static_cast<const std::byte*>(loads[load_]) + cursor.array;
    const auto* indices =
        reinterpret_cast<const std::int64_t*>(static_cast<const std::byte*>(loads[index.load]) + cursor.indices[0]);
    with_width(memory_, [&]<class T>(TypeTag<T>) {
        pick(reinterpret_cast<T*>(to), from, step, rows, indices, count, index.size, index.step);
    });
    return to + rows * count * static_cast<std::int64_t>(width_);
}

std::byte* IndexedLoad::pick_run(const Cursor& cursor, const std::byte* from, const void* const* loads,
                                 std::int64_t count, std::byte* to) const {
    auto width = static_cast<std::int64_t>(width_);
    if (picks()) {
        const WalkedIndex& index = walk_.moving[0];
        const auto* indices = static_cast<const std::byte*>(loads[index.load]) + cursor.indices[0];
        with_width(memory_, [&]<class T>(TypeTag<T>) {
            pick(reinterpret_cast<T*>(to), from, 0, 1, reinterpret_cast<const std::int64_t*>(indices), count,
                 index.size, index.step);
        });
        return to + count * width;
    }
    std::array<std::int64_t, most_places> places;
    for (std::int64_t done = 0; done < count; done += most_places) {
        std::int64_t part = std::min(most_places, count - done);
        walk_.moving_places(cursor, loads, done, part, places.data());
        with_width(memory_, [&]<class T>(TypeTag<T>) {
            auto* out = reinterpret_cast<T*>(to);
            for (std::int64_t i = 0; i < part; ++i)
                out[i] = *reinterpret_cast<const T*>(from + places[static_cast<std::size_t>(i)]);
        });
        to += part * width;
    }
    return to;
}

IndexedBlocks::IndexedBlocks(const Loop& loop, const Dims& dims, const std::vector<Stream>& streams, bool counts)
    : dims_(dims) {
    for (std::size_t i = 0; i < loop.loads.size(); ++i)
        if (!loop.loads[i].plain() && !(counts && counted(loop.loads[i], streams[i])))
            loads_.emplace_back(loop, i, dims, streams);
}

bool counted(const Access& load, const Stream& stream) {
    std::int64_t step = stream.strides.empty() ? 0 : stream.strides.back();
    return load.source == Source::counting && (step == 0 || step == static_cast<std::int64_t>(size_of(load.dtype)));
}

namespace {

std::size_t bytes_of_block(const IndexedLoad& load, std::int64_t block) {
    return (static_cast<std::size_t>(block) * size_of(load.memory()) + 127) / 64 * 64;  // and a line that may be read
}

}  // namespace

std::size_t IndexedBlocks::bytes(std::int64_t block) const {
    std::size_t bytes = 0;
    for (const IndexedLoad& load : loads_) bytes += bytes_of_block(load, block);
    return bytes;
}

void IndexedBlocks::fill(const void* const* loads, std::int64_t flat, std::int64_t count, std::int64_t block,
                         std::byte* blocks) const {
    SmallVector<std::int64_t, 12> at(dims_.size());
    unravel(flat, dims_, at.data());
    for (const IndexedLoad& load : loads_) {
        load.fill(loads, at.data(), count, blocks);
        blocks += bytes_of_block(load, block);
    }
}

bool IndexedBlocks::base(std::size_t number, std::int64_t flat, std::int64_t block, const std::byte* blocks,
                         const void*& base) const {
    for (const IndexedLoad& load : loads_) {
        if (load.load() == number) {
            base = blocks - flat * static_cast<std::int64_t>(size_of(load.memory()));
            return true;
        }
        blocks += bytes_of_block(load, block);
    }
    return false;
}

}  // namespace weft::cpu

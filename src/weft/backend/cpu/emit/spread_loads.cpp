#include "weft/backend/cpu/emit/spread_loads.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "weft/base/integers.h"
#include "weft/base/small_vector.h"

namespace weft::cpu::emit {
namespace {

constexpr std::int64_t fewest_spread = 16;  // fewer are over sooner than a block is filled

std::int64_t width_of(const Stream& stream) { return static_cast<std::int64_t>(size_of(stream.memory)); }

/// A row again and again: until a line is full, each time twice as much, then lines of whole rows' distance; up to 64 bytes more.
void repeat_row(const std::byte* from, std::size_t bytes, std::size_t all, std::byte* to) {
    constexpr std::size_t line = 64;
    std::size_t some = std::min(divide_up(line, bytes) * bytes, all);  // whole rows
    std::memcpy(to, from, bytes);
    for (std::size_t done = bytes; done < some; done *= 2) std::memcpy(to + done, to, std::min(done, some - done));
    if (some < line) return;
    for (std::size_t done = some; done < all; done += line) std::memcpy(to + done, to + done - some, line);
}

using Four = std::uint32_t __attribute__((vector_size(16)));

/// Four numbers that follow each other, each to `row` elements.
template <int row, std::size_t... at>
void spread_four(const Four& four, std::uint32_t* to, std::index_sequence<at...>) {
    auto part = [&](auto number) {
        constexpr int first = 4 * decltype(number)::value;
        Four some =
            __builtin_shufflevector(four, four, first / row, (first + 1) / row, (first + 2) / row, (first + 3) / row);
        std::memcpy(to + first, &some, sizeof some);
    };
    (part(std::integral_constant<int, static_cast<int>(at)>{}), ...);
}
/// All but the last few rows; how many that were.
template <int row>
std::int64_t spread_fours(const std::byte* from, std::int64_t rows, std::byte* to) {
    std::int64_t done = 0;
    for (; done + 4 <= rows; done += 4) {
        Four four;
        std::memcpy(&four, from + done * 4, sizeof four);
        spread_four<row>(four, reinterpret_cast<std::uint32_t*>(to) + done * row, std::make_index_sequence<row>{});
    }
    return done;
}

/// The number of each row to its elements, by stores of so many bytes, whose ends the next row's are stored over.
template <class T, std::size_t bytes>
void spread_by(const std::byte* from, std::int64_t step, std::int64_t rows, std::int64_t row, T* to) {
    constexpr std::int64_t lanes = bytes / sizeof(T);
    for (; rows > 0; --rows, to += row, from += step) {
        T value = *reinterpret_cast<const T*>(from);
        for (std::int64_t done = 0; done < row; done += lanes)
            for (std::int64_t i = 0; i < lanes; ++i) to[done + i] = value;
    }
}

template <class T>
void spread_numbers(const std::byte* from, std::int64_t step, std::int64_t rows, std::int64_t row, std::byte* to) {
    auto* out = reinterpret_cast<T*>(to);
    std::int64_t bytes = row * static_cast<std::int64_t>(sizeof(T));
    if (bytes <= 8) return spread_by<T, 8>(from, step, rows, row, out);
    if (bytes <= 16) return spread_by<T, 16>(from, step, rows, row, out);
    if (bytes <= 32) return spread_by<T, 32>(from, step, rows, row, out);
    spread_by<T, 64>(from, step, rows, row, out);
}

void spread(const std::byte* from, std::int64_t step, std::int64_t rows, std::int64_t row, std::size_t size,
            std::byte* to) {
    auto width = static_cast<std::int64_t>(size);
    if (size == 4 && step == 4 && row <= 4) {
        std::int64_t done = row == 2   ? spread_fours<2>(from, rows, to)
                            : row == 3 ? spread_fours<3>(from, rows, to)
                                       : spread_fours<4>(from, rows, to);
        from += done * step, to += done * row * width, rows -= done;
    }
    switch (size) {
        case 1:
            return spread_numbers<std::uint8_t>(from, step, rows, row, to);
        case 2:
            return spread_numbers<std::uint16_t>(from, step, rows, row, to);
        case 4:
            return spread_numbers<std::uint32_t>(from, step, rows, row, to);
        default:
            return spread_numbers<std::uint64_t>(from, step, rows, row, to);
    }
}

}  // namespace

SpreadLoad::SpreadLoad(std::size_t load, const Stream& stream, const Dims& dims)
    : load_(load), size_(size_of(stream.memory)), row_(dims.back()), still_(stream.strides.back() == 0) {
    // Axes that run on from one to the next are one: runs of rows are as long as can be.
    for (std::size_t axis = 0; axis + 1 < dims.size(); ++axis) {
        if (!rows_.empty() && steps_.back() == stream.strides[axis] * dims[axis])
            rows_.back() *= dims[axis], steps_.back() = stream.strides[axis];
        else
            rows_.push_back(dims[axis]), steps_.push_back(stream.strides[axis]);
    }
}

void SpreadLoad::fill(const void* from, std::int64_t first, std::int64_t rows, std::byte* to) const {
    SmallVector<std::int64_t, 8> at(rows_.size(), 0);
    unravel(first, rows_, at.data());
    std::size_t last = rows_.size() - 1;
    auto start = static_cast<const std::byte*>(from);
    for (std::size_t axis = 0; axis <= last; ++axis) start += at[axis] * steps_[axis];
    while (rows > 0) {
        std::int64_t here = std::min(rows, rows_[last] - at[last]);
        fill_run(start, here, to);
        to += here * row_ * static_cast<std::int64_t>(size_), rows -= here;
        start -= at[last] * steps_[last], at[last] = 0;
        for (std::size_t axis = last; axis-- > 0;) {
            start += steps_[axis];
            if (++at[axis] < rows_[axis]) break;
            start -= rows_[axis] * steps_[axis], at[axis] = 0;
        }
    }
}

void SpreadLoad::fill_run(const std::byte* from, std::int64_t rows, std::byte* to) const {
    std::int64_t step = steps_.back(), bytes = row_ * static_cast<std::int64_t>(size_);
    if (still_) return spread(from, step, rows, row_, size_, to);
    auto width = static_cast<std::size_t>(bytes);
    if (step == bytes || rows == 1)
        std::memcpy(to, from, static_cast<std::size_t>(rows) * width);
    else if (step == 0)
        repeat_row(from, width, static_cast<std::size_t>(rows) * width, to);
    else
        for (; rows > 0; --rows, to += bytes, from += step) std::memcpy(to, from, width);
}

bool SpreadLoads::take(const Dims& dims, std::vector<Stream>& streams, std::int64_t most, bool repeated) {
    if (dims.size() < 2 || dims.back() < 2 || dims.back() > most) return false;
    if (element_count(dims) < fewest_spread * dims.back()) return false;
    std::vector<SpreadLoad> found;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const Stream& stream = streams[i];
        if (stream.counted) return false;
        if (stream.uniform() || stream.contiguous(dims) || (repeated && stream.innermost_alone())) continue;
        std::int64_t width = width_of(stream), along = stream.strides.back();
        bool moves = width == 1 || width == 2 || width == 4 || width == 8;
        if ((along != 0 && along != width) || !moves) return false;
        // Rows that lie apart are copied one by one: little is won, but of short ones.
        std::int64_t step = stream.strides[dims.size() - 2];
        bool apart = along != 0 && step != 0 && step != dims.back() * width;
        if (apart && 2 * dims.back() > most) return false;
        found.emplace_back(i, stream, dims);
    }
    if (found.empty()) return false;
    for (const SpreadLoad& load : found) {
        Stream& stream = streams[load.load()];
        std::int64_t step = width_of(stream);
        for (std::size_t axis = dims.size(); axis-- > 0; step *= dims[axis]) stream.strides[axis] = step;
        stream.ahead = false, stream.next = 0;
    }
    loads_ = std::move(found), row_ = dims.back();
    return true;
}

/// A block may begin and end within rows.
std::size_t SpreadLoads::bytes_of(const SpreadLoad& load, std::int64_t block) const {
    std::size_t bytes = static_cast<std::size_t>(block + 2 * row_) * load.size() + slack_bytes;
    return (bytes + 63) / 64 * 64;
}

std::size_t SpreadLoads::bytes(std::int64_t block) const {
    std::size_t bytes = 0;
    for (const SpreadLoad& load : loads_) bytes += bytes_of(load, block);
    return bytes;
}

bool SpreadLoads::base(std::size_t i, std::int64_t flat, std::int64_t block, const std::byte* blocks,
                       const void*& base) const {
    for (const SpreadLoad& load : loads_) {
        if (load.load() == i) {
            // By numbers: it lies outside of the block.
            std::int64_t ahead = flat / row_ * row_ * static_cast<std::int64_t>(load.size());
            base = reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(blocks) - ahead);
            return true;
        }
        blocks += bytes_of(load, block);
    }
    return false;
}

}  // namespace weft::cpu::emit

#include "weft/backend/cpu/destination_rows.h"

#include <algorithm>

#include "weft/backend/cpu/block_loops.h"

namespace weft::cpu {
namespace {

/// f(first row, rows, where they lie) of rows that are evenly spaced: of an image, or of a line of it.
template <class F>
void for_each_run(const Windows& w, std::int64_t begin, std::int64_t end, F&& f) {
    std::int64_t line = w.axis[2].count, image = line * w.axis[1].count * w.axis[0].count;
    Windows one = w;
    one.batch = 1;
    std::int64_t most = w.destination_is_even() ? w.rows() : one.destination_is_even() ? image : line;
    for (std::int64_t row = begin; row < end;) {
        std::int64_t count = std::min(end - row, most - row % most);
        f(row, count, w.destination_offset(row));
        row += count;
    }
}

}  // namespace

template <class T>
void load_rows(const Windows& w, std::int64_t begin, std::int64_t end, std::int64_t width, const T* destination,
               T* rows) {
    const std::int64_t apart = w.destination_row(), channel = w.destination.channel;
    auto turn = block_loops(best_isa()).move.turn;
    for_each_run(w, begin, end, [&](std::int64_t row, std::int64_t count, std::int64_t at) {
        const T* from = destination + at;
        T* to = rows + (row - begin) * width;
        if (apart == 1 && channel != 1)
            return turn(to, from, channel * static_cast<std::int64_t>(sizeof(T)), count, width, width, sizeof(T));
        for (std::int64_t i = 0; i < count; ++i, to += width, from += apart) {
            if (channel == 1)
                std::copy_n(from, width, to);
            else
                for (std::int64_t c = 0; c < width; ++c) to[c] = from[c * channel];
        }
    });
}

template <class T>
void store_rows(const Windows& w, std::int64_t begin, std::int64_t end, std::int64_t width, const T* rows,
                T* destination) {
    const std::int64_t apart = w.destination_row(), channel = w.destination.channel;
    auto turn = block_loops(best_isa()).move.turn;
    for_each_run(w, begin, end, [&](std::int64_t row, std::int64_t count, std::int64_t at) {
        const T* from = rows + (row - begin) * width;
        T* to = destination + at;
        if (apart == 1 && channel != 1)
            return turn(to, from, width * static_cast<std::int64_t>(sizeof(T)), width, count, channel, sizeof(T));
        for (std::int64_t i = 0; i < count; ++i, from += width, to += apart) {
            if (channel == 1)
                std::copy_n(from, width, to);
            else
                for (std::int64_t c = 0; c < width; ++c) to[c * channel] = from[c];
        }
    });
}

template void load_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const float*, float*);
template void load_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const double*, double*);
template void store_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const float*, float*);
template void store_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const double*, double*);

}  // namespace weft::cpu

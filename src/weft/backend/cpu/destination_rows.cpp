#include "weft/backend/cpu/destination_rows.h"

#include <algorithm>

#include "weft/backend/cpu/moved_matrix.h"

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
    for_each_run(w, begin, end, [&](std::int64_t row, std::int64_t count, std::int64_t at) {
        move_matrix(rows + (row - begin) * width, {width, 1}, destination + at,
                    {w.destination_row(), w.destination.channel}, count, width);
    });
}

template <class T>
void store_rows(const Windows& w, std::int64_t begin, std::int64_t end, std::int64_t width, const T* rows,
                T* destination) {
    for_each_run(w, begin, end, [&](std::int64_t row, std::int64_t count, std::int64_t at) {
        move_matrix(destination + at, {w.destination_row(), w.destination.channel}, rows + (row - begin) * width,
                    {width, 1}, count, width);
    });
}

template void load_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const float*, float*);
template void load_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const double*, double*);
template void store_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const float*, float*);
template void store_rows(const Windows&, std::int64_t, std::int64_t, std::int64_t, const double*, double*);

}  // namespace weft::cpu

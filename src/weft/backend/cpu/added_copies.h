// Sums that blocks of a computation made each for itself, added up: a gradient of weights is that of all images. Copy after copy for each number,
// so the bits hang on the number of copies alone. Callers: the convolutions of backend/cpu.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weft/base/thread_pool.h"

namespace weft::cpu {

/// The first copy becomes the sum of all, each of which lies `apart` numbers behind the one before it.
template <class T>
void add_copies(T* first, std::int64_t copies, std::int64_t apart, std::int64_t count) {
    constexpr std::int64_t strip = 1 << 13, line = 64 / sizeof(T);  // all copies are read side by side, a line of each
    if (copies <= 1) return;
    parallel_for((count + strip - 1) / strip, [&](std::int64_t index) {
        std::int64_t end = std::min(count, (index + 1) * strip);
        for (std::int64_t i = index * strip; i < end; i += line) {
            T sum[line];
            std::int64_t numbers = std::min(line, end - i);
            std::copy_n(first + i, numbers, sum);
            for (std::int64_t copy = 1; copy < copies; ++copy) {
                const T* more = first + copy * apart + i;
                if (numbers == line)
                    for (std::int64_t j = 0; j < line; ++j) sum[j] += more[j];
                else
                    for (std::int64_t j = 0; j < numbers; ++j) sum[j] += more[j];
            }
            std::copy_n(sum, numbers, first + i);
        }
    });
}

}  // namespace weft::cpu

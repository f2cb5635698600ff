// Copies that go past the caches: for results so large that nobody finds them there, and that would push out what is needed.
// Callers: backend/cpu/scan.cpp, stored_reduction.cpp, emit/emitted_map.cpp, emit/turned_map.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weft::cpu {

/// std::copy_n past the caches where the processor and the place allow; finish_past_caches() before another thread looks, by the thread that
/// hands the results on: those of the pool are waited for by a counter, and to count a processor finishes, too.
template <class T>
void copy_past_caches(const T* from, std::int64_t count, T* to) {
#ifdef __SSE2__
    constexpr std::size_t vector = sizeof(__m128i);
    std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (reinterpret_cast<std::uintptr_t>(to) % vector == 0 && bytes % vector == 0) {
        auto* x = reinterpret_cast<const __m128i*>(from);
        auto* y = reinterpret_cast<__m128i*>(to);
        for (std::size_t i = 0; i < bytes / vector; ++i) _mm_stream_si128(y + i, _mm_loadu_si128(x + i));
        return;
    }
#endif
    std::copy_n(from, count, to);
}

inline void finish_past_caches() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

}  // namespace weft::cpu

// Copies that go past the caches: for results so large that nobody finds them there, and that would push out what is needed.
// Caller: backend/cpu/scan.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weft::cpu {

/// std::copy_n past the caches where the processor and the place allow; finish_past_caches() before another thread looks.
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

// Elements from memory to a block and back: runs, repeats, strides, and the half types; elements added where they lie.
#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/isa/transpose.h"
#include "weft/backend/cpu/isa/vector.h"
#include "weft/kernel/element.h"

namespace weft::cpu::WEFT_ISA {
namespace {

struct Pair {
    std::uint64_t first, second;
};

template <class T>
WEFT_ELEMENT void gather_of(void* to, const void* from, std::int64_t stride, std::int64_t count) {
    auto* out = static_cast<T*>(to);
    auto* in = static_cast<const char*>(from);
    if (stride == 0) {
        T value = *reinterpret_cast<const T*>(in);
        for (std::int64_t i = 0; i < count; ++i) out[i] = value;
        return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = *reinterpret_cast<const T*>(in);
        in += stride;
        asm("" : "+r"(in));  // one load an element: gathers of vectors are slower
    }
}

template <class T>
WEFT_ELEMENT void scatter_of(void* to, std::int64_t stride, const void* from, std::int64_t count) {
    auto* out = static_cast<char*>(to);
    auto* in = static_cast<const T*>(from);
    for (std::int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(out + i * stride) = in[i];
}

void gather(void* to, const void* from, std::int64_t stride, std::int64_t count, std::size_t size) {
    if (stride == static_cast<std::int64_t>(size)) {
        __builtin_memcpy(to, from, static_cast<std::size_t>(count) * size);
        return;
    }
    switch (size) {
        case 1:
            return gather_of<std::uint8_t>(to, from, stride, count);
        case 2:
            return gather_of<std::uint16_t>(to, from, stride, count);
        case 4:
            return gather_of<std::uint32_t>(to, from, stride, count);
        case 8:
            return gather_of<std::uint64_t>(to, from, stride, count);
        default:
            return gather_of<Pair>(to, from, stride, count);
    }
}

void scatter(void* to, std::int64_t stride, const void* from, std::int64_t count, std::size_t size) {
    if (stride == static_cast<std::int64_t>(size)) {
        __builtin_memcpy(to, from, static_cast<std::size_t>(count) * size);
        return;
    }
    switch (size) {
        case 1:
            return scatter_of<std::uint8_t>(to, stride, from, count);
        case 2:
            return scatter_of<std::uint16_t>(to, stride, from, count);
        case 4:
            return scatter_of<std::uint32_t>(to, stride, from, count);
        case 8:
            return scatter_of<std::uint64_t>(to, stride, from, count);
        default:
            return scatter_of<Pair>(to, stride, from, count);
    }
}

template <class T>
WEFT_ELEMENT void turn_of(void* to, const void* from, std::int64_t column_bytes, std::int64_t rows,
                          std::int64_t columns, std::int64_t to_row) {
    constexpr std::int64_t side = square_side<T>;
    auto* out = static_cast<T*>(to);
    auto* in = static_cast<const T*>(from);
    std::int64_t column = column_bytes / static_cast<std::int64_t>(sizeof(T));
    std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
    // Columns pages apart are asked for two squares before they are read, the next tile's among them: no processor does so by itself.
    constexpr std::int64_t line = 64 / sizeof(T);
    bool ahead = lie_far_apart(column_bytes) && columns >= 4 * side;
    for (std::int64_t c = 0; c < whole_columns; c += side)
        for (std::int64_t r = 0; r < whole_rows; r += side) {
            for (std::int64_t k = 0; ahead && r % line == 0 && k < side; ++k)
                __builtin_prefetch(in + (c + 2 * side + k) * column + r);
            turn_square(out + r * to_row + c, to_row, in + c * column + r, column);
        }
    for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r)
            out[r * to_row + c] = in[c * column + r];
}

void turn(void* to, const void* from, std::int64_t column, std::int64_t rows, std::int64_t columns, std::int64_t to_row,
          std::size_t size) {
    switch (size) {
        case 1:
            return turn_of<std::uint8_t>(to, from, column, rows, columns, to_row);
        case 2:
            return turn_of<std::uint16_t>(to, from, column, rows, columns, to_row);
        case 4:
            return turn_of<std::uint32_t>(to, from, column, rows, columns, to_row);
        case 8:
            return turn_of<std::uint64_t>(to, from, column, rows, columns, to_row);
        default:
            return turn_of<Pair>(to, from, column, rows, columns, to_row);
    }
}

template <class Half>
WEFT_ELEMENT void widen_of(float* to, const void* from, std::int64_t count) {
    auto* in = static_cast<const std::uint16_t*>(from);
    std::int64_t i = 0;
#if defined(__F16C__)
    if constexpr (std::is_same_v<Half, Float16>) {
        for (; i + 8 <= count; i += 8) {
            _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
        }
    }
#endif
    for (; i < count; ++i) to[i] = Half::widen(in[i]);
}

template <class Half>
WEFT_ELEMENT void narrow_of(void* to, const float* from, std::int64_t count) {
    auto* out = static_cast<std::uint16_t*>(to);
    std::int64_t i = 0;
#if defined(__F16C__)
    if constexpr (std::is_same_v<Half, Float16>) {
        for (; i + 8 <= count; i += 8) {
            __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
        }
    }
#endif
    for (; i < count; ++i) out[i] = Half::round(from[i]);
}

void widen(float* to, const void* from, DType half, std::int64_t count) {
    if (half == DType::float16)
        widen_of<Float16>(to, from, count);
    else
        widen_of<BFloat16>(to, from, count);
}

void narrow(void* to, DType half, const float* from, std::int64_t count) {
    if (half == DType::float16)
        narrow_of<Float16>(to, from, count);
    else
        narrow_of<BFloat16>(to, from, count);
}

template <class T>
void add(T* to, const T* from, std::int64_t count) {
    using V = Vec<T>;
    std::int64_t i = 0;
    for (; i + V::lanes <= count; i += V::lanes) V::store(to + i, V::add(V::load(to + i), V::load(from + i)));
    for (; i < count; ++i) to[i] = to[i] + from[i];
}

}  // namespace

const MoveLoops move_loops{gather, scatter, turn, widen, narrow, add<float>, add<double>};

}  // namespace weft::cpu::WEFT_ISA

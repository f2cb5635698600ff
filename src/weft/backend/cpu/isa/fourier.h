// Fourier transforms of several rows at once, one a lane of a vector, once an instruction set. Each lane does what it would do alone, so how
// many there are changes no bit; sets without fused multiply-add round once more. Callers: backend/cpu/fourier_transform.h, fourier.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// The passes of a transform of n points (Stockham's): radices 2, 3, 4, 5, 8, or other odd ones up to `largest_radix`, which come first.
template <class R>
struct FourierPasses {
    static constexpr int largest_radix = 31;
    std::int64_t n;
    const std::int64_t* radices;
    std::int64_t count;
    /// Of each pass exp(-2 pi i p k / (rest radix)), [p][k - 1]; real and imaginary part.
    const R* factors;
    /// exp(-2 pi i k / radix) of each pass of another odd radix, one after another.
    const R* roots;
};

enum class FourierOrder {
    beside,  // a point of all lanes lies together
    along,   // all points of a lane lie together
    anyhow,
    parts  // blocks of as many real parts as a vector holds, then as many imaginary ones: points lie along (read), or lanes beside (written)
};

/// Where lanes read from or write to; strides in real numbers.
template <class R>
struct FourierPlace {
    R* data;
    std::int64_t point, lane;
    FourierOrder order;
    bool swapped = false;      // real and imaginary parts, which turns a transform into its inverse
    const R* turns = nullptr;  // parts that are written: these, lying likewise, are multiplied in
    R factor = 1;              // of what is written beside, along or anyhow
};

template <class R>
struct FourierKernels {
    std::int64_t lanes;
    /// Up to `lanes` rows. `work`: fourier_work(n, lanes) numbers. Places may be one where all lanes are.
    void (*transform)(const FourierPasses<R>& passes, const FourierPlace<R>& from, const FourierPlace<R>& to,
                      std::int64_t lanes, R* work);
    /// to = a b of complex numbers, of which `conjugate` takes the conjugate.
    void (*multiply)(R* to, const R* a, const R* b, std::int64_t count, bool conjugate);
    /// Of 2 m real numbers, taken as m complex ones, the transform of these to m + 1 points of that of those; or `back`. Times a factor
    /// (back: 2). `turns`: -i exp(-pi i k / m); `conjugate`: the m + 1 points. `from` and `to` differ.
    void (*fold)(R* to, const R* from, const R* turns, std::int64_t m, R factor, bool back, bool conjugate);
};

/// Real numbers of working memory.
inline std::int64_t fourier_work(std::int64_t n, std::int64_t lanes) {
    std::int64_t points = (n + lanes - 1) / lanes * lanes;
    return 2 * points * 2 * lanes;
}

#define WEFT_FOURIER_TABLES(isa)                             \
    namespace isa {                                          \
    extern const FourierKernels<float> fourier_kernels_f32;  \
    extern const FourierKernels<double> fourier_kernels_f64; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_FOURIER_TABLES)
#undef WEFT_FOURIER_TABLES

}  // namespace weft::cpu

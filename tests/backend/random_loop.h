// Random Programs, boxes, strides and memories, from a seed: what whoever runs loops is judged with, against the interpreter.
// Callers: tests/backend.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "weft/base/error.h"
#include "weft/core/array.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"
#include "weft/kernel/loop.h"

namespace weft {

using Random = std::mt19937;
inline int pick(Random& random, int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

/// Memory of a load or store: a box of elements somewhere inside a buffer, so that negative strides have room. Of a load that reads no
/// memory: no bytes, and what stands for its address.
struct Memory {
    std::vector<std::byte> bytes;
    std::int64_t first = 0;
    void* data() { return bytes.empty() ? reinterpret_cast<void*>(first) : bytes.data() + first; }
};

template <class T>
T random_value(Random& random) {
    if constexpr (std::is_same_v<T, bool>)
        return random() & 1;
    else if constexpr (std::is_integral_v<T>) {
        if (pick(random, 8) == 0) return static_cast<T>((static_cast<std::uint64_t>(random()) << 32) | random());
        return static_cast<T>(pick(random, 20) - 10);
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        using P = typename T::value_type;
        return T(random_value<P>(random), random_value<P>(random));
    } else {
        return static_cast<T>(std::normal_distribution<float>()(random));
    }
}

template <class T>
T special_value(Random& random) {
    if constexpr (std::is_floating_point_v<T>) {
        T values[] = {0,
                      T(-0.0),
                      std::numeric_limits<T>::infinity(),
                      -std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::max()};
        return values[pick(random, 7)];
    } else {
        return random_value<T>(random);
    }
}

/// A box of memory for `access` over `dims`, filled at random; sometimes with special values.
inline Memory memory_for(Random& random, const Access& access, const Dims& dims, bool special) {
    std::int64_t low = 0, high = 0;
    for (std::size_t axis = 0; axis < access.strides.size(); ++axis) {
        std::int64_t reach = access.strides[axis] * std::max<std::int64_t>(dims[axis] - 1, 0);
        (reach < 0 ? low : high) += reach;
    }
    for (const Pointer& pointer : access.pointers)
        (pointer.stride < 0 ? low : high) += pointer.stride * (pointer.size - 1);
    Memory memory;
    auto size = static_cast<std::int64_t>(size_of(access.dtype));
    auto count = high - low + 1;
    memory.bytes.resize(static_cast<std::size_t>(count * size));
    memory.first = -low * size;
    with_dtype(access.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        for (std::int64_t i = 0; i < count; ++i) {
            T value = special && pick(random, 10) == 0 ? special_value<T>(random) : random_value<T>(random);
            std::memcpy(memory.bytes.data() + i * size, &value, sizeof value);
        }
    });
    return memory;
}

/// Strides of a random layout: axes in random order, some backwards, some with gaps, some (for loads) not moving at all.
inline Dims random_strides(Random& random, const Dims& dims, bool load) {
    std::vector<std::size_t> order(dims.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (pick(random, 3) == 0) std::shuffle(order.begin(), order.end(), random);
    Dims strides(dims.size());
    std::int64_t step = pick(random, 6) == 0 ? 2 : 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        std::size_t axis = order[i];
        strides[axis] = pick(random, 8) == 0 ? -step : step;
        bool still = load && pick(random, 5) == 0;
        if (still)
            strides[axis] = 0;
        else
            step *= std::max<std::int64_t>(dims[axis], 1) + (pick(random, 6) == 0 ? 1 : 0);
    }
    return strides;
}

class ProgramMaker {
  public:
    /// `complex`: whether complex numbers may come up.
    ProgramMaker(Random& random, std::vector<DType> inputs, bool complex = true) : random_(random), complex_(complex) {
        for (DType dtype : inputs) values_.push_back(builder_.input(dtype));
    }
    /// `plain`: sums, products and functions of one type, the steps that the evaluator fuses.
    void grow(int count, bool plain = false) {
        while (count > 0) {
            try {
                values_.push_back(plain ? plain_next() : next());
                --count;
            } catch (const DTypeError&) {  // this opcode does not take this type: another
            }
        }
    }
    Scalar any() { return values_[static_cast<std::size_t>(pick(random_, static_cast<int>(values_.size())))]; }
    /// A value of the type: one that is there, else a cast.
    Scalar any(DType dtype) {
        for (int i = 0; i < 8; ++i) {
            Scalar value = any();
            if (value.dtype() == dtype) return value;
        }
        return cast(any(), dtype);
    }
    ProgramBuilder& builder() { return builder_; }

  private:
    Scalar next() {
        Scalar a = any();
        switch (pick(random_, 10)) {
            case 0:
                return pick(random_, 3) ? cast(a, any_dtype()) : bits_of(a);
            case 1:
                return select(any(DType::bool_), a, any(a.dtype()));
            case 2:
                return call_any(a);
            case 3:
                return a + pick(random_, 3);
            case 4:
                return pick(random_, 5) * a;
            case 5:
                return is_complex(a.dtype()) ? (pick(random_, 2) ? real(a) : imag(a)) : a < any(a.dtype());
            case 6:
                if (a.dtype() == DType::float32 || a.dtype() == DType::float64) {
                    if (complex_ && pick(random_, 2)) return make_complex(a, any(a.dtype()));
                    return fma(a, any(a.dtype()), any(a.dtype()));
                }
                return a == any(a.dtype());
            case 7: {
                Scalar operands[] = {a};
                return weft::apply(static_cast<Opcode>(static_cast<int>(Opcode::negative) + pick(random_, 8)),
                                   operands);
            }
            default: {
                Scalar operands[] = {a, any(a.dtype()), a};
                return weft::apply(static_cast<Opcode>(static_cast<int>(Opcode::add) + pick(random_, 13)), operands);
            }
        }
    }
    DType any_dtype() {
        DType dtype;
        do dtype = all_dtypes()[static_cast<std::size_t>(pick(random_, dtype_count))];
        while (!complex_ && is_complex(dtype));
        return dtype;
    }
    /// 0 for NaN, whose sign and payload are nobody's promise: for what would show them.
    Scalar known(Scalar a) {
        if (!is_floating(a.dtype())) return a;
        Scalar wide = is_half(a.dtype()) ? cast(a, DType::float32) : a;
        return select(wide == wide, a, cast(builder_.constant(DType::float32, 0), a.dtype()));
    }
    /// The bits as another type of the same width; numbers only, for not all bits are a bool.
    Scalar bits_of(Scalar a) {
        for (int i = 0; i < 20; ++i) {
            DType dtype = any_dtype();
            bool number =
                dtype != DType::bool_ && a.dtype() != DType::bool_ && !is_complex(dtype) && !is_complex(a.dtype());
            if (number && size_of(dtype) == size_of(a.dtype())) return bitcast(known(a), dtype);
        }
        return -a;
    }
    Scalar plain_next() {
        Scalar a = any(), b = any();
        switch (pick(random_, 8)) {
            case 0:
                return -a;
            case 1:
                return a + b;
            case 2:
                return a - b;
            case 3:
                return a * b;
            case 4:
                return 3 - a;
            case 5:
                return a * 0.75;
            case 6:
                return tanh(pick(random_, 2) ? a - b : -a);
            default:
                return exp(pick(random_, 2) ? a - b : 0.5 - a);
        }
    }
    Scalar call_any(Scalar a) {
        auto functions = all_functions();
        const Function& function =
            *functions[static_cast<std::size_t>(pick(random_, static_cast<int>(functions.size())))];
        Scalar operands[] = {a, any(a.dtype()), a};
        if (function.name == "copysign") operands[1] = known(operands[1]);
        return weft::call(function, std::span<const Scalar>(operands).first(static_cast<std::size_t>(function.arity)));
    }

    Random& random_;
    bool complex_;
    ProgramBuilder builder_;
    std::vector<Scalar> values_;
};

inline DType memory_type(Random& random, DType value) {
    if (value != DType::float32 || pick(random, 5)) return value;
    return pick(random, 2) ? DType::float16 : DType::bfloat16;
}

inline Dims random_dims(Random& random, int most_axes, std::int64_t most_elements) {
    static constexpr int sizes[] = {1, 2, 3, 5, 7, 10, 17, 64, 65, 130, 200, 257, 700, 1100, 3000};
    Dims dims;
    int axes = pick(random, most_axes + 1);
    std::int64_t all = 1;
    for (int i = 0; i < axes; ++i) {
        std::int64_t size = sizes[pick(random, 15)];
        while (all * size > most_elements) size = std::max<std::int64_t>(size / 4, 1);
        if (pick(random, 60) == 0) size = 0;
        dims.push_back(size);
        all *= std::max<std::int64_t>(size, 1);
    }
    return dims;
}

/// The first element in which two memories differ, or -1. NaNs are equal, whatever their sign and payload; zeros of either sign
/// may be taken for equal (the greatest of 0 and -0 depends on the order).
inline std::int64_t difference(DType dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                               bool zeros_alike = false) {
    return with_dtype(dtype, [&](auto tag) -> std::int64_t {
        using T = typename decltype(tag)::Type;
        using Part = std::conditional_t<std::is_same_v<T, std::complex<float>>, float,
                                        std::conditional_t<std::is_same_v<T, std::complex<double>>, double, T>>;
        for (std::size_t i = 0; i < a.size() / sizeof(Part); ++i) {
            Part x, y;
            std::memcpy(&x, a.data() + i * sizeof x, sizeof x);
            std::memcpy(&y, b.data() + i * sizeof y, sizeof y);
            bool nans = false;
            if constexpr (!std::is_integral_v<Part>)
                nans = std::isnan(static_cast<double>(x)) && std::isnan(static_cast<double>(y));
            if (zeros_alike && x == y) continue;
            if (!nans && std::memcmp(&x, &y, sizeof x) != 0) return static_cast<std::int64_t>(i);
        }
        return -1;
    });
}

inline std::vector<DType> random_types(Random& random) {
    static constexpr DType likely[] = {DType::float32, DType::float32, DType::float64, DType::int32,  DType::int64,
                                       DType::bool_,   DType::uint8,   DType::uint32,  DType::uint64, DType::complex64};
    std::vector<DType> types;
    int count = 1 + pick(random, 4);
    for (int i = 0; i < count; ++i) {
        types.push_back(pick(random, 4) ? likely[pick(random, 10)]
                                        : all_dtypes()[static_cast<std::size_t>(pick(random, dtype_count))]);
    }
    return types;
}

/// A loop and the memories that it runs over.
struct LoopCase {
    Loop loop;
    std::vector<Memory> loads, stores;
};

/// One load more: integers of any type and layout that count along an axis of `size` (at most 128), some from its end. Its number.
inline std::int32_t add_indices(Random& random, LoopCase& made, DType dtype, std::int64_t size) {
    Loop& loop = made.loop;
    auto number = static_cast<std::int32_t>(loop.loads.size());
    loop.loads.push_back({dtype, random_strides(random, loop.dims, true)});
    loop.program.inputs.push_back(dtype);
    made.loads.push_back(memory_for(random, loop.loads.back(), loop.dims, false));
    std::vector<std::byte>& bytes = made.loads.back().bytes;
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
                std::int64_t index = pick(random, static_cast<int>(size));
                if (std::is_signed_v<T> && pick(random, 3) == 0) index -= size;
                auto value = static_cast<T>(index);
                std::memcpy(bytes.data() + at, &value, sizeof value);
            }
        }
    });
    return number;
}

inline DType index_type(Random& random) {
    static constexpr DType types[] = {DType::int64, DType::int64, DType::int32,  DType::int8,
                                      DType::int16, DType::uint8, DType::uint16, DType::uint64};
    return types[pick(random, 8)];
}

/// Some of the loads move by indices now, which are loads of their own.
inline void load_by_indices(Random& random, LoopCase& made) {
    Loop& loop = made.loop;
    for (std::size_t i = 0, count = loop.loads.size(); i < count; ++i) {
        if (pick(random, 3) == 0) continue;
        for (int k = 0, indices = pick(random, 4) == 0 ? 2 : 1; k < indices; ++k) {
            DType dtype = index_type(random);
            std::int64_t size = 1 + pick(random, 100), step = pick(random, 3) ? 1 + pick(random, 5) : -pick(random, 5);
            std::int32_t number = add_indices(random, made, dtype, size);
            loop.loads[i].pointers.push_back({number, size, step, k, "take"});
        }
        for (std::int64_t& stride : loop.loads[i].strides)  // an array moves along other axes than its indices, mostly
            if (pick(random, 2)) stride = 0;
        made.loads[i] = memory_for(random, loop.loads[i], loop.dims, false);
    }
}

/// Loads of int64 are counted now, those of uint32 and uint64 drawn, mostly: but not what says where others read.
inline void load_without_memory(Random& random, LoopCase& made) {
    Loop& loop = made.loop;
    std::vector<bool> says(loop.loads.size(), false);
    for (const Access& load : loop.loads)
        for (const Pointer& pointer : load.pointers) says[static_cast<std::size_t>(pointer.load)] = true;
    for (std::size_t i = 0, count = loop.loads.size(); i < count; ++i) {
        DType dtype = loop.loads[i].dtype;
        bool draws = dtype == DType::uint32 || dtype == DType::uint64;
        bool fits = (draws || dtype == DType::int64) && loop.loads[i].pointers.empty() && !says[i];
        if (!fits || pick(random, 5) == 0) continue;
        std::int64_t number = -(made.loads[i].first / static_cast<std::int64_t>(size_of(dtype)));  // none is negative
        number = (draws || pick(random, 2) ? std::max<std::int64_t>(-number, 0) : number) + pick(random, 7);
        loop.loads[i].source = draws ? Source::random : Source::counting;
        made.loads[i] = {{}, number * static_cast<std::int64_t>(size_of(dtype))};
        if (!draws && pick(random, 2)) {  // sometimes what is known of the numbers is said
            std::int64_t high = number;
            for (std::size_t axis = 0; axis < loop.dims.size(); ++axis)
                high += std::max<std::int64_t>(loop.loads[i].strides[axis], 0) * (loop.dims[axis] - 1);
            Extent extent = extent_of(loop.loads[i], loop.dims);
            if (!extent.empty() && number + extent.first >= 0) loop.loads[i].numbers = high + 1;
        }
        if (!draws) continue;
        std::int64_t step = 1 + pick(random, 3);
        loop.loads[i].drawn = {static_cast<std::int32_t>(loop.loads.size()), step,
                               static_cast<std::uint32_t>(pick(random, 3))};
        loop.loads.push_back({DType::uint32, Dims(loop.dims.size())});
        loop.program.inputs.push_back(DType::uint32);
        made.loads.push_back(memory_for(random, {DType::uint32, {step}}, {2}, false));
    }
}

inline LoopCase random_reduction(int seed, bool complex = true) {
    static constexpr Reduction all[] = {Reduction::sum,    Reduction::maximum, Reduction::minimum, Reduction::argmax,
                                        Reduction::argmin, Reduction::any,     Reduction::all,     Reduction::sum};
    Random random(static_cast<unsigned>(seed));
    LoopCase result;
    auto& [loop, loads, stores] = result;
    std::vector<DType> types = random_types(random);
    if (!complex) std::replace_if(types.begin(), types.end(), is_complex, DType::float32);
    for (DType& type : types) type = compute_dtype(type);
    ProgramMaker maker(random, types, complex);
    maker.grow(pick(random, 4));
    loop.dims = random_dims(random, 4, seed % 10 == 0 ? 200000 : 4000);
    loop.reduced = static_cast<std::size_t>(pick(random, static_cast<int>(loop.dims.size()) + 1));
    bool empty = element_count(Dims(loop.dims.end() - static_cast<std::ptrdiff_t>(loop.reduced), loop.dims.end())) == 0;
    int outputs = 1 + pick(random, 2);
    for (int i = 0; i < outputs; ++i) {
        Reduction reduction = all[pick(random, 8)];
        Scalar value = maker.any();
        bool position = reduction == Reduction::argmax || reduction == Reduction::argmin;
        if ((position && empty) || is_half(value.dtype()))
            reduction = Reduction::sum, value = maker.any(DType::float32);
        if (reduction == Reduction::any || reduction == Reduction::all)
            value = maker.any(DType::bool_);
        else if (reduction == Reduction::sum && value.dtype() == DType::bool_)
            value = cast(value, DType::int64);
        else if (reduction != Reduction::sum && is_complex(value.dtype()))
            value = real(value);
        loop.reductions.push_back(reduction);
        maker.builder().output(value);
    }
    loop.program = maker.builder().take();
    for (DType type : types) {
        loop.loads.push_back({memory_type(random, type), random_strides(random, loop.dims, true)});
        loads.push_back(memory_for(random, loop.loads.back(), loop.dims, false));
    }
    Dims kept(loop.dims.begin(), loop.dims.end() - static_cast<std::ptrdiff_t>(loop.reduced));
    for (std::size_t i = 0; i < loop.reductions.size(); ++i) {
        DType dtype = result_dtype(loop.reductions[i], loop.program.dtype(loop.program.outputs[i]));
        loop.stores.push_back({dtype, random_strides(random, kept, false)});
        stores.push_back(memory_for(random, loop.stores.back(), kept, false));
    }
    if (seed % 3 == 2) load_by_indices(random, result);
    if (seed % 2) load_without_memory(random, result);
    return result;
}

}  // namespace weft

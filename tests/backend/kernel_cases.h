// The loops that every printed dialect is judged with: each opcode and cast for each type, reductions of all kinds along inner, outer
// and all axes, random programs over random layouts. What must come out is the interpreter's; for reductions joined in the lanes that
// kernel/print_c.h promises. Callers: tests of what compiles or runs printed kernels.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "backend/scan_cases.h"
#include "backend/scatter_cases.h"
#include "weft/kernel/function_program.h"
#include "weft/kernel/interpreter.h"
#include "weft/kernel/join.h"
#include "weft/kernel/print_c.h"

namespace weft {

/// Cases of one kernel differ in sizes and strides alone.
struct KernelCase {
    std::string kernel;
    Loop loop;
    std::vector<Memory> loads, stores;
};

/// What is left in the stores.
using Stored = std::vector<std::vector<std::byte>>;

/// One loop a kernel, in the order of the cases.
inline std::vector<NamedLoop> kernels_of(const std::vector<KernelCase>& cases) {
    std::vector<NamedLoop> loops;
    for (const KernelCase& at : cases) {
        auto known = std::find_if(loops.begin(), loops.end(), [&](const NamedLoop& l) { return l.name == at.kernel; });
        if (known == loops.end())
            loops.push_back({at.kernel, at.loop});
        else
            EXPECT_EQ(print_c(known->loop, Dialect::c, "k"), print_c(at.loop, Dialect::c, "k"));
    }
    return loops;
}

template <class T>
T hard_value(Random& random) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
        return random() & 1;
    } else if constexpr (std::is_integral_v<T>) {
        const T edges[] = {Limits::min(),     Limits::max(), 0, 1, static_cast<T>(-1), 2, 3,
                           sizeof(T) * 8 - 1, sizeof(T) * 8};
        return pick(random, 3) ? random_value<T>(random) : edges[pick(random, 9)];
    } else if constexpr (std::is_floating_point_v<T>) {
        auto any_bits = [&] {
            std::uint64_t bits = static_cast<std::uint64_t>(random()) << 32 | random();
            T value;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        };
        switch (pick(random, 4)) {
            case 0:
                return any_bits();
            case 1:
                return special_value<T>(random);
            case 2:
                return static_cast<T>(pick(random, 41) - 20) / 2;
            default:
                return random_value<T>(random);
        }
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        T value;
        value.bits = static_cast<std::uint16_t>(random());
        return value;
    } else {
        using P = typename T::value_type;
        return T(hard_value<P>(random), hard_value<P>(random));
    }
}

/// Memory whose every element is hard, for a load; for reductions numbers of middling size.
inline Memory filled_memory(Random& random, const Access& access, const Dims& dims, bool hard) {
    Memory memory = memory_for(random, access, dims, false);
    if (!hard) return memory;
    with_dtype(access.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        for (std::size_t at = 0; at + sizeof(T) <= memory.bytes.size(); at += sizeof(T)) {
            T value = hard_value<T>(random);
            std::memcpy(memory.bytes.data() + at, &value, sizeof value);
        }
    });
    return memory;
}

inline KernelCase case_of(Random& random, std::string kernel, Loop loop, bool hard) {
    KernelCase made{std::move(kernel), std::move(loop), {}, {}};
    const Loop& at = made.loop;
    for (const Access& load : at.loads) made.loads.push_back(filled_memory(random, load, at.dims, hard));
    Dims kept(at.dims.begin(), at.dims.end() - static_cast<std::ptrdiff_t>(at.reduced));
    for (const Access& store : at.stores) made.stores.push_back(memory_for(random, store, kept, false));
    return made;
}

/// A map of a program over `count` elements, all arrays contiguous and of the program's own types.
inline KernelCase flat_case(Random& random, std::string kernel, Program program, std::int64_t count) {
    Loop loop{.program = std::move(program), .dims = {count}, .loads = {}, .stores = {}, .reductions = {}};
    for (DType input : loop.program.inputs) loop.loads.push_back({input, {1}});
    for (std::int32_t output : loop.program.outputs) loop.stores.push_back({loop.program.dtype(output), {1}});
    return case_of(random, std::move(kernel), std::move(loop), true);
}

/// All that a type can be computed with, an output each.
inline Program program_of_opcodes(DType dtype) {
    ProgramBuilder builder;
    Scalar a = builder.input(dtype), b = builder.input(dtype), c = builder.input(dtype),
           yes = builder.input(DType::bool_);
    Scalar all[] = {a, b, c};
    auto apply_if_taken = [&](Opcode opcode, std::size_t operands) {
        if (takes(opcode, dtype)) builder.output(weft::apply(opcode, std::span<const Scalar>(all, operands)));
    };
#define WEFT_OUTPUT(name) apply_if_taken(Opcode::name, 1);
    WEFT_UNARY_OPCODES(WEFT_OUTPUT)
#undef WEFT_OUTPUT
#define WEFT_OUTPUT(name) apply_if_taken(Opcode::name, 2);
    WEFT_BINARY_OPCODES(WEFT_OUTPUT)
    WEFT_COMPARISON_OPCODES(WEFT_OUTPUT)
#undef WEFT_OUTPUT
    builder.output(select(yes, a, b));
    builder.output(select(yes, a, builder.constant(dtype, 1)));
    if (takes(Opcode::fma, dtype)) builder.output(fma(a, b, c));
    if (is_integer(dtype))
        builder.output(a << builder.constant(dtype, 3)), builder.output(a >> builder.constant(dtype, 3));
    if (is_complex(dtype)) builder.output(real(a)), builder.output(imag(a));
    if (dtype == DType::float32 || dtype == DType::float64) builder.output(make_complex(a, b));
    return builder.take();
}

/// To every type, and to every type of its width.
inline void add_casts(ProgramBuilder& builder, Scalar a) {
    DType from = a.dtype();
    for (DType to : all_dtypes()) {
        builder.output(cast(a, to));
        bool bits = from != DType::bool_ && to != DType::bool_;
        if (bits && size_of(to) == size_of(from)) builder.output(bitcast(a, to));
    }
}

/// Every constant of a type that is hard to write.
inline void add_constants(ProgramBuilder& builder, Scalar yes, DType dtype) {
    auto add = [&](Literal value) {
        builder.output(select(yes, builder.constant(dtype, value), builder.constant(dtype, 1)));
    };
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        using Limits = std::numeric_limits<T>;
        if constexpr (std::is_integral_v<T>) {
            add(Limits::min()), add(Limits::max());
            if (sizeof(T) > 1) {  // nothing is folded: the dialects' compilers see operations on two constants
                Scalar one = builder.constant(dtype, 1), two = builder.constant(dtype, 2);
                for (Scalar value : {one - two, one << two, ~one, one * two, min(one, two), one & two})
                    builder.output(value);
                builder.output(one < two), builder.output(cast(two, DType::float64));
            }
        } else if constexpr (std::is_floating_point_v<T>) {
            for (T value : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(),
                            Limits::min(), -Limits::max(), T(-0.0), T(0.1), T(-3), T(1) / 3})
                add(value);
        } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
            for (float value : {0.1f, -65504.0f, 1e-7f, -0.0f}) add(value);
        } else {
            add(std::complex<double>(0.1, -0.0));
        }
    });
}

inline std::vector<KernelCase> opcode_cases() {
    std::vector<KernelCase> cases;
    Random random(11);
    for (DType dtype : all_dtypes()) {
        cases.push_back(flat_case(random, text("opcodes_of_", dtype, "_"), program_of_opcodes(dtype), 3000));
        ProgramBuilder builder;
        add_casts(builder, builder.input(dtype));
        add_constants(builder, builder.input(DType::bool_), dtype);
        std::int64_t count = is_half(dtype) ? 65536 : 5000;
        cases.push_back(flat_case(random, text("casts_of_", dtype, "_"), builder.take(), count));
    }
    return cases;
}

/// The functions that have programs, some to a kernel: devices' compilers are slow to begin.
inline std::vector<KernelCase> function_cases() {
    constexpr std::size_t in_a_kernel = 8;
    std::vector<KernelCase> cases;
    Random random(12);
    for (DType dtype : {DType::float32, DType::float64}) {
        std::vector<const Function*> functions;
        for (const Function* function : all_functions())
            if (program_of(*function, dtype)) functions.push_back(function);
        for (std::size_t first = 0; first < functions.size(); first += in_a_kernel) {
            ProgramBuilder builder;
            Scalar operands[] = {builder.input(dtype), builder.input(dtype)};
            for (std::size_t i = first; i < std::min(first + in_a_kernel, functions.size()); ++i) {
                auto arity = static_cast<std::size_t>(functions[i]->arity);
                builder.output(weft::call(*functions[i], std::span<const Scalar>(operands, arity)));
            }
            cases.push_back(flat_case(random, text("functions_", first, "_of_", dtype, "_"), builder.take(), 20000));
        }
    }
    return cases;
}

/// Whether every function that the program calls can be printed.
inline bool printable(const Program& program) {
    return std::all_of(program.code.begin(), program.code.end(), [](const Instruction& at) {
        return at.opcode != Opcode::call || program_of(*at.function(), at.dtype);
    });
}

/// Random maps over random boxes and strides, with halves in memory.
inline std::vector<KernelCase> random_map_cases(int count) {
    std::vector<KernelCase> cases;
    for (int seed = 0; static_cast<int>(cases.size()) < count; ++seed) {
        Random random(static_cast<unsigned>(seed));
        Loop loop;
        std::vector<DType> types = random_types(random);
        ProgramMaker maker(random, types);
        maker.grow(1 + pick(random, 12));
        int outputs = 1 + pick(random, 3);
        for (int i = 0; i < outputs; ++i) maker.builder().output(maker.any());
        loop.program = maker.builder().take();
        if (!printable(loop.program)) continue;
        loop.dims = random_dims(random, 4, 3000);
        for (DType type : types)
            loop.loads.push_back({memory_type(random, type), random_strides(random, loop.dims, true)});
        for (std::int32_t output : loop.program.outputs)
            loop.stores.push_back(
                {memory_type(random, loop.program.dtype(output)), random_strides(random, loop.dims, false)});
        cases.push_back(case_of(random, text("map_", seed), std::move(loop), pick(random, 2)));
        if (seed % 3 > 1) continue;
        LoopCase made{cases.back().loop, cases.back().loads, cases.back().stores};
        if (seed % 3 == 0) load_by_indices(random, made);
        if (seed % 6 != 0) load_without_memory(random, made);
        cases.back() = {cases.back().kernel, made.loop, made.loads, made.stores};
    }
    return cases;
}

inline std::vector<KernelCase> scan_kernel_cases(int count) {
    std::vector<KernelCase> cases;
    for (int seed = 0; static_cast<int>(cases.size()) < count; ++seed) {
        LoopCase made = random_scan(seed);
        if (printable(made.loop.program)) cases.push_back({text("scan_", seed), made.loop, made.loads, made.stores});
    }
    return cases;
}

inline std::vector<KernelCase> scatter_kernel_cases(int count) {
    std::vector<KernelCase> cases;
    for (int seed = 0; static_cast<int>(cases.size()) < count; ++seed) {
        LoopCase made = random_scatter(seed);
        if (printable(made.loop.program)) cases.push_back({text("scatter_", seed), made.loop, made.loads, made.stores});
    }
    return cases;
}

/// All the reductions that a type has, at once.
inline Loop reductions_of(DType dtype, const Dims& dims, std::size_t reduced, const Dims& strides) {
    static constexpr Reduction all[] = {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum,
                                        Reduction::any, Reduction::all,     Reduction::argmax,  Reduction::argmin};
    ProgramBuilder builder;
    Scalar x = builder.input(dtype);
    Loop loop{
        .program = {}, .dims = dims, .reduced = reduced, .loads = {{dtype, strides}}, .stores = {}, .reductions = {}};
    for (Reduction reduction : all) {
        bool logical = reduction == Reduction::any || reduction == Reduction::all, boolean = dtype == DType::bool_;
        bool ordered = reduction != Reduction::sum && reduction != Reduction::product;
        if ((logical && !boolean) || (ordered && is_complex(dtype)) || (!ordered && boolean)) continue;
        builder.output(reduction == Reduction::sum && !boolean ? x + x : x);
        loop.reductions.push_back(reduction);
        Access store{result_dtype(reduction, dtype), Dims(dims.size() - reduced)};
        std::int64_t step = 1;
        for (std::size_t axis = store.strides.size(); axis-- > 0; step *= dims[axis]) store.strides[axis] = step;
        loop.stores.push_back(store);
    }
    loop.program = builder.take();
    return loop;
}

/// Along the inner axis (rows from none to longer than a chunk of anything), the outer one, all axes, no axis.
inline std::vector<KernelCase> reduction_cases() {
    std::vector<KernelCase> cases;
    Random random(13);
    for (DType dtype : all_dtypes()) {
        if (is_half(dtype)) continue;
        bool along_both =
            size_of(dtype) != 2 && kind_of(dtype) != Kind::unsigned_integer;  // types enough, for less time
        for (std::int64_t row : {1, 5, 63, 64, 65, 500, 20000}) {
            std::int64_t rows = row > 500 ? 3 : 70;
            Loop inner = reductions_of(dtype, {rows, row}, 1, {row == 1 ? 2 : row, 1});
            cases.push_back(case_of(random, text("inner_of_", dtype, "_"), std::move(inner), row == 65));
            Loop outer = reductions_of(dtype, {rows, row}, 1, {1, rows == 1 ? 2 : rows});
            if (row > 1 && along_both)
                cases.push_back(case_of(random, text("outer_of_", dtype, "_"), std::move(outer), row == 65));
        }
        if (!along_both) continue;
        cases.push_back(
            case_of(random, text("all_of_", dtype, "_"), reductions_of(dtype, {13, 40}, 2, {40, 1}), false));
    }
    auto add = [&](const char* name, DType dtype, const Dims& dims, std::size_t reduced, const Dims& strides) {
        cases.push_back(case_of(random, name, reductions_of(dtype, dims, reduced, strides), true));
    };
    add("inner_of_float32_", DType::float32, {4, 0}, 1, {3, 1});
    add("inner_of_float32_", DType::float32, {0, 4}, 1, {4, 1});
    add("nothing_reduced", DType::float64, {6, 7}, 0, {7, 1});
    add("middle_axes", DType::float32, {3, 5, 4, 6}, 2, {120, 2, -40, 0});
    add("one_point", DType::int32, {}, 0, {});
    return cases;
}

/// Random programs joined along random axes, over random layouts.
inline std::vector<KernelCase> random_reduction_cases(int count) {
    std::vector<KernelCase> cases;
    for (int seed = 0; static_cast<int>(cases.size()) < count; ++seed) {
        LoopCase made = random_reduction(seed);
        if (!printable(made.loop.program)) continue;
        cases.push_back(
            {text("reduction_", seed), std::move(made.loop), std::move(made.loads), std::move(made.stores)});
    }
    return cases;
}

/// A kernel of each kind whose indices have 64 bits: an axis of one, whose stride nothing moves by, takes no memory.
inline std::vector<KernelCase> wide_cases() {
    std::vector<KernelCase> cases;
    for (const auto& some :
         {random_map_cases(6), scan_kernel_cases(4), scatter_kernel_cases(4), random_reduction_cases(4)})
        cases.insert(cases.end(), some.begin(), some.end());
    for (KernelCase& at : cases) {
        at.kernel += "_wide";
        at.loop.dims.insert(0, 1);
        for (auto* accesses : {&at.loop.loads, &at.loop.stores})
            for (Access& access : *accesses) access.strides.insert(0, std::int64_t{1} << 40);
        for (Access& load : at.loop.loads)  // a key is the same at every point
            if (load.source == Source::random) at.loop.loads[static_cast<std::size_t>(load.drawn.key)].strides[0] = 0;
        EXPECT_EQ(index_dtype(at.loop, Dialect::cuda), DType::int64);
    }
    return cases;
}

/// The rule of print_c.h, written down once more: element r to lane r % 64, then halves.
template <class T>
T joined_in_lanes(Reduction reduction, const T* values, std::int64_t count, std::int64_t& place) {
    auto less = [](T a, T b) {
        if constexpr (kind_is_complex<T>)
            return false;
        else
            return a < b;
    };
    auto nan = [](T a) { return a != a; };
    auto better = [&](std::int64_t a, std::int64_t b) {  // whether b goes before a
        T x = values[a], y = values[b];
        if (nan(x) || nan(y)) return nan(y) && (!nan(x) || b < a);
        bool wins = reduction == Reduction::argmax ? less(x, y) : less(y, x);
        return wins || (x == y && b < a);
    };
    auto join = [&](T a, T b) -> T {
        if (reduction == Reduction::sum) return joined_sum(a, b);
        if (reduction == Reduction::product) return joined_product(a, b);
        bool greatest = reduction == Reduction::maximum || reduction == Reduction::any;
        return (greatest ? less(b, a) : less(a, b)) || nan(a) ? a : b;
    };
    std::vector<T> lanes(reduction_lanes);
    std::vector<std::int64_t> places(reduction_lanes);
    for (std::int64_t r = 0; r < count; ++r) {
        auto lane = static_cast<std::size_t>(r % reduction_lanes);
        bool first = r < reduction_lanes;
        lanes[lane] = first ? values[r] : join(lanes[lane], values[r]);
        if (first || better(places[lane], r)) places[lane] = r;
    }
    for (int half = reduction_lanes / 2; half > 0; half /= 2) {
        for (int i = 0; i < half && i + half < count; ++i) {
            auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(i + half);
            lanes[a] = join(lanes[a], lanes[b]);
            if (better(places[a], places[b])) places[a] = places[b];
        }
    }
    place = places[0];
    return lanes[0];
}

inline Stored interpreted(const KernelCase& at) {
    KernelCase copy = at;
    std::vector<const void*> loads;
    std::vector<void*> stores;
    for (Memory& memory : copy.loads) loads.push_back(memory.data());
    for (Memory& memory : copy.stores) stores.push_back(memory.data());
    interpret(copy.loop, loads.data(), stores.data());
    Stored stored;
    for (Memory& memory : copy.stores) stored.push_back(memory.bytes);
    return stored;
}

/// The values that a reduction joins, of each output, in row-major order of the whole box.
inline Stored values_of(const KernelCase& at) {
    KernelCase map = at;
    map.loop.reduced = 0, map.loop.reductions.clear(), map.loop.stores.clear(), map.stores.clear();
    for (std::int32_t output : map.loop.program.outputs) {
        Access flat{map.loop.program.dtype(output), Dims(at.loop.dims.size())};
        std::int64_t step = 1;
        for (std::size_t axis = flat.strides.size(); axis-- > 0; step *= at.loop.dims[axis]) flat.strides[axis] = step;
        map.loop.stores.push_back(flat);
        map.stores.push_back({std::vector<std::byte>(static_cast<std::size_t>(step) * size_of(flat.dtype)), 0});
    }
    return interpreted(map);
}

/// Where, in bytes of the memory, a store's result number `result` (row-major) lies.
inline std::int64_t place_of(const Access& store, const Memory& memory, const Dims& dims, std::int64_t result) {
    std::int64_t place = 0;
    for (std::size_t axis = store.strides.size(); axis-- > 0; result /= dims[axis])
        place += result % dims[axis] * store.strides[axis];
    return memory.first + place * static_cast<std::int64_t>(size_of(store.dtype));
}

/// What the printed kernel must leave, to the bit: for a map the interpreter's, for a reduction its values' joined in lanes.
inline Stored expected_of(const KernelCase& at) {
    Stored stored = interpreted(at);
    if (!at.loop.reduces() || at.loop.scan || element_count(at.loop.dims) == 0) return stored;
    std::int64_t all = element_count(at.loop.dims), elements = 1;
    for (std::size_t axis = at.loop.dims.size() - at.loop.reduced; axis < at.loop.dims.size(); ++axis)
        elements *= at.loop.dims[axis];
    Stored values = values_of(at);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        Reduction reduction = at.loop.reductions[i];
        with_dtype(at.loop.program.dtype(at.loop.program.outputs[i]), [&](auto tag) {
            using T = typename decltype(tag)::Type;
            auto* from = reinterpret_cast<const T*>(values[i].data());
            for (std::int64_t result = 0; result < all / elements; ++result) {
                std::byte* to = stored[i].data() + place_of(at.loop.stores[i], at.stores[i], at.loop.dims, result);
                std::int64_t place = 0;
                T value = joined_in_lanes(reduction, from + result * elements, elements, place);
                if (reduction == Reduction::argmax || reduction == Reduction::argmin)
                    std::memcpy(to, &place, sizeof place);
                else
                    std::memcpy(to, &value, sizeof value);
            }
        });
    }
    return stored;
}

/// Fails, naming the kernel and the store, unless `stored` is what must be there.
inline void expect_stored(const KernelCase& at, const Stored& expected, const Stored& stored) {
    for (std::size_t i = 0; i < stored.size(); ++i) {
        DType dtype = at.loop.stores[i].dtype;
        std::int64_t wrong = difference(dtype, expected[i], stored[i]);
        ASSERT_EQ(wrong, -1) << at.kernel << ", store " << i << ", element " << wrong << '\n' << at.loop;
    }
}

}  // namespace weft

// Many small tiles, of each all rows of a few columns: what they come to lies where it belongs, as each tile by itself, whatever the order in which
// the axes above the rows lie, of values as they are and computed ones, by machine code and by the library's loops.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "joins.h"
#include "threads.h"
#include "weft/backend/cpu/compiler.h"
#include "weft/backend/cpu/emit/kernel_cache.h"
#include "weft/base/integers.h"
#include "weft/kernel/builder.h"

namespace weft::cpu {
namespace {

struct Boxes {
    std::int64_t slow, fast, rows, columns;
    bool turned, gap;  // the two axes above change places in memory; rows lie apart
};

/// Strides along slow, fast, columns, rows.
std::vector<std::int64_t> strides(const Boxes& b) {
    std::int64_t row = b.columns + (b.gap ? 3 : 0), box = b.rows * row;
    if (b.turned) return {box, b.slow * box, 1, row};
    return {b.fast * box, box, 1, row};
}

/// Two results of each column, of numbers or, `computed`, of one less than their squares.
template <class T>
void check(const Boxes& b, Reduction first, Reduction second, bool computed) {
    std::vector<std::int64_t> s = strides(b);
    std::vector<T> from = numbers_to_join<T>(b.slow * b.fast * b.rows, b.columns + (b.gap ? 3 : 0), true);
    Loop loop;
    ProgramBuilder builder;
    Scalar x = builder.input(dtype_of<T>);
    Scalar value = computed ? x * x - builder.constant(dtype_of<T>, Literal(1)) : x;
    builder.output(value), builder.output(value);
    loop.program = builder.take();
    loop.dims = {b.slow, b.fast, b.columns, b.rows};
    loop.reduced = 1;
    loop.reductions = {first, second};
    loop.loads = {{dtype_of<T>, {s[0], s[1], s[2], s[3]}}};
    std::int64_t step = b.columns, all = b.slow * b.fast * b.columns;
    loop.stores = {{dtype_of<T>, {b.fast * step, step, 1}}, {dtype_of<T>, {b.fast * step, step, 1}}};
    std::vector<T> to(at(all), T(9)), other = to;
    auto kernel = cpu_compiler().loop(loop);
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    void* operands[] = {from.data(), to.data(), other.data()};
    for (int run = 0; run < 3; ++run) kernel->run(operands, scratch.data());  // machine code may be made meanwhile
    auto of = [&](T number) { return computed ? static_cast<T>(number * number - T(1)) : number; };
    for (std::int64_t i = 0; i < all; ++i) {
        std::int64_t c = i % b.columns, fast = i / b.columns % b.fast, slow = i / b.columns / b.fast;
        const T* column = from.data() + slow * s[0] + fast * s[1] + c;
        for (auto [reduction, got] : {std::pair(first, to[at(i)]), std::pair(second, other[at(i)])}) {
            T expected = of(column[0]);
            for (std::int64_t r = 1; r < b.rows; ++r) expected = joined(reduction, expected, of(column[r * s[3]]));
            if (reduction == Reduction::sum) expected += T(0);
            ASSERT_PRED2(same_sign<T>, got, expected)
                << b.slow << " x " << b.fast << " of " << b.rows << " x " << b.columns << (b.turned ? ", turned" : "")
                << (b.gap ? ", gaps" : "") << (computed ? ", computed" : "") << ", result " << i;
        }
    }
}

template <class T>
void check_all() {
    int turn = 0;
    for (auto [rows, columns] : {std::pair<std::int64_t, std::int64_t>{2, 16}, {33, 2}, {5, 5}, {7, 40}, {1, 6}})
        for (auto [slow, fast] : {std::pair<std::int64_t, std::int64_t>{1, 90}, {7, 13}})
            for (int how = 0; how < 8; ++how) {
                bool turned = how & 1, gap = how & 2, computed = how & 4, least = ++turn % 2;
                check<T>({slow, fast, rows, columns, turned, gap}, least ? Reduction::minimum : Reduction::sum,
                         least ? Reduction::sum : Reduction::maximum, computed);
            }
    for (bool computed : {false, true})  // several tasks, of which all but the first begin in between
        check<T>({30, 41, 7, 40, true, true}, Reduction::sum, Reduction::maximum, computed);
}

TEST(ColumnBoxes, are_joined_each_by_itself_on_every_instruction_set) {
    Isa best = best_isa();
    emit::Emission before = emit::emission();
    for (Isa isa : usable_isas())
        for (emit::Emission emission : {emit::Emission::off, emit::Emission::always}) {
            Threads set(emission == emit::Emission::off ? 1 : 3);
            use_isa(isa), emit::use_emission(emission);
            check_all<float>();
            check_all<double>();
        }
    use_isa(best), emit::use_emission(before);
}

/// Places of the best have a memory of their own, as wide as the numbers: they are delivered.
TEST(ColumnBoxes, have_their_best_at_the_same_places) {
    constexpr std::int64_t boxes = 70, rows = 4, columns = 6;
    std::vector<std::int64_t> from(at(boxes * rows * columns)), to(at(boxes * columns), -1);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::int64_t>(i * 2654435761u % 7);
    Loop loop;
    ProgramBuilder builder;
    builder.output(builder.input(DType::int64));
    loop.program = builder.take();
    loop.dims = {boxes, columns, rows};
    loop.reduced = 1;
    loop.reductions = {Reduction::argmax};
    loop.loads = {{DType::int64, {rows * columns, 1, columns}}};
    loop.stores = {{DType::int64, {columns, 1}}};
    auto kernel = cpu_compiler().loop(loop);
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    void* operands[] = {from.data(), to.data()};
    kernel->run(operands, scratch.data());
    for (std::int64_t i = 0; i < boxes * columns; ++i) {
        const std::int64_t* column = from.data() + i / columns * rows * columns + i % columns;
        std::int64_t best = 0;
        for (std::int64_t r = 1; r < rows; ++r)
            if (column[r * columns] > column[best * columns]) best = r;
        ASSERT_EQ(to[at(i)], best) << "result " << i;
    }
}

}  // namespace
}  // namespace weft::cpu

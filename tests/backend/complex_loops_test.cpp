// The loops of complex arithmetic against what one number does (kernel/element.h), to the bit, whatever the number.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "weft/backend/cpu/block_loops.h"
#include "weft/kernel/element.h"

namespace weft::cpu {
namespace {

/// Every pair of these parts: ordinary ones, and those where divisions take other ways.
template <class R>
std::vector<element::Complex<R>> telling_numbers() {
    using Limits = std::numeric_limits<R>;
    const R parts[] = {0,
                       R(-0.0),
                       1,
                       R(-2.5),
                       R(1) / 3,
                       R(1e-30),
                       R(3e30),
                       Limits::max(),
                       Limits::denorm_min(),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN()};
    std::vector<element::Complex<R>> numbers;
    for (R re : parts)
        for (R im : parts) numbers.push_back({re, im});
    return numbers;
}

template <class R>
bool same(R a, R b) {
    return std::memcmp(&a, &b, sizeof(R)) == 0 || (a != a && b != b);
}

template <Opcode op, class R>
void check_loop(DType dtype) {
    using C = element::Complex<R>;
    auto b = telling_numbers<R>();
    for (Isa isa : usable_isas()) {
        Instruction at;
        at.opcode = op, at.dtype = dtype;
        Step step = block_loops(isa).step(at, dtype);
        for (std::size_t shift = 0; shift < b.size(); ++shift) {
            std::vector<C> a(b.size()), c(b.size());
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[(i + shift) % b.size()];
            std::size_t count = b.size() - shift % 17;  // not always whole vectors
            const void* operands[] = {a.data(), b.data()};
            step(c.data(), operands, static_cast<std::int64_t>(count), {});
            for (std::size_t i = 0; i < count; ++i) {
                C expected = element::apply2<op>(a[i], b[i]);
                ASSERT_TRUE(same(c[i].re, expected.re) && same(c[i].im, expected.im))
                    << name_of(isa) << ": (" << a[i].re << ", " << a[i].im << ") and (" << b[i].re << ", " << b[i].im
                    << ") give (" << c[i].re << ", " << c[i].im << "), not (" << expected.re << ", " << expected.im
                    << ")";
            }
        }
    }
}

template <Opcode op>
void check_both() {
    check_loop<op, float>(DType::complex64);
    check_loop<op, double>(DType::complex128);
}

TEST(ComplexLoops, add_as_one_number_does) { check_both<Opcode::add>(); }
TEST(ComplexLoops, subtract_as_one_number_does) { check_both<Opcode::subtract>(); }
TEST(ComplexLoops, multiply_as_one_number_does) { check_both<Opcode::multiply>(); }
TEST(ComplexLoops, divide_as_one_number_does) { check_both<Opcode::divide>(); }

}  // namespace
}  // namespace weft::cpu

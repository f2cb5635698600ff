// Elements copied from any layout to any other: each is where it belongs, and nothing else is written.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "effort.h"
#include "weft/core/array.h"

namespace weft {
namespace {

/// An array of a random layout, axes in any order, with gaps, backwards, or repeated where `repeats`.
Array laid_out(std::mt19937& draw, DType dtype, const Dims& dims, bool repeats) {
    auto pick = [&](int below) { return std::uniform_int_distribution<int>(0, below - 1)(draw); };
    std::vector<std::size_t> order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), draw);
    Array array{dtype, dims, Dims(dims.size(), 0), 0, {}};
    std::int64_t step = 1 + (pick(3) == 0);
    for (std::size_t axis : order) {
        if (repeats && pick(6) == 0) continue;
        array.strides[axis] = step;
        step *= dims[axis] + (pick(4) == 0);
        if (pick(5) == 0) array.offset += (dims[axis] - 1) * array.strides[axis], array.strides[axis] *= -1;
    }
    array.buffer = Buffer::allocate(static_cast<std::size_t>(step + 1) * size_of(dtype));
    std::byte* bytes = array.buffer->data();
    for (std::size_t i = 0; i < static_cast<std::size_t>(step + 1) * size_of(dtype); ++i)
        bytes[i] = static_cast<std::byte>(pick(256));
    return array;
}

/// f(offset of an element in a, in b, in bytes) for each.
template <class F>
void for_each(const Array& a, const Array& b, F f) {
    auto size = static_cast<std::int64_t>(size_of(a.dtype));
    for (std::int64_t i = 0; i < a.size(); ++i) {
        std::int64_t left = i, at = a.offset, to = b.offset;
        for (std::size_t axis = a.ndim(); axis-- > 0; left /= a.dims[axis]) {
            at += left % a.dims[axis] * a.strides[axis];
            to += left % a.dims[axis] * b.strides[axis];
        }
        f(at * size, to * size);
    }
}

TEST(StridedCopy, puts_each_element_where_it_belongs) {
    std::mt19937 draw(7);
    auto pick = [&](int below) { return std::uniform_int_distribution<int>(0, below - 1)(draw); };
    constexpr DType dtypes[] = {DType::uint8, DType::float16, DType::float32, DType::float64, DType::complex128};
    for (unsigned n = 0; n < cases(3000); ++n) {
        Dims dims;
        for (int axes = pick(5); axes > 0; --axes)
            dims.push_back(pick(5) == 0 ? 1 + pick(40) : pick(8) ? 1 + pick(9) : 0);
        if (element_count(dims) > 20000) continue;
        DType dtype = dtypes[pick(5)];
        Array from = laid_out(draw, dtype, dims, true), to = laid_out(draw, dtype, dims, false);
        std::vector<std::byte> wanted(to.buffer->bytes());
        std::memcpy(wanted.data(), to.buffer->data(), wanted.size());
        const std::byte* source = from.buffer->data();
        for_each(from, to, [&](std::int64_t at, std::int64_t into) {
            std::memcpy(wanted.data() + into, source + at, size_of(dtype));
        });
        copy_elements(from, to);
        ASSERT_EQ(std::memcmp(wanted.data(), to.buffer->data(), wanted.size()), 0)
            << from.dims << ' ' << from.strides << " to " << to.strides << ' ' << name_of(dtype);
    }
}

// No axis is closer than another: each is walked once all the same.
TEST(StridedCopy, of_one_number_fills_everything) {
    Array from = Array::from<double>(std::vector<double>{2.5}, {1}), to = Array::zeros(DType::float64, {12, 2, 3});
    from.dims = to.dims, from.strides = {0, 0, 0};
    to.strides = {6, 1, 2};
    copy_elements(from, to);
    auto* numbers = static_cast<const double*>(to.address());
    for (int i = 0; i < 72; ++i) EXPECT_EQ(numbers[i], 2.5) << i;
}

}  // namespace
}  // namespace weft

// Sorts, orders and selections on every instruction set, judged by the standard library's stable sort, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "effort.h"
#include "threads.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/unsigned_of.h"
#include "weft/weft.h"

namespace weft::cpu {
namespace {

template <class T>
std::vector<std::int64_t> expected_order(const std::vector<T>& x, bool descending) {
    std::vector<std::int64_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
        T a = x[static_cast<std::size_t>(i)], b = x[static_cast<std::size_t>(j)];
        if (a != a || b != b) return a == a;
        return descending ? a > b : a < b;
    });
    return order;
}

template <class T>
void expect_bits(const Tensor& got, const std::vector<T>& x, std::span<const std::int64_t> order,
                 const std::string& what) {
    std::vector<T> values = got.to_vector<T>();
    ASSERT_EQ(values.size(), order.size()) << what;
    for (std::size_t i = 0; i < order.size(); ++i) {
        using Bits = UnsignedOf<sizeof(T)>;
        ASSERT_EQ(std::bit_cast<Bits>(values[i]), std::bit_cast<Bits>(x[static_cast<std::size_t>(order[i])]))
            << what << " at " << i;
    }
}

/// Neighbours at either end, in the middle and a third through.
template <class T>
void expect_parts(const Tensor& tensor, const std::vector<T>& x, std::span<const std::int64_t> order,
                  const std::string& what) {
    auto size = static_cast<std::int64_t>(x.size());
    bool nan = std::any_of(x.begin(), x.end(), [](T value) { return value != value; });
    for (std::int64_t first : {std::int64_t{0}, size / 3, (size - 1) / 2, size - 2, size - 1})
        for (std::int64_t count : {1, 2, 40}) {
            if (first < 0 || first + count > size) continue;
            Tensor part = sorted_part(tensor, first, count);
            if (!nan) {
                expect_bits(part, x, order.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                            what + ", a part");
                continue;
            }
            for (T value : part.to_vector<T>()) EXPECT_TRUE(value != value) << what;
        }
}

template <class T>
void expect_sorted(const std::vector<T>& x, const std::string& what) {
    auto size = static_cast<std::int64_t>(x.size());
    std::vector<T> apart(2 * x.size());
    for (std::size_t i = 0; i < x.size(); ++i) apart[2 * i] = x[i];
    Tensor strided = reshape(slice(reshape(Tensor::of<T>(apart, {size, 2}), {size, 2}), {0, 0}, {size, 1}), {size});
    for (bool descending : {false, true}) {
        std::vector<std::int64_t> order = expected_order(x, descending);
        for (const Tensor& tensor : {Tensor::of<T>(x, {size}), strided}) {
            expect_bits(sort(tensor, 0, descending), x, order, what);
            if (!descending) expect_parts(tensor, x, order, what);
            EXPECT_EQ(argsort(tensor, 0, descending).template to_vector<std::int64_t>(), order) << what;
            for (std::int64_t k : {std::int64_t{0}, std::min<std::int64_t>(1, size), std::min<std::int64_t>(10, size),
                                   std::min<std::int64_t>(32, size), std::min<std::int64_t>(33, size), size / 2}) {
                auto [values, places] = topk(tensor, k, 0, descending);
                std::span best = std::span(order).first(static_cast<std::size_t>(k));
                expect_bits(values, x, best, what);
                EXPECT_EQ(places.to_vector<std::int64_t>(), std::vector(best.begin(), best.end())) << what << ' ' << k;
            }
        }
    }
}

/// Numbers of every size; few different ones; those that differ in their last bits alone; most alike beside the greatest.
template <class T>
std::vector<T> numbers(int kind, std::size_t count, std::mt19937_64& random) {
    constexpr bool floating = std::is_floating_point_v<T>;
    constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T specials[] = {T(0),
                          static_cast<T>(floating ? -T(0) : T(7)),
                          floating ? inf : T(3),
                          floating ? -inf : T(5),
                          floating ? nan : T(9),
                          floating ? -nan : T(9)};
    std::vector<T> x(count);
    for (T& value : x) {
        auto bits = static_cast<UnsignedOf<sizeof(T)>>(random());
        if (kind == 0) value = std::bit_cast<T>(bits);
        if (kind == 1) value = specials[random() % 6];
        if (kind == 2) value = static_cast<T>(floating ? std::nextafter(T(1), T(random() % 3)) : T(bits % 40));
        if (kind == 4) value = random() % 3 ? specials[random() % 4] : static_cast<T>(1);  // no NaN
        if (kind == 3) value = random() % 8 ? static_cast<T>(bits % 1000) : std::numeric_limits<T>::max();
    }
    if (kind == 2) std::sort(x.begin(), x.end());
    return x;
}

template <class T>
void sorts_agree(const char* type) {
    std::mt19937_64 random(5);
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        for (std::size_t count : {0, 1, 2, 7, 8, 9, 16, 17, 33, 64, 65, 127, 128, 129, 300, 1023, 1024, 3000, 70001}) {
            if (count > 3000 && (share_under_sanitizers > 1 || isa != usable_isas().back())) continue;
            for (int kind = 0; kind < 5; ++kind)
                expect_sorted(numbers<T>(kind, count, random),
                              text(type, " on ", name_of(isa), ", ", count, " of kind ", kind));
        }
    }
    use_isa(usable_isas().back());
}

TEST(Sorting, agrees_with_a_stable_sort_to_the_bit_on_every_instruction_set) {
    Isa before = best_isa();
    sorts_agree<float>("float32");
    sorts_agree<double>("float64");
    sorts_agree<std::int32_t>("int32");
    sorts_agree<std::uint32_t>("uint32");
    sorts_agree<std::int64_t>("int64");
    sorts_agree<std::uint64_t>("uint64");
    sorts_agree<std::int8_t>("int8");
    sorts_agree<std::uint16_t>("uint16");
    use_isa(before);
}

/// Every place by counting what stands in front of it.
template <class T>
void searches_agree(const char* type) {
    std::mt19937_64 random(7);
    for (std::int64_t size : {1, 2, 3, 4, 7, 50, 300})
        for (int kind = 0; kind < 5; ++kind) {
            std::vector<T> row, from = numbers<T>(kind, static_cast<std::size_t>(size), random);
            for (std::int64_t at : expected_order(from, false)) row.push_back(from[static_cast<std::size_t>(at)]);
            std::vector<T> values = numbers<T>(kind, 301, random);
            values.insert(values.end(), row.begin(), row.end());
            auto count = static_cast<std::int64_t>(values.size());
            std::vector<T> pairs(2 * values.size());
            for (std::size_t i = 0; i < values.size(); ++i) pairs[2 * i] = values[i];
            Tensor strided = slice(Tensor::of<T>(pairs, {count, 2}), {0, 0}, {count, 1});
            auto before = [](T a, T b) { return a < b || (b != b && a == a); };
            for (bool right : {false, true}) {
                std::vector<std::int64_t> expected;
                for (T x : values)
                    expected.push_back(std::count_if(
                        row.begin(), row.end(), [&](T there) { return right ? !before(x, there) : before(there, x); }));
                Tensor sorted = Tensor::of<T>(row, {size});
                std::string what = text(type, ' ', size, " of kind ", kind);
                EXPECT_EQ(searchsorted(sorted, strided, right).to_vector<std::int64_t>(), expected) << what;
                expected.resize(5);  // so few that each is a search of its own
                EXPECT_EQ(searchsorted(sorted, slice(strided, {0, 0}, {5, 1}), right).to_vector<std::int64_t>(),
                          expected)
                    << what;
            }
        }
}

TEST(Sorting, many_values_are_searched_for_in_step_as_one_by_one) {
    searches_agree<float>("float32");
    searches_agree<double>("float64");
    searches_agree<std::int64_t>("int64");
    searches_agree<std::uint32_t>("uint32");
    searches_agree<std::int8_t>("int8");
}

TEST(Sorting, keys_that_begin_alike_in_the_reverse_order_are_sorted_in_a_bounded_number_of_moves) {
    std::vector<std::int64_t> x(50000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int64_t>(x.size() - i);
    x[0] = INT64_MIN, x[1] = INT64_MAX;
    expect_sorted(x, "near each other");
}

TEST(Sorting, rows_give_the_same_bits_on_any_number_of_threads) {
    std::mt19937_64 random(9);
    for (std::int64_t length : {10, 64, 65, 5000}) {
        std::int64_t rows = 60000 / length;
        std::vector<float> x = numbers<float>(1, static_cast<std::size_t>(rows * length), random);
        for (std::size_t i = 0; i < x.size(); i += 3) x[i] = static_cast<float>(random() % 1000);
        for (int threads : {1, 2}) {
            Threads set(threads);
            Tensor all = Tensor::of<float>(x, {rows, length}), sorted = sort(all), best = topk(all, 3).second;
            for (std::int64_t row = 0; row < rows; row += 1 + rows / 50) {
                std::vector<float> one(x.begin() + row * length, x.begin() + (row + 1) * length);
                std::vector<std::int64_t> order = expected_order(one, true);
                expect_bits(reshape(slice(sorted, {row, 0}, {1, length}), {length}), one, expected_order(one, false),
                            "a row");
                EXPECT_EQ(reshape(slice(best, {row, 0}, {1, 3}), {3}).to_vector<std::int64_t>(),
                          std::vector(order.begin(), order.begin() + 3));
            }
        }
    }
}

}  // namespace
}  // namespace weft::cpu

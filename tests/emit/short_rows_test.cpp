// Rows joined many at once, or found where their best stands: the bits of lanes joined by halves, the first place of the best, on every
// instruction set; nothing read outside the rows.
#include "emit/emitter_cases.h"
#include "weft/backend/cpu/block_loops.h"

namespace weft {
namespace {

template <class T>
T joined(Reduction reduction, T a, T b) {
    if (reduction == Reduction::sum) return a + b;
    if (reduction == Reduction::product) return a * b;
    if (a != a || b != b) return a != a ? a : b;
    return (reduction == Reduction::maximum ? a > b : a < b) ? a : b;
}

/// As many lanes as the next power of two (two at least), those beyond the row neutral; element i of longer rows in lane i % 64.
template <class T>
T by_halves(Reduction reduction, const T* row, std::int64_t length) {
    std::int64_t lanes = 2;
    while (lanes < std::min<std::int64_t>(length, 64)) lanes *= 2;
    std::vector<T> all(static_cast<std::size_t>(lanes), identity_of(reduction, dtype_of<T>).template as<T>());
    for (std::int64_t i = 0; i < length; ++i) {
        T& lane = all[static_cast<std::size_t>(i % 64)];
        lane = i < 64 ? row[i] : joined(reduction, lane, row[i]);
    }
    for (std::int64_t half = lanes / 2; half > 0; half /= 2)
        for (std::int64_t i = 0; i < half; ++i)
            all[static_cast<std::size_t>(i)] =
                joined(reduction, all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(i + half)]);
    return all[0];
}

template <class T>
void check_rows() {
    for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum}) {
        for (std::int64_t length = 1; length <= 70; ++length) {
            for (std::int64_t rows : {1, 2, 7, 8, 9, 16, 17, 40}) {
                Random random(static_cast<unsigned>(100 * length + rows));
                std::vector<std::byte> bytes(static_cast<std::size_t>(rows * length) * sizeof(T));
                std::vector<T> values(static_cast<std::size_t>(rows * length));
                for (T& value : values) value = pick(random, 20) ? random_value<T>(random) : special_value<T>(random);
                if (rows == 9) std::fill(values.begin(), values.end(), T(-0.0));  // which one zero more would change
                std::memcpy(bytes.data(), values.data(), bytes.size());
                auto* from = reinterpret_cast<const T*>(arena(0).place(bytes, rows % 2));
                for (Isa isa : cpu::usable_isas()) {
                    std::vector<T> got(static_cast<std::size_t>(rows) + 1, T(7));
                    cpu::block_loops(isa).reduce(reduction, dtype_of<T>)->rows(got.data(), nullptr, from, rows, length);
                    ASSERT_EQ(got.back(), T(7)) << "written outside";
                    for (std::int64_t row = 0; row < rows; ++row) {
                        T expected = by_halves(reduction, values.data() + row * length, length),
                          mine = got[static_cast<std::size_t>(row)];
                        bool same =
                            (expected != expected && mine != mine) || std::memcmp(&expected, &mine, sizeof(T)) == 0;
                        bool zeros = expected == 0 && mine == 0 &&
                                     (reduction == Reduction::maximum || reduction == Reduction::minimum);
                        ASSERT_TRUE(same || zeros)
                            << cpu::name_of(isa) << ", " << name_of(reduction) << " of row " << row << " of " << rows
                            << " x " << length << ": " << mine << ", not " << expected;
                    }
                }
            }
        }
    }
}

/// The first place of the greatest or least, a NaN before all others.
template <class T>
std::int64_t first_best(bool greatest, const T* row, std::int64_t length) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < length; ++i) {
        T a = row[i], b = row[best];
        bool better = greatest ? a > b : a < b;
        if (better || (a != a && b == b)) best = i;
    }
    return best;
}

/// Values of which many are alike, NaN in every third case, against a page that may not be touched.
template <class T>
void check_places() {
    std::vector<std::int64_t> lengths = {127, 128, 1000, 1024, 1025, 2047, 2048, 2049, 2100, 4096, 5000};
    for (std::int64_t length = 1; length <= 70; ++length) lengths.push_back(length);
    for (std::int64_t length : lengths) {
        for (std::int64_t rows : {1, 7, 8, 31, 32, 33, 65}) {
            if (length > 70 && rows > 8) continue;
            Random random(static_cast<unsigned>(100 * length + rows));
            std::vector<T> values(static_cast<std::size_t>(rows * length));
            int kinds = rows % 2 ? 9 : 30000;
            for (T& value : values) value = static_cast<T>(pick(random, kinds) - kinds / 2);
            if constexpr (std::is_floating_point_v<T>)
                if ((length + rows) % 3 == 0)
                    for (int i = 0; i < 3; ++i)
                        values[static_cast<std::size_t>(pick(random, static_cast<int>(values.size())))] =
                            std::numeric_limits<T>::quiet_NaN();
            std::vector<std::byte> bytes(values.size() * sizeof(T));
            std::memcpy(bytes.data(), values.data(), bytes.size());
            auto* from = reinterpret_cast<const T*>(arena(0).place(bytes, true));
            for (Isa isa : cpu::usable_isas()) {
                for (bool greatest : {false, true}) {
                    Reduction reduction = greatest ? Reduction::argmax : Reduction::argmin;
                    std::vector<T> best(static_cast<std::size_t>(rows) + 1, T(7));
                    std::vector<std::int64_t> places(static_cast<std::size_t>(rows) + 1, -7);
                    cpu::block_loops(isa)
                        .reduce(reduction, dtype_of<T>)
                        ->rows(best.data(), places.data(), from, rows, length);
                    ASSERT_TRUE(best.back() == T(7) && places.back() == -7) << "written outside";
                    for (std::int64_t row = 0; row < rows; ++row) {
                        auto at = static_cast<std::size_t>(row);
                        const T* values_of_row = values.data() + row * length;
                        ASSERT_EQ(places[at], first_best(greatest, values_of_row, length))
                            << cpu::name_of(isa) << ", " << name_of(reduction) << " of row " << row << " of " << rows
                            << " x " << length;
                        ASSERT_EQ(std::memcmp(&best[at], values_of_row + places[at], sizeof(T)), 0);
                    }
                }
            }
        }
    }
}

TEST(Rows, places_of_the_best_are_the_first_ones) {
    check_places<float>();
    check_places<double>();
    check_places<std::int32_t>();
    check_places<std::int64_t>();
    check_places<std::int8_t>();
}

TEST(ShortRows, float32_is_joined_by_halves) { check_rows<float>(); }
TEST(ShortRows, float64_is_joined_by_halves) { check_rows<double>(); }

}  // namespace
}  // namespace weft

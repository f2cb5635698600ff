#include "weft/ops/scan.h"

#include <gtest/gtest.h>

#include "weft/autodiff/derivative.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// The definition: each result's product of all its factors but the one asked for. Whole numbers, so that nothing is rounded.
TEST(Scan, derivatives_of_running_products_are_their_definition_for_any_size_and_any_zeros) {
    for (std::int64_t n : {1, 2, 3, 4, 7, 8, 9, 21})
        for (bool reverse : {false, true})
            for (bool exclusive : {false, true}) {
                std::vector<double> x, weights, expected(static_cast<std::size_t>(n), 0.0);
                for (std::int64_t i = 0; i < n; ++i) x.push_back(i % 5 == 3 ? 0 : i % 3 == 1 ? -2 : 1);
                for (std::int64_t i = 0; i < n; ++i) weights.push_back(static_cast<double>(i % 4 + 1));
                auto factor = [&](std::int64_t k, std::int64_t i) {
                    return (reverse ? k > i : k < i) || (!exclusive && k == i);
                };
                for (std::int64_t i = 0; i < n; ++i)
                    for (std::int64_t j = 0; j < n; ++j) {
                        double product = factor(j, i) ? weights[static_cast<std::size_t>(i)] : 0;
                        for (std::int64_t k = 0; k < n; ++k)
                            if (k != j && factor(k, i)) product *= x[static_cast<std::size_t>(k)];
                        expected[static_cast<std::size_t>(j)] += product;
                    }
                Tensor row = Tensor::of<double>(x, {n, 1});
                Tensor products = cumulative_prod(row, 0, {.reverse = reverse, .exclusive = exclusive});
                Tensor slope = gradient(sum(products * Tensor::of<double>(weights, {n, 1})), row);
                EXPECT_EQ(slope.to_vector<double>(), expected) << n << ' ' << reverse << ' ' << exclusive;
            }
}

}  // namespace
}  // namespace weft

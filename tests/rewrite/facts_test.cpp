// Facts hold of the values: what is claimed of a node is true of its numbers, on ordinary and special inputs.
#include "weft/rewrite/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/graph/graph.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

void expect_true_of(const Tensor& tensor) {
    Facts facts;
    Fact fact = facts.of(*tensor.node());
    std::vector<double> values = as_doubles(interpret(tensor)), sorted = values;
    for (double v : values) {
        if (std::isnan(v)) {
            EXPECT_FALSE(fact.number) << tensor.node()->operation->name;
            continue;
        }
        EXPECT_TRUE(v >= fact.low && v <= fact.high) << tensor.node()->operation->name << " " << tensor.dtype() << ": "
                                                     << v << " not in [" << fact.low << ", " << fact.high << "]";
        EXPECT_TRUE(!fact.whole || !std::isfinite(v) || v == std::floor(v)) << tensor.node()->operation->name;
        EXPECT_TRUE(!fact.finite() || std::isfinite(v)) << tensor.node()->operation->name;
    }
    std::sort(sorted.begin(), sorted.end());
    EXPECT_TRUE(!fact.unique || std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

TEST(Facts, are_true_of_random_expressions_on_special_values) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        Draw draw(text("facts ", seed));
        DType types[] = {DType::float32, DType::float64, DType::float16, DType::int32, DType::uint8, DType::bool_};
        std::vector<Tensor> pool{Tensor(special_values(types[draw.below(6)])),
                                 Tensor(draw.array(types[draw.below(6)], {}))};
        auto any = [&]() -> Tensor {
            return pool[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(pool.size())))];
        };
        std::vector<const Operation*> records;
        for (const Operation* operation : all_operations())
            if (operation->family == Family::elementwise && operation != &astype_operation &&
                operation->defined_to == std::numeric_limits<double>::infinity())
                records.push_back(operation);
        KeepPending keep;
        for (int i = 0; i < 30; ++i) {
            const Operation& operation =
                *records[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(records.size())))];
            std::vector<Tensor> inputs;
            for (int k = 0; k < operation.arity; ++k) inputs.push_back(any());
            try {
                Tensor made =
                    draw.below(4) ? make_node(operation, inputs, nullptr, {}) : astype(any(), types[draw.below(6)]);
                pool.push_back(draw.below(3) ? made : sum(abs(made)) + made);
            } catch (const Error&) {
                continue;
            }
        }
        for (const Tensor& tensor : pool)
            if (!is_complex(tensor.dtype())) expect_true_of(tensor);
        if (HasFailure()) FAIL() << "seed " << seed;
    }
}

TEST(Facts, know_what_is_left_of_the_largest_number) {
    auto high = [](const Tensor& x) { return Facts().of(*x.node()).high; };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Tensor x(special_values(DType::float32));
    KeepPending keep;
    Tensor y = reshape(x, {1, -1}) + 0, most = max(y, 1, true);
    EXPECT_EQ(high(y - most), 0);
    EXPECT_EQ(high(y - stop_gradient(most)), 0);
    EXPECT_EQ(high(y - where(most == -infinity, 0, most)), 0);
    // Where the largest is left out some are above it; another's, or one that lies across, says nothing.
    EXPECT_EQ(high(y - where(isfinite(most), most, 0)), infinity);
    EXPECT_EQ(high(y - max(abs(y), 1, true)), infinity);
    EXPECT_EQ(high(y - max(y, 1)), infinity);
    EXPECT_EQ(high(y + most), infinity);
    for (const Tensor& each : {y - most, y - where(most == -infinity, 0, most), y - max(y, 0, true)})
        expect_true_of(each);
    for (DType dtype : {DType::uint8, DType::int32, DType::int64}) {  // which wrap
        Tensor whole(special_values(dtype)), all = reshape(whole, {1, -1});
        expect_true_of(all - max(all, 1, true));
    }
}

TEST(Facts, know_signs_ranges_and_what_is_unique_or_symmetric) {
    Facts facts;
    Tensor x = input("x", {3, 3});
    KeepPending keep;
    auto of = [&](const Tensor& t) { return facts.of(*t.node()); };
    std::vector<Tensor> held{exp(x),           1 + exp(x),     iota(5) + 2,
                             matmul(x, x.T()), sigmoid(x) * 2, where(x > 0, exp(x), square(x))};
    EXPECT_TRUE(of(held[0]).nonnegative() && !of(held[0]).positive());
    EXPECT_TRUE(of(held[1]).positive());
    EXPECT_TRUE(of(held[2]).unique && of(held[2]).nonnegative());
    EXPECT_TRUE(of(held[3]).symmetric);
    EXPECT_EQ(of(held[4]).high, 2);
    EXPECT_TRUE(of(held[5]).nonnegative());
    EXPECT_FALSE(of(x).number);
}

}  // namespace
}  // namespace weft

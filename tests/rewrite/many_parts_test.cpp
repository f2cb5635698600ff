// What is written as a chain of twos and becomes one of many: loops written out and their gradients. In time that grows with their length,
// not with its square, and to what rules that take two at a time would make.
#include <gtest/gtest.h>

#include <cmath>

#include "rewrite/forms.h"
#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

Tensor row(const Tensor& x, std::int64_t i) { return slice(x, {i, 0}, {1, x.shape()[1]}); }

/// Pieces of the joins that rules made: how much they copied.
std::size_t pieces_joined(std::span<const Tensor> tensors) {
    std::vector<Node*> nodes;
    for (const Tensor& tensor : tensors) nodes.push_back(tensor.node());
    std::vector<Rewrite> trace;
    rewrite(gather(nodes), default_rewriting(), &trace);
    std::size_t pieces = 0;
    for (const Rewrite& one : trace) {
        std::vector<const Node*> near{one.after.node()};  // joins are at most three operations below what was made
        for (std::size_t i = 0, level = 0; level < 4; ++level) {
            for (std::size_t end = near.size(); i < end; ++i) {
                if (near[i]->operation == &concatenate_operation) pieces += near[i]->inputs.size();
                if (near[i]->inputs.size() <= 2)
                    near.insert(near.end(), near[i]->inputs.begin(), near[i]->inputs.end());
            }
        }
    }
    return pieces;
}

int count(const Tensor& tensor, const Operation& operation) {
    Tensor now = rewritten({&tensor, 1})[0];
    Node* nodes[] = {now.node()};
    int found = 0;
    for (const Graph::Entry& entry : gather(nodes).entries) found += !entry.leaf && entry.node->operation == &operation;
    return found;
}

std::vector<Tensor> recurrence(std::int64_t steps) {
    Tensor x = doubles("x", {steps, 4}), w = doubles("w", {4, 4}), u = doubles("u", {4, 4}),
           h = zeros({1, 4}, DType::float64);
    for (std::int64_t i = 0; i < steps; ++i) h = tanh(matmul(row(x, i), w) + matmul(h, u));
    return gradient(sum(square(h)), {x, w, u});
}
std::vector<Tensor> sum_of_rows(std::int64_t rows) {
    Tensor x = doubles("x", {rows, 4}), total = sin(row(x, 0));
    for (std::int64_t i = 1; i < rows; ++i) total = total + sin(row(x, i)) * static_cast<double>(i);
    return {gradient(sum(total), x)};
}
std::vector<Tensor> sum_of_products(std::int64_t terms) {
    Tensor w = doubles("w", {2, 16}), total = matmul(doubles("first", {16, 2}), w);
    for (std::int64_t i = 1; i < terms; ++i)
        total = total + matmul(doubles("next", {16, 2}), w + static_cast<double>(i));
    return {total};
}
std::vector<Tensor> grown_join(std::int64_t rows) {
    Tensor x = doubles("x", {1, 4}), all = x;
    for (std::int64_t i = 1; i < rows; ++i) x = sin(x), all = concatenate({all, x});
    return {sum(square(all))};
}

TEST(ManyParts, are_joined_at_once_whatever_they_are_parts_of) {
    KeepPending keep;
    constexpr std::int64_t parts = 300;
    for (auto of : {recurrence, sum_of_rows, sum_of_products, grown_join})
        EXPECT_LT(pieces_joined(of(parts)), 40u * parts);  // one at a time: 150 and more for each
    for (auto of : {recurrence, sum_of_rows, sum_of_products, grown_join}) expect_values(of(7));
}

TEST(ManyParts, of_a_sum_are_joined_as_far_as_they_fit) {
    Tensor a = doubles("a", {8, 2}), b = doubles("b", {2, 8}), c = doubles("c", {8, 8});
    auto product = [&](double by) { return matmul(a + by, b); };
    Tensor sums[] = {
        ((product(1) + product(2)) + exp(c)) + product(3), exp(c) + (product(1) + (product(2) + product(3))),
        (product(1) + product(2)) + (product(3) + product(4)), (exp(c) + product(1)) + (product(2) + product(3))};
    int products[] = {2, 1, 1, 2};
    for (std::size_t i = 0; i < std::size(sums); ++i) EXPECT_EQ(count(sums[i], matmul_operation), products[i]) << i;
    expect_values(sums);
    Tensor both = product(1) + product(2), read_twice[] = {both + product(3), exp(both)};
    expect_values(read_twice);
}

TEST(ManyParts, in_different_places_are_joined_where_none_meets_another) {
    Tensor x = doubles("x", {2, 3});
    auto at = [&](std::int64_t place) { return pad(x * (place + 1.5), {place, 0}, {10 - place, 0}); };
    Tensor sums[] = {at(2) + at(0) + at(6) + at(4) + at(10) + at(8),
                     (at(0) + at(2)) + (at(4) + (at(8) + at(6))),
                     at(0) + at(2) + at(3) + at(6),
                     at(4) + (at(0) + at(2)) + exp(pad(x, {10, 0}, {0, 0})) + at(6),
                     doubles("y", {12, 3}) + (at(0) + (at(2) + at(4))),
                     doubles("y", {12, 3}) + at(0) + at(2) + at(4),
                     at(1) + (at(0) + at(4)),
                     (at(0) + at(4)) + at(1)};
    int additions[] = {0, 0, 1, 2, 1, 1, 1, 1};
    for (std::size_t i = 0; i < std::size(sums); ++i) EXPECT_EQ(count(sums[i], add_operation), additions[i]) << i;
    expect_values(sums);
}

// More than the numbers of whose inputs are written down beside a node; some of them change, once and again.
TEST(ManyParts, of_one_join_are_rewritten_each) {
    KeepPending keep;
    for (std::size_t parts : {254u, 255u, 256u, 257u, 600u}) {
        Tensor x = doubles("x", {1, 4});
        std::vector<Tensor> rows;
        for (std::size_t i = 0; i < parts; ++i) {
            Tensor row = x + static_cast<double>(i);
            rows.push_back(i % 3 == 0 ? log(1 + exp(row) + 0) : i % 3 == 1 ? row * 1 : row);
        }
        Tensor joined = concatenate(rows), read[] = {sum(joined * 2), sum(joined)};
        expect_values(read);
        EXPECT_EQ(count(read[0], exp_operation), 0) << parts;  // log(1 + exp(x)) has a function of its own
    }
}

// x / (1 + |x|), again and again: all that is divided by, multiplied, leaves the type's range, and so does the number.
TEST(ManyParts, of_a_chain_of_quotients_stay_in_the_range_of_the_type) {
    for (DType dtype : {DType::float32, DType::float64})
        for (int links : {3, 16, 32, 64, 300}) {
            Tensor h = astype(doubles("x", {5}), dtype), same = h;
            for (int i = 0; i < links; ++i) {
                Tensor scaled = h * 36;
                h = scaled / (1 + abs(scaled));
                same = (same * 36).eval(), same = (same / (1 + abs(same))).eval();
            }
            EXPECT_EQ(difference(same.array(), h.array(), 1e-5, 1e-5), "") << dtype << ", " << links;
        }
}

// A choice sinks through the product of all links from each of them.
TEST(ManyParts, that_sink_through_a_long_chain_are_no_rule_that_feeds_itself) {
    Tensor x = doubles("x", {2}), h = x, at[] = {x};
    for (int i = 0; i < 300; ++i) h = clip(h, -1, 1) * 0.99;
    Tensor slope = gradient(sum(h), at)[0];
    for (double value : slope.to_vector<double>())
        EXPECT_TRUE(value == 0 || std::abs(value - std::pow(0.99, 300)) < 1e-9) << value;
}

}  // namespace
}  // namespace weft

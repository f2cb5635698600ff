// Loops of which less is asked for than they do: the steps that are left, and that what is read of them stays the same.
#include <gtest/gtest.h>

#include <set>

#include "rewrite/forms.h"
#include "unrolled.h"
#include "weft/autodiff/loop_steps.h"
#include "weft/autodiff/transform.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

constexpr std::int64_t steps = 7;

/// The lengths of the loops that are left in what computes these.
std::multiset<std::int64_t> lengths(const Tensors& tensors) {
    Graph graph = rewritten_graph(tensors);
    std::multiset<std::int64_t> found;
    for (const Graph::Entry& entry : graph.entries)
        if (entry.node->operation == &loop_operation)
            found.insert(entry.node->attributes_as<LoopAttributes>().length.value());
    return found;
}

/// Two values are carried; of one, and of two others, all steps are given.
Scanned states(const Tensors& given, bool reverse, bool written_down = false) {
    auto step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
        Tensor h = tanh(matmul(c[0], given[2]) + x[0] * c[1]);
        return {{h, c[1] * 0.9 + sum(h) * 0.01}, {h, h * x[0], x[0] + c[1]}};
    };
    Tensors init{given[0], given[1]}, xs{given[3]};
    LoopOptions options{.reverse = reverse};
    return written_down ? unrolled(step, init, xs, options) : scan(step, init, xs, options);
}
Tensors all_given() {
    return {doubles("h", {2, 3}), doubles("c", {2, 3}), doubles("w", {3, 3}), doubles("x", {steps, 2, 3})};
}

TEST(Loops, run_the_steps_that_are_read) {
    Tensors given = all_given();
    for (bool reverse : {false, true}) {
        Tensors ys = states(given, reverse).ys;
        auto first = [&](const Tensor& y, std::int64_t m) { return rows_from(y, reverse ? steps - m : 0, m); };
        auto last = [&](const Tensor& y, std::int64_t m) { return rows_from(y, reverse ? 0 : steps - m, m); };
        for (const Tensor& y : ys) {
            EXPECT_EQ(lengths({first(y, 3)}), std::multiset<std::int64_t>{3});
            EXPECT_EQ(lengths({last(y, 1)}), std::multiset<std::int64_t>{steps});
            expect_values(Tensors{first(y, 3), rows_from(first(y, 5), 1, 3)});
        }
        Tensors several{first(ys[0], 2), sum(exp(first(ys[1], 4).T())), first(ys[2], 1)};
        EXPECT_EQ(lengths(several), std::multiset<std::int64_t>{4});
        expect_values(several);
        several.push_back(states(given, reverse).carry[0]);
        EXPECT_EQ(lengths(several), std::multiset<std::int64_t>{steps});
        EXPECT_EQ(lengths({first(ys[0], 2), ys[0]}), std::multiset<std::int64_t>{steps});
    }
}

TEST(Loops, of_one_step_are_none) {
    Tensors given = all_given();
    for (bool reverse : {false, true}) {
        Tensors ys = states(given, reverse).ys, read;
        for (const Tensor& y : ys) read.push_back(rows_from(y, reverse ? steps - 1 : 0, 1));
        EXPECT_EQ(lengths(read), std::multiset<std::int64_t>{});
        expect_values(read);
    }
}

TEST(Loops, keep_no_trail_of_which_the_last_row_is_read) {
    Tensors given = all_given();
    for (bool reverse : {false, true}) {
        Tensor last = rows_from(states(given, reverse).ys[0], reverse ? 0 : steps - 1, 1);
        EXPECT_NE(form(last).find("collected=False"), std::string::npos) << form(last);
        expect_values({&last, 1});
    }
}

/// What derivatives make of a loss that reads rows of the first steps: of the first order, and of the sum of their squares.
std::vector<Tensors> slopes_of(bool reverse, bool written_down) {
    Tensors given;
    for (const Tensor& x : all_given()) given.push_back(fresh(x));
    Tensors ys = states(given, reverse, written_down).ys;
    Tensor one = rows_from(ys[0], reverse ? steps - 2 : 1, 1), other = rows_from(ys[1], reverse ? steps - 3 : 0, 3);
    Tensor loss = sum(exp(one)) + sum(square(permute_dims(other, {2, 1, 0})));
    Tensors first = gradient(loss, std::span<const Tensor>(given));
    Tensor squares = Tensor(0.0, DType::float64);
    for (const Tensor& x : first) squares = squares + sum(square(x));
    return {first, gradient(squares, std::span<const Tensor>(given))};
}

TEST(Loops, go_back_from_the_last_step_that_is_read) {
    for (bool reverse : {false, true}) {
        std::vector<Tensors> slopes = slopes_of(reverse, false), wanted = slopes_of(reverse, true);
        EXPECT_EQ(lengths(slopes[0]), (std::multiset<std::int64_t>{3, 3}));
        for (std::size_t order : {0, 1}) {
            expect_values(slopes[order]);
            for (std::size_t i = 0; i < slopes[order].size(); ++i)
                EXPECT_EQ(difference(interpret({&wanted[order][i], 1})[0], interpret({&slopes[order][i], 1})[0], 1e-12,
                                     1e-12),
                          "")
                    << order << i;
        }
    }
}

// No row of zeros a step is made, where the last state alone is read as a row.
TEST(Loops, take_the_last_rows_cotangent_for_that_of_the_last_state) {
    for (bool reverse : {false, true}) {
        auto slopes = [&](bool written_down, bool as_row) {
            Tensors given;
            for (const Tensor& x : all_given()) given.push_back(fresh(x));
            Scanned found = states(given, reverse, written_down);
            Tensor last = as_row ? rows_from(found.ys[0], reverse ? 0 : steps - 1, 1) : found.carry[0];
            return gradient(sum(exp(last)) + sum(sin(found.carry[0])), std::span<const Tensor>(given));
        };
        Tensors as_row = slopes(false, true), wanted = slopes(true, true);
        for (std::size_t i = 0; i < as_row.size(); ++i) {
            EXPECT_EQ(form(as_row[i]).find("pad("), std::string::npos);
            EXPECT_EQ(difference(interpret({&wanted[i], 1})[0], interpret({&as_row[i], 1})[0], 1e-12, 1e-12), "");
        }
    }
}

}  // namespace
}  // namespace weft

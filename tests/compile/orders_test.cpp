// Maps of a leaf whose batches are seen with other axes in front (pictures that lie channels last) lie as it does.
#include "compile/programs.h"
#include "weft/compile/plan.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Tensor channels_first(const Tensor& x) { return permute_dims(x, {0, 3, 1, 2}); }

// The order of the slot in which this output, or what it shows, lies.
Axes order_of(const Tensor& output, const PartitionOptions& options = {}) {
    Plan plan = make_plan(graph_of({output}), options);
    return plan.outputs[0] < 0 ? Axes{} : plan.slots[static_cast<std::size_t>(plan.outputs[0])].order;
}

const Axes last{0, 2, 3, 1};

TEST(Orders, maps_of_pictures_that_lie_channels_last_lie_so) {
    Tensor x = drawn({2, 5, 4, 3}), y = drawn({2, 5, 4, 3}), rows = drawn({2, 3, 5, 4}), gains = drawn({3, 1, 1});
    EXPECT_EQ(order_of(exp(channels_first(x)) * gains + 1), last);
    EXPECT_EQ(order_of(channels_first(x) - mean(channels_first(x), Axes{2, 3}, true)), last);
    EXPECT_EQ(order_of(exp(channels_first(x)) + channels_first(y)), last);
    EXPECT_EQ(order_of(concatenate({exp(channels_first(x)), channels_first(y) * 2}, 1)), last);
    EXPECT_EQ(order_of(exp(permute_dims(drawn({4, 5, 3}), {0, 2, 1}))), (Axes{0, 2, 1}));
    // Not where others lie otherwise, batches or rows are turned, or who reads it wants rows.
    EXPECT_EQ(order_of(exp(channels_first(x)) + rows), Axes{});
    EXPECT_EQ(order_of(exp(permute_dims(x, {3, 0, 1, 2}))), Axes{});
    EXPECT_EQ(order_of(exp(permute_dims(x, {0, 2, 1, 3}))), Axes{});
    EXPECT_EQ(order_of(exp(drawn({4, 5}).T())), Axes{});
    EXPECT_EQ(order_of(exp(channels_first(x)), {.own_outputs = true}), Axes{});
    Tensor made = exp(channels_first(x)), rest = made * 2;
    for (const Tensor& wanted : {reshape(rest, {2, 60}), sum(rest, 3)}) {
        Plan plan = make_plan(graph_of({wanted, made, rest}));
        for (const Slot& slot : plan.slots) EXPECT_EQ(slot.order, Axes{});
    }
}

TEST(Orders, what_lies_as_its_leaf_has_the_same_values) {
    for (const Dims& dims : {Dims{2, 5, 4, 3}, Dims{3, 17, 9, 20}, Dims{1, 1, 1, 1}, Dims{2, 0, 3, 4}}) {
        Tensor x = drawn(dims), shown = channels_first(x), centred = shown - mean(shown, Axes{2, 3}, true);
        Tensor scaled = centred * rsqrt(mean(square(centred), Axes{2, 3}, true) + 1e-5);
        Tensor shares = exp(shown) / sum(exp(shown), Axes{1}, true);
        expect_values({scaled, permute_dims(scaled, {0, 2, 3, 1}), shares, reshape(shares, {-1}) + 1,
                       concatenate({scaled, shares, shown}, 1), sum(shares * scaled, Axes{0, 2})},
                      static_cast<double>(dims[0] * dims[1] * dims[2] + 1));
    }
}

}  // namespace
}  // namespace weft

// An optimizer's step on a table of which a batch reads a few rows: the rest of the table is neither read nor written.
#include <gtest/gtest.h>

#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/reduce.h"
#include "weft/optim/sgd.h"
#include "weft/runtime/explain.h"
#include "weft/runtime/function.h"
#include "weft/runtime/oracle.h"

namespace weft::optim {
namespace {

Tensor loss_of(const Tensor& table, const Tensor& bias, std::span<const Tensor> batch) {
    Tensor rows = take(table, batch[0]), others = take(table, batch[1]);
    return sum(square(tanh(rows * others) + table[0] + bias));
}

TEST(EmbeddingStep, touches_the_rows_that_are_read_and_writes_them_in_place) {
    std::size_t arena = 0;
    for (std::int64_t rows : {500, 60000}) {
        Parameter table(Tensor(Draw("table").array(DType::float32, {rows, 8})), "table"),
            bias(Tensor(Draw("bias").array(DType::float32, {8})), "bias");
        SGD sgd({.lr = 0.5});
        std::vector<Parameter> parameters{table, bias};
        sgd.prepare(parameters);
        CompiledFunction step([&](std::span<const Tensor> batch) {
            Tensor loss = loss_of(table.value(), bias.value(), batch);
            std::vector<Tensor> wrt{table.value(), bias.value()};
            sgd.step(parameters, gradient(loss, wrt));
            return std::vector<Tensor>{loss};
        });
        const Tensor batch[] = {Tensor::of<std::int64_t>({3, 0, 3, -1}), Tensor::of<std::int64_t>({9, 3, 9, 200})};
        Tensor before_table(contiguous(table.value().array())), before_bias(contiguous(bias.value().array()));
        Tensor loss = loss_of(before_table, before_bias, batch);
        Tensor wanted = before_table - 0.5 * gradient(loss, before_table);
        Array expected = interpret(wanted), expected_loss = interpret(loss);
        step(batch);  // from here on the table is the function's own
        EXPECT_EQ(difference(expected, table.value().array(), 1e-5, 1e-5), "");
        const void* where = table.value().node()->value().address();
        Tensor again = step(batch)[0];
        EXPECT_EQ(table.value().node()->value().address(), where);
        Explanation explanation = step.explain(batch);
        for (const Placement& placement : explanation.placements) EXPECT_LT(placement.bytes, 1000u) << explanation.plan;
        EXPECT_NE(explanation.memory.find("in the memory of leaf"), std::string::npos);
        if (arena != 0) {
            EXPECT_EQ(explanation.arena_bytes, arena);
        }
        arena = explanation.arena_bytes;
    }
}

}  // namespace
}  // namespace weft::optim

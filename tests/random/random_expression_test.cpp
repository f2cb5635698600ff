// Random expressions and their gradients, rewritten, fused and compiled, against the plain interpreter. How far they may differ is
// derived, not chosen: the interpreter runs the expression again with every result of every operation moved by a random rounding error,
// and what that does to the values is what rounding may do to them.
#include "random_expression.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "effort.h"
#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/compile/binding.h"
#include "weft/graph/graph.h"
#include "weft/rewrite/pattern.h"
#include "weft/runtime/executor.h"
#include "weft/runtime/interpreter.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

/// Whether a kernel's results are rounded: what is chosen or moved stays exact, or what is equal (the largest and its place) would not
/// be.
bool rounds(const Loop& loop) {
    auto exact = [](const Instruction& instruction) {
        switch (instruction.opcode) {
            case Opcode::constant:
            case Opcode::input:
            case Opcode::select:
            case Opcode::cast:
            case Opcode::minimum:
            case Opcode::maximum:
            case Opcode::negative:
            case Opcode::absolute:
                return true;
            default:
                return instruction.dtype != DType::float64;
        }
    };
    bool sums = std::any_of(loop.reductions.begin(), loop.reductions.end(), [](Reduction reduction) {
        return reduction == Reduction::sum || reduction == Reduction::product;
    });
    return sums || !std::all_of(loop.program.code.begin(), loop.program.code.end(), exact);
}
bool rounds(const Node& node) {
    Family family = node.operation->family;
    return family == Family::contraction || family == Family::scan || family == Family::scatter ||
           family == Family::window;
}

/// The interpreter, but each result that is rounded is off by a random share of `size` of its value.
class RoundingCompiler final : public KernelCompiler {
  public:
    RoundingCompiler(Draw& draw, double size) : draw_(draw), size_(size) {}
    std::unique_ptr<Kernel> loop(Loop loop, bool) const override {
        if (!rounds(loop)) return interpreter_.loop(std::move(loop));
        std::vector<Layout> stores;
        Dims dims(loop.dims.begin(), loop.dims.end() - static_cast<std::ptrdiff_t>(loop.reduced));
        for (const Access& store : loop.stores) stores.push_back({store.dtype, dims, store.strides});
        std::size_t loads = loop.loads.size();
        return std::make_unique<Rounded>(interpreter_.loop(std::move(loop)), loads, stores, draw_, size_);
    }
    std::unique_ptr<Kernel> library(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                    const KernelUse& = {}) const override {
        if (!rounds(node)) return interpreter_.library(node, inputs, output);
        return std::make_unique<Rounded>(interpreter_.library(node, inputs, output), inputs.size(),
                                         std::vector<Layout>{output}, draw_, size_);
    }

  private:
    class Rounded final : public Kernel {
      public:
        Rounded(std::unique_ptr<Kernel> exact, std::size_t inputs, std::vector<Layout> outputs, Draw& draw, double size)
            : exact_(std::move(exact)), inputs_(inputs), outputs_(std::move(outputs)), draw_(draw), size_(size) {}
        std::string_view by() const override { return "rounding interpreter"; }
        void run(void* const* operands, std::byte* scratch) const override {
            exact_->run(operands, scratch);
            for (std::size_t i = 0; i < outputs_.size(); ++i)
                if (outputs_[i].dtype == DType::float64)
                    move(outputs_[i], static_cast<double*>(operands[inputs_ + i]), 0);
        }

      private:
        void move(const Layout& layout, double* at, std::size_t axis) const {
            if (axis == layout.dims.size()) {
                *at *= 1 + draw_.uniform(-size_, size_);
                return;
            }
            for (std::int64_t i = 0; i < layout.dims[axis]; ++i) move(layout, at + i * layout.strides[axis], axis + 1);
        }
        std::unique_ptr<Kernel> exact_;
        std::size_t inputs_;
        std::vector<Layout> outputs_;
        Draw& draw_;
        double size_;
    };
    InterpreterCompiler interpreter_;
    Draw& draw_;
    double size_;
};

std::vector<std::vector<double>> values_with(const KernelCompiler& compiler, std::span<const Tensor> tensors) {
    std::vector<Node*> nodes;
    for (const Tensor& tensor : tensors) nodes.push_back(tensor.node());
    Graph graph = gather(nodes);
    auto plan = std::make_shared<const Plan>(make_plan(graph, {.fuse = false}));
    std::vector<std::vector<double>> values;
    for (const Array& array : run_once(weft::bind(plan, graph, compiler), graph)) values.push_back(as_doubles(array));
    return values;
}

/// The open ends of expression `seed` on these inputs, and the gradient of their weighted sum in every input.
std::vector<Tensor> with_gradients(std::uint64_t seed, int steps, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> wanted = RandomExpression(seed).build(inputs, steps);
    Tensor loss = sum(inputs[0]) * 0.0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        loss = loss + sum(wanted[i]) * (0.5 + 0.25 * static_cast<double>(i % 3));
    for (Tensor& slope : gradient(loss, inputs)) wanted.push_back(slope);
    return wanted;
}

struct Judged {
    std::vector<std::vector<double>> exact, allowed;
};

// What the results are, and by how much rounding to `dtype` may move them: 16 times the most that six runs were moved, since a few
// runs seldom meet the worst, and since fused sums round in other places; the largest of an array counts for its others, too.
Judged judge(std::uint64_t seed, int steps, const std::vector<Tensor>& inputs, double epsilon) {
    Draw draw(text("rounding ", seed));
    Judged judged;
    judged.exact = values_with(InterpreterCompiler(), with_gradients(seed, steps, inputs));
    judged.allowed = judged.exact;
    for (auto& values : judged.allowed) std::fill(values.begin(), values.end(), 0.0);
    for (int run = 0; run < 6; ++run) {
        std::vector<Tensor>
            near;  // what an operation makes of inputs that are off is what its inner roundings may make, too
        for (const Tensor& input : inputs) {
            Array array = Array::empty(DType::float64, input.array().dims);
            copy_elements(input.array(), array);
            for (std::int64_t i = 0; i < array.size(); ++i)
                array.data<double>()[i] *= 1 + draw.uniform(-epsilon, epsilon);
            near.emplace_back(array);
        }
        auto moved = values_with(RoundingCompiler(draw, epsilon), with_gradients(seed, steps, near));
        for (std::size_t i = 0; i < moved.size(); ++i)
            for (std::size_t k = 0; k < moved[i].size(); ++k) {
                double off = std::abs(moved[i][k] - judged.exact[i][k]);
                judged.allowed[i][k] = std::isnan(off) ? INFINITY : std::max(judged.allowed[i][k], off);
            }
    }
    for (std::size_t i = 0; i < judged.allowed.size(); ++i) {
        auto& values = judged.allowed[i];
        double most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = 16 * std::max(values[k], most / 4) + 4 * epsilon * std::abs(judged.exact[i][k]) + 1e-300;
    }
    return judged;
}

void check_expression(std::uint64_t seed, DType dtype) {
    Draw draw(text("inputs ", seed));
    std::vector<Tensor> inputs, wide;
    for (const Dims& dims : {Dims{3, 4}, Dims{4}, Dims{}, Dims{2, 1, 4}}) {
        inputs.emplace_back(laid_out(draw.array(dtype, dims), all_forms[static_cast<std::size_t>(draw.below(5))]));
        Tensor as_double = astype(inputs.back(), DType::float64);
        wide.emplace_back(contiguous(interpret(as_double)));
    }
    int steps = 3 + static_cast<int>(seed % 22);
    Judged judged = judge(seed, steps, wide, epsilon_of(dtype));
    std::vector<Tensor> found = with_gradients(seed, steps, inputs);
    eval(found);
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].dtype(), dtype);
        std::vector<double> values = as_doubles(found[i].array());
        ASSERT_EQ(values.size(), judged.exact[i].size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            double exact = judged.exact[i][k];
            if (!std::isfinite(judged.allowed[i][k])) continue;  // rounding decides what it is
            ASSERT_TRUE(std::isfinite(exact))
                << "seed " << seed << " result " << i << " element " << k << " is " << exact << '\n'
                << written(*found[i].node(), 40);
            ASSERT_LE(std::abs(values[k] - exact), judged.allowed[i][k])
                << "seed " << seed << ' ' << dtype << " result " << i << " of " << found.size() << " element " << k
                << ": " << values[k] << " in place of " << exact << '\n'
                << written(*with_gradients(seed, steps, inputs)[i].node(), 40);
        }
    }
}

TEST(RandomExpressions, rewritten_and_compiled_have_the_interpreters_values_and_gradients) {
    std::uint64_t count = cases(1000, 10000);
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        for (DType dtype : {DType::float32, DType::float64}) {
            ASSERT_NO_THROW(check_expression(seed, dtype)) << "seed " << seed;
            if (HasFailure()) return;
        }
    }
}

// Found by nightly runs.
TEST(RandomExpressions, those_that_were_once_wrong_are_right) {
    for (std::uint64_t seed : {1951})  // a gate that a rule made a plain product: 0 times infinity
        for (DType dtype : {DType::float32, DType::float64}) check_expression(seed, dtype);
}

}  // namespace
}  // namespace weft

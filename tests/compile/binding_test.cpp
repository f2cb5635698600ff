#include "weft/compile/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

using testing::HasSubstr;

/// Ten steps, none of which another takes in: products one after the other.
std::vector<Tensor> ten_steps() {
    std::vector<Tensor> outputs;
    Tensor x = numbers("bind", {20, 20});
    for (int i = 0; i < 10; ++i) outputs.push_back(x = matmul(x, tanh(x)) + sum(x) * (1.0 + i));
    return outputs;
}

std::shared_ptr<const Binding> bound(const Graph& graph, int threads, const KernelCompiler& compiler) {
    ThreadPool& pool = ThreadPool::instance();
    int before = pool.threads();
    pool.set_threads(threads);
    struct Back {
        int threads;
        ~Back() { ThreadPool::instance().set_threads(threads); }
    } back{before};
    return weft::bind(std::make_shared<const Plan>(make_plan(graph)), graph, compiler);
}

/// The processor's, but without kernels for mathematical functions.
class Refusing final : public KernelCompiler {
  public:
    std::unique_ptr<Kernel> loop(Loop loop, bool often) const override {
        for (const Instruction& at : loop.program.code)
            if (at.opcode == Opcode::call) throw CompileError("no function today");
        return cpu_compiler().loop(std::move(loop), often);
    }
    std::unique_ptr<Kernel> library(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                    const KernelUse& use) const override {
        return cpu_compiler().library(node, inputs, output, use);
    }
};

TEST(Binding, is_the_same_whatever_the_number_of_threads_that_make_its_kernels) {
    std::vector<Tensor> outputs = ten_steps();
    Graph graph = rewritten_graph(outputs);
    std::string steps = bound(graph, 1, cpu_compiler())->str();
    EXPECT_GT(std::count(steps.begin(), steps.end(), '\n'), 10);
    for (int round = 0; round < 5; ++round) EXPECT_EQ(bound(graph, 3, cpu_compiler())->str(), steps);
    expect_values(outputs, 400);
}

TEST(Binding, a_kernel_that_cannot_be_made_is_named_by_the_first_line_that_needs_one_and_the_callers_module) {
    ModuleScope scope("Teacher");
    KeepPending keep;
    Graph graph = rewritten_graph(ten_steps());
    std::string first;
    for (int threads : {1, 4, 4, 4}) {
        try {
            (void)bound(graph, threads, Refusing());
            FAIL() << "a binding without its kernels";
        } catch (const CompileError& error) {
            EXPECT_THAT(error.what(), HasSubstr("no function today\n  in Teacher"));
            EXPECT_THAT(error.what(), HasSubstr("binding_test.cpp:"));
            if (first.empty()) first = error.what();
            EXPECT_EQ(error.what(), first);
        }
    }
}

}  // namespace
}  // namespace weft

#include "weft/compile/loop_kernel.h"

#include <algorithm>

#include "weft/autodiff/cond.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"
#include "weft/compile/loop_binding.h"
#include "weft/compile/loop_numbers.h"
#include "weft/compile/loop_rows.h"

namespace weft {
namespace {

double product_operations_of(const LoopAttributes& a) {
    double sum = 0;
    for (const Tensor& x : a.step->nodes) {
        const Node& node = *x.node();
        sum += region_product_operations(node);
        if (node.operation->family != Family::contraction) continue;
        sum += 2 * static_cast<double>(element_count(dims_of(node.shape))) *
               static_cast<double>(node.inputs[0]->shape.back().value());
    }
    return sum * static_cast<double>(a.length.value());
}

/// A loop of independent rows, some of them a thread.
class RowsKernel final : public Kernel {
  public:
    struct Part {
        std::int64_t first = 0;
        const LoopKernel* loop = nullptr;
        std::size_t scratch = 0;
    };
    /// `make`: the kernel for so many rows.
    template <class Make>
    RowsKernel(std::int64_t rows, std::int64_t parts, Make make) {
        std::int64_t first = 0;
        for (std::int64_t p = 0; p < parts; ++p) {
            std::int64_t count = rows / parts + (p < rows % parts);
            if (p == 0 || p == rows % parts) loops_.push_back(make(count));  // the last of them are a row shorter
            parts_.push_back({first, loops_.back().get(), scratch_bytes_});
            scratch_bytes_ += aligned(loops_.back()->scratch_bytes());
            first += count;
        }
    }
    std::size_t scratch_bytes() const override { return scratch_bytes_; }
    std::string_view by() const override { return "loop"; }
    Bodies bodies() const override { return loops_[0]->bodies(); }
    void run(void* const* operands, std::byte* scratch) const override {
        parallel_for(static_cast<std::int64_t>(parts_.size()), [&](std::int64_t p) {
            const Part& part = parts_[static_cast<std::size_t>(p)];
            part.loop->run_rows(operands, scratch + part.scratch, part.first);
        });
        loops_[0]->fill_token(operands);
    }

  private:
    std::vector<std::unique_ptr<LoopKernel>> loops_;
    std::vector<Part> parts_;
    std::size_t scratch_bytes_ = 0;
};

/// Of what a step multiplies its rows by: each thread reads all of it in each step.
std::size_t factor_bytes_of(const LoopAttributes& a) {
    std::size_t sum = 0;
    for (const Tensor& x : a.step->nodes) {
        const Node& node = *x.node();
        if (node.operation->family != Family::contraction) continue;
        sum += static_cast<std::size_t>(element_count(dims_of(node.inputs[1]->shape))) * size_of(node.dtype);
    }
    return sum;
}

// Parts of independent rows, each worth a thread of its own and large enough for products to be made, and summed, as those of all rows are. Where matrices
// come from beyond the caches in each step, few rows a thread wait for them: there the threads share each product (an LSTM of 1,024, batch 32, on
// two threads of a Zen 4: 143 to 102 ms a step; batch 64, 896 and 512 wide with either 0.93 to 1.03 of the other way's).
std::int64_t parts_of_rows(const LoopAttributes& a, std::int64_t rows, const KernelCompiler& compiler) {
    constexpr std::int64_t least_rows = 8, many_rows = 32;
    constexpr double least_work = 1e6;  // additions and multiplications of products in a loop
    constexpr std::size_t beyond_caches = 14 << 20;
    if (rows < 2 * least_rows || product_operations_of(a) < least_work) return 1;
    auto parts = std::min<std::int64_t>(ThreadPool::instance().threads(), rows / least_rows);
    if (parts < 2 || (rows / parts < many_rows && factor_bytes_of(a) > beyond_caches)) return 1;
    auto alike = [&](const Tensor& x) {
        const Node& node = *x.node();
        return node.shape.empty() || node.shape[0] != Size(rows) || compiler.rows_alike(node, rows, rows / parts);
    };
    return std::all_of(a.step->nodes.begin(), a.step->nodes.end(), alike) ? parts : 1;
}

}  // namespace

std::unique_ptr<Kernel> loop_kernel(const Node& loop, std::span<const Layout> inputs,
                                    std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
                                    const BindOptions& options, bool as_written) {
    const LoopAttributes& a = loop.attributes_as<LoopAttributes>();
    auto make = [&](std::int64_t rows) {
        return std::make_unique<LoopKernel>(a, inputs, results, compiler, options, as_written, rows);
    };
    std::int64_t rows = as_written ? 0 : independent_rows(a, wanted_nodes(a, results)),
                 parts = parts_of_rows(a, rows, compiler);
    if (parts < 2 && !as_written)
        if (auto numbers = loop_of_numbers(a, inputs, results, options))
            return std::make_unique<LoopKernel>(*numbers, inputs.size(), results.size(), compiler, options);
    if (parts < 2) return make(0);
    return std::make_unique<RowsKernel>(rows, parts, make);
}

double region_product_operations(const Node& node) {
    return node.operation == &loop_operation ? product_operations_of(node.attributes_as<LoopAttributes>()) : 0;
}

namespace {

bool may_fail(const Region& region) {
    return std::any_of(region.nodes.begin(), region.nodes.end(), [](const Tensor& x) {
        const Node& node = *x.node();
        Family family = node.operation->family;
        return family == Family::gather || family == Family::scatter || region_may_fail(node);
    });
}

}  // namespace

bool region_may_fail(const Node& node) {
    if (node.operation == &loop_operation) return may_fail(*node.attributes_as<LoopAttributes>().step);
    if (node.operation != &cond_operation) return false;
    const CondAttributes& a = node.attributes_as<CondAttributes>();
    return may_fail(*a.branches[0]) || may_fail(*a.branches[1]);
}

}  // namespace weft

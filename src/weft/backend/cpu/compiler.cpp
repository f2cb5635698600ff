#include "weft/backend/cpu/compiler.h"

#include <algorithm>

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/caches.h"
#include "weft/backend/cpu/emit/emitted_kernel.h"
#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/index_check.h"
#include "weft/backend/cpu/isa.h"
#include "weft/backend/cpu/made_load.h"
#include "weft/backend/cpu/reduction_kernel.h"
#include "weft/backend/cpu/scan.h"
#include "weft/backend/cpu/scatter.h"
#include "weft/backend/cpu/stored_reduction.h"
#include "weft/kernel/address_facts.h"
#include "weft/ops/window.h"

namespace weft {
namespace cpu {
namespace {

/// Whether all values are of one byte. The emitter's lanes are 4 bytes wide, the block evaluator's as wide as the values: twice as
/// fast, in caches and beyond. (With 2 bytes it is 1.2 to 1.4 times in caches, and slower beyond.)
bool is_narrow(const Program& program) {
    return std::all_of(program.code.begin(), program.code.end(),
                       [](const Instruction& at) { return size_of(at.dtype) == 1; });
}

/// A loop by machine code of its own where there is any and it is faster, else by the block evaluator.
class LoopKernel final : public Kernel {
  public:
    LoopKernel(Loop loop, bool often) : loads_(loop.loads.size()), addresses_(loop) {
        verify(loop);
        prepared_ = prepare_made_map(loop);
        if (prepared_) return;
        counted_ = CountTable(loop);
        counted_bytes_ = counted_.scratch_bytes();
        if (loop.indexed()) indices_ = IndexCheck(loop), places_ = IndexPlaces(loop);
        places_bytes_ = aligned(places_.scratch_bytes());
        bool emitted = !is_narrow(loop.program);
        if (loop.scan)
            prepared_ = prepare_scan(loop, emitted);
        else if (loop.scatter)
            prepared_ = prepare_scatter(loop, emitted);
        else if (loop.reduces())
            prepared_ = prepare_reduction(loop, emitted);
        else if (emitted) {
            if (!often) prepared_ = emit::prepare_map_of_few(std::move(loop));
            if (!prepared_) prepared_ = emit::prepare_emitted_map(loop);
        }
        if (!prepared_) prepared_ = prepare_map(loop);
    }
    std::size_t scratch_bytes() const override { return counted_bytes_ + places_bytes_ + prepared_->scratch_bytes(); }
    std::string_view by() const override { return prepared_->by(); }
    void finish() const override { prepared_->finish(); }
    std::size_t cursor_bytes(std::int64_t rows, std::int64_t step) const override {
        return counted_ || places_ || indices_ ? 0 : prepared_->cursor_bytes(rows, step);
    }
    void start_rows(std::int64_t rows, std::int64_t first, void* const* operands, std::byte* cursor) const override {
        const void* const* loads = const_cast<const void* const*>(operands);
        addresses_.check(loads, operands + loads_);
        prepared_->start_rows(rows, first, loads, operands + loads_, cursor);
    }
    void check(void* const* operands) const override { indices_.run(const_cast<const void* const*>(operands)); }
    void run(void* const* operands, std::byte* scratch) const override {
        const void* const* loads = const_cast<const void* const*>(operands);
        addresses_.check(loads, operands + loads_);
        if (indices_) indices_.run(loads);
        if (counted_) loads = counted_.resolve(loads, scratch);
        scratch += counted_bytes_;
        if (places_) loads = places_.resolve(loads, scratch);
        prepared_->run(loads, operands + loads_, scratch + places_bytes_);
    }

  private:
    std::size_t loads_;
    AddressFacts addresses_;
    std::size_t counted_bytes_ = 0, places_bytes_ = 0;
    CountTable counted_;
    IndexCheck indices_;
    IndexPlaces places_;
    std::unique_ptr<const PreparedLoop> prepared_;
};

}  // namespace

std::unique_ptr<Kernel> Compiler::loop(Loop loop, bool often) const {
    return std::make_unique<LoopKernel>(std::move(loop), often);
}

std::unique_ptr<Kernel> Compiler::stored_reduction(const Loop* map, const Loop& reduction, const Loop* behind,
                                                   bool turns) const {
    return cpu::stored_reduction(map, reduction, behind, turns);
}

std::unique_ptr<Kernel> Compiler::library(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                          const KernelUse& use) const {
    switch (node.operation->family) {
        case Family::constant:
            return constant_kernel(node, output);
        case Family::join:
            return join_kernel(node, inputs, output, use);
        case Family::gather:
            return gather_kernel(node, inputs, output);
        case Family::scatter:
            return scatter_kernel(node, inputs, output);
        case Family::sort:
            return sort_kernel(node, inputs, output);
        case Family::contraction:
            return contraction_kernel(node, inputs, output, use);
        case Family::window:
            return window_kernel(node, inputs, output, use);
        case Family::factorization:
            return factorization_kernel(node, inputs, output);
        case Family::fourier:
            return fourier_kernel(node, inputs, output);
        case Family::leaf:
        case Family::elementwise:
        case Family::reduce:
        case Family::random:
        case Family::scan:
        case Family::view:
        case Family::region:
        case Family::composite:
            break;
    }
    throw InternalError(
        text(node.operation->name, ": the family ", name_of(node.operation->family), " is not a library kernel's"));
}

std::int64_t Compiler::least_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) const {
    if (node.operation->family == Family::contraction) return contraction_rows(node, inputs, output);
    if (node.operation->family == Family::window) return window_images(node, inputs, output);
    return 1;
}

std::int64_t Compiler::fewest_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) const {
    return node.operation->family == Family::contraction ? contraction_fewest_rows(node, inputs, output) : 1;
}

bool Compiler::rows_alike(const Node& node, std::int64_t rows, std::int64_t fewer) const {
    return node.operation->family != Family::contraction || contraction_rows_alike(node, rows, fewer);
}

Axes Compiler::preferred_order(const Operation& operation, std::size_t ndim) const {
    // The gradient of a weight lies as the weight does, so that the update reads both in order.
    if (operation.family != Family::window || &operation == &convolution_weight_gradient_operation) return {};
    Axes order{0};  // channels last: what convolutions and pooling are fastest in
    for (std::size_t axis = 2; axis < ndim; ++axis) order.push_back(static_cast<std::int64_t>(axis));
    order.push_back(1);
    return order;
}

// On a Zen 4 a softmax of 16 MB 1.75 -> 1.35 ms; a layer norm's gradient, whose parts wait for memory alone, 2.9 -> 3.7 so. On an Emerald Rapids,
// where rows that lie on lines of memory end beside the next (stored_reduction.cpp), the softmaxes of others: 20 MB of rows of 130, 300, 1,001 and
// 50,257 in 0.80, 0.85, 0.97 and 0.90 of the time, 32 MB and more of rows of 2,000 to 30,000 in 1.4 to 1.6, of 50,257 and 128,000 in 0.68 to 0.98.
bool Compiler::fetches_results(const Layout& result, bool much) const {
    constexpr std::int64_t long_row = 160 << 10;
    std::int64_t size = static_cast<std::int64_t>(size_of(result.dtype)),
                 length = result.dims.empty() ? 1 : result.dims.back();
    auto bytes = static_cast<std::size_t>(result.size() * size);
    if (!go_past_caches(bytes)) return true;
    if (!much || !is_no_zen()) return much && is_zen4();
    bool beside = length * size % 64 == 0 && folds_rows(length);
    return !beside && (bytes < past_bytes || length * size >= long_row);
}

Turns Compiler::turns() const {
    if (!emit::emits()) return Turns::plain;
    return is_no_zen() ? Turns::fetched : is_zen4() ? Turns::beside : Turns::plain;
}

Limits Compiler::limits() const {
    static const Limits limits = measure_limits();
    return limits;
}

}  // namespace cpu

const KernelCompiler& cpu_compiler() {
    static const cpu::Compiler compiler;
    return compiler;
}

}  // namespace weft

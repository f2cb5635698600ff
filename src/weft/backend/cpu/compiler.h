// The CPU as a KernelCompiler: loops become machine code (emit/) or go to the block evaluator, library families to their kernels (families.h).
// Callers: compile/ and runtime/, through cpu_compiler().
#pragma once

#include "weft/compile/device.h"

namespace weft::cpu {

class Compiler : public KernelCompiler {
  public:
    std::unique_ptr<Kernel> loop(Loop loop, bool often = false) const override;
    std::unique_ptr<Kernel> stored_reduction(const Loop* map, const Loop& reduction, const Loop* behind = nullptr,
                                             bool turns = false) const override;
    std::unique_ptr<Kernel> library(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                    const KernelUse& use = {}) const override;
    std::int64_t least_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) const override;
    std::int64_t fewest_rows(const Node& node, std::span<const Layout> inputs, const Layout& output) const override;
    bool rows_alike(const Node& node, std::int64_t rows, std::int64_t fewer) const override;
    Axes preferred_order(const Operation& operation, std::size_t ndim) const override;
    bool fetches_results(const Layout& result, bool much) const override;
    Turns turns() const override;
    Limits limits() const override;
};

Limits measure_limits();

}  // namespace weft::cpu

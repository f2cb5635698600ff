// The indices by which the loads of a Loop move, checked before the loop runs: each against the axis that it points along.
// Callers: backend/cpu/compiler.cpp, block_evaluator.cpp.
#pragma once

#include <vector>

#include "weft/backend/cpu/strided.h"

namespace weft::cpu {

class IndexCheck {
  public:
    IndexCheck() = default;
    explicit IndexCheck(const Loop& loop);
    /// IndexError for the first index, in the loop's order, outside its axis. Allocates nothing otherwise.
    void run(const void* const* loads) const {
        for (const IndexTensor& tensor : tensors_) check(tensor, loads);
    }

  private:
    struct IndexTensor {
        DType dtype;
        Box<1> box;
        Pointer pointer;
    };
    static void check(const IndexTensor& tensor, const void* const* loads);
    std::vector<IndexTensor> tensors_;
};

}  // namespace weft::cpu

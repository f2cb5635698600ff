// The block evaluator: a Loop, prepared once for its sizes and strides, run instruction by instruction over blocks that stay in
// the first-level cache. Always the same bits for any number of threads and any instruction set; the interpreter's bits for maps.
// Callers: runtime/ (kernels of a binding).
#pragma once

#include <cstddef>
#include <memory>

#include "weft/kernel/address_facts.h"

namespace weft {

namespace cpu {
class IndexCheck;
class PreparedLoop;
}  // namespace cpu

class BlockKernel {
  public:
    /// InternalError if the loop breaks a rule of verify().
    explicit BlockKernel(const Loop& loop);
    ~BlockKernel();
    BlockKernel(BlockKernel&&) noexcept;
    BlockKernel& operator=(BlockKernel&&) noexcept;

    /// What run() needs to work in, on a 64-byte boundary.
    std::size_t scratch_bytes() const;
    /// Const and re-entrant: allocates nothing, takes no lock. loads[i] and stores[i] point to the element at index 0 of every
    /// axis. A map's store may be the memory of a load with the same strides; any other overlap is the caller's mistake.
    /// Before anything is written: InternalError if an address is not aligned as the loop says, IndexError if an index is outside its
    /// axis.
    void run(const void* const* loads, void* const* stores, void* scratch) const;

  private:
    AddressFacts addresses_;
    std::unique_ptr<const cpu::IndexCheck> indices_;
    std::unique_ptr<const cpu::PreparedLoop> prepared_;
};

}  // namespace weft

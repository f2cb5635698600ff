#include "weft/backend/cpu/block_evaluator.h"

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/index_check.h"
#include "weft/backend/cpu/scan.h"
#include "weft/backend/cpu/scatter.h"

namespace weft {

BlockKernel::BlockKernel(const Loop& loop) : addresses_(loop) {
    verify(loop);
    indices_ = std::make_unique<cpu::IndexCheck>(loop);
    prepared_ = loop.scan        ? cpu::prepare_scan(loop, false)
                : loop.scatter   ? cpu::prepare_scatter(loop, false)
                : loop.reduces() ? cpu::prepare_reduction(loop)
                                 : cpu::prepare_map(loop);
}
BlockKernel::~BlockKernel() = default;
BlockKernel::BlockKernel(BlockKernel&&) noexcept = default;
BlockKernel& BlockKernel::operator=(BlockKernel&&) noexcept = default;

std::size_t BlockKernel::scratch_bytes() const { return prepared_->scratch_bytes(); }

void BlockKernel::run(const void* const* loads, void* const* stores, void* scratch) const {
    addresses_.check(loads, stores);
    indices_->run(loads);
    prepared_->run(loads, stores, static_cast<std::byte*>(scratch));
}

}  // namespace weft

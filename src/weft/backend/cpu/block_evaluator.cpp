#include "weft/backend/cpu/block_evaluator.h"

#include "weft/kernel/interpreter.h"

namespace weft {

struct BlockKernel::Prepared {
    Loop loop;
};

BlockKernel::BlockKernel(Loop loop) {
    verify(loop);
    prepared_ = std::make_unique<Prepared>(Prepared{std::move(loop)});
}
BlockKernel::~BlockKernel() = default;
BlockKernel::BlockKernel(BlockKernel&&) noexcept = default;
BlockKernel& BlockKernel::operator=(BlockKernel&&) noexcept = default;

std::size_t BlockKernel::scratch_bytes() const { return 0; }

void BlockKernel::run(const void* const* loads, void* const* stores, void*) const { interpret(prepared_->loop, loads, stores); }

}  // namespace weft

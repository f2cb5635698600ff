#include "weft/ops/random.h"

#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/isa/random_kernels.h"
#include "weft/backend/cpu/strided.h"

namespace weft::cpu {
namespace {

RandomBlocks best_random_blocks() {
    switch (best_isa()) {
#define WEFT_RANDOM_CASE(isa) \
    case Isa::isa:            \
        return isa::random_blocks;
        WEFT_FOR_EACH_ISA(WEFT_RANDOM_CASE)
#undef WEFT_RANDOM_CASE
    }
    __builtin_unreachable();
}

class RandomBits final : public Kernel {
  public:
    RandomBits(const RandomAttributes& a, const Layout& key, const Layout& output)
        : stream_(static_cast<std::uint32_t>(a.stream)),
          key_stride_(key.strides[0]),
          box_(output.dims, {output.strides}),
          blocks_(best_random_blocks()) {}
    std::string_view by() const override { return "philox"; }

    void run(void* const* operands, std::byte*) const override {
        auto* from = static_cast<const std::uint32_t*>(operands[0]);
        std::uint32_t key[2] = {from[0], from[key_stride_]};
        auto* to = static_cast<std::uint32_t*>(operands[1]);
        parallel_blocks(box_.size, block_elements / 2, [&](std::int64_t first, std::int64_t last) {
            for (; first < last; first += words) fill(to, first, std::min(last, first + words), key);
        });
    }

  private:
    static constexpr std::int64_t words = 4 * random_lanes;

    // Elements [first, last), at most `words`, of which the first begins a block.
    void fill(std::uint32_t* to, std::int64_t first, std::int64_t last, const std::uint32_t* key) const {
        auto block = static_cast<std::uint64_t>(first) / 4;
        if (box_.dense() && last - first == words) return blocks_(to + first, block, key, stream_);
        std::uint32_t drawn[words];
        blocks_(drawn, block, key, stream_);
        const std::uint32_t* next = drawn;
        box_.walk(first, last, [&](const std::array<std::int64_t, 1>& at, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) to[at[0] + i * box_.inner(0)] = *next++;
        });
    }

    std::uint32_t stream_;
    std::int64_t key_stride_;
    Box<1> box_;
    RandomBlocks blocks_;
};

}  // namespace

std::unique_ptr<Kernel> random_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    return std::make_unique<RandomBits>(*attributes_if<RandomAttributes>(node), inputs[0], output);
}

}  // namespace weft::cpu
